//! A child's terminal: bytes in, a picture and what the child said beside it out.

use super::picture::Picture;
use super::screen::{Cursor, Snapshot};
use super::stream::Stream;
use super::utf8::Decoder;
use super::watch::{Note, SIGNAL};
use super::{Modes, Seq, paint, redraw};
use crate::child::Size;
use avt::ScreenKind;

/// The terminal a child prints to.
pub struct Terminal {
    size: Size,
    decoder: Decoder,
    stream: Stream,
    picture: Picture,
    /// The last change of anything visible.
    screen_seq: Seq,
}

/// What came of feeding some bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fed {
    /// Whether anything visible may have changed: rows, cursor, alternate screen, title.
    pub changed: bool,
    /// Answers to the child's queries, in order. Whether they are sent is the caller's choice: a terminal that
    /// is attached may answer itself.
    pub replies: Vec<u8>,
    pub notes: Vec<Note>,
}

impl Terminal {
    /// An empty terminal that remembers up to `scrollback_lines_max` rows that scroll off its primary screen.
    pub fn new(size: Size, scrollback_lines_max: usize) -> Terminal {
        let (cols, rows) = (usize::from(size.cols()), usize::from(size.rows()));
        let cells = avt::Terminal::with_scrollback(cols, rows, Some(scrollback_lines_max))
            .expect("a Size has at least one column and one row");
        Terminal {
            size,
            decoder: Decoder::default(),
            stream: Stream::default(),
            picture: Picture::new(cells),
            screen_seq: Seq::default(),
        }
    }

    /// Takes in what the child printed; `seq` is greater than that of any change before.
    pub fn feed(&mut self, bytes: &[u8], seq: Seq) -> Fed {
        let before = (self.cursor(), self.alt_screen());
        let was_mid_frame = self.modes().synchronized_output;
        let mut fed = Fed::default();
        let Terminal { decoder, stream, picture, .. } = self;
        picture.changes.begin(seq);
        decoder.decode(bytes, |text| stream.read(text, |step| picture.step(step, &mut fed)));
        // Whoever watches the program looks at its title and its signals with the picture.
        let is_seen = |note: &Note| matches!(note, Note::Title(_) | Note::Osc { code: SIGNAL, .. });
        let retitled = fed.notes.iter().any(is_seen);
        // The end of a frame makes the picture whole, which those who wait for whole pictures must be told.
        let completed = was_mid_frame != self.modes().synchronized_output;
        fed.changed =
            retitled || completed || self.picture.changes.touched() || before != (self.cursor(), self.alt_screen());
        if fed.changed {
            self.screen_seq = seq;
        }
        fed
    }

    /// Changes the size; the primary screen's lines are wrapped anew.
    pub fn resize(&mut self, size: Size, seq: Seq) {
        self.picture.changes.begin(seq);
        self.picture.resize(usize::from(size.cols()), usize::from(size.rows()));
        self.size = size;
        if self.picture.changes.touched() {
            self.screen_seq = seq;
        }
    }

    pub fn size(&self) -> Size {
        self.size
    }

    pub fn modes(&self) -> &Modes {
        &self.picture.watch.modes
    }

    pub fn title(&self) -> Option<&str> {
        self.picture.watch.title.get()
    }

    pub fn cursor(&self) -> Cursor {
        self.picture.cursor()
    }

    pub fn alt_screen(&self) -> bool {
        self.picture.cells.active_screen_kind() == ScreenKind::Alternate
    }

    /// The last feed or resize that changed anything visible.
    pub fn screen_seq(&self) -> Seq {
        self.screen_seq
    }

    /// What a terminal must be told before another program begins: the modes that the last one left behind are ended, and
    /// the next begins on a line of its own. To be called and fed until it is empty: leaving the alternate screen
    /// moves the cursor, and only then is known where to.
    pub fn undo(&self) -> Vec<u8> {
        if self.alt_screen() {
            b"\x1b[?1049l".to_vec()
        } else if *self.modes() != Modes::default() {
            redraw::undo(&self.cursor()).into_bytes()
        } else if self.cursor().col > 0 {
            b"\r\n".to_vec()
        } else {
            Vec::new()
        }
    }

    /// The screen as text.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            seq: self.screen_seq,
            size: self.size,
            lines: self.picture.cells.screen().visible_lines().map(|line| self.whole(paint::text(line))).collect(),
            cursor: self.cursor(),
            alt_screen: self.alt_screen(),
            title: self.title().map(str::to_owned),
            signal: self.picture.watch.signal.clone(),
            mid_frame: self.modes().synchronized_output,
        }
    }

    /// Each row with its colours, able to stand alone.
    pub fn ansi_rows(&self) -> Vec<String> {
        self.picture.cells.screen().visible_lines().map(|line| self.whole(paint::ansi(line))).collect()
    }

    /// Some columns of a row with their colours, and how many columns they take; nothing beyond the screen.
    pub fn part_of_row(&self, row: usize, cols: std::ops::Range<usize>) -> (String, usize) {
        let line = self.picture.cells.screen().line(row);
        let (text, cols) = line.map(|line| paint::ansi_part(line, cols)).unwrap_or_default();
        (self.whole(text), cols)
    }

    /// The rows (as in `ansi_rows`) that may look different since the screen had `since` as its `screen_seq`;
    /// `None` if that is not known, so that the whole screen is needed.
    pub fn changed_rows(&self, since: Seq) -> Option<Vec<(usize, String)>> {
        if since > self.screen_seq {
            return None;
        }
        let screen = self.picture.cells.screen();
        let painted = |row| Some((row, self.whole(paint::ansi(screen.line(row)?))));
        self.picture.changes.since(since).map(|rows| rows.into_iter().filter_map(painted).collect())
    }

    /// The last rows that scrolled off the primary screen, oldest first, at most `lines_max`.
    pub fn scrollback_text(&self, lines_max: usize) -> Vec<String> {
        let rows: Vec<_> = self.picture.scrollback().collect();
        rows[rows.len().saturating_sub(lines_max)..].iter().map(|line| self.whole(paint::text(line))).collect()
    }

    /// Characters with their marks instead of what stands for them in the cells.
    fn whole(&self, text: String) -> String {
        self.picture.clusters.expand(text)
    }

    /// Escape sequences that turn any terminal of this size into this picture, ready for the child's next bytes.
    pub fn redraw(&self) -> Vec<u8> {
        let mut out = self.whole(redraw::redraw(&self.picture.cells, &self.picture.watch)).into_bytes();
        // What the child has begun and not finished, so that its next bytes complete it there too. Controls
        // inside of it, after the introducer, have had their effect already.
        let begun = self.stream.begun().char_indices().filter(|(at, ch)| *at == 0 || !ch.is_control());
        out.extend(begun.map(|(_, ch)| ch).collect::<String>().as_bytes());
        out.extend_from_slice(self.decoder.held());
        out
    }
}
