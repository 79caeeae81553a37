//! `coop apply`: what an agent changed goes into the project.

use std::process::ExitCode;

use clap::Args;

use super::ask::may;
use super::diff::told;
use super::paths::{changes, check_still, choose};
use super::{DIFF_WITHIN, Daemon};
use crate::cli::completions;
use crate::cli::words::{complain, plain, print_json, print_line};
use crate::proto::v1::{ApplyWorkspaceRequest, ApplyWorkspaceResponse};

/// Carry changes of a box over into the project
///
/// All of them, or those at some paths, while the box stands still (`coop stop`). Asks before it writes. Where the project
/// has changed since the box started from it, nothing is written, and protected files are left alone, unless --force is
/// given. A box that is started again goes on from the project as it is then. Exit codes: 0 done, 1 when something was left alone or nobody
/// agreed.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop diff my-box && coop apply my-box\n  coop apply my-box src/main.rs --yes")]
pub struct Apply {
    /// The box, then paths: only what was changed there
    #[arg(value_name = "NAME|PATH", value_hint = completions::NAME)]
    words: Vec<String>,
    /// Also over files that have changed in the project since, and over protected ones
    #[arg(long)]
    force: bool,
    /// Without a question
    #[arg(long, short)]
    yes: bool,
    /// Print JSON, as the HTTP API answers it
    #[arg(long)]
    json: bool,
}

impl Apply {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let daemon = Daemon::reach().await?;
        let chosen = choose(&daemon, &self.words).await?;
        let changes = changes(&daemon, &chosen).await?;
        let name = chosen.found.name.clone();
        if changes.is_empty() {
            return self.report(&ApplyWorkspaceResponse::default(), &name);
        }
        check_still(&chosen.found)?;
        if !self.yes {
            changes.iter().for_each(|change| complain(&told(change)));
        }
        let (count, workspace) = (changes.len(), plain(&chosen.found.workspace));
        if !may(&format!("Write {} of box {name} into {workspace}?", counted(count)), self.yes)? {
            complain("nothing was written");
            return Ok(ExitCode::FAILURE);
        }
        let request = ApplyWorkspaceRequest { name: name.clone(), paths: chosen.paths, force: self.force };
        let answer = daemon.ask(DIFF_WITHIN, daemon.calls().apply_workspace(request)).await?;
        self.report(&answer, &name)
    }

    fn report(&self, answer: &ApplyWorkspaceResponse, name: &str) -> anyhow::Result<ExitCode> {
        if self.json {
            print_json(answer)?;
        } else if answer.applied.is_empty() && answer.refused.is_empty() {
            print_line(&format!("nothing to apply: box {name} has no changes"))?;
        } else {
            answer.applied.iter().try_for_each(|path| print_line(&format!("applied {}", plain(path))))?;
        }
        if answer.refused.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        let left: Vec<String> = answer.refused.iter().map(|path| plain(path)).collect();
        complain(&format!(
            "left alone, because the project's own file has changed or is protected: {}; --force takes them too",
            left.join(", ")
        ));
        Ok(ExitCode::FAILURE)
    }
}

/// `1 change`, `2 changes`.
pub fn counted(count: usize) -> String {
    format!("{count} {}", if count == 1 { "change" } else { "changes" })
}
