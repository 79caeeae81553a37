//! Small questions about rows of text on a screen.

use unicode_width::UnicodeWidthStr;

/// Programs leave a column or two free at the right edge when they wrap words.
const RIGHT_MARGIN_COLS: usize = 2;

/// The rows' words with one space between them, so that phrases are found however they are wrapped.
pub fn words<S: AsRef<str>>(rows: &[S]) -> String {
    let words: Vec<&str> = rows.iter().flat_map(|row| row.as_ref().split_whitespace()).collect();
    words.join(" ")
}

/// Blank columns at the row's beginning.
pub fn indent(row: &str) -> usize {
    row.chars().take_while(|c| c.is_whitespace()).count()
}

pub fn is_blank(row: &str) -> bool {
    row.chars().all(char::is_whitespace)
}

/// The row from a column on.
pub fn from_col(row: &str, col: usize) -> &str {
    row.char_indices().nth(col).map_or("", |(at, _)| &row[at..])
}

/// How a row goes on in the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seam {
    /// It ended by itself.
    Break,
    /// The next row's first word did not fit.
    Space,
    /// A word longer than the row was cut.
    Nothing,
}

/// Whether `next` is the rest of `row`, wrapped because the screen is only `cols` wide.
pub fn seam(row: &str, next: &str, cols: usize) -> Seam {
    let used = row.width();
    let first_word = next.split_whitespace().next().unwrap_or_default().width();
    match used {
        _ if first_word == 0 => Seam::Break,
        used if used >= cols => Seam::Nothing,
        used if used + 1 + first_word > cols.saturating_sub(RIGHT_MARGIN_COLS) => Seam::Space,
        _ => Seam::Break,
    }
}

/// An address that fills its rows from the first column to the last. Claude Code 2.1.197 wipes the first column when a
/// code is typed: half an address is none.
pub fn wrapped_url(rows: &[String], cols: usize) -> Option<String> {
    let first = rows.iter().position(|row| row.starts_with("https://"))?;
    let mut url = String::new();
    for row in &rows[first..] {
        if is_blank(row) {
            break;
        }
        if indent(row) > 0 {
            return None;
        }
        url.push_str(row.trim_end());
        if row.width() < cols {
            break;
        }
    }
    (!url.contains(char::is_whitespace)).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_across_rows_and_hard_blanks() {
        assert_eq!(words(&[" Would you like to ", "", "\u{a0}proceed?"]), "Would you like to proceed?");
    }

    #[test]
    fn a_row_goes_on_only_when_the_next_word_had_no_room() {
        assert_eq!(seam("  2. Yes, and don't ask again for similar", "     commands in here", 44), Seam::Space);
        assert_eq!(seam("  2. SQLite", "     Embedded file", 44), Seam::Break);
        assert_eq!(seam("aaaaaaaaaa", "bbb", 10), Seam::Nothing);
        assert_eq!(seam("日本語日本", "語", 12), Seam::Space);
    }
}
