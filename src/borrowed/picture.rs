//! A terminal's picture as tmux or screen tells it, and the bytes that paint it.

use std::fmt::Write;

use bytes::Bytes;

use crate::child::Size;

/// Ends what may be under way: colours, scrolling region, origin and insert mode, another character set.
const PLAIN: &str = "\x1b[0m\x1b[r\x1b[?6l\x1b[4l\x1b[?7h\x1b(B\x0f";

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub size: Size,
    /// What is shown, with its colours as escape sequences.
    pub rows: Vec<Vec<u8>>,
    /// Column and row of the cursor, from 0.
    pub cursor: (u16, u16),
    /// Sequences that set the modes that are known.
    pub modes: String,
    pub title: Option<String>,
    /// The alternate screen is shown.
    pub alternate: Option<Beneath>,
    /// Rows that scrolled off the top, oldest first.
    pub history: Vec<Vec<u8>>,
}

/// The primary screen, while the alternate one is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beneath {
    pub rows: Vec<Vec<u8>>,
    pub cursor: (u16, u16),
}

impl Picture {
    /// Paints all of it on a terminal of which nothing is known.
    pub fn whole(&self) -> Bytes {
        let mut out = format!("\x1b[?1049l{PLAIN}\x1b[H").into_bytes();
        let none = Vec::new();
        let (primary, cursor) = match &self.alternate {
            Some(beneath) => (&beneath.rows, beneath.cursor),
            None => (&self.rows, self.cursor),
        };
        // Printed line by line, so that the history scrolls off the top.
        let lines = self.history.iter().chain(primary).chain(std::iter::repeat(&none));
        let count = self.history.len() + usize::from(self.size.rows());
        for (at, line) in lines.take(count).enumerate() {
            out.extend_from_slice(if at == 0 { b"\x1b[0m\x1b[K" } else { b"\x1b[0m\r\n\x1b[K" });
            out.extend_from_slice(line);
        }
        if self.alternate.is_some() {
            out.extend_from_slice(format!("\x1b[0m{}\x1b[?1049h", go(cursor)).as_bytes());
            self.paint_rows(None, &mut out);
        }
        self.end(&mut out);
        out.into()
    }

    /// Paints it on a terminal that shows another picture of the same screen; only what differs from `before`, where
    /// that is known.
    pub fn over(&self, before: Option<&Self>) -> Bytes {
        let mut out = Vec::new();
        match before {
            Some(before) if before.size == self.size => self.paint_rows(Some(before), &mut out),
            _ => {
                out.extend_from_slice(PLAIN.as_bytes());
                self.paint_rows(None, &mut out);
            }
        }
        let same_frame = before.is_some_and(|before| before.cursor == self.cursor && before.modes == self.modes);
        if !out.is_empty() || !same_frame || before.is_some_and(|before| before.title != self.title) {
            self.end(&mut out);
        }
        out.into()
    }

    fn paint_rows(&self, before: Option<&Self>, out: &mut Vec<u8>) {
        let none = Vec::new();
        for row in 0..self.size.rows() {
            let line = self.rows.get(usize::from(row)).unwrap_or(&none);
            let known = before.map(|before| before.rows.get(usize::from(row)).unwrap_or(&none));
            if known != Some(line) {
                out.extend_from_slice(format!("{}\x1b[0m\x1b[K", go((0, row))).as_bytes());
                out.extend_from_slice(line);
            }
        }
    }

    /// The title, the modes, and the cursor where it is.
    fn end(&self, out: &mut Vec<u8>) {
        let mut text = String::from("\x1b[0m");
        if let Some(title) = &self.title {
            let title: String = title.chars().filter(|c| !c.is_control()).collect();
            let _ = write!(text, "\x1b]2;{title}\x07");
        }
        // A scrolling region, which may be among the modes, moves the cursor.
        text.push_str(&self.modes);
        text.push_str(&go(self.cursor));
        out.extend_from_slice(text.as_bytes());
    }
}

/// Moves the cursor.
fn go((col, row): (u16, u16)) -> String {
    format!("\x1b[{};{}H", u32::from(row) + 1, u32::from(col) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::{Seq, Terminal};

    fn picture(rows: &[&str]) -> Picture {
        Picture {
            size: Size::new(10, 3).unwrap(),
            rows: rows.iter().map(|row| row.as_bytes().to_vec()).collect(),
            cursor: (2, 1),
            modes: String::new(),
            title: Some("a title".to_owned()),
            alternate: None,
            history: Vec::new(),
        }
    }

    fn shown(terminal: &Terminal) -> Vec<String> {
        terminal.snapshot().lines.iter().map(|line| line.trim_end().to_owned()).collect()
    }

    #[test]
    fn a_picture_with_its_history_is_painted_on_an_empty_terminal() {
        let mut whole = picture(&["one", "0123456789", "three"]);
        whole.history = vec![b"older".to_vec(), b"old".to_vec()];
        let mut terminal = Terminal::new(whole.size, 100);
        terminal.feed(&whole.whole(), Seq(1));
        assert_eq!(shown(&terminal), ["one", "0123456789", "three"]);
        assert_eq!(terminal.scrollback_text(10), ["older", "old"]);
        assert_eq!((terminal.cursor().col, terminal.cursor().row), (2, 1));
        assert_eq!(terminal.title(), Some("a title"));
    }

    #[test]
    fn what_is_beneath_a_full_screen_program_comes_back() {
        let mut whole = picture(&["~", "~", "VIM"]);
        whole.alternate = Some(Beneath { rows: vec![b"$ vim".to_vec()], cursor: (5, 0) });
        let mut terminal = Terminal::new(whole.size, 100);
        terminal.feed(&whole.whole(), Seq(1));
        assert!(terminal.alt_screen());
        assert_eq!(shown(&terminal), ["~", "~", "VIM"]);
        terminal.feed(b"\x1b[?1049l", Seq(2));
        assert_eq!(shown(&terminal), ["$ vim", "", ""]);
        assert_eq!((terminal.cursor().col, terminal.cursor().row), (5, 0));
    }

    #[test]
    fn only_what_changed_is_painted_again() {
        let (before, after) = (picture(&["one", "two", "three"]), picture(&["one", "2", "three"]));
        let mut terminal = Terminal::new(before.size, 100);
        terminal.feed(&before.whole(), Seq(1));
        let change = after.over(Some(&before));
        assert!(!String::from_utf8_lossy(&change).contains("three"));
        terminal.feed(&change, Seq(2));
        assert_eq!(shown(&terminal), ["one", "2", "three"]);
        assert_eq!(after.over(Some(&after)), Bytes::new());
        terminal.feed(&before.over(None), Seq(3));
        assert_eq!(shown(&terminal), ["one", "two", "three"]);
    }
}
