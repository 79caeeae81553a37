//! How Gemini CLI is typed to. Every byte sequence here was seen to work with 0.61.0.

use std::time::Duration;

use crate::agent::typing::Typing;

/// Kills a line of the input box to both sides of the cursor, then the line break before it. Not Ctrl-C, which clears
/// all at once: two of them within a second quit, even when the second has something to clear.
const CLEAR_LINE: &[u8; 3] = b"\x15\x0b\x7f";

/// So many lines are cleared at once.
const CLEARED_LINES: usize = 20;

pub const TYPING: Typing = Typing {
    clear: &clear(),
    // One alone; two would open a view of the past.
    leave_shell: Some("\x1b"),
    // Enter within 40 ms of a paste is a new line, and one that comes before the box was drawn anew is lost.
    settles: Duration::from_millis(200),
    send: "\r",
    // What is sent to a Gemini at work is queued by itself.
    queue: "\r",
    steer: None,
    pasted: "[PastedText:",
    // Typing costs the more the longer the text is: 1000 letters took 5 s.
    pastes_answers: true,
    unknown_command: |name| format!("Unknown command: {name}"),
};

/// An invisible letter (word joiner) that Gemini leaves where it is. A message that begins with a slash would be a
/// command, also behind blanks and behind other invisible letters, which are taken away; and while it works, such a
/// message cannot even be queued.
const GUARD: char = '\u{2060}';

const fn clear() -> [u8; CLEARED_LINES * CLEAR_LINE.len()] {
    let mut keys = [0; CLEARED_LINES * CLEAR_LINE.len()];
    let mut at = 0;
    while at < keys.len() {
        keys[at] = CLEAR_LINE[at % CLEAR_LINE.len()];
        at += 1;
    }
    keys
}

/// The message as it is typed, so that it arrives as text and not as a command.
pub fn guarded(text: &str, is_command: bool) -> String {
    if is_command {
        // Behind a bare name a menu is open, from which Enter would take what is most like it.
        let guard_after = if text.contains(char::is_whitespace) { "" } else { " " };
        return format!("{text}{guard_after}");
    }
    // What would be taken away is left out, so that the message can be known again when it arrives.
    let text: String = text.chars().filter(|c| !is_taken_away(*c)).collect();
    let guard_before = if text.trim_start().starts_with('/') { String::from(GUARD) } else { String::new() };
    // A name after `@` opens a menu that Enter would choose from, and a backslash makes Enter a new line.
    let last_word = text.rsplit([' ', '\n', '\t']).next().unwrap_or_default();
    let guard_after = if last_word.contains('@') || text.ends_with('\\') { " " } else { "" };
    format!("{guard_before}{text}{guard_after}")
}

/// Invisible letters that Gemini takes out of what is typed.
fn is_taken_away(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_no_command_and_opens_no_menu() {
        for (text, typed) in [
            ("hello", "hello"),
            ("/help", "\u{2060}/help"),
            ("/tmp/x is a path", "\u{2060}/tmp/x is a path"),
            ("\u{200b}/help\u{feff}", "\u{2060}/help"),
            ("! is safe when it is pasted", "! is safe when it is pasted"),
            ("read @notes.md", "read @notes.md "),
            ("read @notes.md please", "read @notes.md please"),
            ("a backslash \\", "a backslash \\ "),
            ("two\n/lines", "two\n/lines"),
        ] {
            assert_eq!(guarded(text, false), typed);
        }
    }

    #[test]
    fn a_command_runs_as_it_is_named() {
        assert_eq!(guarded("/compress", true), "/compress ");
        assert_eq!(guarded("/chat save x", true), "/chat save x");
    }
}
