//! The pane at the bottom of Codex's screen, which holds the composer or a dialog, and the rows below it.
//!
//! What is said in the conversation stands above the pane, whatever it quotes. The pane has a background of its own from
//! the first column on (0.166.0); messages of the user have one too, with plain rows below them. Where there are no
//! colours, the pane has to be guessed from the last rows.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::agent::Sight;
use crate::agent::rows::{is_blank, words};
use crate::agent::shades::Shade;

/// Begin the composer: for prompts, and for shell commands.
const BOX_MARKS: [char; 2] = ['›', '!'];

/// As many rows can stand below the pane: a status line, what is looked for, and the keys for that.
const FOOTER_ROWS_MAX: usize = 3;

/// All that stands below the composer while Codex starts, if anything: there is no model yet to be told.
const EARLY_FOOTER: &str = "? for shortcuts";

/// Begins the first row of a view that has the whole screen: `/ T R A N S C R I P T / / / …`. What is said in the
/// conversation never begins in the first column.
const VIEW_TITLE: &str = "/ ";

/// A row that offers keys, as dialogs have below them: `enter select · esc back`, `Press enter to confirm or …`.
static KEYS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(^|[·|] |[Pp]ress |\bor )(enter|esc|enter/esc|tab|space)( |$)").expect("the pattern does not change")
});

/// A screen in its parts.
pub struct Frame<'a> {
    pub sight: Sight<'a>,
    /// The row after the last one that is not blank.
    pub end: usize,
    /// The rows on the pane's background, where there are colours.
    pub pane: Option<Range<usize>>,
}

/// Where the composer is.
pub struct Composer {
    /// The rows of the text.
    pub rows: Range<usize>,
    /// The row after the last one that the cursor can be on; the text's last rows may be blank.
    pub end: usize,
    /// Where the rows above it end.
    pub top: usize,
    /// Whether it is drawn before Codex is there to read what is typed.
    pub is_early: bool,
}

impl<'a> Frame<'a> {
    pub fn new(sight: Sight<'a>) -> Self {
        let end = sight.rows.iter().rposition(|row| !is_blank(row)).map_or(0, |last| last + 1);
        let mut frame = Self { sight, end, pane: None };
        frame.pane = frame.backed_pane();
        frame
    }

    /// The lowest rows that have a background in their first column.
    fn backed_pane(&self) -> Option<Range<usize>> {
        let is_backed = |row: &usize| self.first_shade(*row).is_some_and(|shade| shade.backed);
        let last = (0..self.sight.rows.len()).rev().find(is_backed)?;
        let first = (0..=last).rev().take_while(is_backed).last()?;
        self.is_footer(last + 1..self.end).then_some(first..last + 1)
    }

    /// The composer, if the pane has no dialog.
    pub fn composer(&self) -> Option<Composer> {
        let rows = self.sight.rows;
        let (mark, end) = match &self.pane {
            // A list of commands or files may stand right on the composer.
            Some(pane) => (pane.clone().find(|row| is_blank(&rows[*row]))? + 1, pane.end),
            None => self.guessed_composer()?,
        };
        if mark >= end || !self.begins_box(mark) {
            return None;
        }
        let last = (mark..end).rev().find(|row| !is_blank(&rows[*row])).unwrap_or(mark);
        let footer = words(&rows[last + 1..self.end.max(last + 1)]);
        let is_early = footer.is_empty() || footer == EARLY_FOOTER;
        Some(Composer { rows: mark..last + 1, end, top: mark - 1, is_early })
    }

    /// Without colours: the lowest mark above a row that offers no keys. Gives the mark's row and the one after the text.
    fn guessed_composer(&self) -> Option<(usize, usize)> {
        let rows = self.sight.rows;
        let footer = self.last_paragraph();
        if footer.is_empty() || !self.is_footer(footer.clone()) || offers_keys(&rows[footer.start]) {
            return None;
        }
        let mark = (1..footer.start).rev().find(|row| self.begins_box(*row))?;
        let is_text = rows[mark + 1..footer.start].iter().all(|row| is_blank(row) || row.starts_with("  "));
        (is_text && is_blank(&rows[mark - 1])).then_some((mark, footer.start))
    }

    /// The words below the pane. A view that has the whole screen tells all.
    pub fn below(&self) -> String {
        let is_view = self.sight.rows.first().is_some_and(|row| row.starts_with(VIEW_TITLE));
        let pane = self.pane.as_ref().map(|pane| pane.end).filter(|end| *end < self.end);
        let start = if is_view { 0 } else { pane.unwrap_or_else(|| self.last_paragraph().start) };
        words(&self.sight.rows[start..self.end])
    }

    fn last_paragraph(&self) -> Range<usize> {
        let start = self.sight.rows[..self.end].iter().rposition(|row| is_blank(row)).map_or(0, |row| row + 1);
        start..self.end
    }

    /// Whether the rows can stand below the pane.
    fn is_footer(&self, rows: Range<usize>) -> bool {
        let shown = || rows.clone().map(|row| self.sight.rows[row].as_str()).filter(|row| !is_blank(row));
        shown().count() <= FOOTER_ROWS_MAX && shown().all(|row| row.starts_with("  "))
    }

    /// A user's message has a faint mark.
    fn begins_box(&self, row: usize) -> bool {
        let text = self.sight.rows[row].strip_prefix(BOX_MARKS);
        text.is_some_and(|rest| rest.chars().next().is_none_or(char::is_whitespace))
            && self.first_shade(row).is_none_or(|shade| !shade.faint)
    }

    fn first_shade(&self, row: usize) -> Option<Shade> {
        self.sight.shades(row)?.first().copied()
    }
}

/// Whether the words offer keys.
pub fn offers_keys(words: &str) -> bool {
    KEYS.is_match(words.trim())
}
