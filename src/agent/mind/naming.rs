//! Names for prompts: one dialog keeps its name for as long as it is shown, and no two share one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::session::{Prompt, PromptKind, State};

/// Mark the option that Enter would take, in any agent: where it stands makes no other dialog.
const CURSORS: [char; 3] = ['❯', '›', '●'];

/// The subtype of a dialog that coop does not know: the next one need not be the same.
const UNKNOWN_DIALOG: &str = "dialog";

/// Gives names to what is shown.
#[derive(Debug)]
pub struct Naming {
    numbers: Arc<AtomicU64>,
    shown: Option<Shown>,
}

/// The dialog that is shown now.
#[derive(Clone, Debug)]
struct Shown {
    id: String,
    kind: PromptKind,
    /// The name that the hook's question was given, when a hook asked.
    asked: Option<String>,
    /// What the screen shows above the options.
    heading: String,
    /// As it was told last.
    prompt: Arc<Prompt>,
}

impl Naming {
    pub fn new(numbers: Arc<AtomicU64>) -> Self {
        Self { numbers, shown: None }
    }

    /// A name that was never given before.
    pub fn next(&self) -> String {
        format!("p{}", self.numbers.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Names the dialog of a state.
    pub fn name(&mut self, state: State) -> State {
        let State::Prompt { prompt, trouble } = state else {
            self.shown = None;
            return state;
        };
        let asked = Some(prompt.id.clone()).filter(|id| !id.is_empty());
        let heading = heading(&prompt);
        let same = self.shown.as_ref().filter(|shown| match (&shown.asked, &asked) {
            (Some(known), Some(asked)) => known == asked,
            // The screen was quicker than the hook, or outlives it: the same dialog, seen by another source.
            (None, Some(_)) => shown.kind == prompt.kind || prompt.kind != PromptKind::Setup,
            (Some(_), None) => shown.kind == prompt.kind && (heading.is_empty() || shown.heading == heading),
            (None, None) => {
                let is_known = shown.heading == heading || is_same_picker(&shown.prompt, &prompt);
                shown.kind == prompt.kind && (is_known || is_nameless(&shown.prompt))
            }
        });
        let id = match (same, &asked) {
            (Some(shown), _) => shown.id.clone(),
            (None, Some(asked)) => asked.clone(),
            (None, None) => self.next(),
        };
        let known = same.cloned();
        let known_prompt = known.as_ref().map(|known| known.prompt.clone());
        let heading =
            if heading.is_empty() { known.as_ref().map_or(heading, |known| known.heading.clone()) } else { heading };
        let asked = asked.or(known.and_then(|known| known.asked));
        let mut named = Prompt { id: id.clone(), ..Prompt::clone(&prompt) };
        if let Some(known) = known_prompt {
            keep_what_was_seen(&known, &mut named);
        }
        let prompt = Arc::new(named);
        self.shown = Some(Shown { id, kind: prompt.kind, asked, heading, prompt: prompt.clone() });
        State::Prompt { prompt, trouble }
    }

    /// The name under which a hook asked what is shown under this one.
    pub fn asked_as(&self, id: &str) -> Option<&str> {
        self.shown.as_ref().filter(|shown| shown.id == id).and_then(|shown| shown.asked.as_deref())
    }
}

/// Whether only its kind was told. What is drawn then is that very dialog.
fn is_nameless(known: &Prompt) -> bool {
    known.subtype.as_deref() == Some(UNKNOWN_DIALOG) && known.screen_lines.is_empty()
}

/// Whether both are one dialog of the start that has no numbered options, as the list of old conversations: its rows come
/// late, and change with the time that they tell ("1s ago").
fn is_same_picker(known: &Prompt, prompt: &Prompt) -> bool {
    let is_known = prompt.subtype.as_deref().is_some_and(|subtype| subtype != UNKNOWN_DIALOG);
    let is_picker = |prompt: &Prompt| prompt.options.is_empty();
    prompt.kind == PromptKind::Setup
        && is_known
        && known.subtype == prompt.subtype
        && is_picker(known)
        && is_picker(prompt)
}

/// A dialog that is just being repainted, or has left the screen a moment before anybody says so, is still the one that
/// was seen whole.
fn keep_what_was_seen(known: &Prompt, prompt: &mut Prompt) {
    if !known.ready || prompt.ready && !prompt.screen_lines.is_empty() || known.screen_lines.is_empty() {
        return;
    }
    prompt.options.clone_from(&known.options);
    prompt.options_fallback = known.options_fallback;
    prompt.question_current = known.question_current;
    prompt.screen_lines.clone_from(&known.screen_lines);
    prompt.auth_url = prompt.auth_url.take().or_else(|| known.auth_url.clone());
    prompt.ready = true;
}

/// What tells one dialog from another of the same kind: the rows above its options, without blanks. The pages of one
/// question dialog are one dialog.
fn heading(prompt: &Prompt) -> String {
    if prompt.kind == PromptKind::Question {
        return prompt.questions.iter().map(|question| question.question.as_str()).collect();
    }
    let above = prompt.screen_lines.iter().take_while(|row| !is_option(row));
    above.flat_map(|row| row.chars()).filter(|c| !c.is_whitespace()).collect()
}

fn is_option(row: &str) -> bool {
    let row = row.trim_start().trim_start_matches(CURSORS).trim_start();
    row.split_once('.').is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(subtype: &str, rows: &[&str]) -> State {
        let screen_lines = rows.iter().map(|&row| row.to_owned()).collect();
        let subtype = Some(subtype.to_owned());
        let prompt = Prompt { subtype, screen_lines, ready: true, ..Prompt::new(PromptKind::Setup) };
        State::Prompt { prompt: Arc::new(prompt), trouble: None }
    }

    #[test]
    fn a_dialog_that_was_told_before_it_was_drawn_keeps_its_name() {
        let mut naming = Naming::new(Arc::default());
        let named = |state: State| state.prompt().map(|prompt| prompt.id.clone());
        let told = naming.name(drawn(UNKNOWN_DIALOG, &[]));
        let shown = naming.name(drawn("update", &["Update available!", "1. Update now", "2. Skip"]));
        assert_eq!(named(told), named(shown.clone()));
        let next = naming.name(drawn("hooks_review", &["Hooks need review", "1. Review hooks"]));
        assert_ne!(named(shown), named(next));
    }

    #[test]
    fn a_list_that_counts_the_time_stays_the_dialog_that_it_was() {
        let mut naming = Naming::new(Arc::default());
        let mut name = |subtype, rows: &[&str]| naming.name(drawn(subtype, rows)).prompt().unwrap().id.clone();
        let first = name("resume_picker", &["Resume a session", "1s ago  A test"]);
        assert_eq!(name("resume_picker", &["Resume a session", "2s ago  A test"]), first);
        let other = name("dialog", &["Something", "else"]);
        assert_ne!(other, first);
        assert_ne!(name("dialog", &["And", "another"]), other, "what is not known is told apart by its rows");
    }
}
