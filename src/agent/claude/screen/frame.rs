//! The lines that Claude Code draws across the screen, and what they part.
//!
//! What is said in the conversation is always indented or has a mark before it (2.1.197), so a line that begins in the
//! first column and fills the row is Claude's own, whatever the conversation quotes.

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use crate::agent::Sight;
use crate::agent::menu::Menu;
use crate::agent::rows::{is_blank, words};

/// Begin the input box: for prompts, and for shell commands.
const BOX_MARKS: [char; 2] = ['❯', '!'];

/// Begin what is said: a message, a tool, a user's words, the end of a turn, a result.
const CONVERSATION_MARKS: [&str; 5] = ["● ", "❯ ", "✻ ", "! ", "  ⎿"];

/// A screen in its parts.
pub struct Frame<'a> {
    pub sight: Sight<'a>,
    /// The rows that are lines across the screen.
    pub lines: Vec<usize>,
    /// The row after the last one that is not blank.
    pub end: usize,
}

/// Where the input box is.
pub struct BoxRows {
    pub rows: Range<usize>,
    /// Whether its first rows have scrolled off.
    pub is_cut: bool,
}

impl<'a> Frame<'a> {
    pub fn new(sight: Sight<'a>) -> Self {
        let lines = (0..sight.rows.len()).filter(|row| is_line(&sight.rows[*row], sight.cols)).collect();
        let end = sight.rows.iter().rposition(|row| !is_blank(row)).map_or(0, |last| last + 1);
        Self { sight, lines, end }
    }

    /// The box stands between the last two lines. One that is taller than the screen has only its lower line.
    pub fn input_box(&self) -> Option<BoxRows> {
        match *self.lines.as_slice() {
            [.., upper, lower] if self.begins_box(upper + 1) => Some(BoxRows { rows: upper + 1..lower, is_cut: false }),
            [lower] if self.sight.cursor.is_some_and(|cursor| cursor.row < lower) && self.is_indented(0..lower) => {
                Some(BoxRows { rows: 0..lower, is_cut: true })
            }
            _ => None,
        }
    }

    /// The words below the last line.
    pub fn below(&self) -> String {
        self.lines.last().map_or_else(String::new, |line| words(&self.sight.rows[line + 1..self.end]))
    }

    /// Whether a menu that reaches across the screen's first line shows that all of the screen is one dialog.
    pub fn is_all_dialog(&self, menu: Option<&Menu>) -> bool {
        let spans_line = |line| menu.is_some_and(|menu| menu.rows.contains(line));
        self.lines.first().is_none_or(spans_line) && !self.shows_conversation()
    }

    fn shows_conversation(&self) -> bool {
        let is_said = |row: &String| CONVERSATION_MARKS.iter().any(|mark| row.starts_with(mark)) && !is_option(row);
        self.sight.rows.iter().any(is_said)
    }

    fn begins_box(&self, row: usize) -> bool {
        let row = self.sight.rows.get(row).map_or("", String::as_str);
        row.strip_prefix(BOX_MARKS).is_some_and(|rest| rest.chars().next().is_none_or(char::is_whitespace))
    }

    fn is_indented(&self, rows: Range<usize>) -> bool {
        self.sight.rows[rows].iter().all(|row| row.is_empty() || row.starts_with("  "))
    }
}

/// A line across the screen, which may carry a name near its end: `──── my session ──`.
fn is_line(row: &str, cols: usize) -> bool {
    row.starts_with("──") && row.ends_with('─') && row.width() == cols
}

/// A row such as `❯ 1. Yes`.
fn is_option(row: &str) -> bool {
    let text = row.trim_start_matches('❯').trim_start();
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    digits > 0 && text[digits..].starts_with('.')
}
