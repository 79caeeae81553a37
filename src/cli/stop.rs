//! `coop stop`: ends the session with all its processes.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;

use super::TIMED_OUT;
use super::lines::exit_ending;
use super::reach::Reach;
use super::words::{complain, plain, print_json, print_line};
use crate::client::Client;
use crate::config;
use crate::proto::v1::{
    ExitEvent, GetHealthRequest, GetStatusRequest, GetStatusResponse, SendSignalRequest, ShutdownRequest,
    ShutdownResponse, StreamStateRequest,
};

/// The backend of a program that coop has started itself, and therefore ends.
const OWN_CHILD: &str = "pty";

/// Between two looks at a session that leaves.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// End the session: the program, its processes, and coop
///
/// The program is asked to end (SIGHUP) and, after a grace of 10 seconds, killed, with everything it has started in its
/// session; what was only borrowed from tmux or GNU screen goes on. Waits until coop has left and says what was ended;
/// ends with 124 if it has not left in time.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop stop\n  coop stop --now")]
pub struct Stop {
    /// Without grace: the program and its process group are killed at once
    #[arg(long)]
    now: bool,
    /// How long to wait until coop has left
    #[arg(long, value_name = "SECS", default_value = "20", value_parser = config::seconds)]
    timeout: Duration,
    #[command(flatten)]
    reach: Reach,
}

/// What is told of it: the answer of the call, and what was ended.
#[derive(Serialize)]
struct Stopped {
    accepted: bool,
    /// coop itself has left.
    left: bool,
    status: GetStatusResponse,
    exit: Option<ExitEvent>,
}

impl Stop {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let client = self.reach.connect().await?;
        let deadline = Instant::now() + self.timeout;
        let status = client.answer(client.calls().get_status(GetStatusRequest {})).await?;
        let mut states = client.answer(client.calls().stream_state(StreamStateRequest::default())).await?;
        if self.now && status.backend == OWN_CHILD && status.pid.is_some() {
            let kill = SendSignalRequest { signal: "KILL".to_owned() };
            // A program that has ended in this moment is what was asked for.
            let _ = client.calls().send_signal(kill).await;
        }
        let ShutdownResponse { accepted } = client.answer(client.calls().shutdown(ShutdownRequest {})).await?;
        let leaving = async {
            let mut exit = None;
            // The stream ends with the session, by itself or because the connection does.
            while let Ok(Some(event)) = states.message().await {
                exit = event.exit.or(exit);
            }
            while answers(&client).await {
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
            exit
        };
        let exit = tokio::time::timeout_at(deadline.into(), leaving).await;
        let left = exit.is_ok();
        let stopped = Stopped { accepted, left, status, exit: exit.unwrap_or_default() };
        self.report(&stopped)
    }

    fn report(&self, stopped: &Stopped) -> anyhow::Result<ExitCode> {
        if self.reach.json {
            print_json(stopped)?;
        } else if stopped.left {
            print_line(&describe(stopped))?;
        } else {
            let secs = self.timeout.as_secs_f64();
            complain(&format!("asked to leave, but still there after {secs} s: `coop stop --now` kills the program"));
        }
        Ok(if stopped.left { ExitCode::SUCCESS } else { ExitCode::from(TIMED_OUT) })
    }
}

/// Whether anybody is there.
async fn answers(client: &Client) -> bool {
    client.calls().get_health(GetHealthRequest {}).await.is_ok()
}

/// `stopped bash (pid 123)  ended by signal 1`
fn describe(stopped: &Stopped) -> String {
    let status = &stopped.status;
    if status.backend != OWN_CHILD {
        let goes_on = if status.pid.is_some() { "goes on" } else { "had ended before" };
        return format!("left: what it served in {} {goes_on}", plain(&status.backend));
    }
    let program = status.command.first().map_or("", String::as_str);
    let name = Path::new(program).file_name().map_or(program.into(), |name| name.to_string_lossy());
    let pid = status.pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default();
    let had_ended = if status.pid.is_none() { ", which had ended before" } else { "" };
    let ending = stopped.exit.as_ref().and_then(exit_ending).map(|ending| format!("  {ending}")).unwrap_or_default();
    format!("stopped {}{pid}{had_ended}{ending}", plain(&name))
}
