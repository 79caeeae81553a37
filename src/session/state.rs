//! What the program inside is doing, what it asks, and why that is believed.

use std::borrow::Cow;
use std::sync::Arc;

/// What the program inside is doing, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateKind {
    Starting,
    Working,
    Idle,
    Prompt,
    Error,
    Parked,
    Restarting,
    Exited,
    Unknown,
}

/// What the program inside is doing, with everything that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Starting,
    Working,
    Idle,
    /// It shows a dialog; an error may have caused it.
    Prompt {
        prompt: Arc<Prompt>,
        trouble: Option<Trouble>,
    },
    Error(Trouble),
    Parked(Parked),
    Restarting,
    Exited,
    Unknown,
}

/// Which kind of source told it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    Hooks,
    SessionLog,
    Stream,
    Process,
    Screen,
}

/// Why a state is believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    pub tier: Tier,
    /// The source and its rule, such as `hooks: Stop`.
    pub rule: Cow<'static, str>,
}

/// What kind of dialog is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PromptKind {
    Permission,
    Plan,
    Question,
    Setup,
}

/// The dialog that an agent shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// Names this very prompt within the session; empty until the session gives it a name.
    pub id: String,
    pub kind: PromptKind,
    /// Further classification, such as `trust`, `tool`, `theme_picker`, `oauth_login`.
    pub subtype: Option<String>,
    /// The tool that asks.
    pub tool: Option<String>,
    /// The tool's input as JSON text, cut to about 200 characters.
    pub input: Option<String>,
    /// All of it, where it was cut.
    pub input_full: Option<Arc<str>>,
    /// Where to log in.
    pub auth_url: Option<String>,
    /// The labels of the options as the screen shows them, in order.
    pub options: Vec<String>,
    /// Whether the labels are coop's own, because the dialog's could not be read.
    pub options_fallback: bool,
    pub questions: Vec<Question>,
    /// The question being shown, counted from 0; as many as there are when the dialog asks for confirmation.
    pub question_current: usize,
    /// Whether everything about it is known.
    pub ready: bool,
    /// A summary, for plans.
    pub summary: Option<String>,
    /// The rows of the screen that show it.
    pub screen_lines: Vec<String>,
}

/// One question of a dialog.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    pub question: String,
    /// Its short heading.
    pub header: Option<String>,
    pub options: Vec<String>,
    /// What each option means, in the same order.
    pub descriptions: Vec<String>,
    /// Whether several options can be chosen.
    pub multi_select: bool,
}

/// What an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCategory {
    Unauthorized,
    OutOfCredits,
    RateLimited,
    NoInternet,
    ServerError,
    ContextWindow,
    Other,
}

/// An error that an agent tells of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub category: ErrorCategory,
    /// What the agent says about it.
    pub detail: String,
    /// When it ends by itself, in milliseconds since 1970, where the agent tells it.
    pub resume_at_epoch_ms: Option<u64>,
}

/// An agent that waits for a limit to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parked {
    /// What the agent says about it.
    pub reason: String,
    /// When it goes on, in milliseconds since 1970, where the agent tells it.
    pub resume_at_epoch_ms: Option<u64>,
    /// What the limit is about.
    pub category: ErrorCategory,
}

impl State {
    pub fn kind(&self) -> StateKind {
        match self {
            Self::Starting => StateKind::Starting,
            Self::Working => StateKind::Working,
            Self::Idle => StateKind::Idle,
            Self::Prompt { .. } => StateKind::Prompt,
            Self::Error(_) => StateKind::Error,
            Self::Parked(_) => StateKind::Parked,
            Self::Restarting => StateKind::Restarting,
            Self::Exited => StateKind::Exited,
            Self::Unknown => StateKind::Unknown,
        }
    }

    pub fn prompt(&self) -> Option<&Arc<Prompt>> {
        if let Self::Prompt { prompt, .. } = self { Some(prompt) } else { None }
    }

    /// The error that it stopped at, or that its dialog is about.
    pub fn trouble(&self) -> Option<&Trouble> {
        match self {
            Self::Error(trouble) => Some(trouble),
            Self::Prompt { trouble, .. } => trouble.as_ref(),
            _ => None,
        }
    }

    pub fn parked(&self) -> Option<&Parked> {
        if let Self::Parked(parked) = self { Some(parked) } else { None }
    }
}

impl StateKind {
    /// In the order in which they are declared.
    pub const ALL: [Self; 9] = [
        Self::Starting,
        Self::Working,
        Self::Idle,
        Self::Prompt,
        Self::Error,
        Self::Parked,
        Self::Restarting,
        Self::Exited,
        Self::Unknown,
    ];

    /// The word that the contract uses.
    pub fn word(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Working => "working",
            Self::Idle => "idle",
            Self::Prompt => "prompt",
            Self::Error => "error",
            Self::Parked => "parked",
            Self::Restarting => "restarting",
            Self::Exited => "exited",
            Self::Unknown => "unknown",
        }
    }
}

impl PromptKind {
    /// In the order in which they are declared.
    pub const ALL: [Self; 4] = [Self::Permission, Self::Plan, Self::Question, Self::Setup];

    /// The word that the contract uses.
    pub fn word(self) -> &'static str {
        match self {
            Self::Permission => "permission",
            Self::Plan => "plan",
            Self::Question => "question",
            Self::Setup => "setup",
        }
    }
}

impl Prompt {
    /// Whether it belongs to the agent's start or to its settings: it comes once, is not asked by an agent at work, and is
    /// left by leaving in some cases.
    pub fn is_of_start(&self) -> bool {
        self.kind == PromptKind::Setup || self.subtype.as_deref() == Some("trust")
    }

    /// A dialog of which nothing else is known yet.
    pub fn new(kind: PromptKind) -> Self {
        Self {
            id: String::new(),
            kind,
            subtype: None,
            tool: None,
            input: None,
            input_full: None,
            auth_url: None,
            options: Vec::new(),
            options_fallback: false,
            questions: Vec::new(),
            question_current: 0,
            ready: false,
            summary: None,
            screen_lines: Vec::new(),
        }
    }
}

impl Cause {
    pub fn new(tier: Tier, rule: impl Into<Cow<'static, str>>) -> Self {
        Self { tier, rule: rule.into() }
    }

    /// What the owner of the child knows by itself.
    pub const fn process(rule: &'static str) -> Self {
        Self { tier: Tier::Process, rule: Cow::Borrowed(rule) }
    }
}
