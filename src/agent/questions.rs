//! Questions that hooks hold open: each can be answered once, while its hook waits and its dialog is shown.

use serde_json::Value;

use super::hook_socket::HookAnswer;
use crate::session::Prompt;

/// More than any agent asks at once; beyond these the oldest is let go and left to its dialog.
const OPEN_MAX: usize = 32;

/// One open question.
#[derive(Debug)]
pub struct Open {
    pub tool: String,
    pub input: Value,
    pub prompt: Prompt,
    answer: HookAnswer,
}

/// All that are open, in the order in which they were asked.
#[derive(Debug, Default)]
pub struct Questions {
    open: Vec<Open>,
}

impl Questions {
    pub fn ask(&mut self, tool: String, input: Value, prompt: Prompt, answer: HookAnswer) {
        if self.open.len() == OPEN_MAX {
            self.open.remove(0);
        }
        self.open.push(Open { tool, input, prompt, answer });
    }

    /// The question whose dialog is on the screen. Agents may ask several at once and draw them in any order, so that
    /// the content decides; without a screen it is the one that was asked last.
    pub fn shown(&self, rows: &[String]) -> Option<&Open> {
        let text: String = rows.iter().flat_map(|row| row.chars()).filter(|c| !c.is_whitespace()).collect();
        let best = self.open.iter().enumerate().max_by_key(|(index, open)| (likeness(&open.input, &text), *index));
        best.map(|(_, open)| open)
    }

    /// Takes the question with this prompt out, to be answered.
    pub fn take(&mut self, prompt_id: &str) -> Option<Open> {
        let index = self.open.iter().position(|open| open.prompt.id == prompt_id)?;
        Some(self.open.remove(index))
    }

    /// The tool was used or refused: its question is over.
    pub fn done(&mut self, tool: &str, input: &Value) {
        // Answers change the input of a question tool, so that only its name can be compared.
        let same = |open: &Open| open.tool == tool && (open.input == *input || tool == "AskUserQuestion");
        if let Some(index) = self.open.iter().position(same) {
            self.open.remove(index);
        }
    }

    /// Lets go of the questions whose hook has left.
    pub fn drop_gone(&mut self) {
        self.open.retain(|open| !open.answer.is_gone());
    }

    pub fn clear(&mut self) {
        self.open.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

impl Open {
    /// Answers the hook that waits; whether it still did.
    pub fn reply(self, decision: &Value) -> bool {
        self.answer.reply(decision.to_string().into_bytes())
    }
}

/// How many of the input's texts are on the screen.
fn likeness(input: &Value, screen: &str) -> usize {
    match input {
        Value::String(text) => {
            let bare: String = text.chars().filter(|c| !c.is_whitespace()).take(60).collect();
            usize::from(!bare.is_empty() && screen.contains(&bare))
        }
        Value::Array(items) => items.iter().map(|item| likeness(item, screen)).sum(),
        Value::Object(fields) => fields.values().map(|field| likeness(field, screen)).sum(),
        _ => 0,
    }
}
