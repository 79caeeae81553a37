//! `coop discard`: what an agent changed is thrown away.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use super::apply::counted;
use super::ask::may;
use super::diff::told;
use super::paths::{changes, check_still, choose};
use super::{Daemon, Refused};
use crate::api::Code;
use crate::cli::completions;
use crate::cli::words::{complain, plain, print_json, print_line};
use crate::proto::v1::{DiscardWorkspaceRequest, DiscardWorkspaceResponse};

/// A layer may hold millions of files; a disk that is busy removes some thousands a second.
const DISCARD_WITHIN: Duration = Duration::from_secs(900);

/// Throw changes of a box away
///
/// All of them, or those at some paths, while the box stands still (`coop stop`): the files inside are then as in the
/// project again. Asks before, because nothing brings them back. Exit codes: 0 done, 1 when nobody agreed.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop discard my-box src/wrong.rs\n  coop discard my-box --yes")]
pub struct Discard {
    /// The box, then paths: only what was changed there
    #[arg(value_name = "NAME|PATH", value_hint = completions::NAME)]
    words: Vec<String>,
    /// Without a question
    #[arg(long, short)]
    yes: bool,
    /// Print JSON, as the HTTP API answers it
    #[arg(long)]
    json: bool,
}

impl Discard {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let daemon = Daemon::reach().await?;
        let chosen = choose(&daemon, &self.words).await?;
        let name = chosen.found.name.clone();
        let what = match changes(&daemon, &chosen).await {
            Ok(changes) if changes.is_empty() => return self.report(&DiscardWorkspaceResponse::default(), &name),
            Ok(changes) => {
                check_still(&chosen.found)?;
                if !self.yes {
                    changes.iter().for_each(|change| complain(&told(change)));
                }
                counted(changes.len())
            }
            // They need not be listed to be thrown away.
            Err(error) if is_unlisted(&error, &chosen.paths) => {
                check_still(&chosen.found)?;
                complain(&format!("the changes cannot be listed: {error}"));
                "all changes".to_owned()
            }
            Err(error) => return Err(error),
        };
        if !may(&format!("Throw {what} of box {name} away for good?"), self.yes)? {
            complain("nothing was thrown away");
            return Ok(ExitCode::FAILURE);
        }
        let request = DiscardWorkspaceRequest { name: name.clone(), paths: chosen.paths };
        let answer = daemon.ask(DISCARD_WITHIN, daemon.calls().discard_workspace(request)).await?;
        self.report(&answer, &name)
    }

    fn report(&self, answer: &DiscardWorkspaceResponse, name: &str) -> anyhow::Result<ExitCode> {
        if self.json {
            print_json(answer)?;
        } else if answer.discarded.is_empty() {
            print_line(&format!("nothing to discard: box {name} has no changes"))?;
        } else {
            answer.discarded.iter().try_for_each(|path| print_line(&format!("discarded {}", plain(path))))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Whether there are changes that the daemon cannot list. All of them can be thrown away whatever they are.
fn is_unlisted(error: &anyhow::Error, paths: &[String]) -> bool {
    let Some(refused) = error.downcast_ref::<Refused>() else { return false };
    refused.code == Code::TooLarge || refused.code == Code::BadRequest && paths.is_empty()
}
