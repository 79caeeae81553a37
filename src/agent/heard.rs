//! What one hook event of an agent tells, as facts.

use std::path::PathBuf;

use serde_json::Value;

use super::evidence::Claim;
use crate::session::Prompt;

/// What the agent waits for, where that may change what it does.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Wants {
    /// Nothing but to be heard.
    #[default]
    Nothing,
    /// An answer to a dialog, which may take its time.
    Answer(Box<Asked>),
    /// Whether it may stop.
    Stop { already_held: bool },
    /// What it shall be told at the beginning.
    Start { source: String },
}

/// A question that a hook holds open.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub prompt: Prompt,
    pub tool: String,
    pub input: Value,
    /// Whether the hook waits for the answer; else its dialog alone does.
    pub is_held: bool,
}

/// One use of a tool: one that is about to begin, or one whose dialog, if it had one, is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    pub tool: String,
    pub input: Value,
}

/// Everything that one event tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heard {
    pub claim: Option<Claim>,
    pub wants: Wants,
    pub done: Option<Done>,
    /// A tool that is about to run; a question about it may follow.
    pub begins: Option<Done>,
    /// A message that the agent took.
    pub took: Option<String>,
    /// The conversation, and the file that it is written to.
    pub conversation: Option<String>,
    pub log: Option<PathBuf>,
    pub last_message: Option<String>,
    /// The turn ended without a word of the agent's: it may have failed.
    pub is_wordless: bool,
    /// Its memory is about to be compacted.
    pub compacts: bool,
    /// All that it shows is about to be drawn anew.
    pub redraws: bool,
    /// The agent ends, or its program is about to be started anew.
    pub ends: bool,
    /// All questions are over: the turn ended, or another began.
    pub closes_questions: bool,
}

/// The beginning of a text, so that what is shown with a prompt stays short.
pub fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
