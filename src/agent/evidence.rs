//! What a source saw, and what it takes it to mean.

use std::borrow::Cow;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::session::{Parked, Prompt, StateKind, Tier, Trouble};

/// A moment in milliseconds since 1970: the clock that agents write into their own files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EpochMs(pub u64);

/// Who saw something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// What the agent pushes through its hooks.
    Hooks,
    /// A small file in which the agent keeps its present status.
    Status,
    /// The agent's own log of the conversation.
    Log,
    /// JSON lines on the terminal, in runs without a user interface.
    Jsonl,
    /// What the agent says about its state in its output, past the screen.
    Signal,
    /// The terminal's title.
    Title,
    /// The process itself.
    Process,
    /// Rules over the rendered screen.
    Screen,
}

/// What something is taken to mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    Working,
    Idle,
    /// Idle or at a dialog; in any case not working.
    Still,
    /// At a dialog; which one is not said.
    Waiting,
    Prompt(Prompt),
    Error(Trouble),
    Parked(Parked),
}

/// One thing that a source saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    pub source: Source,
    /// What the source went by, such as the name of a hook event or of a screen rule.
    pub rule: Cow<'static, str>,
    pub claim: Claim,
    /// A few words about what was seen.
    pub detail: Option<String>,
    /// When it happened; for a log line this is the line's own time, not that of reading it.
    pub at: EpochMs,
}

impl EpochMs {
    pub fn now() -> Self {
        Self::from(SystemTime::now())
    }

    /// Milliseconds from `earlier` to this moment; 0 when that is not in the past.
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    pub fn plus(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }
}

impl From<SystemTime> for EpochMs {
    fn from(time: SystemTime) -> Self {
        Self(time.duration_since(UNIX_EPOCH).map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX)))
    }
}

impl Source {
    pub fn tier(self) -> Tier {
        match self {
            Self::Hooks => Tier::Hooks,
            Self::Status | Self::Log => Tier::SessionLog,
            Self::Jsonl | Self::Signal | Self::Title => Tier::Stream,
            Self::Process => Tier::Process,
            Self::Screen => Tier::Screen,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Hooks => "hooks",
            Self::Status => "status",
            Self::Log => "log",
            Self::Jsonl => "jsonl",
            Self::Signal => "signal",
            Self::Title => "title",
            Self::Process => "process",
            Self::Screen => "screen",
        }
    }
}

impl Claim {
    /// The state that it speaks for most.
    pub fn kind(&self) -> StateKind {
        match self {
            Self::Working => StateKind::Working,
            Self::Idle | Self::Still => StateKind::Idle,
            Self::Waiting | Self::Prompt(_) => StateKind::Prompt,
            Self::Error(_) => StateKind::Error,
            Self::Parked(_) => StateKind::Parked,
        }
    }
}

impl Evidence {
    pub fn new(source: Source, rule: impl Into<Cow<'static, str>>, claim: Claim, at: EpochMs) -> Self {
        Self { source, rule: rule.into(), claim, detail: None, at }
    }

    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }
}
