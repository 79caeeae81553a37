//! `coop restart`: the program anew, in the same session.

use std::process::ExitCode;

use clap::Args;

use super::reach::Reach;
use super::words::{print_json, print_line};
use crate::child::HANGUP_GRACE;
use crate::config;
use crate::proto::v1::RestartRequest;

/// End the program and start it again
///
/// The session stays: its readers, its size, its numbers. The program has until the grace of 10 seconds to end by itself.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop restart --resume\n  coop restart --env MODEL=opus")]
pub struct Restart {
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
    pub async fn run(self) -> anyhow::Result<ExitCode> {
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
