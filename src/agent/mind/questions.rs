//! Questions that hooks hold open: each can be answered once, while its hook waits and its dialog is shown.

use serde_json::Value;

use super::Mind;
use crate::agent::evidence::{Claim, EpochMs};
use crate::session::{Prompt, PromptKind};

/// More than any agent asks at once; beyond these the oldest is let go and left to its dialog.
const OPEN_MAX: usize = 32;

/// Hooks whose dialog has been gone for so long wait in vain. Letting them go late does no harm, doing it early would
/// take away the way to answer.
const LET_GO_AFTER_MS: u64 = 1500;

/// Drawn at both sides of some dialogs.
const FRAME: char = '│';

/// How much of a text is looked for on the screen; dialogs cut long ones.
const LIKENESS_CHARS_MAX: usize = 60;

/// One open question.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    pub prompt: Prompt,
    pub tool: String,
    pub input: Value,
    /// Its hook still waits.
    pub can_be_answered: bool,
}

/// All that are open, in the order in which they were asked.
#[derive(Debug, Default)]
pub struct Questions {
    open: Vec<Open>,
    /// No dialog is shown since then.
    undrawn_since: Option<EpochMs>,
    /// The one whose dialog was shown last.
    drawn: Option<String>,
}

impl Questions {
    pub fn ask(&mut self, question: Open) {
        if self.open.len() == OPEN_MAX {
            self.open.remove(0);
        }
        self.open.push(question);
    }

    /// The tool was used or refused: its question is over.
    pub fn done(&mut self, tool: &str, input: &Value) {
        // Answers change the input of a question tool, so that only its name can be compared.
        let asks = |open: &Open| open.prompt.kind == PromptKind::Question;
        let same = |open: &Open| open.tool == tool && (open.input == *input || asks(open));
        if let Some(index) = self.open.iter().position(same) {
            self.open.remove(index);
        }
    }

    pub fn clear(&mut self) {
        self.open.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether a hook waits for an answer.
    pub fn are_waiting(&self) -> bool {
        self.open.iter().any(|open| open.can_be_answered)
    }

    /// The question whose dialog is on the screen. Agents may ask several at once and draw them in any order, so that
    /// the content decides; without a screen it is the one that was asked last, and of those only whose hook waits,
    /// unless the agent says that it waits itself. Where no dialog is drawn at all, they come one after the other. With how
    /// much of it is on the screen.
    fn shown(&self, rows: &[String], in_order: bool, is_waiting: bool) -> Option<(&Open, usize)> {
        let text = bare(rows);
        let mut may_be_shown = self.open.iter().filter(|open| open.can_be_answered || is_waiting || !rows.is_empty());
        if in_order && rows.is_empty() {
            return may_be_shown.next().map(|open| (open, 0));
        }
        let alike = may_be_shown.map(|open| (open, likeness(&open.input, &text)));
        alike.enumerate().max_by_key(|(index, (_, likeness))| (*likeness, *index)).map(|(_, best)| best)
    }

    /// The dialog of this question is on the screen. One that was there before is over, unless its hook waits.
    fn draw(&mut self, id: &str) {
        let before = self.drawn.replace(id.to_owned()).filter(|before| before != id);
        self.open.retain(|open| open.can_be_answered || before.as_ref() != Some(&open.prompt.id));
    }
}

impl Mind {
    /// The open question under the name that callers know it by.
    pub fn question(&self, prompt_id: &str) -> Option<&Open> {
        let asked = self.naming.asked_as(prompt_id)?;
        self.questions.open.iter().find(|open| open.prompt.id == asked && open.can_be_answered)
    }

    /// The question was answered, or its hook has left. What it was about is known for as long as its dialog is shown.
    pub fn close_question(&mut self, asked_id: &str) {
        let open = self.questions.open.iter_mut().find(|open| open.prompt.id == asked_id);
        open.into_iter().for_each(|open| open.can_be_answered = false);
    }

    /// The hook that asked was told the answer. Where there is no dialog that would be seen to go, the agent goes on.
    pub fn answered(&mut self, asked_id: &str, now: EpochMs) {
        self.close_question(asked_id);
        if self.driver.habits().hook_hides_dialog && !self.questions.are_waiting() {
            self.note_hook("answered", Claim::Working, now);
        }
    }

    /// Whether a hook need wait under this name.
    pub fn is_asking(&self, asked_id: &str) -> bool {
        self.questions.open.iter().any(|open| open.prompt.id == asked_id && open.can_be_answered)
    }

    pub(super) fn shown_question(&mut self) -> Option<Prompt> {
        self.seen.draws_another = false;
        let rows = self.look.dialog.as_ref().map_or(&[][..], |dialog| &dialog.prompt.screen_lines);
        let is_waiting = self.seen.arbiter().is_some_and(|arbiter| arbiter.claim == Claim::Waiting);
        let in_order = self.driver.habits().hook_hides_dialog;
        let (open, likeness) = self.questions.shown(rows, in_order, is_waiting)?;
        let prompt = open.prompt.clone();
        // A hook that waits would be answered in the place of the dialog that is drawn.
        self.seen.draws_another = open.can_be_answered && likeness < self.likeness_of_begun(rows);
        if likeness > 0 {
            self.questions.draw(&prompt.id);
        }
        Some(prompt)
    }

    /// How much of a tool that has begun, and may ask in a moment, is on the screen.
    fn likeness_of_begun(&self, rows: &[String]) -> usize {
        let text = bare(rows);
        self.unended.iter().map(|begun| likeness(&begun.input, &text)).max().unwrap_or(0)
    }

    /// Questions whose dialog is gone are let go, after a while.
    pub(super) fn let_go_of_questions(&mut self, now: EpochMs) {
        if self.questions.is_empty() || self.is_prompting() {
            self.questions.undrawn_since = None;
        } else if now.since(*self.questions.undrawn_since.get_or_insert(now)) >= LET_GO_AFTER_MS {
            self.questions.clear();
        }
    }

    pub(super) fn questions_end_at(&self) -> Option<EpochMs> {
        self.questions.undrawn_since.map(|since| since.plus(LET_GO_AFTER_MS)).filter(|_| !self.questions.is_empty())
    }
}

/// Without blanks: a text that is wrapped goes on in the next row, behind the frame.
fn bare(rows: &[String]) -> String {
    rows.iter().flat_map(|row| row.chars()).filter(|c| !c.is_whitespace() && *c != FRAME).collect()
}

/// How many of the input's texts are on the screen.
fn likeness(input: &Value, screen: &str) -> usize {
    match input {
        Value::String(text) => {
            let bare: String = text.chars().filter(|c| !c.is_whitespace()).take(LIKENESS_CHARS_MAX).collect();
            usize::from(!bare.is_empty() && screen.contains(&bare))
        }
        Value::Array(items) => items.iter().map(|item| likeness(item, screen)).sum(),
        Value::Object(fields) => fields.values().map(|field| likeness(field, screen)).sum(),
        _ => 0,
    }
}
