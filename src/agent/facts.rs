//! What an agent's own files and output tell, as facts. The same for all agents.

use super::evidence::{Claim, EpochMs, Evidence};
use super::usage::{MessageUsage, RunUsage};

/// What one line tells. Lines come not always in the order of their times: go by `at`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogFacts {
    /// When it happened, by the line's own clock; a message that was queued carries the time when it was given.
    pub at: Option<EpochMs>,
    pub session_id: Option<String>,
    pub cwd: Option<String>,
    /// What the line means for the state, and by which rule.
    pub claim: Option<(&'static str, Claim)>,
    /// What became of a message to the agent.
    pub said: Option<Said>,
    pub usage: Option<MessageUsage>,
    /// What the agent said.
    pub last_message: Option<String>,
    /// The conversation was compacted here.
    pub compacted: bool,
    /// A plan; the turn will end with a dialog about it.
    pub plan: Option<String>,
}

/// What became of a message to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// It began a turn; after it had waited in the queue, or at once.
    Prompt { text: String, queued: bool },
    /// It waits in the queue.
    Queued { text: String },
    /// The oldest of the queue begins a turn; a `Prompt` with its text follows.
    Dequeued,
    /// One of the queue is taken into the running turn; `TakenInTurn` with its text follows.
    Removed,
    /// The agent read it in the middle of a turn.
    TakenInTurn { text: String },
    /// A user took it out of the queue to edit it; the agent did not read it.
    Withdrawn { text: String },
}

/// A line that is no line of a session log.
#[derive(Debug, thiserror::Error)]
pub enum BadLine {
    #[error("a line of the session log is not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("a line of the session log is not a JSON object")]
    NotAnObject,
}

/// What one line tells that was printed instead of drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamFacts {
    /// What the line means for the state, and by which rule.
    pub claim: Option<(&'static str, Claim)>,
    pub session_id: Option<String>,
    /// What a message cost; its output is not final here.
    pub usage: Option<MessageUsage>,
    /// What the whole run cost so far.
    pub run: Option<RunUsage>,
    /// What the agent said.
    pub last_message: Option<String>,
}

/// Reads the lines that one run prints, in order.
pub trait Printed: Send + Sync {
    /// Reads one line; `None` when it is not one of the stream.
    fn read_line(&mut self, line: &str, now: EpochMs) -> Option<StreamFacts>;
}

/// What a status file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusFacts {
    /// `None` when it starts, or says something that is not understood.
    pub evidence: Option<Evidence>,
    /// The word that is not understood.
    pub unknown: Option<String>,
    pub session_id: Option<String>,
}
