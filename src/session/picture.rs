//! The screen as it was at one moment, rendered once for all who look.

use super::keep::Keep;
use crate::terminal::{Cursor, Offset, Seq, Snapshot};

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Text,
    Ansi,
}

/// A rendered screen.
#[derive(Debug)]
pub struct Picture {
    pub style: Style,
    /// Size, cursor, title, and the rows in the chosen style.
    pub screen: Snapshot,
    /// How much of the child's output it shows.
    pub offset: Offset,
    /// The answer of GetScreen as JSON, shared by all who ask.
    pub encoded: Keep,
    /// Its JSON frame, shared by all readers of the stream.
    pub frame: Keep,
}

impl Picture {
    pub fn seq(&self) -> Seq {
        self.screen.seq
    }

    /// The cursor's row with the blanks before the cursor, which rows otherwise lose.
    pub fn cursor_row(&self) -> String {
        let row = self.screen.lines.get(self.cursor().row).map(String::as_str).unwrap_or_default();
        let blanks = self.cursor().col.saturating_sub(row.chars().count());
        format!("{row}{}", " ".repeat(blanks))
    }

    pub fn cursor(&self) -> &Cursor {
        &self.screen.cursor
    }
}
