//! Messages to an agent and answers to its dialogs: what is asked for, and what became of it.

use std::borrow::Cow;
use std::time::Duration;

use crate::session::{Expect, LockId, Phase, PromptKind, Receipt, Refusal, StateKind};

/// A message for the agent.
#[derive(Clone, Debug)]
pub struct Nudge {
    pub message: String,
    /// Let a working agent queue it.
    pub queue: bool,
    /// Put it into what a working agent does now.
    pub steer: bool,
    /// It is one of the agent's own commands and shall run as such.
    pub command: bool,
    pub expect: Expect,
    pub writer: Option<LockId>,
    /// How long the caller waits for a witness.
    pub timeout: Duration,
}

/// What became of a message.
#[derive(Clone, Debug)]
pub struct Nudged {
    pub delivered: bool,
    pub before: StateKind,
    /// Why it was not delivered, in one word.
    pub reason: Option<Cow<'static, str>>,
    pub receipt: Option<Receipt>,
}

/// An answer to a dialog.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub accept: Option<bool>,
    /// Counted from 1.
    pub option: Option<u32>,
    pub text: Option<String>,
    /// One for each question.
    pub answers: Vec<Chosen>,
    pub prompt_id: Option<String>,
    pub expect: Expect,
    pub writer: Option<LockId>,
    pub timeout: Duration,
}

/// The answer to one question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    pub option: Option<u32>,
    pub options: Vec<u32>,
    pub text: Option<String>,
}

/// What became of an answer.
#[derive(Clone, Debug)]
pub struct Answered {
    pub delivered: bool,
    pub kind: Option<PromptKind>,
    /// Whether this refusal ended the agent's turn; `None` when it was none, or was not delivered.
    pub ends_turn: Option<bool>,
    pub reason: Option<Cow<'static, str>>,
    pub receipt: Option<Receipt>,
}

/// Why something was not delivered, in one word; `None` when a witness saw it taken.
pub fn reason(phase: &Phase) -> Option<Cow<'static, str>> {
    match phase {
        Phase::Accepted { .. } => None,
        Phase::Refused { why } => Some(why.clone()),
        Phase::Echoed => Some(QUEUED.into()),
        _ => Some(UNCONFIRMED.into()),
    }
}

/// Why nothing was even tried.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Failure {
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It makes no sense; the message says what would.
    #[error("{0}")]
    Bad(String),
    /// Another dialog is shown than the one that was meant.
    #[error("prompt {meant} is not shown any more: {shown} is")]
    OtherPrompt { meant: String, shown: String, state: StateKind },
}

/// The agent cannot take a message now.
pub const AGENT_BUSY: &str = "agent_busy";
/// Its input box is out of sight: somebody looks at something else there.
pub const NO_INPUT_BOX: &str = "no_input_box";
/// Somebody else is typing, and did not come to an end in time.
pub const WRITER_BUSY: &str = "writer_busy";
/// Nothing is asked.
pub const NO_PROMPT: &str = "no_prompt";
/// The agent keeps it until its present work is done.
pub const QUEUED: &str = "queued";
/// It was written, but nobody saw the agent take it yet.
pub const UNCONFIRMED: &str = "unconfirmed";
/// Somebody is answering this very prompt, or has.
pub const ALREADY_ANSWERED: &str = "already_answered";
