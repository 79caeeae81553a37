//! Bytes from a child become a picture: pure data, no I/O, no clock.
//!
//! ```text
//! bytes ─ utf8 ─ stream ─┬─ picture ─┬─ avt       the cells
//!                        │           ├─ changes   which rows, since when
//!                        │           └─ clusters  characters with marks
//!                        └─ sequence ─ watch ─┬─ modes, kitty, title
//!                                             ├─ queries   replies for the child
//!                                             └─ notes     for the session
//! ```
//! `emulator` ties them together as `Terminal`; `ring` keeps the bytes themselves; `paint` and `redraw` turn the
//! picture back into escape sequences; `keys` turns key names into what a keyboard would send.

mod changes;
mod clusters;
mod emulator;
mod keys;
mod kitty;
mod modes;
mod paint;
mod picture;
mod queries;
mod redraw;
mod replies;
mod ring;
mod screen;
mod sequence;
mod stream;
#[cfg(test)]
mod tests;
mod title;
mod utf8;
mod watch;

pub use emulator::{Fed, Terminal};
pub use keys::{UnknownKey, encode_key};
pub use modes::{Modes, MouseEncoding, MouseReports};
pub use replies::{is_somebodys, without_replies};
pub use ring::{Ring, Slice};
pub use screen::{Cursor, Snapshot};
pub use watch::Note;

/// Session-wide sequence number: every change of the session gets a greater one than the change before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(pub u64);

/// Absolute position in the child's output, in bytes since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Offset(pub u64);

impl Offset {
    /// The position `bytes` further on.
    pub fn plus(self, bytes: usize) -> Offset {
        Offset(self.0.saturating_add(bytes as u64))
    }
}

/// The longest beginning of `text` that fits into `bytes_max` without cutting a character in two.
fn cut(text: &str, bytes_max: usize) -> &str {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
