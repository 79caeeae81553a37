//! What stands in an agent's input box, and whether anything may be typed there now.

use unicode_normalization::UnicodeNormalization;

use super::evidence::EpochMs;
use super::look::InputBox;
use super::view::View;
use crate::session::StateKind;

pub fn has_box(view: &View) -> bool {
    may_enter(view) && view.look.input_box.as_ref().is_some_and(|input| input.is_focused)
}

/// Never into a dialog, where Enter would choose something, nor into a view that hides the conversation.
pub fn may_enter(view: &View) -> bool {
    let hidden = view.look.dialog.is_some() || view.look.covered.is_some();
    view.pid.is_some() && !hidden && view.state.kind() != StateKind::Prompt
}

/// Whether a question was announced and may be drawn at any moment, under the Enter that was meant for the message. An
/// agent that does nothing any more has been answered, though no hook may have said so.
pub fn is_opening(view: &View, now: EpochMs) -> bool {
    view.state.kind() == StateKind::Working && view.opens_until.is_some_and(|until| now < until)
}

pub fn is_empty(view: &View) -> bool {
    view.look.input_box.as_ref().is_some_and(|input| input.text.is_empty() && !input.is_shell)
}

/// Whether the box holds the message and nothing else, or the short form that long ones are shown in.
pub fn shows(view: &View, text: &str, pasted: &str) -> bool {
    let Some(input) = &view.look.input_box else { return false };
    // A box for the shell shows its mark in another place.
    let mark = if input.is_shell { "!" } else { "" };
    let (shown, text) = (format!("{mark}{}", bare(&input.text)), bare(text));
    if shown.is_empty() {
        return false;
    }
    // Behind a command its parameters are hinted at.
    let is_command = text.starts_with(['/', '!']) && shown.starts_with(&text);
    // A box that is taller than the screen shows its end.
    let is_end = input.is_cut && text.ends_with(&shown);
    shown == text || shown.starts_with(pasted) || is_command || is_end || is_drawn_otherwise(&shown, &text)
}

/// Whether the box holds this message, maybe among others.
pub fn holds(input: &InputBox, text: &str) -> bool {
    let text = bare(text);
    !text.is_empty() && bare(&input.text).contains(&text)
}

fn bare(text: &str) -> String {
    text.nfc().filter(|c| !c.is_whitespace()).collect()
}

/// Emoji and marks that join are drawn in as many ways as there are terminals; what is plain must be the same.
fn is_drawn_otherwise(shown: &str, text: &str) -> bool {
    let plain = |text: &str| -> String { text.chars().filter(char::is_ascii_alphanumeric).collect() };
    !text.is_ascii() && plain(shown) == plain(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::State;

    #[test]
    fn no_enter_goes_out_under_a_question_that_was_announced() {
        let announced = View { opens_until: Some(EpochMs(3000)), ..View::of_nobody() };
        let working = View { state: State::Working, ..announced.clone() };
        assert!(is_opening(&working, EpochMs(2999)) && !is_opening(&working, EpochMs(3000)));
        assert!(!is_opening(&View { opens_until: None, ..working }, EpochMs(0)));
        assert!(!is_opening(&View { state: State::Idle, ..announced }, EpochMs(2999)), "it was refused");
    }
}
