//! The screen as a driver looks at it.

use std::ops::Range;

use super::rows::{Seam, seam};
use super::shades::{self, Shade};
use crate::terminal::Cursor;

/// What the terminal shows at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// One text per row.
    pub rows: &'a [String],
    /// The same rows with their colours, as `Terminal::ansi_rows` gives them; without them suggestions look typed.
    pub ansi: Option<&'a [String]>,
    /// Where the cursor is, hidden or not.
    pub cursor: Option<Cursor>,
    pub cols: usize,
    /// Whether the program is in the middle of a frame, as `Modes::synchronized_output` tells: what is seen is half old.
    pub is_mid_frame: bool,
}

/// What stands in a field for text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// What was typed. Where a row was wrapped is a guess: compare it by its words.
    pub text: String,
    /// A suggestion that is drawn behind it, or in its place.
    pub suggestion: String,
}

impl Sight<'_> {
    /// The colours of a row, where they are known.
    pub fn shades(&self, row: usize) -> Option<Vec<Shade>> {
        self.ansi?.get(row).map(|row| shades::read(row))
    }

    /// The field that begins in the first row at `first_col` and goes on at `next_col`.
    pub fn field(&self, rows: Range<usize>, first_col: usize, next_col: usize) -> Field {
        let mut field = Field::default();
        for row in rows.clone() {
            let (typed, suggested) = self.split(row, if row == rows.start { first_col } else { next_col });
            if row > rows.start {
                field.text.push_str(match seam(&self.rows[row - 1], &self.rows[row], self.cols) {
                    Seam::Break => "\n",
                    Seam::Space => " ",
                    Seam::Nothing => "",
                });
            }
            field.text.push_str(typed.trim_end());
            field.suggestion.push_str(&suggested);
        }
        Field { text: field.text.trim_end().to_owned(), suggestion: field.suggestion.trim_end().to_owned() }
    }

    /// What was typed and what is suggested on a row. A suggestion is faint; the cursor, drawn inverse, covers its first
    /// character.
    fn split(&self, row: usize, col: usize) -> (String, String) {
        let plain = || {
            let characters = self.rows.get(row).map_or("", String::as_str).chars();
            characters.map(|character| Shade { character, ..Shade::default() }).collect()
        };
        let shades: Vec<Shade> = self.shades(row).unwrap_or_else(plain);
        let (mut typed, mut suggested) = (String::new(), String::new());
        for at in col..shades.len() {
            // The blanks between the words of a suggestion may be drawn plainly, so the next character counts.
            let mut rest = shades[at..].iter().skip_while(|shade| shade.character.is_whitespace() && !shade.inverse);
            let is_suggested = match (rest.next(), rest.next()) {
                (Some(first), Some(second)) => first.faint || (first.inverse && second.faint),
                (Some(last), None) => last.faint,
                (None, _) => false,
            };
            if is_suggested { &mut suggested } else { &mut typed }.push(shades[at].character);
        }
        (typed, suggested)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(ansi: &str) -> Field {
        let ansi = [ansi.to_owned()];
        let rows: Vec<String> =
            ansi.iter().map(|row| shades::read(row).iter().map(|s| s.character).collect()).collect();
        Sight { rows: &rows, ansi: Some(&ansi), cursor: None, cols: 80, is_mid_frame: false }.field(0..1, 2, 2)
    }

    #[test]
    fn typed_text_and_suggestions_are_told_apart() {
        let typed = |text: &str, suggestion: &str| Field { text: text.into(), suggestion: suggestion.into() };
        assert_eq!(field("❯\u{a0}\x1b[0;7m \x1b[0m"), typed("", ""));
        assert_eq!(field("❯\u{a0}\x1b[0;7mT\x1b[0;2mry this\x1b[0m"), typed("", "Try this"));
        assert_eq!(field("❯\u{a0}\x1b[0;7mT\x1b[0mry this"), typed("Try this", ""));
        assert_eq!(field("❯\u{a0}\x1b[0;7mT\x1b[0;2mry\x1b[0m \x1b[0;2mthis\x1b[0m"), typed("", "Try this"));
        assert_eq!(field("❯\u{a0}/mo\x1b[0;7md\x1b[0;2mel\x1b[0m"), typed("/mo", "del"));
    }
}
