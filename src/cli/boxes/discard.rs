//! `coop discard`: what an agent changed is thrown away.

use std::process::ExitCode;

use clap::Args;

use super::apply::counted;
use super::ask::may;
use super::diff::told;
use super::paths::{changes, check_still, choose};
use super::{DIFF_WITHIN, Daemon};
use crate::cli::completions;
use crate::cli::words::{complain, plain, print_json, print_line};
use crate::proto::v1::{DiscardWorkspaceRequest, DiscardWorkspaceResponse};

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
        let changes = changes(&daemon, &chosen).await?;
        let name = chosen.found.name.clone();
        if changes.is_empty() {
            return self.report(&DiscardWorkspaceResponse::default(), &name);
        }
        check_still(&chosen.found)?;
        if !self.yes {
            changes.iter().for_each(|change| complain(&told(change)));
        }
        if !may(&format!("Throw {} of box {name} away for good?", counted(changes.len())), self.yes)? {
            complain("nothing was thrown away");
            return Ok(ExitCode::FAILURE);
        }
        let request = DiscardWorkspaceRequest { name: name.clone(), paths: chosen.paths };
        let answer = daemon.ask(DIFF_WITHIN, daemon.calls().discard_workspace(request)).await?;
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
