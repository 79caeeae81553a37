//! The input box of Gemini CLI and the rows around it that belong to it.

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use super::field::{self, Place};
use super::frame::Frame;
use crate::agent::Sight;
use crate::agent::look::InputBox;
use crate::agent::rows::is_blank;

/// What an empty box says (0.61.0).
const HINTS: [&str; 4] = [
    "Type your message or @path/to/file",
    "Type your shell command",
    "Press 'Esc' for NORMAL mode.",
    "Press 'i' for INSERT mode.",
];

/// Begin the box: for prompts, the same where nothing is asked any more, for shell commands, for a search.
const MARKS: [&str; 4] = [" > ", " * ", " ! ", " (r:) "];
const SHELL_MARK: &str = " ! ";
const SEARCH_MARK: &str = " (r:) ";

/// Begins the footer.
const FOOTER: &str = " workspace";

/// The column of the text behind a mark.
const TEXT_COL: usize = 3;

/// Blanks that the box leaves at the right.
const RIGHT_COLS: usize = 3;

/// How many rows of a text the box shows at most (0.61.0).
const SHOWN_ROWS_MAX: usize = 10;

/// Stand beside a shell that keys go to. Without it they go to the box, even if its cursor is hidden because the
/// terminal has lost its focus.
const SHELL_HAS_KEYS: [&str; 2] = ["to unfocus)", "(Focused)"];

/// How many rows the line above the box may be away from it: modes, and at most two rows of context (44 columns).
const LINE_ROWS_MAX: usize = 5;

/// The box and what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Composer {
    /// The rows of the text.
    pub rows: Range<usize>,
    /// The line across the screen above it.
    line: Option<usize>,
    /// The row that tells of work.
    pub status: Option<usize>,
    /// Where the mark ends.
    text_col: usize,
}

/// What a box is bounded by, which depends on the colours that the terminal has and on Gemini CLI's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    /// `▄▄▄` above and `▀▀▀` below.
    Half,
    /// A blank row on the background of the box: 256 colours.
    Backed,
    /// `───`: no background.
    Line,
}

impl Composer {
    /// The box with the cursor, or the lowest. What a user said before is drawn like it, but has neither the line above
    /// it nor the cursor.
    pub fn find(sight: &Sight<'_>) -> Option<Self> {
        let boxes = || (0..sight.rows.len()).rev().filter_map(|upper| Self::below(sight, upper));
        let has_cursor = |found: &Self| sight.cursor.is_some_and(|cursor| found.rows.contains(&cursor.row));
        let is_last = |found: &Self| Frame::find(sight).is_none_or(|frame| frame.rows.end < found.rows.start);
        boxes().find(has_cursor).or_else(|| boxes().find(|found| found.line.is_some()).filter(is_last))
    }

    /// What is drawn like a box below this edge.
    fn below(sight: &Sight<'_>, upper: usize) -> Option<Self> {
        let first = upper + 1;
        let mark = MARKS.iter().find(|mark| sight.rows.get(first).is_some_and(|row| begins(row, mark)))?;
        let edge = [Edge::Half, Edge::Backed, Edge::Line].into_iter().find(|edge| edge.is_upper(sight, upper))?;
        let lower = edge.lower(sight, first)?;
        let line = (upper.saturating_sub(LINE_ROWS_MAX)..upper).rev().find(|row| is_line(sight, *row));
        let status = line.unwrap_or(upper).checked_sub(1);
        Some(Self { rows: first..lower, line, status, text_col: mark.len() })
    }

    /// The first row that does not belong to the conversation: a short notice above the row that tells of work.
    pub fn top(&self) -> usize {
        self.status.and_then(|status| status.checked_sub(1)).unwrap_or(0)
    }

    pub fn input_box(&self, sight: &Sight<'_>) -> InputBox {
        let first = sight.rows.get(self.rows.start).map_or("", String::as_str);
        let place = Place {
            rows: self.rows.clone(),
            col: self.text_col,
            cols: sight.cols.saturating_sub(TEXT_COL + RIGHT_COLS),
            frames: 0,
        };
        // The headings of the footer are secondary, as hints are. Suggestions may stand there instead.
        let below = self.rows.end + 1;
        let is_footer = sight.rows.get(below).is_some_and(|row| row.starts_with(FOOTER));
        let secondary = is_footer.then(|| field::secondary(sight, below, 0)).flatten();
        let field = field::read(sight, &place, secondary, &HINTS);
        let has_cursor = sight.cursor.is_none_or(|cursor| self.rows.contains(&cursor.row));
        let is_shell_focused = |row: &String| SHELL_HAS_KEYS.iter().any(|sign| row.contains(sign));
        let shell_has_keys = !has_cursor && sight.rows.iter().any(is_shell_focused);
        InputBox {
            text: field.text,
            suggestion: Some(field.suggestion).filter(|suggestion| !suggestion.is_empty()),
            is_shell: begins(first, SHELL_MARK),
            is_focused: !shell_has_keys && !begins(first, SEARCH_MARK),
            is_cut: self.rows.len() >= SHOWN_ROWS_MAX,
            first_row: self.rows.start,
            last_row: self.rows.end.saturating_sub(1),
        }
    }
}

impl Edge {
    fn is_upper(self, sight: &Sight<'_>, row: usize) -> bool {
        self.is(sight, row, '▄')
    }

    /// The edge below the box whose first row is this one.
    fn lower(self, sight: &Sight<'_>, first: usize) -> Option<usize> {
        let mut rows = first + 1..sight.rows.len();
        if self != Self::Backed {
            return rows.find(|row| self.is(sight, *row, '▀'));
        }
        // The text may have blank rows too: the last one with a background is the edge.
        let last = rows.take_while(|row| is_backed(sight, *row)).last();
        last.filter(|row| is_blank(&sight.rows[*row]))
    }

    fn is(self, sight: &Sight<'_>, row: usize, half: char) -> bool {
        match self {
            Self::Half => is_all(sight, row, half),
            Self::Line => is_line(sight, row),
            Self::Backed => is_blank(&sight.rows[row]) && is_backed(sight, row),
        }
    }
}

fn is_backed(sight: &Sight<'_>, row: usize) -> bool {
    let shades = sight.shades(row).unwrap_or_default();
    !shades.is_empty() && shades.iter().all(|shade| shade.backed)
}

/// A line across the screen.
fn is_line(sight: &Sight<'_>, row: usize) -> bool {
    is_all(sight, row, '─')
}

fn is_all(sight: &Sight<'_>, row: usize, character: char) -> bool {
    let row = sight.rows[row].trim_end();
    row.width() == sight.cols && sight.cols > 0 && row.chars().all(|c| c == character)
}

/// Whether a row begins with a mark, whose last blank may be the end of the row.
fn begins(row: &str, mark: &str) -> bool {
    row.starts_with(mark) || row == mark.trim_end()
}
