//! `coop trust`: the user's yes to what a repository's coop.toml asks for.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::ask::may;
use super::{coop_home, said};
use crate::boxfile::{Demand, Loaded, Source, Trust as Kept, Verdict, load};
use crate::cli::words::ago;
use crate::cli::words::{complain, plain, print_json, print_line};

/// Say yes to what a project's coop.toml asks for
///
/// A file in a repository is somebody else's word. What it asks for beyond what a box gets by itself (files outside of
/// the project, the machine's network, your variables, commands to run) is listed, and given when you agree. It holds
/// for exactly this content of the file. Exit codes: 0 trusted, 1 not.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  coop trust\n  coop trust ~/project --yes\n  coop trust --list\n  coop trust --revoke"
)]
pub struct Trust {
    /// A directory in the project
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// What was trusted so far
    #[arg(long, conflicts_with_all = ["revoke", "yes"])]
    list: bool,
    /// Take it back
    #[arg(long, conflicts_with = "yes")]
    revoke: bool,
    /// Without a question
    #[arg(long, short)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Told<'a> {
    path: &'a Path,
    trusted: bool,
    demands: Vec<Asked<'a>>,
}

#[derive(Serialize)]
struct Asked<'a> {
    key: &'a str,
    what: &'a str,
    line: usize,
}

impl Trust {
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let coop_home = coop_home()?;
        let trust = Kept::new(&coop_home);
        if self.list {
            return self.list(&trust);
        }
        let dir = self.dir.canonicalize().with_context(|| self.dir.display().to_string())?;
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_else(|| coop_home.clone());
        let loaded = load(&dir, &home, &coop_home).map_err(said)?;
        let Some(source) = &loaded.source else {
            bail!("{}: there is no coop.toml here or above: `coop init` writes one", plain(&dir.to_string_lossy()));
        };
        if self.revoke { self.revoke(&trust, source) } else { self.grant(&trust, &loaded, source) }
    }

    fn grant(&self, trust: &Kept, loaded: &Loaded, source: &Source) -> anyhow::Result<ExitCode> {
        let path = plain(&source.path.to_string_lossy());
        let needs = match loaded.verdict(trust).map_err(said)? {
            Verdict::Trusted if loaded.demands.is_empty() => {
                return self.tell(source, &loaded.demands, &format!("{path} asks for nothing that needs your trust"));
            }
            Verdict::Trusted => return self.tell(source, &loaded.demands, &format!("{path} is trusted already")),
            Verdict::Needs(needs) => needs,
        };
        if !self.json {
            let changed = if needs.changed { "has changed since you trusted it, and asks for" } else { "asks for" };
            complain(&format!("{path} {changed}:"));
            needs.demands.iter().for_each(|demand| complain(&told(demand)));
        }
        if !may(&format!("Give that to {path}?"), self.yes)? {
            complain("it is not trusted");
            return Ok(ExitCode::FAILURE);
        }
        // The bytes that were read and told, not those that stand there by now.
        trust.grant(&source.path, &source.bytes).map_err(said)?;
        self.tell(source, &loaded.demands, &format!("{path} is trusted, as it is now"))
    }

    fn tell(&self, source: &Source, demands: &[Demand], line: &str) -> anyhow::Result<ExitCode> {
        if self.json {
            let asked = demands.iter().map(|demand| Asked { key: demand.key, what: &demand.what, line: demand.line });
            print_json(&Told { path: &source.path, trusted: true, demands: asked.collect() })?;
        } else {
            print_line(line)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn revoke(&self, trust: &Kept, source: &Source) -> anyhow::Result<ExitCode> {
        let was = trust.revoke(&source.path).map_err(said)?;
        let path = plain(&source.path.to_string_lossy());
        match (self.json, was) {
            (true, _) => print_json(&json!({ "path": source.path, "revoked": was }))?,
            (false, true) => {
                print_line(&format!("{path} is not trusted any more; boxes that run keep what they have"))?
            }
            (false, false) => print_line(&format!("{path} was not trusted"))?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn list(&self, trust: &Kept) -> anyhow::Result<ExitCode> {
        let list = trust.list().map_err(said)?;
        if self.json {
            let files: Vec<_> = list.iter().map(|(path, grant)| json!({ "path": path, "grant": grant })).collect();
            print_json(&json!({ "files": files }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        for (path, grant) in &list {
            let since = ago(now.saturating_sub(Duration::from_secs(grant.granted_at)));
            print_line(&format!("{}  {since} ago", plain(&path.to_string_lossy())))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// `line 3: it mounts /etc (box.mounts)`
fn told(demand: &Demand) -> String {
    format!("  line {}: it {} ({})", demand.line, plain(&demand.what), demand.key)
}
