//! `coop rm`: boxes and their files go.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{anyhow, bail};
use clap::Args;
use serde::Serialize;

use super::Daemon;
use super::which::pick_here;
use crate::cli::completions;
use crate::cli::words::{complain, plain, print_json, print_line};
use crate::client::whole_path;
use crate::proto::v1::DeleteBoxRequest;

/// What runs is ended first, and a large box has many files.
const RM_WITHIN: Duration = Duration::from_secs(120);

/// Remove boxes and their files
///
/// Without a name it is the box of this directory. The project itself is not touched; volumes and images stay. A box that
/// runs, or has changes that were not applied, is only removed with --force. One that cannot be removed does not keep the
/// others: the exit code is then 1.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop rm\n  coop rm my-box\n  coop rm --all --force")]
pub struct Rm {
    /// The boxes [default: that of this directory]
    #[arg(value_name = "NAME", value_hint = completions::NAME, conflicts_with = "all")]
    names: Vec<String>,
    /// Also those that run, or have changes that were not applied: these are lost
    #[arg(long, short)]
    force: bool,
    /// All boxes
    #[arg(long)]
    all: bool,
    /// Print JSON: which were removed, and why others were not
    #[arg(long)]
    json: bool,
}

#[derive(Default, Serialize)]
struct Removed {
    removed: Vec<String>,
    failed: Vec<Failed>,
}

#[derive(Serialize)]
struct Failed {
    name: String,
    error: String,
}

impl Rm {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        if self.names.iter().any(String::is_empty) {
            bail!("an empty name is no box: `coop ls` lists those there are");
        }
        let daemon = Daemon::reach().await?;
        let names = match self.all {
            true => daemon.boxes().await?.into_iter().map(|found| found.name).collect(),
            false if self.names.is_empty() => {
                let here = std::env::current_dir().map(|dir| whole_path(&dir)).unwrap_or_default();
                // Not the only one of elsewhere: what is removed is gone.
                vec![pick_here(&daemon.boxes().await?, &here).map_err(|why| anyhow!(why))?.name]
            }
            false => self.names,
        };
        let mut told = Removed::default();
        for name in names {
            let request = DeleteBoxRequest { name: name.clone(), force: self.force };
            match daemon.ask(RM_WITHIN, daemon.calls().delete_box(request)).await {
                Ok(_) => {
                    if !self.json {
                        print_line(&format!("removed box {}", plain(&name)))?;
                    }
                    told.removed.push(name);
                }
                Err(error) => {
                    let error = format!("{error:#}");
                    if !self.json {
                        complain(&error);
                    }
                    told.failed.push(Failed { name, error });
                }
            }
        }
        if self.json {
            print_json(&told)?;
        }
        Ok(if told.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
