//! How Claude Code is typed to. Every byte sequence here was seen to work with 2.1.197.

use std::time::Duration;

use crate::agent::typing::Typing;

pub const TYPING: Typing = Typing {
    // Ctrl-U kills one line of the input box; so many of them clear four lines of 450 characters.
    clear: &[0x15; 40],
    leave_shell: None,
    settles: Duration::ZERO,
    send: "\r",
    // What is sent to a Claude at work is queued by itself.
    queue: "\r",
    steer: None,
    pasted: "[Pastedtext#",
    pastes_answers: false,
    unknown_command: |name| format!("Unknown command: {name}"),
};

/// The message as it is typed, so that it arrives as text and not as a command.
pub fn guarded(text: &str, is_command: bool) -> String {
    if is_command {
        // Behind a bare name a menu is open, from which Enter would take what is most like it.
        let guard_after = if text.contains(char::is_whitespace) { "" } else { " " };
        return format!("{text}{guard_after}");
    }
    // A leading `/` or `!` would run something; one space before it makes it text.
    let guard_before = if text.starts_with(['/', '!']) { " " } else { "" };
    // A name after `@` opens a menu that Enter would choose from, and a backslash makes Enter a new line.
    let last_word = text.rsplit([' ', '\n', '\t']).next().unwrap_or_default();
    let guard_after = if last_word.contains('@') || text.ends_with('\\') { " " } else { "" };
    format!("{guard_before}{text}{guard_after}")
}
