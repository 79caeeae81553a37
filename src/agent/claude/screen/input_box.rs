//! Claude Code's input box: what was typed into it, and what only looks typed.

use super::frame::{BoxRows, Frame};
use crate::agent::rows::words;

/// How suggestions begin that the box shows while it is empty (2.1.197); used where colours are not known.
const SUGGESTIONS: [&str; 3] = ["Try \"", "Press up to edit queued messages", "Message @"];

/// The columns of `❯ ` before the text.
const MARK_COLS: usize = 2;

/// The input box. It stays visible while Claude works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputBox {
    /// What was typed, without suggestions. Compare it by its words: where rows were wrapped is a guess.
    pub text: String,
    /// What Claude suggests, faintly, behind the text or in its place.
    pub suggestion: Option<String>,
    /// Whether what is typed is a command for the shell.
    pub is_shell: bool,
    /// Whether the cursor is in it, so that keys go there.
    pub is_focused: bool,
    /// Whether it is taller than the screen, so that its first rows are not seen.
    pub is_cut: bool,
    pub first_row: usize,
    pub last_row: usize,
}

impl InputBox {
    pub(super) fn read(frame: &Frame<'_>, BoxRows { rows, is_cut }: BoxRows) -> Self {
        let sight = &frame.sight;
        let mut field = sight.field(rows.clone(), MARK_COLS, MARK_COLS);
        if sight.ansi.is_none() && SUGGESTIONS.iter().any(|suggestion| field.text.starts_with(suggestion)) {
            field.suggestion = std::mem::take(&mut field.text);
        }
        Self {
            text: field.text,
            suggestion: Some(words(&[field.suggestion])).filter(|suggestion| !suggestion.is_empty()),
            is_shell: sight.rows.get(rows.start).is_some_and(|row| row.starts_with('!')),
            is_focused: sight.cursor.is_none_or(|cursor| rows.contains(&cursor.row)),
            is_cut,
            first_row: rows.start,
            last_row: rows.end.saturating_sub(1),
        }
    }

    /// Whether it shows a suggestion and nothing was typed.
    pub fn is_placeholder(&self) -> bool {
        self.text.is_empty() && self.suggestion.is_some()
    }
}
