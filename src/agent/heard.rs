//! What one hook event of an agent tells, as facts.

use std::path::PathBuf;

use serde_json::Value;

use super::evidence::Claim;
use crate::session::{Prompt, PromptKind};

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

/// How much of a tool's input is shown with its prompt wherever that is told.
const INPUT_CHARS_MAX: usize = 200;

/// How much of it is there for those who want to read all of what they allow.
const INPUT_FULL_CHARS_MAX: usize = 16 * 1024;

/// A dialog that a tool's request opens.
pub fn of_tool(kind: PromptKind, tool: &str, input: &Value) -> Prompt {
    let whole = Some(input.to_string()).filter(|_| !input.is_null());
    let short = whole.as_deref().map(|text| cut(text, INPUT_CHARS_MAX));
    Prompt {
        tool: Some(tool.to_owned()).filter(|tool| !tool.is_empty()),
        input_full: whole
            .filter(|text| Some(text) != short.as_ref())
            .map(|text| cut(&text, INPUT_FULL_CHARS_MAX).into()),
        input: short,
        ..Prompt::new(kind)
    }
}

/// The beginning of a text, so that what is shown with a prompt stays short.
pub fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_input_is_shown_cut_and_is_there_whole_within_bounds() {
        let asked = |command: &str| of_tool(PromptKind::Permission, "Bash", &json!({"command": command}));
        let short = asked("ls");
        assert_eq!((short.input.as_deref(), short.input_full), (Some(r#"{"command":"ls"}"#), None));
        let long = asked(&"echo ü; ".repeat(100));
        assert_eq!(long.input.map(|input| input.chars().count()), Some(INPUT_CHARS_MAX + 1));
        let whole: Value = serde_json::from_str(&long.input_full.expect("it was cut")).expect("JSON");
        assert_eq!(whole["command"], "echo ü; ".repeat(100));
        let endless = asked(&"x".repeat(1 << 20)).input_full.expect("it was cut");
        assert_eq!(endless.chars().count(), INPUT_FULL_CHARS_MAX + 1);
        assert_eq!(of_tool(PromptKind::Permission, "", &Value::Null).input, None);
    }
}
