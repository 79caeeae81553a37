//! Where a dialog of Claude Code begins, and its menu.

use super::frame::Frame;
use crate::agent::block::Block;
use crate::agent::menu;
use crate::agent::rows::{indent, is_blank};

/// Marks the option that Enter would take.
const MARKS: [char; 1] = ['❯'];

/// Where the mark of a dialog's menu can stand (2.1.197). What a dialog quotes is indented further.
const MARK_COL_MAX: usize = 2;

/// The dialog below a line, or the whole screen.
pub fn below<'a>(frame: &Frame<'a>, line: Option<usize>) -> Block<'a> {
    let all = frame.sight.rows;
    let rows = line.map_or(0, |line| line + 1)..frame.end;
    let first = rows.clone().find(|row| !is_blank(&all[*row]));
    // Without a line above it, only a row that is not indented is sure to be the first one.
    let title_row = first.filter(|row| line.is_some() || indent(&all[*row]) == 0);
    let menu = menu::read(&all[rows.clone()], frame.sight.cols, &MARKS).filter(|menu| menu.mark_col <= MARK_COL_MAX);
    let menu = menu.map(|menu| menu.moved_down(rows.start));
    Block::new(all, rows, title_row, menu)
}
