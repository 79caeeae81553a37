//! A dialog cut into its parts: title, body, question, menu, footer.

use std::ops::Range;

use super::frame::Frame;
use crate::agent::menu::{self, Menu};
use crate::agent::rows::{indent, is_blank, words};
use crate::agent::rules::Parts;

/// Where the mark of a dialog's menu can stand (2.1.197). What a dialog quotes is indented further.
const MARK_COL_MAX: usize = 2;

/// The rows of a dialog.
pub struct Block<'a> {
    all: &'a [String],
    pub rows: Range<usize>,
    /// Its first row that is not blank; none where the dialog's top has scrolled off.
    pub title_row: Option<usize>,
    pub menu: Option<Menu>,
    pub parts: Parts,
}

impl<'a> Block<'a> {
    /// The dialog below a line, or the whole screen.
    pub fn below(frame: &Frame<'a>, line: Option<usize>) -> Self {
        let all = frame.sight.rows;
        let rows = line.map_or(0, |line| line + 1)..frame.end;
        let first = rows.clone().find(|row| !is_blank(&all[*row]));
        // Without a line above it, only a row that is not indented is sure to be the first one.
        let title_row = first.filter(|row| line.is_some() || indent(&all[*row]) == 0);
        let menu = menu::read(&all[rows.clone()], frame.sight.cols).filter(|menu| menu.mark_col <= MARK_COL_MAX);
        let menu = menu.map(|menu| menu.moved_down(rows.start));
        let mut block = Self { all, rows, title_row, menu, parts: Parts::default() };
        block.parts = block.read_parts();
        block
    }

    /// The rows as texts.
    pub fn texts(&self) -> &'a [String] {
        &self.all[self.rows.clone()]
    }

    /// The rows between the title and the menu.
    pub fn body_rows(&self) -> &'a [String] {
        let above = self.rows_above_menu();
        let title_end = self.title_row.map_or(0, |row| row + 1 - self.rows.start);
        &above[title_end.min(above.len())..]
    }

    fn rows_above_menu(&self) -> &'a [String] {
        let end = self.menu.as_ref().map_or(self.rows.end, |menu| menu.rows.start);
        &self.all[self.rows.start..end]
    }

    fn read_parts(&self) -> Parts {
        let body = self.body_rows();
        let below = self.menu.as_ref().map(|menu| &self.all[menu.rows.end..self.rows.end]);
        let last_option = self.menu.as_ref().and_then(|menu| menu.options.last());
        Parts {
            title: self.title_row.map_or_else(String::new, |row| words(&self.all[row..=row])),
            body: words(body),
            // The title can be the question, or begin it.
            question: words(last_paragraph(self.rows_above_menu())),
            options: self.menu.as_ref().map(|menu| menu.options.iter().map(|option| option.label.clone()).collect()),
            last_description: last_option.map_or_else(String::new, |option| option.description.clone()),
            footer: words(below.unwrap_or_else(|| last_paragraph(body))),
        }
    }
}

/// The last rows without a blank or a line between them.
fn last_paragraph(rows: &[String]) -> &[String] {
    let end = rows.iter().rposition(|row| !is_blank(row)).map_or(0, |last| last + 1);
    let start = rows[..end].iter().rposition(|row| is_blank(row) || is_dashes(row)).map_or(0, |row| row + 1);
    &rows[start..end]
}

fn is_dashes(row: &str) -> bool {
    row.trim().chars().all(|c| matches!(c, '─' | '╌'))
}
