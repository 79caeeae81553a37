//! How answers become lines: JSON as the HTTP API has it, enums as words, nothing that could upset a terminal.

use std::io::{self, Write};
use std::time::Duration;

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

/// What came of a call: on stdout if it is good, else on stderr, where scripts expect what went wrong.
pub fn print_or_complain(good: bool, line: &str) -> io::Result<()> {
    if good {
        return print_line(line);
    }
    complain(line);
    Ok(())
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

/// Rows under a line that says what is what; nothing where there are none.
pub fn in_columns<const N: usize>(heading: [&str; N], rows: &[[String; N]]) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let heading = heading.map(str::to_owned);
    let lines: Vec<&[String; N]> = std::iter::once(&heading).chain(rows).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..N).map(width).collect();
    let joined = |line: &&[String; N]| {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    lines.iter().map(joined).collect()
}

/// `1 byte`, `2 bytes`.
pub fn bytes(count: u64) -> String {
    format!("{count} {}", if count == 1 { "byte" } else { "bytes" })
}

/// How long ago, in the largest unit that is not 0.
pub fn ago(time: Duration) -> String {
    let secs = time.as_secs();
    match secs {
        0..60 => format!("{secs}s"),
        60..3600 => format!("{}m", secs / 60),
        3600..86400 => format!("{}h", secs / 3600),
        _ => format!("{}d", secs / 86400),
    }
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

    #[test]
    fn time_is_told_in_one_unit() {
        let told = |secs| ago(Duration::from_secs(secs));
        assert_eq!(
            [told(0), told(59), told(60), told(7199), told(86399), told(86400)],
            ["0s", "59s", "1m", "1h", "23h", "1d"]
        );
    }
}
