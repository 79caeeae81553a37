//! A dialog cut into its parts: title, body, question, menu, footer.

use std::ops::Range;

use super::menu::Menu;
use super::rows::{is_blank, words};
use super::rules::Parts;

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
    pub fn new(all: &'a [String], rows: Range<usize>, title_row: Option<usize>, menu: Option<Menu>) -> Self {
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
