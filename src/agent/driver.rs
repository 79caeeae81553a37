//! What coop must know about one kind of agent. Each has a folder with the same file names and one `Driver` in it; all
//! else is the same for all.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::claude;
use super::codex;
use super::evidence::{Claim, EpochMs, Source};
use super::facts::{BadLine, LogFacts, Printed, StatusFacts};
use super::gemini;
use super::heard::{Asked, Done, Heard};
use super::look::{Dialog, Look};
use super::press::{Step, Way};
use super::rules::{Rules, RulesError};
use super::sight::Sight;
use super::start::{BadSettings, Given, Plan, Reading};
use super::talk::{Answer, Failure};
use super::typing::Typing;
use super::version::Release;
use super::view::View;
use crate::config;
use crate::session::Prompt;

/// One kind of agent.
pub trait Driver: fmt::Debug + Send + Sync {
    /// As people call it.
    fn name(&self) -> &'static str;
    fn release(&self) -> &'static Release;
    fn habits(&self) -> &'static Habits;
    /// What its pictures mean, with the operator's own rules.
    fn rules(&self, agent_config: Option<&Value>) -> Result<Rules, RulesError>;

    // How it is started.

    /// Where it keeps its files, by the child's environment.
    fn config_dir(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf>;
    fn prepare(&self, given: &Given<'_>, read: Reading<'_>) -> Result<Plan, BadSettings>;
    /// Whether a command line makes it print JSON lines instead of drawing.
    fn prints_jsonl(&self, argv: &[OsString]) -> bool;
    /// Whether a command line asks for the mode without permissions.
    fn asks_for_bypass(&self, argv: &[OsString]) -> bool;

    // What it tells.

    /// Whether what it is told at a start must be JSON; else it takes plain text.
    fn takes_context_as_json(&self) -> bool {
        false
    }
    /// One event of its hooks.
    fn hear(&self, event: &str, payload: &Value, now: EpochMs) -> Heard;
    /// A question of its hooks with what is known of the tools that it has begun, the newest last, and of those that it
    /// has not asked about.
    fn completed(&self, asked: Asked, _begun: &[Done], _unasked: &[Done]) -> Asked {
        asked
    }
    /// Whether its hook asks about something that somebody has allowed for later in a dialog, so that the agent itself would
    /// not ask; `agreed` are the questions that were answered so.
    fn is_agreed(&self, _asked: &Asked, _agreed: &[Done]) -> bool {
        false
    }
    /// One line of its log.
    fn read_line(&self, line: &str, now: EpochMs) -> Result<LogFacts, BadLine>;
    /// A reader of what it prints instead of drawing.
    fn printed(&self) -> Box<dyn Printed>;
    /// The file in which it keeps its present status, if it has one.
    fn status_path(&self, _config_dir: &Path, _pid: u32) -> Option<PathBuf> {
        None
    }
    fn read_status(&self, _text: &str, _now: EpochMs) -> Result<StatusFacts, String> {
        Ok(StatusFacts::default())
    }
    fn look(&self, rules: &Rules, sight: Sight<'_>) -> Look;
    /// When a limit ends, in the words that the screen shows of it.
    fn limit_ends(&self, _words: &str, _now: EpochMs) -> Option<EpochMs> {
        None
    }
    /// What its title means.
    fn title(&self, title: &str) -> Option<Sign>;
    /// What it says in its output with a command that terminals pass over (OSC 7501).
    fn signal(&self, _text: &str) -> Option<Sign> {
        None
    }

    // Its conversations.

    /// The log of a conversation that is or will be held in this workspace, where its place is known.
    fn log_path(&self, config_dir: &Path, workspace: &Path, conversation: &str) -> Option<PathBuf>;
    /// The log that a child writes, where neither its command line nor a hook names the conversation.
    fn own_log(&self, _config_dir: &Path, _workspace: &Path, _pid: u32, _started: EpochMs) -> Option<PathBuf> {
        None
    }
    /// The log of a conversation, wherever it was held.
    fn find_log(&self, config_dir: &Path, conversation: &str) -> io::Result<Option<PathBuf>>;
    /// The logs of all conversations that were held in a workspace.
    fn logs_of(&self, config_dir: &Path, workspace: &Path) -> io::Result<Vec<PathBuf>>;
    /// The logs of helpers that the agent itself sent out in the conversation with this log.
    fn helper_logs(&self, _log: &Path) -> Vec<PathBuf> {
        Vec::new()
    }
    /// The conversation that a file is the log of.
    fn conversation_of(&self, log: &Path) -> Option<String>;

    // How it is talked to.

    fn typing(&self) -> &'static Typing;
    /// A message as it is typed, so that it arrives as text and not as a command, or the other way round.
    fn guarded(&self, text: &str, is_command: bool) -> Result<String, Failure>;
    /// How an answer to a dialog is given, or what would be one.
    fn way(&self, view: &View, prompt: &Prompt, answer: &Answer) -> Result<Way, Failure>;
    /// What passes a dialog of its start that does no harm; `None` leaves it to somebody who decides.
    fn groom_steps(&self, dialog: &Dialog, bypass_was_asked: bool) -> Option<Vec<Step>>;
}

/// What a title or a signal means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sign {
    pub rule: &'static str,
    pub claim: Claim,
    /// A few words about it.
    pub detail: Option<String>,
}

impl Sign {
    pub fn new(rule: &'static str, claim: Claim) -> Self {
        Self { rule, claim, detail: None }
    }
}

/// How quick an agent's sources are, and which of them shows how things are. Times in milliseconds, as measured on a
/// busy machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Habits {
    /// Shows at any moment how things are, while hooks and log tell what has happened.
    pub arbiter: Source,
    /// How much later than a hook the arbiter may still speak of the time before it.
    pub arbiter_lag_ms: u64,
    /// How long the arbiter may say idle between two turns.
    pub arbiter_settles_ms: u64,
    /// The hook that ends a turn.
    pub stop_event: &'static str,
    /// Whether that hook comes after a failure as well, so that it does not tell how a turn ended.
    pub stops_after_failure: bool,
    /// How long after that hook the agent may go on by itself, with a message that it had queued.
    pub stop_settles_ms: u64,
    /// How long after its hook a dialog may be drawn.
    pub opens_within_ms: u64,
    /// Whether a hook tells that it can be typed to; then nothing else does before.
    pub hook_tells_ready: bool,
    /// How long after its input box is drawn an agent with hooks may take to speak.
    pub speaks_within_ms: u64,
    /// How long the arbiter may say at the start that it works, though nobody has given it anything to do.
    pub wakes_within_ms: u64,
    /// Whether no dialog is drawn for as long as a hook waits for the answer to its question.
    pub hook_hides_dialog: bool,
    /// Whether of several questions at once the first is drawn first.
    pub asks_in_order: bool,
    /// Dialogs that the agent opens by itself at any time: harmless ones are passed whenever they come, not only at its
    /// start.
    pub unasked: &'static [&'static str],
}

/// The driver for an agent; `None` for a program that coop does not know.
pub fn of(agent: config::Agent) -> Option<&'static dyn Driver> {
    match agent {
        config::Agent::Claude => Some(&claude::Claude),
        config::Agent::Codex => Some(&codex::Codex),
        config::Agent::Gemini => Some(&gemini::Gemini),
        config::Agent::Unknown => None,
    }
}
