//! What the screen shows, as plain data.

use std::sync::Arc;

use super::Seq;
use crate::child::Size;

/// The screen as text, at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The last change of the screen.
    pub seq: Seq,
    pub size: Size,
    /// One line per row, trailing blanks trimmed.
    pub lines: Vec<String>,
    pub cursor: Cursor,
    pub alt_screen: bool,
    pub title: Option<String>,
    /// What the program said last about its own state (OSC 7501), for those who watch it.
    pub signal: Option<Arc<str>>,
    /// The program is in the middle of a frame, and says so: half of what is seen is old.
    pub mid_frame: bool,
}

/// The cursor's cell, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    pub row: usize,
    /// Always a column of the screen, also when the next character would wrap.
    pub col: usize,
    pub visible: bool,
}
