//! `coop restart`: the program anew, in the same session.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use super::boxes::Daemon;
use super::reach::{Reach, Whom};
use super::words::{complain, plain, print_json, print_line};
use crate::child::HANGUP_GRACE;
use crate::cli::completions;
use crate::config;
use crate::proto::v1::{RestartBoxRequest, RestartRequest};

/// How long a box may take to end and to begin again: the grace of its program, and a start on a busy machine.
const BOX_WITHIN: Duration = Duration::from_secs(60);

/// End the program and start it again
///
/// The session stays: its readers, its size, its numbers. The program has 10 seconds to end by itself, then it is
/// killed.
///
/// A box is ended and started again as a whole, with the files it had, also one that stands still. It stays what it was
/// made as: if coop.toml has changed since, that is said, and `coop stop` and `coop up` use it. With --env or --resume
/// only its program is started again.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop restart my-box\n  coop restart --resume\n  coop restart --env MODEL=opus")]
pub struct Restart {
    /// Which one, when several run: a box, or a session as `coop ls` shows it
    #[arg(value_name = "NAME", value_hint = completions::NAME, conflicts_with_all = ["url", "socket", "named"])]
    name: Option<String>,
    /// Variable for the program, from now on (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = config::text_variable)]
    env: Vec<(String, String)>,
    /// Go on with the same conversation, where the agent can
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    reach: Reach,
}

impl Restart {
    pub async fn run(mut self) -> anyhow::Result<ExitCode> {
        self.reach = self.reach.called(self.name.take());
        let is_whole = self.env.is_empty() && !self.resume;
        match self.reach.whom().await? {
            Whom::Box(name) if is_whole => self.restart_box(name).await,
            Whom::Box(name) => {
                self.reach = self.reach.called(Some(name));
                self.restart_program().await
            }
            Whom::Session => self.restart_program().await,
        }
    }

    async fn restart_box(&self, name: String) -> anyhow::Result<ExitCode> {
        let daemon = Daemon::reach().await?;
        let started = daemon.ask(BOX_WITHIN, daemon.calls().restart_box(RestartBoxRequest { name })).await?;
        if self.reach.json {
            print_json(&started)?;
            return Ok(ExitCode::SUCCESS);
        }
        for warning in &started.warnings {
            complain(&format!("warning: {}", plain(warning)));
        }
        let pid = started.pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default();
        print_line(&format!("box {} started again{pid}", plain(&started.name)))?;
        Ok(ExitCode::SUCCESS)
    }

    async fn restart_program(self) -> anyhow::Result<ExitCode> {
        let client = self.reach.connect().await?;
        let request =
            RestartRequest { env: self.env.into_iter().collect(), resume: Some(self.resume).filter(|resume| *resume) };
        let answer = client.answer_after(HANGUP_GRACE, client.calls().restart(request)).await?;
        if self.reach.json {
            print_json(&answer)?;
        } else {
            let pid = answer.pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default();
            print_line(&format!("started again{pid}  seq {}", answer.seq))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
