//! Codex's composer: what was typed into it, and what only looks typed.

use std::ops::Range;

use super::frame::Composer;
use crate::agent::look::InputBox;
use crate::agent::rows::words;
use crate::agent::sight::{Field, Sight};

/// What the composer shows while it is empty (0.166.0); used where colours are not known.
const SUGGESTION: &str = "Ask Codex to do anything";

/// The columns of `› ` before the text.
const MARK_COLS: usize = 2;

/// Stand in the last column where the text goes on out of sight.
const MORE_MARKS: [char; 2] = ['↑', '↓'];

pub fn read(sight: &Sight<'_>, composer: Composer) -> InputBox {
    let Composer { rows, end, .. } = composer;
    let is_cut = rows.clone().any(|row| goes_on(&sight.rows[row], sight.cols));
    let mut field = if is_cut { without_arrows(sight, &rows) } else { sight.field(rows.clone(), MARK_COLS, MARK_COLS) };
    if sight.ansi.is_none() && field.text == SUGGESTION {
        field.suggestion = std::mem::take(&mut field.text);
    }
    InputBox {
        text: field.text,
        suggestion: Some(words(&[field.suggestion])).filter(|suggestion| !suggestion.is_empty()),
        is_shell: sight.rows[rows.start].starts_with('!'),
        // Codex shows the terminal's own cursor where keys go, and hides it where they go to no text.
        is_focused: sight.cursor.is_none_or(|cursor| cursor.visible && (rows.start..end).contains(&cursor.row)),
        is_cut,
        first_row: rows.start,
        last_row: rows.end.saturating_sub(1),
    }
}

/// The field without the arrows, which are no part of the text and do not fill its rows.
fn without_arrows(sight: &Sight<'_>, rows: &Range<usize>) -> Field {
    let bare = |row: &String| match goes_on(row, sight.cols) {
        true => row.trim_end_matches(MORE_MARKS).trim_end().to_owned(),
        false => row.clone(),
    };
    let texts: Vec<String> = sight.rows.iter().map(bare).collect();
    let field = Sight { rows: &texts, ..*sight }.field(rows.clone(), MARK_COLS, MARK_COLS);
    Field { suggestion: field.suggestion.replace(MORE_MARKS, ""), ..field }
}

/// Whether an arrow stands in the row's last column.
fn goes_on(row: &str, cols: usize) -> bool {
    row.ends_with(MORE_MARKS) && row.chars().count() == cols
}
