//! `coop nudge`: gives the agent a message.

use std::io::Read;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Args;

use super::TIMED_OUT;
use super::input::millis;
use super::reach::{Lock, Reach};
use super::words::{plain, print_json, print_line, word};
use crate::config;
use crate::proto::v1::{AgentStateKind, NudgeRequest, NudgeResponse, Receipt};

/// As much as a message may have.
const MESSAGE_BYTES_MAX: u64 = 1024 * 1024;

/// Give the agent a message
///
/// The message arrives as text, also when it begins with / or !, and only when the agent can take it. Ends with 0 when a
/// witness saw the agent take it, with 1 when it was not given, with 124 when nobody has seen it yet.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  coop nudge 'fix the failing test'\n  coop nudge --queue --file notes.md\n  coop nudge --command /compact"
)]
pub struct Nudge {
    /// The message; words are joined by a blank
    #[arg(value_name = "TEXT", required_unless_present = "file", conflicts_with = "file")]
    words: Vec<String>,
    /// Take the message from a file, or from stdin with -
    #[arg(long, value_name = "FILE")]
    file: Option<std::path::PathBuf>,
    /// Let a working agent queue it
    #[arg(long)]
    queue: bool,
    /// It is one of the agent's own commands, such as /compact, and shall run
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
            command: self.command,
            timeout_ms: Some(millis(self.timeout)),
            ..Default::default()
        };
        let answer = client.answer_after(self.timeout, client.calls().nudge(request)).await?;
        if self.reach.json {
            print_json(&answer)?;
        } else {
            print_line(&describe(&answer))?;
        }
        Ok(exit_code(answer.delivered, answer.reason.as_deref()))
    }
}

fn read_message(path: &std::path::Path) -> anyhow::Result<String> {
    let mut text = String::new();
    if path.as_os_str() == "-" {
        std::io::stdin().lock().take(MESSAGE_BYTES_MAX).read_to_string(&mut text).context("stdin")?;
        return Ok(text);
    }
    let limit = usize::try_from(MESSAGE_BYTES_MAX).unwrap_or(usize::MAX);
    Ok(config::read_text("--file", path, limit)?)
}

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
        Some("queued") => "queued: the agent takes it after its present work".to_owned(),
        Some("unconfirmed") => "written, but nobody has seen the agent take it yet".to_owned(),
        Some(reason) => format!("not delivered: {}", plain(reason)),
    }
}

/// Who saw that something was taken.
pub fn seen_by(receipt: Option<&Receipt>) -> String {
    let witness = receipt.and_then(|receipt| receipt.witness.as_deref()).unwrap_or("nobody named");
    format!("seen by {}", plain(witness))
}
