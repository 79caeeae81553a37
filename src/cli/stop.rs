//! `coop stop`: ends the session with all its processes.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;

use super::TIMED_OUT;
use super::boxes::Daemon;
use super::lines::exit_ending;
use super::reach::{Reach, Whom};
use super::words::{complain, plain, print_json, print_line};
use crate::cli::completions;
use crate::client::{Client, Failure};
use crate::config;
use crate::proto::v1::{
    ExitEvent, GetHealthRequest, GetStatusRequest, GetStatusResponse, SendSignalRequest, ShutdownRequest,
    ShutdownResponse, StopBoxRequest, StreamStateRequest,
};

/// The backend of a program that coop has started itself, and therefore ends.
const OWN_CHILD: &str = "pty";

/// Between two looks at a session that leaves.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// End the session: the program, its processes, and coop
///
/// The program is asked to end (SIGHUP). After 10 seconds it is killed, with everything that it has started in its session.
/// What was only borrowed from tmux or GNU screen goes on. Waits until coop has left, and says what was ended. Exit codes:
/// 0 coop has left, 124 it has not left in time.
///
/// A box keeps its files: `coop restart NAME` starts it again, `coop rm NAME` removes it.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop stop\n  coop stop my-box\n  coop stop --now")]
pub struct Stop {
    /// Which one, when several run: a box, or a session as `coop ls` shows it
    #[arg(value_name = "NAME", value_hint = completions::NAME, conflicts_with_all = ["url", "socket", "named"])]
    name: Option<String>,
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
    pub async fn run(mut self) -> anyhow::Result<ExitCode> {
        self.reach = self.reach.called(self.name.take());
        match self.reach.whom().await? {
            Whom::Box(name) => self.stop_box(name).await,
            Whom::Session => self.stop_session().await,
        }
    }

    async fn stop_box(&self, name: String) -> anyhow::Result<ExitCode> {
        let daemon = Daemon::reach().await?;
        let request = StopBoxRequest { name: name.clone(), now: self.now };
        let mut calls = daemon.calls();
        let stopping = daemon.ask(self.timeout, calls.stop_box(request));
        let Ok(stopped) = tokio::time::timeout(self.timeout, stopping).await else {
            let secs = self.timeout.as_secs_f64();
            complain(&format!("box {name} still runs after {secs} s: `coop stop {name} --now` ends it without grace"));
            return Ok(ExitCode::from(TIMED_OUT));
        };
        let stopped = stopped?;
        if self.reach.json {
            print_json(&stopped)?;
        } else {
            print_line(&format!("stopped box {}", plain(&stopped.name)))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn stop_session(&self) -> anyhow::Result<ExitCode> {
        let client = self.reach.connect().await?;
        let deadline = Instant::now() + self.timeout;
        let status = client.answer(client.calls().get_status(GetStatusRequest {})).await?;
        let mut states = client.answer(client.calls().stream_state(StreamStateRequest::default())).await?;
        if self.now && status.backend == OWN_CHILD && status.pid.is_some() {
            let kill = SendSignalRequest { signal: "KILL".to_owned() };
            // A program that has ended in this moment is what was asked for.
            let _ = client.calls().send_signal(kill).await;
        }
        let accepted = match client.answer(client.calls().shutdown(ShutdownRequest {})).await {
            Ok(ShutdownResponse { accepted }) => accepted,
            // It answered a moment ago: it leaves sooner than its answer.
            Err(Failure::Unreachable { .. }) => true,
            Err(failure) => return Err(failure.into()),
        };
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
