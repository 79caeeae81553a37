//! The session's picture, and how a terminal that shows another one is made to show it.

use super::push;
use crate::child::Size;
use crate::terminal::{Cursor, Fed, Modes, Seq, Terminal};

/// The part of the outer terminal that shows the session: its upper left corner, this large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub cols: usize,
    pub rows: usize,
}

/// What the session shows, and what the outer terminal was told of it.
///
/// The program's bytes never reach the outer terminal: they are fed to the same emulator as in the session itself, and
/// the rows that differ are painted. So a larger session can be clipped, and nothing the program does can reach the
/// status line.
pub struct Canvas {
    terminal: Terminal,
    seq: Seq,
    /// The first row and column that are shown.
    corner: (usize, usize),
    /// What stands in each row of the window.
    shown: Vec<Option<String>>,
    /// A picture in the new size is on its way.
    awaits_redraw: bool,
}

impl Canvas {
    pub fn new(size: Size) -> Self {
        let terminal = Terminal::new(size, 0);
        Self { terminal, seq: Seq(0), corner: (0, 0), shown: Vec::new(), awaits_redraw: true }
    }

    /// The session begins anew, in this size; a redraw follows.
    pub fn restart(&mut self, size: Size) {
        self.terminal = Terminal::new(size, 0);
        self.awaits_redraw = true;
    }

    pub fn feed(&mut self, bytes: &[u8]) -> Fed {
        self.awaits_redraw = false;
        self.seq = Seq(self.seq.0 + 1);
        self.terminal.feed(bytes, self.seq)
    }

    /// Whether there is a whole picture to show.
    pub fn is_whole(&self) -> bool {
        !self.awaits_redraw
    }

    /// Whether the program is in the middle of a frame.
    pub fn is_mid_frame(&self) -> bool {
        self.terminal.modes().synchronized_output
    }

    pub fn modes(&self) -> &Modes {
        self.terminal.modes()
    }

    pub fn title(&self) -> Option<&str> {
        self.terminal.title()
    }

    pub fn size(&self) -> Size {
        self.terminal.size()
    }

    /// The first row and column that are shown.
    pub fn corner(&self) -> (usize, usize) {
        self.corner
    }

    /// The outer terminal shows nothing of it any more.
    pub fn forget(&mut self) {
        self.shown.clear();
    }

    /// Paints what differs. The cursor is left wherever; [`Canvas::place_cursor`] puts it right.
    pub fn draw(&mut self, window: Window, out: &mut String) {
        self.follow_cursor(window);
        self.shown.resize(window.rows, None);
        let (top, left) = self.corner;
        for (row, shown) in self.shown.iter_mut().enumerate() {
            let (text, cols) = self.terminal.part_of_row(top + row, left..left + window.cols);
            if shown.as_ref() == Some(&text) {
                continue;
            }
            let is_plain = text.is_ascii() && shown.as_ref().is_none_or(|shown| shown.is_ascii());
            // Terminals do not agree on how wide some characters are: nothing of them may stay behind.
            let clear = if is_plain { "" } else { "\x1b[2K" };
            push(out, format_args!("\x1b[{};1H{clear}{text}", row + 1));
            // In the last column the cursor has not moved on, and clearing would take what was just written.
            if cols < window.cols {
                out.push_str("\x1b[K");
            }
            *shown = Some(text);
        }
    }

    /// Puts the outer cursor where the session's is, if that is seen.
    pub fn place_cursor(&self, window: Window, out: &mut String) {
        let Cursor { row, col, visible } = self.terminal.cursor();
        let (top, left) = self.corner;
        let inside = (top..top + window.rows).contains(&row) && (left..left + window.cols).contains(&col);
        if visible && inside {
            push(out, format_args!("\x1b[{};{}H\x1b[?25h", row - top + 1, col - left + 1));
        }
    }

    /// Moves the window no further than it takes to see the cursor. A hidden one may be anywhere and is not followed.
    fn follow_cursor(&mut self, window: Window) {
        let size = self.terminal.size();
        let cursor = self.terminal.cursor();
        let moved = |first: usize, shown: usize, all: usize, at: usize| {
            let last = all.saturating_sub(shown);
            if !cursor.visible {
                return first.min(last);
            }
            first.min(at).max((at + 1).saturating_sub(shown)).min(last)
        };
        let corner = (
            moved(self.corner.0, window.rows, size.rows().into(), cursor.row),
            moved(self.corner.1, window.cols, size.cols().into(), cursor.col),
        );
        self.corner = corner;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window { cols: 10, rows: 3 };

    /// A terminal of the window's size (and a row for the status) that is shown a canvas.
    struct Outer(Terminal);

    impl Outer {
        fn new() -> Self {
            let mut terminal = Terminal::new(Size::new(10, 4).unwrap(), 0);
            terminal.feed(b"\x1b[4;1Hstatus\x1b[?7l", Seq(1));
            Self(terminal)
        }

        fn shows(&mut self, canvas: &mut Canvas) -> Vec<String> {
            let mut out = String::new();
            canvas.draw(WINDOW, &mut out);
            canvas.place_cursor(WINDOW, &mut out);
            self.0.feed(out.as_bytes(), Seq(2));
            self.0.snapshot().lines
        }
    }

    fn canvas(cols: u32, rows: u32, text: &str) -> Canvas {
        let mut canvas = Canvas::new(Size::new(cols, rows).unwrap());
        canvas.feed(text.as_bytes());
        canvas
    }

    #[test]
    fn nothing_a_program_does_reaches_the_row_below_its_own() {
        let mut outer = Outer::new();
        let mut canvas = canvas(10, 3, "1\r\n2\r\n3\r\n4\x1b[r\x1b[99;1Hdeep\x1b[J");
        assert_eq!(outer.shows(&mut canvas), ["2", "3", "deep", "status"]);
        canvas.feed(b"\x1b[?1049h\x1b[2J\x1b[1;3r\x1b[3;1Halt\n\n\x1bM");
        assert_eq!(outer.shows(&mut canvas), ["alt", "", "", "status"]);
        canvas.feed(b"\x1bcafter a reset");
        assert_eq!(outer.shows(&mut canvas), ["after a re", "set", "", "status"]);
    }

    #[test]
    fn rows_that_fill_the_window_keep_their_last_column_and_shorter_ones_leave_nothing_behind() {
        let mut outer = Outer::new();
        let mut canvas = canvas(10, 3, "0123456789\r\n日本語日本\r\n日本語日本");
        assert_eq!(outer.shows(&mut canvas)[..3], ["0123456789", "日本語日本", "日本語日本"]);
        canvas.feed("\x1b[1;1H\x1b[Kab\x1b[2;1H\x1b[Kc本".as_bytes());
        assert_eq!(outer.shows(&mut canvas)[..3], ["ab", "c本", "日本語日本"]);
    }

    #[test]
    fn a_larger_session_is_clipped_and_the_window_follows_the_cursor() {
        let mut outer = Outer::new();
        let mut canvas = canvas(20, 6, "a日bcdefgh日j\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[1;1H");
        assert_eq!(outer.shows(&mut canvas)[..3], ["a日bcdefgh", "2", "3"], "half a character is a blank");
        canvas.feed(b"\x1b[5;12H");
        assert_eq!((outer.shows(&mut canvas)[2].as_str(), canvas.corner()), ("", (2, 2)));
        canvas.feed(b"\x1b[1;3H");
        assert_eq!(outer.shows(&mut canvas)[0], " bcdefgh日", "the other half too");
        assert_eq!((outer.0.cursor().row, outer.0.cursor().col), (0, 0));
        canvas.feed(b"\x1b[?25l\x1b[6;20H");
        outer.shows(&mut canvas);
        assert_eq!(canvas.corner(), (0, 2), "a hidden cursor is not followed");
    }

    #[test]
    fn colours_are_the_sessions_on_blanks_and_where_a_row_is_clipped_too() {
        let mut outer = Outer::new();
        let mut canvas = canvas(20, 3, "\x1b[31;44mred\x1b[0m \x1b[1;7mX\x1b[0;4;38;5;200;48;2;1;2;3m日\x1b[m\r\n");
        canvas.feed("\x1b[42m\x1b[K\x1b[0m\r\nplain\x1b[2;1H".as_bytes());
        outer.shows(&mut canvas);
        let clipped = |canvas: &Canvas, row| canvas.terminal.part_of_row(row, 0..WINDOW.cols).0;
        for step in
            ["", "\x1b[1;1H\x1b[0;2;9mw\x1b[3;6H\x1b[5;93m  ", "\x1b[1;2H\x1b[0;41m\x1b[K\x1b[2;4H\x1b[0m\x1b[K"]
        {
            canvas.feed(step.as_bytes());
            outer.shows(&mut canvas);
            let shown = outer.0.ansi_rows();
            for (row, shown) in shown[..3].iter().enumerate() {
                // Fed to a terminal of the window's size, so that they are told in the same way.
                let mut wanted = Terminal::new(Size::new(10, 1).unwrap(), 0);
                wanted.feed(clipped(&canvas, row).as_bytes(), Seq(1));
                assert_eq!(*shown, wanted.ansi_rows()[0], "row {row} after {step:?}");
            }
            assert_eq!(shown[3], "status");
        }
        assert_eq!(outer.0.ansi_rows()[1], "\x1b[0;42m   \x1b[0m", "what was cleared without a colour has none");
        let row = "\x1b[0;2;9mw\x1b[0;41m         \x1b[0m";
        assert_eq!(outer.0.ansi_rows()[0], row, "blanks have theirs to the edge of the window");
    }

    #[test]
    fn only_what_differs_is_painted() {
        let mut canvas = canvas(10, 3, "one\r\ntwo");
        let mut out = String::new();
        canvas.draw(WINDOW, &mut out);
        canvas.feed(b"!");
        out.clear();
        canvas.draw(WINDOW, &mut out);
        assert_eq!(out, "\x1b[2;1Htwo!\x1b[K");
        canvas.forget();
        out.clear();
        canvas.draw(WINDOW, &mut out);
        assert!(out.contains("one") && out.contains("two!"));
    }
}
