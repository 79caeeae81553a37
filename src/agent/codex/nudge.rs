//! How Codex is typed to. Every byte sequence here was seen to work with 0.166.0.

use std::time::Duration;

use crate::agent::nudge::Typing;

pub const TYPING: Typing = Typing {
    // Ctrl-U kills a line before the cursor, Ctrl-K one behind it, and the key back of them leaves the mode for the
    // shell; on an empty box nothing happens. Ctrl-C would leave.
    clear: b"\x15\x15\x15\x15\x15\x15\x15\x15\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x7f",
    leave_shell: None,
    settles: Duration::ZERO,
    send: "\r",
    // Enter would cut off what the model says, Tab keeps the message until the turn is over; when there is no turn any
    // more, it sends it.
    queue: "\t",
    pasted: "[PastedContent",
    // What is typed quickly is taken for a paste, and Enter behind it for a new line.
    pastes_answers: true,
    unknown_command: |name| format!("Unrecognized command '{name}'"),
};

/// Nobody sees it, and a message that begins with it is no command for the shell. A space would be taken off before
/// Codex looks what it is (the command was run).
const UNSEEN: char = '\u{200b}';

/// The message as it is typed, so that it arrives as text and not as a command.
pub fn guarded(text: &str, is_command: bool) -> String {
    if is_command {
        return text.to_owned();
    }
    let mut guarded = String::new();
    match text.chars().next() {
        Some('!') => guarded.push(UNSEEN),
        Some('/') => guarded.push(' '),
        _ => {}
    }
    guarded.push_str(text);
    // A name after `@` or `$` opens a menu that Enter would choose from; behind a space it is closed.
    let last_word = text.rsplit([' ', '\n', '\t']).next().unwrap_or_default();
    if last_word.contains(['@', '$']) {
        guarded.push(' ');
    }
    guarded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_run_something_arrives_as_text() {
        assert_eq!(guarded("!rm -rf x", false), "\u{200b}!rm -rf x");
        assert_eq!(guarded("/quit", false), " /quit");
        assert_eq!(guarded("plain /quit !x", false), "plain /quit !x");
    }

    #[test]
    fn a_command_is_typed_as_it_is() {
        assert_eq!(guarded("/compact", true), "/compact");
        assert_eq!(guarded("!ls", true), "!ls");
    }

    #[test]
    fn a_menu_of_names_is_closed_before_enter() {
        assert_eq!(guarded("look at @src", false), "look at @src ");
        assert_eq!(guarded("use $skill", false), "use $skill ");
        assert_eq!(guarded("@src is it", false), "@src is it");
    }
}
