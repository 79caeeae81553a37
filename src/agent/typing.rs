//! What differs between agents in how they are typed to.

use std::time::Duration;

/// Around text that is no key, however it looks.
pub const PASTE_BEGINS: &str = "\x1b[200~";
pub const PASTE_ENDS: &str = "\x1b[201~";

/// How an agent is typed to.
#[derive(Debug)]
pub struct Typing {
    /// Empties the input box, or some lines of it, and does nothing to an empty one. It is a write of its own: within a
    /// paste it would become part of the message.
    pub clear: &'static [u8],
    /// Makes an empty box for a shell command one for messages again, where `clear` does not.
    pub leave_shell: Option<&'static str>,
    /// How long what was typed must stand there before the key that sends it.
    pub settles: Duration,
    /// Sends the message.
    pub send: &'static str,
    /// Hands the message to an agent at work, which keeps it until it is done.
    pub queue: &'static str,
    /// Puts the message into what an agent at work does now, where it can.
    pub steer: Option<&'static str>,
    /// How a long paste is shown, without blanks.
    pub pasted: &'static str,
    /// Whether text in a dialog is pasted too, rather than typed.
    pub pastes_answers: bool,
    /// What the agent says of a command that it does not know.
    pub unknown_command: fn(&str) -> String,
}
