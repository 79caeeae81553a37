//! How answers become lines: JSON as the HTTP API has it, enums as words, nothing that could upset a terminal.

use std::io::{self, Write};

use serde::Serialize;

/// One line of JSON on stdout, at once.
pub fn print_json(value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    print_bytes(&line)
}

/// Bytes on stdout, at once.
pub fn print_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

pub fn print_line(line: &str) -> io::Result<()> {
    print_bytes(format!("{line}\n").as_bytes())
}

/// A line on stderr. Nobody may be there to read it, which is no reason to fail.
pub fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "coop: {line}");
}

/// The word for a value of an enum; a number that is newer than this program stays a number.
pub fn word<E: TryFrom<i32> + Serialize>(number: i32) -> String {
    let word = E::try_from(number).ok().and_then(|value| serde_json::to_value(value).ok());
    word.and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_else(|| number.to_string())
}

/// Text of others within a line of ours: control characters are shown, not obeyed.
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// `1 byte`, `2 bytes`.
pub fn bytes(count: u64) -> String {
    format!("{count} {}", if count == 1 { "byte" } else { "bytes" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::v1::AgentStateKind;

    #[test]
    fn enums_are_words_and_strangers_numbers() {
        assert_eq!(word::<AgentStateKind>(AgentStateKind::Idle.into()), "idle");
        assert_eq!(word::<AgentStateKind>(99), "99");
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown_instead() {
        assert_eq!(plain("é \x1b[2J\n"), "é \\u{1b}[2J\\n");
    }
}
