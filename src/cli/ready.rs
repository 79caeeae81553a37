//! `coop ready`: whether the session can be used; for health checks, without a token.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;

use super::reach::Reach;
use super::words::{complain, plain, print_json, print_line};
use super::{TIMED_OUT, errors};
use crate::cli::completions;
use crate::client::Failure;
use crate::config;
use crate::proto::v1::{GetReadyRequest, GetReadyResponse};

/// Between two looks at a session that is not there yet: nobody can be asked to tell when it is.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Check whether the program runs and the session can be used
///
/// Needs no token. Ends with 0 when it is ready, with 1 when it is not; with --wait, with 124 when it never was in time.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop ready\n  coop ready --wait 30 --socket /run/coop/coop.sock")]
pub struct Ready {
    /// Which one, when several run: its name or number, as `coop ls` shows them
    #[arg(value_name = "NAME", value_hint = completions::NAME, conflicts_with_all = ["url", "socket", "named"])]
    name: Option<String>,
    /// Wait for so long, also for a session that has not begun to listen
    #[arg(long, value_name = "SECS", value_parser = config::seconds)]
    wait: Option<Duration>,
    #[command(flatten)]
    reach: Reach,
}

impl Ready {
    pub async fn run(mut self) -> anyhow::Result<ExitCode> {
        self.reach = self.reach.called(self.name.take());
        let deadline = Instant::now() + self.wait.unwrap_or_default();
        loop {
            let answer = self.ask().await;
            let is_ready = answer.as_ref().is_ok_and(|answer| answer.ready);
            if is_ready || Instant::now() >= deadline {
                return self.report(answer);
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    }

    async fn ask(&self) -> Result<GetReadyResponse, Failure> {
        let client = self.reach.connect().await?;
        client.answer(client.calls().get_ready(GetReadyRequest {})).await
    }

    fn report(&self, answer: Result<GetReadyResponse, Failure>) -> anyhow::Result<ExitCode> {
        let in_vain = if self.wait.is_some() { ExitCode::from(TIMED_OUT) } else { ExitCode::FAILURE };
        let answer = match answer {
            Ok(answer) => answer,
            Err(failure) if self.wait.is_some() => {
                errors::report(&failure.into(), self.reach.json);
                return Ok(in_vain);
            }
            Err(failure) => return Err(failure.into()),
        };
        if self.reach.json {
            print_json(&answer)?;
        } else if answer.ready {
            print_line("ready")?;
        } else {
            complain(&format!("not ready: {}", plain(answer.reason.as_deref().unwrap_or("no reason given"))));
        }
        Ok(if answer.ready { ExitCode::SUCCESS } else { in_vain })
    }
}
