//! The screen as it was at one moment, rendered once for all who look.

use std::sync::OnceLock;

use bytes::Bytes;

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
    /// Its JSON, made by the first face that needs it and shared by all.
    pub encoded: OnceLock<Bytes>,
}

impl Picture {
    pub fn seq(&self) -> Seq {
        self.screen.seq
    }

    pub fn cursor(&self) -> &Cursor {
        &self.screen.cursor
    }
}
