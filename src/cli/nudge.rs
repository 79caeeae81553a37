//! `coop nudge`: gives the agent a message.

use std::io::Read;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;

use super::TIMED_OUT;
use super::input::millis;
use super::reach::{Lock, Reach};
use super::words::{plain, print_json, print_or_complain, word};
use crate::config;
use crate::proto::v1::{AgentStateKind, NudgeRequest, NudgeResponse, Receipt};

/// As much as a message may have.
const MESSAGE_BYTES_MAX: usize = 1024 * 1024;

/// Give the agent a message
///
/// The message arrives as text, even if it begins with / or !, and only when the agent can take it: one that works is left
/// alone without --queue or --steer, and one that shows a dialog waits for `coop respond`.
///
/// Exit codes: 0 a witness saw the agent take it, 1 it was not given, 124 not yet: it is in the agent's queue, or nobody
/// has seen the agent take it.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  coop nudge 'fix the failing test'\n  coop nudge --session red --queue --file notes.md\n  git diff | coop nudge --file -\n  coop nudge --steer 'leave the database alone'\n  coop nudge --command /compact"
)]
pub struct Nudge {
    /// The message; words are joined by a space
    #[arg(value_name = "TEXT", required_unless_present = "file", conflicts_with = "file")]
    words: Vec<String>,
    /// Take the message from a file, or from stdin with -
    #[arg(long, value_name = "FILE")]
    file: Option<std::path::PathBuf>,
    /// If the agent is working, let it queue the message
    #[arg(long)]
    queue: bool,
    /// If the agent is working, put the message into what it does now; what the model is saying is cut off (Codex only)
    #[arg(long, conflicts_with = "queue")]
    steer: bool,
    /// Run the message as one of the agent's own commands, such as /compact
    #[arg(long)]
    command: bool,
    /// How long to wait for a witness
    #[arg(long, value_name = "SECS", default_value = "10", value_parser = config::seconds)]
    timeout: Duration,
    #[command(flatten)]
    lock: Lock,
    #[command(flatten)]
    reach: Reach,
}

impl Nudge {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let message = match &self.file {
            Some(path) => read_message(path)?,
            None => self.words.join(" "),
        };
        let client = self.reach.connect_with(&self.lock).await?;
        let request = NudgeRequest {
            message,
            queue: self.queue,
            steer: self.steer,
            command: self.command,
            timeout_ms: Some(millis(self.timeout)),
            ..Default::default()
        };
        let answer = client.answer_after(self.timeout, client.calls().nudge(request)).await?;
        if self.reach.json {
            print_json(&answer)?;
        } else {
            print_or_complain(answer.delivered, &describe(&answer))?;
        }
        Ok(exit_code(answer.delivered, answer.reason.as_deref()))
    }
}

fn read_message(path: &std::path::Path) -> anyhow::Result<String> {
    if path.as_os_str() != "-" {
        return Ok(config::read_text("--file", path, MESSAGE_BYTES_MAX)?);
    }
    let mut text = String::new();
    std::io::stdin().lock().take(MESSAGE_BYTES_MAX as u64 + 1).read_to_string(&mut text).context("stdin")?;
    if text.len() > MESSAGE_BYTES_MAX {
        bail!("stdin holds more than the {MESSAGE_BYTES_MAX} bytes that a message may have");
    }
    Ok(text)
}

/// What is told when it was not given because another one was.
pub const WRITER_BUSY: &str =
    "not delivered: somebody else types and did not come to an end in time; try again, or wait longer (`--timeout`)";

/// Delivered, refused, or still on its way.
pub fn exit_code(delivered: bool, reason: Option<&str>) -> ExitCode {
    match (delivered, reason) {
        (true, _) => ExitCode::SUCCESS,
        (false, Some("unconfirmed" | "queued")) => ExitCode::from(TIMED_OUT),
        (false, _) => ExitCode::FAILURE,
    }
}

fn describe(answer: &NudgeResponse) -> String {
    let state = answer.state_before.map(word::<AgentStateKind>).unwrap_or_default();
    match answer.reason.as_deref() {
        None => format!("delivered, {}", seen_by(answer.receipt.as_ref())),
        Some("agent_busy") => format!("not delivered: the agent is in state {state} and cannot take a message now"),
        Some("no_input_box") => {
            "not delivered: the agent's input box is out of sight; close what was opened above it (`coop keys escape`)"
                .to_owned()
        }
        Some("writer_busy") => WRITER_BUSY.to_owned(),
        Some("queued") => "queued: the agent has it, and takes it when its present work lets it".to_owned(),
        Some("unconfirmed") => "written, but nobody has seen the agent take it yet".to_owned(),
        Some(reason) => format!("not delivered: {}", plain(reason)),
    }
}

/// Who saw that something was taken.
pub fn seen_by(receipt: Option<&Receipt>) -> String {
    let witness = receipt.and_then(|receipt| receipt.witness.as_deref()).unwrap_or("nobody named");
    format!("seen by {}", plain(witness))
}
