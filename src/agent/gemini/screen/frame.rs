//! The frame that Gemini CLI draws around its dialogs.
//!
//! What is said in the conversation is indented, and the frames around its tools leave four columns free at the right
//! (0.61.0). A frame that begins in one of the first two columns and ends in one of the last two, with nothing below it,
//! is a dialog, whatever the conversation or the dialog quotes.

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use crate::agent::Sight;
use crate::agent::rows::{indent, is_blank, words};

/// How far from the screen's edges a dialog's frame may stand.
const MARGIN_COLS_MAX: usize = 1;

/// What may stand below a dialog: that Ctrl-C was pressed once, or that not all of a text is shown.
const BELOW: [&str; 2] = ["again to exit.", "to show more lines"];

/// Draw the bar at the right when Gemini CLI scrolls by itself, which it does by setting.
const SCROLL_BAR: [char; 3] = ['█', '▄', '▀'];

/// A dialog's frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The rows within, on the screen.
    pub rows: Range<usize>,
    /// What stands in them, without the frame and the blank beside it.
    pub texts: Vec<String>,
    /// The column of the texts' first character.
    pub left: usize,
    /// Whether its upper edge is on the screen.
    pub has_top: bool,
}

impl Frame {
    /// The frame at the bottom of the screen.
    pub fn find(sight: &Sight<'_>) -> Option<Self> {
        let rows: Vec<&str> = sight.rows.iter().map(|row| without_bar(row)).collect();
        let is_last = |row: &&str| !is_blank(row) && !BELOW.iter().any(|text| row.ends_with(text));
        let mut bottom = rows.iter().rposition(is_last)?;
        let margin = edge(rows[bottom], ['╰', '╯'], sight.cols)?;
        // A frame that has become smaller may leave its lower edge on the last row of the screen.
        while bottom > 0 && edge(rows[bottom - 1], ['╰', '╯'], sight.cols) == Some(margin) {
            bottom -= 1;
        }
        let mut top = bottom;
        while top > 0 && is_side(rows[top - 1], margin) {
            top -= 1;
        }
        let has_top = top > 0 && edge(rows[top - 1], ['╭', '╮'], sight.cols) == Some(margin);
        // Without its upper edge it is a frame only if it goes on above the screen.
        if !has_top && top > 0 {
            return None;
        }
        let texts = rows[top..bottom].iter().map(|row| inside(row, margin)).collect();
        Some(Self { rows: top..bottom, texts, left: margin + 2, has_top })
    }
}

/// The words of what stands below the conversation where there is no input box: a frame, or rows that begin in the
/// second column.
pub fn below_conversation(sight: &Sight<'_>) -> String {
    if let Some(frame) = Frame::find(sight) {
        return words(&frame.texts);
    }
    let said = sight.rows.iter().rposition(|row| !is_blank(row) && indent(row) == 0);
    words(&sight.rows[said.map_or(0, |row| row + 1)..])
}

/// A row without a bar for scrolling at its end.
fn without_bar(row: &str) -> &str {
    let row = row.trim_end();
    let bare = row.strip_suffix(SCROLL_BAR).unwrap_or(row);
    if bare.ends_with(['│', '╮', '╯']) { bare } else { row }
}

/// How far this upper or lower edge of a frame stands from the screen's sides; none if the row is no such edge.
fn edge(row: &str, [left, right]: [char; 2], cols: usize) -> Option<usize> {
    let margin = indent(row);
    let line = row.trim().strip_prefix(left)?.strip_suffix(right)?;
    let is_edge = !line.is_empty() && line.chars().all(|c| c == '─');
    let is_wide = margin <= MARGIN_COLS_MAX && row.width() + MARGIN_COLS_MAX >= cols;
    (is_edge && is_wide).then_some(margin)
}

fn is_side(row: &str, margin: usize) -> bool {
    let text = row.trim();
    indent(row) == margin && text.len() > '│'.len_utf8() && text.starts_with('│') && text.ends_with('│')
}

/// A row without the frame at its sides.
fn inside(row: &str, margin: usize) -> String {
    let text = row.strip_suffix('│').unwrap_or(row);
    text.chars().skip(margin + 2).collect::<String>().trim_end().to_owned()
}
