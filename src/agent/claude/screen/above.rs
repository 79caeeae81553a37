//! What stands above the input box: queued messages, the row that tells of work, and what was said last.

use crate::agent::rows::{Seam, indent, is_blank, seam, words};

/// Begin the row that tells of work or of the end of a turn (2.1.197); they take turns while Claude works.
const STARS: [char; 7] = ['·', '✢', '✳', '✶', '✻', '✽', '*'];

/// Begins what came of something. In a user's own words it would be indented further.
const RESULT: &str = "  ⎿";

/// The rows above the input box, in their parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Above {
    /// Messages that wait for the turn's end.
    pub queued: Vec<String>,
    /// The words of the last row that tells of work, or of the end of work.
    pub status: String,
    /// The words of what was said last; for a user's message what came of it.
    pub said: String,
    /// The first paragraph of these.
    pub said_first: String,
    /// Whether the turn came to its end after that.
    pub is_done: bool,
}

impl Above {
    pub fn read(rows: &[String], cols: usize) -> Self {
        let (queued, rows) = split_queued(rows, cols);
        let mut above = Self { queued, ..Self::default() };
        let mut end = rows.len();
        while let Some(head) = rows[..end].iter().rposition(|row| is_head(row)) {
            let entry = &rows[head..end];
            if above.status.is_empty() && entry[0].starts_with(STARS) {
                above.status = words(entry);
                above.is_done = true;
                end = head;
                continue;
            }
            let told = outcome(entry);
            above.said = words(told).trim_start_matches("● ").to_owned();
            let paragraph = told.iter().position(|row| is_blank(row)).unwrap_or(told.len());
            above.said_first = words(&told[..paragraph]).trim_start_matches("● ").to_owned();
            break;
        }
        above
    }
}

/// What was said begins in the first column; the rest of it is indented.
fn is_head(row: &str) -> bool {
    !is_blank(row) && indent(row) == 0
}

/// A user's words are not Claude's: only what came of them counts.
fn outcome(entry: &[String]) -> &[String] {
    if !entry[0].starts_with(['❯', '!']) {
        return entry;
    }
    let result = entry.iter().position(|row| row.starts_with(RESULT));
    &entry[result.unwrap_or(entry.len())..]
}

/// Queued messages stand right above the box, with no blank row between: `  ❯ text`.
fn split_queued(rows: &[String], cols: usize) -> (Vec<String>, &[String]) {
    let first = rows.iter().rposition(|row| is_blank(row)).map_or(0, |blank| blank + 1);
    let mut queued: Vec<String> = Vec::new();
    for at in first..rows.len() {
        let row = &rows[at];
        match (row.strip_prefix("  ❯ ").or_else(|| row.strip_prefix("  ! ")), queued.last_mut()) {
            (Some(text), _) => queued.push(text.trim().to_owned()),
            (None, Some(message)) if row.starts_with("    ") => {
                message.push_str(if seam(&rows[at - 1], row, cols) == Seam::Break { "\n" } else { " " });
                message.push_str(row.trim());
            }
            _ => return (Vec::new(), rows),
        }
    }
    let said = if queued.is_empty() { rows } else { &rows[..first] };
    (queued, said)
}
