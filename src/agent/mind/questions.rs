//! Questions that hooks hold open: each can be answered once, while its hook waits and its dialog is shown.

use serde_json::Value;

use super::Mind;
use crate::agent::evidence::{Claim, EpochMs};
use crate::agent::heard::Done;
use crate::session::{Prompt, PromptKind};

/// More than any agent asks at once; beyond these the oldest is let go and left to its dialog.
const OPEN_MAX: usize = 32;

/// So much that was allowed for later is known; of what was allowed before, coop is asked again.
const AGREED_MAX: usize = 64;

/// Hooks whose dialog has been gone for so long wait in vain. Letting them go late does no harm, doing it early would
/// take away the way to answer.
const LET_GO_AFTER_MS: u64 = 1500;

/// Drawn at both sides of some dialogs.
const FRAME: char = '│';

/// How much of a text is looked for on the screen; dialogs cut long ones.
const LIKENESS_CHARS_MAX: usize = 60;

/// Shorter texts are looked for as words.
const LIKENESS_CHARS_MIN: usize = 4;

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

    /// Whether there are several of which no hook waits.
    fn are_several_unheld(&self) -> bool {
        self.open.iter().filter(|open| !open.can_be_answered).count() > 1
    }

    /// The question whose dialog is on the screen, with how much of it is there. Agents may ask several at once, so that
    /// the content decides. Without a screen, or with too little of it, the agent's habit does: it is the first that was
    /// asked or the last; and of those only whose hook waits, unless the agent says that it waits itself.
    fn shown(&self, rows: &[String], in_order: bool, is_waiting: bool) -> Option<(&Open, usize)> {
        let text = Text::of(rows);
        let may_be_shown = self.open.iter().filter(|open| open.can_be_answered || is_waiting || !rows.is_empty());
        let mut alike: Vec<(&Open, usize)> = may_be_shown.map(|open| (open, likeness(&open.input, &text))).collect();
        // Of equals the last counts.
        if in_order {
            alike.reverse();
        }
        // A dialog that is just being painted anew is still the one that was drawn.
        let was_drawn = |open: &Open| in_order && self.drawn.as_ref() == Some(&open.prompt.id);
        alike.into_iter().max_by_key(|(open, likeness)| (*likeness, was_drawn(open)))
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

    /// The question is left to its dialog, where somebody allows this for later as well.
    pub fn agreed(&mut self, asked_id: &str) {
        let asked = self.questions.open.iter().find(|open| open.prompt.id == asked_id);
        let agreed = asked.map(|open| Done { tool: open.tool.clone(), input: open.input.clone() });
        if self.agreed.len() == AGREED_MAX {
            self.agreed.remove(0);
        }
        self.agreed.extend(agreed);
        self.close_question(asked_id);
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
        let in_order = self.driver.habits().asks_in_order;
        let shown = self.questions.shown(rows, in_order, is_waiting);
        let is_drawn = shown.is_some_and(|(open, likeness)| open.can_be_answered || likeness > 0);
        self.seen.is_unclear = !is_drawn && self.questions.are_several_unheld();
        let (open, likeness) = shown?;
        let prompt = open.prompt.clone();
        // A hook that waits would be answered in the place of the dialog that is drawn.
        self.seen.draws_another = open.can_be_answered && likeness < self.likeness_of_begun(rows);
        // One that was drawn before its turn comes again.
        if likeness > 0 && self.seen.out_of_turn.is_none() {
            self.questions.draw(&prompt.id);
        }
        Some(prompt)
    }

    /// Looks whether the dialog that is drawn says that another comes before it, which would take its place.
    pub fn see_order(&mut self, now: EpochMs) {
        let Some(dialog) = &self.look.dialog else { return self.seen.out_of_turn = None };
        let before = dialog.nth.filter(|nth| nth.number > 1 && self.first_of != Some(nth.of));
        if before.is_none() {
            self.first_of = dialog.nth.map(|nth| nth.of);
            self.seen.out_of_turn = None;
            return;
        }
        let since = self.seen.out_of_turn.map_or(now, |(since, _)| since);
        self.seen.out_of_turn = Some((since, self.questions.are_several_unheld()));
    }

    /// How much of a tool that has begun, and may ask in a moment, is on the screen.
    fn likeness_of_begun(&self, rows: &[String]) -> usize {
        let text = Text::of(rows);
        self.unended.iter().map(|begun| likeness(&begun.input, &text)).max().unwrap_or(0)
    }

    /// Questions whose dialog is gone are let go, after a while.
    pub(super) fn let_go_of_questions(&mut self, now: EpochMs) {
        // Those that were just announced may take longer to be drawn than others to be gone.
        let may_open = self.opens_until().is_some_and(|until| now < until);
        if self.questions.is_empty() || self.is_prompting() || may_open {
            self.questions.undrawn_since = None;
        } else if now.since(*self.questions.undrawn_since.get_or_insert(now)) >= LET_GO_AFTER_MS {
            self.questions.clear();
        }
    }

    pub(super) fn questions_end_at(&self) -> Option<EpochMs> {
        self.questions.undrawn_since.map(|since| since.plus(LET_GO_AFTER_MS)).filter(|_| !self.questions.is_empty())
    }
}

/// What is on the screen, to look for texts in it.
struct Text {
    /// Without blanks: a text that is wrapped goes on in the next row, behind the frame.
    bare: String,
    words: Vec<String>,
}

impl Text {
    fn of(rows: &[String]) -> Self {
        let bare = rows.iter().flat_map(|row| row.chars()).filter(|c| !c.is_whitespace() && *c != FRAME).collect();
        let words = rows.iter().flat_map(|row| row.split_whitespace()).map(str::to_owned).collect();
        Self { bare, words }
    }

    /// Short texts stand in many others, and count as words of their own only.
    fn has(&self, text: &str) -> bool {
        let bare: String = text.chars().filter(|c| !c.is_whitespace()).take(LIKENESS_CHARS_MAX).collect();
        match bare.chars().count() {
            0 => false,
            count if count < LIKENESS_CHARS_MIN => self.words.contains(&bare),
            _ => self.bare.contains(&bare),
        }
    }
}

/// How many of the input's texts are on the screen.
fn likeness(input: &Value, screen: &Text) -> usize {
    match input {
        Value::String(text) => usize::from(screen.has(text)),
        Value::Array(items) => items.iter().map(|item| likeness(item, screen)).sum(),
        Value::Object(fields) => fields.values().map(|field| likeness(field, screen)).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(command: &str) -> Open {
        let prompt = Prompt { id: command.to_owned(), ..Prompt::new(PromptKind::Permission) };
        Open { prompt, tool: "shell".to_owned(), input: json!({ "command": command }), can_be_answered: false }
    }

    #[test]
    fn of_several_the_one_that_is_drawn_is_shown_and_before_that_the_agents_habit_decides() {
        let questions = Questions { open: vec![asked("touch one"), asked("touch two")], ..Questions::default() };
        let shown = |rows: &[&str], in_order| {
            let rows: Vec<String> = rows.iter().map(|&row| row.to_owned()).collect();
            questions.shown(&rows, in_order, true).map(|(open, _)| open.prompt.id.clone()).unwrap()
        };
        for in_order in [true, false] {
            assert_eq!(shown(&["│ touch one │", "1. Allow once"], in_order), "touch one");
            assert_eq!(shown(&["│ touch two │", "1. Allow once"], in_order), "touch two");
        }
        for too_little in [&[][..], &["1. Allow once"]] {
            assert_eq!(shown(too_little, true), "touch one");
            assert_eq!(shown(too_little, false), "touch two");
        }
        assert_eq!(likeness(&json!({"command": "ls", "description": "a"}), &Text::of(&["Allow else?".to_owned()])), 0);
        assert_eq!(likeness(&json!({"command": "ls"}), &Text::of(&["│ ls │".to_owned()])), 1);
        let drawn = Questions { drawn: Some("touch two".to_owned()), ..questions };
        assert_eq!(drawn.shown(&[], true, true).unwrap().0.prompt.id, "touch two", "it is only painted anew");
    }
}
