//! What stands above the composer: queued messages, the row that tells of work, and what was said last.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::agent::Sight;
use crate::agent::rows::{Seam, indent, is_blank, seam, words};

/// Begin what is said (0.166.0): messages and tools, work, errors, the user, decisions, warnings, questions.
const HEADS: [char; 8] = ['•', '◦', '■', '›', '✔', '✗', '⚠', '?'];

/// Begin the lists of messages that wait: for the turn's end, and for the next tool.
const QUEUES: [&str; 2] = ["• Queued follow-up inputs", "• Messages to be submitted after next tool"];

/// Begins a message that waits.
const QUEUED: &str = "  ↳ ";

/// Stands in the row that tells of work: `(1m 09s • esc to interrupt)`, which may be cut.
static ELAPSED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\(([0-9]+[hm] )*[0-9]+s (•|…)").expect("the pattern does not change"));

/// What is said below the last message that waits.
const QUEUE_HINT: &str = "edit last queued message";

/// Stands above the composer while the conversation is scrolled: what is seen is not the last that was said.
const SCROLLED: &str = "↓ Back to bottom";

/// The rows above the composer, in their parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Above {
    /// Messages that wait.
    pub queued: Vec<String>,
    /// The words of the row that tells of work.
    pub status: String,
    /// The first words of what was said last, while there is no work.
    pub said: String,
}

impl Above {
    pub fn read(sight: &Sight<'_>, top: usize) -> Self {
        let mut above = Self::default();
        let mut end = trimmed(sight.rows, top);
        if end > 0 && sight.rows[end - 1].trim_start().starts_with(SCROLLED) {
            return above;
        }
        while let Some(head) = (0..end).rev().find(|row| sight.rows[*row].starts_with(HEADS)) {
            let entry = head..end;
            if let Some(messages) = queued(sight, entry.clone()) {
                above.queued.splice(0..0, messages);
                end = trimmed(sight.rows, head);
                continue;
            }
            let part = if is_status(sight, entry.clone()) { &mut above.status } else { &mut above.said };
            // The first paragraph; how much is left of a limit may stand below.
            let shown = sight.rows[entry].iter().take_while(|row| !is_blank(row)).collect::<Vec<_>>();
            *part = words(&shown);
            break;
        }
        above
    }
}

/// The row after the last one above `end` that is not blank.
fn trimmed(rows: &[String], end: usize) -> usize {
    rows[..end].iter().rposition(|row| !is_blank(row)).map_or(0, |last| last + 1)
}

/// The row that tells of work is one paragraph, and faint where it tells how long that has taken. A message's words are
/// not.
fn is_status(sight: &Sight<'_>, entry: Range<usize>) -> bool {
    let row = &sight.rows[entry.start];
    let Some(found) = ELAPSED.find(row).filter(|_| row.starts_with(['•', '◦'])) else { return false };
    let is_one = !sight.rows[entry.clone()].iter().any(|row| is_blank(row));
    is_one && is_faint(sight, entry.start, row[..found.start()].chars().count())
}

/// The messages of a list of those that wait.
fn queued(sight: &Sight<'_>, entry: Range<usize>) -> Option<Vec<String>> {
    let text = words(&sight.rows[entry.clone()]);
    if !QUEUES.iter().any(|queue| text.starts_with(queue)) {
        return None;
    }
    let first = entry.clone().find(|row| sight.rows[*row].starts_with(QUEUED))?;
    if !is_faint(sight, first, indent(QUEUED)) {
        return None;
    }
    let mut messages: Vec<String> = Vec::new();
    for at in first..entry.end {
        let row = &sight.rows[at];
        match (row.strip_prefix(QUEUED), messages.last_mut()) {
            (Some(message), _) => messages.push(message.trim().to_owned()),
            (None, Some(message)) if row.starts_with("    ") => {
                if row.ends_with(QUEUE_HINT) {
                    break;
                }
                let joint = seam(&sight.rows[at - 1], row, sight.cols);
                message.push_str(if joint == Seam::Break { "\n" } else { " " });
                message.push_str(row.trim());
            }
            _ => return None,
        }
    }
    Some(messages)
}

/// Whether a character is faint; taken to be where there are no colours.
fn is_faint(sight: &Sight<'_>, row: usize, col: usize) -> bool {
    let is_coloured = sight.ansi.is_some_and(|rows| rows.iter().any(|row| row.contains('\x1b')));
    !is_coloured || sight.shades(row).is_some_and(|shades| shades.get(col).is_some_and(|shade| shade.faint))
}
