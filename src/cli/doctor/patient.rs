//! The agent under a second coop, as everybody runs it, and what that coop says about it.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};

use super::super::input::millis;
use super::super::lines::ending;
use super::super::words::{plain, word};
use super::house::House;
use super::model::{Model, RUN};
use super::subjects::Subject;
use super::trouble::Trouble;
use crate::client::{Client, Credentials, Target, connect};
use crate::config::Groom;
use crate::proto::v1::{
    AgentState, AgentStateKind, GetAgentStateRequest, GetScreenRequest, GetStatusRequest, GetStatusResponse,
    GetUsageRequest, NudgeRequest, NudgeResponse, RespondRequest, RespondResponse, Usage,
};

/// How long each thing may take; a calm machine needs a tenth of it, a busy one stalls for seconds.
pub const LIMIT: Duration = Duration::from_secs(30);

/// Between two looks at the evidence, which tells no event of its changes.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// How long the second coop may take to leave before it is told again. It gives its agent 10 s to end.
const LEAVE_WITHIN: [Duration; 2] = [Duration::from_secs(12), Duration::from_secs(3)];

/// How often to look in between.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Should the doctor itself be killed, the second coop leaves after so long without a call.
const ORPHAN_SECS: &str = "120";

/// Wide enough for every dialog, and narrow enough that its rows can be shown in the user's own terminal.
const SIZE: [&str; 4] = ["--cols", "100", "--rows", "40"];

/// As much of a screen as tells what is wrong.
const SCREEN_ROWS_MAX: usize = 12;

/// As much of coop's own log as is shown when it does not start.
const LOG_BYTES_MAX: u64 = 2000;

/// Ends when it is dropped.
pub struct Patient {
    client: Client,
    _coop: Coop,
}

/// How an answer reaches the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Hook,
    Keys,
}

/// The second coop's process.
struct Coop {
    process: Child,
    /// Kept, so that its one line is not written into the void.
    _stdout: Option<BufReader<ChildStdout>>,
}

impl Patient {
    /// Starts the command under coop with this much grooming.
    pub async fn start(
        subject: &Subject,
        command: &[OsString],
        house: &House,
        model: &Model,
        groom: Groom,
    ) -> Result<Self, Trouble> {
        let name = if groom == Groom::Pristine { "pristine" } else { "groomed" };
        let (socket, log) = (house.at(&format!("{name}.sock")), house.at(&format!("{name}.log")));
        let program = std::env::current_exe()?;
        let process = Command::new(program)
            .args(["--agent", subject.program, "--groom", if groom == Groom::Pristine { "pristine" } else { "auto" }])
            .args(SIZE)
            .args(["--idle-timeout", ORPHAN_SECS, "--log-level", "warn", "--log-format", "text", "--socket"])
            .arg(&socket)
            .arg("--cwd")
            .arg(house.workspace())
            .arg("--")
            .args(command)
            .env_clear()
            .envs(house.environment(model.url()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log)?)
            // Ctrl-C in the doctor's terminal is for the doctor, who then ends this in order.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let mut coop = Coop { process, _stdout: None };
        let mut stdout = coop.process.stdout.take().map(BufReader::new);
        let mut line = String::new();
        if let Some(stdout) = &mut stdout {
            // What it says does not matter, only that it listens.
            let _ = tokio::time::timeout(LIMIT, stdout.read_line(&mut line)).await;
        }
        coop._stdout = stdout;
        if line.is_empty() {
            let mut text = String::new();
            let read = File::open(&log).and_then(|log| log.take(LOG_BYTES_MAX).read_to_string(&mut text));
            let why = read.map_or_else(|error| error.to_string(), |_| text);
            return Err(Trouble::new(format!("coop itself did not start: {}", plain(why.trim()))));
        }
        let client = connect(Target::Socket(socket), Credentials::default()).await?;
        Ok(Self { client, _coop: coop })
    }

    /// What the agent does now, with all evidence.
    async fn explained(&self) -> Result<AgentState, Trouble> {
        let calls = &mut self.client.calls();
        Ok(self.client.answer(calls.get_agent_state(GetAgentStateRequest { explain: true })).await?)
    }

    /// Looks until something is true of the agent.
    pub async fn until<T>(&self, what: &str, met: impl Fn(&AgentState) -> Option<T>) -> Result<T, Trouble> {
        self.until_found(what, async |state| Ok(met(state))).await
    }

    /// A message of the model is in the log: what it cost was read there.
    pub async fn until_logged(&self) -> Result<(), Trouble> {
        let counted = async |_: &AgentState| {
            let calls = &mut self.client.calls();
            let usage: Usage = self.client.answer(calls.get_usage(GetUsageRequest {})).await?;
            Ok((usage.request_count > 0).then_some(()))
        };
        self.until_found("it has no message in it", counted).await
    }

    async fn until_found<T>(
        &self,
        what: &str,
        find: impl AsyncFn(&AgentState) -> Result<Option<T>, Trouble>,
    ) -> Result<T, Trouble> {
        let deadline = Instant::now() + LIMIT;
        loop {
            let state = self.explained().await?;
            if let Some(found) = find(&state).await? {
                return Ok(found);
            }
            let is_over = state.state() == AgentStateKind::Exited;
            if is_over || Instant::now() >= deadline {
                let instead = if is_over { self.ending().await } else { describe(&state) };
                return Err(self.trouble(format!("{what}: {instead}")).await);
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    }

    pub async fn until_idle(&self) -> Result<String, Trouble> {
        let is_idle = |state: &AgentState| state.state() == AgentStateKind::Idle;
        self.until("it is not idle", |state| is_idle(state).then(|| state.detection_cause.clone())).await
    }

    /// Gives a message, which must be delivered; who saw it.
    pub async fn told(&self, message: &str) -> Result<String, Trouble> {
        self.until_idle().await?;
        let request =
            NudgeRequest { message: message.to_owned(), timeout_ms: Some(millis(LIMIT)), ..Default::default() };
        let nudged: NudgeResponse = self.client.answer_after(LIMIT, self.client.calls().nudge(request)).await?;
        self.taken(nudged.delivered, nudged.reason, nudged.receipt.and_then(|receipt| receipt.witness)).await
    }

    /// Tells the model to ask for a command that makes this file.
    pub async fn asked_for(&self, file: &str) -> Result<String, Trouble> {
        self.told(&format!("{RUN}touch {file}")).await
    }

    /// Answers the dialog, which must be taken, and in this way; who saw it.
    pub async fn answered(&self, accept: bool, text: Option<&str>, way: Way) -> Result<String, Trouble> {
        let request = RespondRequest {
            accept: Some(accept),
            text: text.map(str::to_owned),
            timeout_ms: Some(millis(LIMIT)),
            ..Default::default()
        };
        let before = self.status().await?.bytes_written;
        let answer: RespondResponse = self.client.answer_after(LIMIT, self.client.calls().respond(request)).await?;
        let witness = answer.receipt.and_then(|receipt| receipt.witness);
        let witness = self.taken(answer.delivered, answer.reason, witness).await?;
        // A hook is answered without a byte to the terminal.
        let went = if self.status().await?.bytes_written == before { Way::Hook } else { Way::Keys };
        match (way, went) {
            (Way::Hook, Way::Keys) => Err(self.trouble("answered, but by keys: the hook did not wait").await),
            (Way::Keys, Way::Hook) => Err(self.trouble("answered, but not by keys").await),
            _ => Ok(witness),
        }
    }

    async fn taken(&self, delivered: bool, reason: Option<String>, witness: Option<String>) -> Result<String, Trouble> {
        if delivered {
            return Ok(witness.unwrap_or_else(|| "nobody named".to_owned()));
        }
        Err(self.trouble(format!("not taken: {}", reason.as_deref().unwrap_or("no reason is told"))).await)
    }

    /// This failed, and that is what the screen shows.
    pub async fn trouble(&self, detail: impl Into<String>) -> Trouble {
        let screen = self.client.answer(self.client.calls().get_screen(GetScreenRequest::default())).await;
        let lines = screen.map(|screen| screen.lines).unwrap_or_default();
        let rows: Vec<String> = lines.iter().filter(|row| !row.trim().is_empty()).map(|row| plain(row)).collect();
        let screen = rows[rows.len().saturating_sub(SCREEN_ROWS_MAX)..].to_vec();
        Trouble { detail: plain(&detail.into()), screen }
    }

    async fn status(&self) -> Result<GetStatusResponse, Trouble> {
        Ok(self.client.answer(self.client.calls().get_status(GetStatusRequest {})).await?)
    }

    async fn ending(&self) -> String {
        let status = self.status().await.ok();
        let ending = status.and_then(|status| ending(status.exit_code, status.exit_signal, status.error.as_deref()));
        format!("the agent has ended, {}", ending.unwrap_or_else(|| "nobody knows how".to_owned()))
    }
}

/// The state in a few words, with who disagrees.
fn describe(state: &AgentState) -> String {
    let word = word::<AgentStateKind>(state.state);
    let dissent = state.disagreement.as_deref().map(|text| format!("; {text}")).unwrap_or_default();
    format!("not within {} s, it is {word} ({}){dissent}", LIMIT.as_secs(), state.detection_cause)
}

impl Coop {
    fn has_left_within(&mut self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        loop {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

impl Drop for Coop {
    /// In order, so that it ends its agent and removes its files. A kill follows by itself; its guardian then does the rest.
    fn drop(&mut self) {
        for patience in LEAVE_WITHIN {
            // Until it was waited for, the id is nobody else's.
            let Some(pid) = self.process.id().map(|pid| Pid::from_raw(pid.cast_signed())) else { return };
            let _ = kill(pid, Signal::SIGTERM);
            if self.has_left_within(patience) {
                return;
            }
        }
        let _ = self.process.start_kill();
        self.has_left_within(LEAVE_WITHIN[1]);
    }
}
