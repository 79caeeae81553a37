//! Claude Code's input box: what was typed into it, and what only looks typed.

use super::frame::{BoxRows, Frame};
use crate::agent::look::InputBox;
use crate::agent::rows::words;

/// How suggestions begin that the box shows while it is empty (2.1.197); used where colours are not known.
const SUGGESTIONS: [&str; 3] = ["Try \"", "Press up to edit queued messages", "Message @"];

/// The columns of `❯ ` before the text.
const MARK_COLS: usize = 2;

pub fn read(frame: &Frame<'_>, BoxRows { rows, is_cut }: BoxRows) -> InputBox {
    let sight = &frame.sight;
    let mut field = sight.field(rows.clone(), MARK_COLS, MARK_COLS);
    if sight.ansi.is_none() && SUGGESTIONS.iter().any(|suggestion| field.text.starts_with(suggestion)) {
        field.suggestion = std::mem::take(&mut field.text);
    }
    InputBox {
        text: field.text,
        suggestion: Some(words(&[field.suggestion])).filter(|suggestion| !suggestion.is_empty()),
        is_shell: sight.rows.get(rows.start).is_some_and(|row| row.starts_with('!')),
        is_focused: sight.cursor.is_none_or(|cursor| rows.contains(&cursor.row)),
        is_cut,
        first_row: rows.start,
        last_row: rows.end.saturating_sub(1),
    }
}
