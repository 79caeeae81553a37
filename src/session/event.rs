//! What happens in a session, as its subscribers are told.

use super::keep::Keep;
use super::receipt::Receipt;
use super::state::{Cause, State, StateKind};
use crate::child::{Exit, Size};
use crate::terminal::{Offset, Seq};

/// From one state to the next; a dialog that grew is told as a change from `Prompt` to `Prompt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    pub prev: StateKind,
    pub next: State,
    pub cause: Cause,
    /// The agent's last words, when it has just stopped talking.
    pub last_message: Option<String>,
}

/// How a child's life ended, or why it never began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Exited(Exit),
    /// It could not be started; `code` is what a shell would answer, 126 or 127.
    NotStarted {
        code: i32,
        reason: String,
    },
    /// What was borrowed has ended, or was let go of; how is known only at times.
    Left {
        exit: Option<Exit>,
        reason: String,
    },
}

/// Something that happened once and is kept for those who come back.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Transition(Transition),
    /// The child is gone; stands in for the transition to `Exited`.
    Ended {
        ended: Ended,
        prev: StateKind,
    },
    Resized(Size),
    Receipt(Receipt),
    /// The stop gate decided.
    Stopped(Stopped),
    /// A conversation began, went on, or was cleared.
    Began(Began),
    /// A transcript was kept.
    Kept(Kept),
    /// The agent wrote a line about its conversation.
    Wrote(Wrote),
    /// A program in the box asked for a host that it may not reach.
    Denied(Denied),
}

/// What was decided about an agent that wanted to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    Allowed,
    /// The signal had come, as JSON text.
    Signaled(String),
    /// An error that cannot be mended.
    Error(String),
    SafetyValve,
    Blocked,
}

/// A conversation that began, went on, or was cleared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Began {
    /// Which of them: `startup`, `resume`, `clear`, `compact`.
    pub source: String,
    pub conversation: Option<String>,
    /// Whether the agent was told something.
    pub injected: bool,
}

/// A transcript that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub number: u32,
    /// When, in ISO 8601.
    pub timestamp: String,
    pub line_count: u64,
}

/// A host that a box may not reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    pub host: String,
    pub port: u16,
    /// In one word.
    pub why: &'static str,
    /// How many before it were not told.
    pub untold: u64,
}

/// A longer line is told of, not told: pictures and whole files are written into a log as one line.
pub const LINE_BYTES_MAX: usize = 1024 * 1024;

/// Where an agent writes about its conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenTo {
    Log,
    Stdout,
}

/// A line that an agent wrote about its conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrote {
    pub to: WrittenTo,
    /// The line, a JSON object; `None` when it is longer than [`LINE_BYTES_MAX`].
    pub line: Option<Box<str>>,
    pub bytes: usize,
}

impl Wrote {
    pub fn new(to: WrittenTo, line: &str) -> Self {
        Self { to, line: (line.len() <= LINE_BYTES_MAX).then(|| line.into()), bytes: line.len() }
    }
}

impl Event {
    /// How many bytes it holds, beside the few that every event has.
    pub fn bytes_held(&self) -> usize {
        match self {
            Self::Wrote(wrote) => wrote.line.as_ref().map_or(0, |line| line.len()),
            _ => 0,
        }
    }
}

/// An event in its place.
#[derive(Debug)]
pub struct Entry {
    pub seq: Seq,
    /// How much the child had printed by then; keeps events and output in order for a reader of both.
    pub offset: Offset,
    pub event: Event,
    /// Its JSON frame, shared by all readers.
    pub encoded: Keep,
}

impl Ended {
    /// The exit code, unless a signal ended it.
    pub fn code(&self) -> Option<i32> {
        match self {
            Self::Exited(exit) => exit.code(),
            Self::NotStarted { code, .. } => Some(*code),
            Self::Left { exit, .. } => exit.and_then(Exit::code),
        }
    }

    pub fn signal(&self) -> Option<i32> {
        match self {
            Self::Exited(exit) => exit.signal(),
            Self::NotStarted { .. } => None,
            Self::Left { exit, .. } => exit.and_then(Exit::signal),
        }
    }

    /// Why it could not be started, or how it left where no code says it.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Exited(_) | Self::Left { exit: Some(_), .. } => None,
            Self::NotStarted { reason, .. } | Self::Left { reason, .. } => Some(reason),
        }
    }

    /// What a shell would report.
    pub fn shell_code(&self) -> i32 {
        match self {
            Self::Exited(exit) => exit.shell_code(),
            Self::NotStarted { code, .. } => *code,
            // 1 where nobody knows: 0 would tell of a success that nobody saw.
            Self::Left { exit, .. } => exit.map_or(1, Exit::shell_code),
        }
    }
}
