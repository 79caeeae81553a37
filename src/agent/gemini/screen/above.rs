//! What stands above the input box and what belongs to it: queued messages, and what was said last.

use crate::agent::Sight;
use crate::agent::rows::{Seam, indent, is_blank, seam};

/// Heads the messages that wait for the turn's end (0.61.0). It is drawn faint, which a model's words are not.
const QUEUED: &str = "  Queued (press ↑ to edit):";

/// Stand before each of them; longer ones are cut.
const QUEUED_INDENT: usize = 4;

/// Follows an error and is none itself.
const AFTERWORD: &str = "ℹ This request failed.";

/// The rows above the input box, in their parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Above {
    /// Messages that wait, as far as they are shown.
    pub queued: Vec<String>,
    /// What was said last, with its mark. The words of a model are not Gemini CLI's and begin with another one.
    pub said: String,
}

impl Above {
    pub fn read(sight: &Sight<'_>, top: usize) -> Self {
        let rows = &sight.rows[..top];
        let queue = rows.iter().rposition(|row| row.trim_end() == QUEUED).filter(|row| is_faint(sight, *row));
        let queued = queue.map(|row| messages(&rows[row + 1..])).unwrap_or_default();
        Self { queued, said: said(&rows[..queue.unwrap_or(top)], sight.cols) }
    }
}

fn is_faint(sight: &Sight<'_>, row: usize) -> bool {
    let shades = sight.shades(row).unwrap_or_default();
    let first = shades.iter().find(|shade| !shade.character.is_whitespace());
    sight.ansi.is_none() || first.is_some_and(|shade| shade.faint)
}

fn messages(rows: &[String]) -> Vec<String> {
    let shown = rows.iter().take_while(|row| indent(row) == QUEUED_INDENT && !is_blank(row));
    shown.map(|row| row.trim().to_owned()).filter(|text| !is_count(text)).collect()
}

/// `... (+2 more)` stands for those that are not shown.
fn is_count(text: &str) -> bool {
    text.starts_with("... (+") && text.ends_with(" more)")
}

/// The last entry of the conversation. Each begins in the first column, and the rest of it is indented.
fn said(rows: &[String], cols: usize) -> String {
    let mut end = rows.len();
    while let Some(head) = rows[..end].iter().rposition(|row| !is_blank(row) && indent(row) == 0) {
        // A line begins what is listed above the box: tasks, keys.
        if rows[head].starts_with(AFTERWORD) || rows[head].starts_with("──") {
            end = head;
            continue;
        }
        return joined(&rows[head..end], cols);
    }
    String::new()
}

/// The entry's words; a word that was cut at the screen's edge is whole again.
fn joined(rows: &[String], cols: usize) -> String {
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| !is_blank(row)) {
        if at > 0 && seam(&rows[at - 1], row, cols) != Seam::Nothing {
            text.push(' ');
        }
        text.push_str(row.trim());
    }
    text
}
