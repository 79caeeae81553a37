//! How Codex is typed to. Every byte sequence here was seen to work with 0.166.0.

use std::time::Duration;

use crate::agent::typing::Typing;

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
    // It is taken into the same turn, at once or when the tool that runs has ended.
    steer: Some("\r"),
    pasted: "[PastedContent",
    // What is typed quickly is taken for a paste, and Enter behind it for a new line.
    pastes_answers: true,
    unknown_command: |name| format!("Unrecognized command '{name}'"),
};

/// Nobody sees it, and a message that begins with it is no command for the shell. A space would be taken off before
/// Codex looks what it is (the command was run).
const UNSEEN: char = '\u{200b}';

/// A longer paste is shown in a short form. Only then is a space before it taken off, too, before Codex looks what it is.
const SHOWN_CHARS_MAX: usize = 1000;

/// The message as it is typed, so that it arrives as text and not as a command. Codex takes off all that Unicode calls a
/// blank, and looks then.
pub fn guarded(text: &str, is_command: bool) -> String {
    if is_command {
        return text.to_owned();
    }
    let is_shown = text.chars().count() < SHOWN_CHARS_MAX;
    let mut guarded = String::new();
    match text.trim_start().chars().next() {
        Some('/') if is_shown => guarded.push(' '),
        Some('!' | '/') => guarded.push(UNSEEN),
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
    fn blanks_that_codex_takes_off_hide_no_command() {
        for blank in ["\u{a0}", "\u{2003}", "\u{2028}", "\u{3000}\u{a0}"] {
            let (shell, slash) = (format!("{blank}!touch marker"), format!("{blank}/quit"));
            assert_eq!(guarded(&shell, false), format!("\u{200b}{shell}"));
            assert_eq!(guarded(&slash, false), format!(" {slash}"));
            assert_eq!(guarded(&format!("{blank}hello"), false), format!("{blank}hello"));
        }
    }

    #[test]
    fn a_space_is_no_guard_where_the_paste_is_shown_in_a_short_form() {
        let long = format!("/review {}", "x".repeat(SHOWN_CHARS_MAX));
        assert_eq!(guarded(&long, false), format!("\u{200b}{long}"));
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
