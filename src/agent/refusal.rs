//! Whether a refusal ends the agent's turn: told through its hook, the model reads it and goes on; a key ends the turn,
//! unless words go with it.

use super::press::Step;
use super::talk::Answer;
use crate::session::{Prompt, PromptKind};

/// Whether this answer, given by these keys or through a hook, ends the turn; `None` for what is no refusal.
pub fn ends_turn(prompt: &Prompt, answer: &Answer, keys: Option<&[Step]>) -> Option<bool> {
    let has_words = |step: &Step| matches!(step, Step::Type(_) | Step::Fill(_));
    refuses(prompt, answer).then(|| keys.is_some_and(|keys| !keys.iter().any(has_words)))
}

/// Dialogs of the start belong to no turn.
fn refuses(prompt: &Prompt, answer: &Answer) -> bool {
    let index = answer.option.and_then(|option| usize::try_from(option).ok()?.checked_sub(1));
    let says_no = index.and_then(|index| prompt.options.get(index)).is_some_and(|label| label.starts_with("No"));
    match prompt.kind {
        PromptKind::Permission if prompt.subtype.as_deref() == Some("trust") => false,
        PromptKind::Permission => answer.accept == Some(false) || says_no,
        PromptKind::Plan => answer.accept == Some(false) || says_no || answer.text.is_some(),
        PromptKind::Question => answer.accept == Some(false),
        PromptKind::Setup => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(kind: PromptKind) -> Prompt {
        Prompt { options: ["Yes", "No, and tell why"].map(str::to_owned).into(), ..Prompt::new(kind) }
    }

    fn accept(accept: bool) -> Answer {
        Answer { accept: Some(accept), ..Answer::default() }
    }

    #[test]
    fn a_refusal_by_key_ends_the_turn_and_one_that_is_told_does_not() {
        let permission = prompt(PromptKind::Permission);
        for no in [accept(false), Answer { option: Some(2), ..Answer::default() }] {
            assert_eq!(ends_turn(&permission, &no, None), Some(false));
            assert_eq!(ends_turn(&permission, &no, Some(&[Step::Choose(2)])), Some(true));
            assert_eq!(ends_turn(&permission, &no, Some(&[Step::Type("why".to_owned())])), Some(false));
        }
        let smaller = Answer { text: Some("smaller".to_owned()), ..Answer::default() };
        let typed = [Step::Focus(3), Step::Type("smaller".to_owned())];
        assert_eq!(ends_turn(&prompt(PromptKind::Plan), &smaller, Some(&typed)), Some(false));
        assert_eq!(ends_turn(&prompt(PromptKind::Question), &accept(false), Some(&[Step::Dismiss])), Some(true));
    }

    #[test]
    fn what_refuses_nothing_says_nothing_of_the_turn() {
        let trust = Prompt { subtype: Some("trust".to_owned()), ..prompt(PromptKind::Permission) };
        for (prompt, answer) in [
            (prompt(PromptKind::Permission), accept(true)),
            (trust, accept(false)),
            (prompt(PromptKind::Setup), accept(false)),
            (prompt(PromptKind::Question), Answer { option: Some(2), ..Answer::default() }),
        ] {
            assert_eq!(ends_turn(&prompt, &answer, Some(&[Step::Dismiss])), None, "{prompt:?}");
        }
    }
}
