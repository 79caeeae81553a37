//! What is wrong with a file: every mistake with its line, its column and a caret under it.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use unicode_width::UnicodeWidthChar;

use super::origin::Spot;
use super::shown::shown;

/// Who has more than this to mend will look again after having mended them.
pub const MISTAKES_SHOWN_MAX: usize = 20;

/// What is remembered of them, so that a file of nothing but mistakes takes no time.
pub const MISTAKES_KEPT_MAX: usize = 100;

/// What is shown of a line beside the mistake. Lines of a generated file can be as long as the file.
const EXCERPT_CHARS_MAX: usize = 100;

/// What is shown of a long line before the mistake.
const EXCERPT_CHARS_BEFORE: usize = 40;

/// One thing that is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub line: usize,
    /// In characters, as editors count.
    pub column: usize,
    pub message: String,
    excerpt: Option<Excerpt>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Excerpt {
    text: String,
    /// Cells before the caret.
    indent: usize,
    /// Cells under which the caret is drawn.
    carets: usize,
}

/// All that is wrong with one file, in the order of its lines.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Mistakes {
    pub path: PathBuf,
    /// The first of them, at least one.
    pub list: Vec<Mistake>,
    /// How many more there were.
    pub more: usize,
}

/// Turns places in a text into lines and columns.
pub struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
    /// The place that was asked for last and its column: in one long line the next is counted from there.
    last: Cell<(usize, usize)>,
}

impl<'a> Lines<'a> {
    pub fn of(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts, last: Cell::new((0, 0)) }
    }

    pub fn spot(&self, file: &Arc<Path>, at: usize) -> Spot {
        let at = self.floor(at);
        let (line, start) = self.line_of(at);
        Spot { file: file.clone(), line: line + 1, column: self.column(start, at) + 1 }
    }

    pub fn mistake(&self, span: Range<usize>, message: impl Into<String>) -> Mistake {
        let (from, to) = (self.floor(span.start), self.floor(span.end));
        let (line, start) = self.line_of(from);
        let end = self.starts.get(line + 1).map_or(self.text.len(), |next| next - 1).max(from);
        let column = self.column(start, from);
        let far = column > EXCERPT_CHARS_MAX / 2;
        let kept = if far { EXCERPT_CHARS_BEFORE } else { column };
        let before: Vec<char> = self.text[start..from].chars().rev().take(kept).collect();
        let rest = self.text[from..end].trim_end_matches('\r');
        let short = |text: &str| flattened(&text.chars().take(EXCERPT_CHARS_MAX).collect::<String>());
        let head = flattened(&before.iter().rev().collect::<String>());
        let (marked, tail) = (short(&self.text[from..to.clamp(from, end)]), short(rest));
        let carets = width(&marked).clamp(1, width(&tail).max(1));
        let excerpt = Excerpt { indent: width(&head), carets, text: head + &tail };
        Mistake { line: line + 1, column: column + 1, message: message.into(), excerpt: Some(excerpt) }
    }

    /// Characters between the beginning of a line and a place in it.
    fn column(&self, start: usize, at: usize) -> usize {
        let (last, column) = self.last.get();
        let (from, counted) = if (start..=at).contains(&last) { (last, column) } else { (start, 0) };
        let column = counted + self.text[from..at].chars().count();
        self.last.set((at, column));
        column
    }

    fn line_of(&self, at: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= at).saturating_sub(1);
        (line, self.starts[line])
    }

    /// The nearest place at or before this one that is between two characters.
    fn floor(&self, at: usize) -> usize {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

/// A tab has no width of its own, so that a caret could not be put under what follows it.
fn flattened(text: &str) -> String {
    shown(&text.replace('\t', " "))
}

fn width(text: &str) -> usize {
    text.chars().map(|character| character.width().unwrap_or(0)).sum()
}

impl Mistake {
    /// One about the file as a whole, or about a line that cannot be shown.
    pub fn bare(line: usize, column: usize, message: impl Into<String>) -> Self {
        Self { line, column, message: message.into(), excerpt: None }
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = shown(&self.path.to_string_lossy());
        for (index, mistake) in self.list.iter().take(MISTAKES_SHOWN_MAX).enumerate() {
            let between = if index == 0 { "" } else { "\n" };
            write!(f, "{between}{path}:{}:{}: {}", mistake.line, mistake.column, mistake.message)?;
            let Some(excerpt) = &mistake.excerpt else { continue };
            let number = mistake.line.to_string();
            let margin = " ".repeat(number.len());
            write!(f, "\n  {number} | {}", excerpt.text)?;
            write!(f, "\n  {margin} | {}{}", " ".repeat(excerpt.indent), "^".repeat(excerpt.carets))?;
        }
        match self.list.len().saturating_sub(MISTAKES_SHOWN_MAX) + self.more {
            0 => Ok(()),
            more => write!(f, "\n{path}: and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str, span: Range<usize>) -> String {
        let list = vec![Lines::of(text).mistake(span, "wrong")];
        Mistakes { path: "coop.toml".into(), list, more: 0 }.to_string()
    }

    #[test]
    fn the_caret_stands_under_what_is_wrong() {
        assert_eq!(drawn("a = 1\nbad = 2\n", 6..9), "coop.toml:2:1: wrong\n  2 | bad = 2\n    | ^^^");
        assert_eq!(drawn("日本 = 1", 7..8), "coop.toml:1:4: wrong\n  1 | 日本 = 1\n    |      ^");
        assert_eq!(drawn("\tx\r\n", 1..2), "coop.toml:1:2: wrong\n  1 |  x\n    |  ^");
    }

    #[test]
    fn the_end_of_the_text_can_be_pointed_at() {
        assert_eq!(drawn("x", 1..1), "coop.toml:1:2: wrong\n  1 | x\n    |  ^");
        assert_eq!(drawn("", 0..0), "coop.toml:1:1: wrong\n  1 | \n    | ^");
        assert_eq!(drawn("a\n", 99..100), "coop.toml:2:1: wrong\n  2 | \n    | ^");
    }

    #[test]
    fn a_long_line_is_cut_and_a_hostile_one_is_escaped() {
        let long = format!("{}!{}", "x".repeat(5000), "y".repeat(5000));
        let text = drawn(&long, 5000..5001);
        assert!(text.len() < 500 && text.contains("x!y") && text.contains("1:5001"), "{text}");
        assert!(drawn("a = \"\u{1b}[2J\"", 4..9).contains("\\u{1b}[2J"));
    }
}
