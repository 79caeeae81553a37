//! The cells, drawn by avt, and all that is learnt while they are drawn.

use super::changes::Changes;
use super::clusters::{Clusters, is_mark, needs_care};
use super::emulator::Fed;
use super::screen::Cursor;
use super::sequence;
use super::stream::{Step, plain_function};
use super::watch::{Note, Watch};
use avt::parser::{DecMode, DecModes, EdScope, Function};
use avt::{Anchor, Position, ScreenKind};

/// What one terminal shows.
pub struct Picture {
    pub cells: avt::Terminal,
    pub changes: Changes,
    pub watch: Watch,
    /// What stands in cells for characters with marks.
    pub clusters: Clusters,
    /// Marks the last scrolled-off row that the child asked to forget; avt keeps such rows.
    forgotten: Option<Anchor>,
}

impl Picture {
    pub fn new(cells: avt::Terminal) -> Picture {
        let changes = Changes::new(cells.size().1);
        Picture { cells, changes, watch: Watch::default(), clusters: Clusters::default(), forgotten: None }
    }

    pub fn cursor(&self) -> Cursor {
        let cursor = self.cells.cursor();
        // avt counts a cursor that is about to wrap as one column further.
        let col = cursor.col.min(self.cells.size().0 - 1);
        Cursor { row: cursor.row, col, visible: cursor.visible }
    }

    pub fn step(&mut self, step: Step<'_>, fed: &mut Fed) {
        match step {
            Step::Plain(text) => self.print(text),
            Step::Function(function) => self.draw(function),
            Step::Bell => fed.notes.push(Note::Bell),
            Step::Sequence(raw) => {
                if let Some(sequence) = sequence::read(raw) {
                    let cursor = self.cursor();
                    self.watch.follow(&sequence, cursor, &mut fed.replies, &mut fed.notes);
                    self.copy_modes();
                }
            }
        }
    }

    pub fn resize(&mut self, cols: usize, rows: usize) {
        self.cells.resize_with(cols, rows, &mut self.changes);
    }

    /// The rows that have scrolled off the primary screen and may still be read, oldest first.
    pub fn scrollback(&self) -> impl Iterator<Item = &avt::Line> {
        let screen = self.cells.primary_screen();
        let rows = screen.all_lines().count() - screen.visible_lines().len();
        // The mark lies above the screen, so its row is negative: -1 is the last row that scrolled off.
        let forgotten = self.forgotten.as_ref().and_then(|anchor| self.cells.resolve(anchor));
        let skipped = forgotten.map_or(0, |position| rows.saturating_add_signed(position.row + 1).min(rows));
        screen.all_lines().take(rows).skip(skipped)
    }

    fn print(&mut self, text: &str) {
        if text.is_ascii() || !text.contains(needs_care) {
            return self.cells.execute_with(text.chars().map(plain_function), &mut self.changes);
        }
        for part in text.split_inclusive(needs_care) {
            let odd = part.chars().next_back().filter(|ch| needs_care(*ch));
            let plain = &part[..part.len() - odd.map_or(0, char::len_utf8)];
            self.cells.execute_with(plain.chars().map(plain_function), &mut self.changes);
            match odd {
                Some(mark) if is_mark(mark) => self.mark(mark),
                Some(own) => {
                    let stand_in = self.clusters.own(own);
                    self.cells.execute_with(Function::Print(stand_in), &mut self.changes);
                }
                None => {}
            }
        }
    }

    /// Adds a mark to the character before the cursor, which stays where it is. Where there is none, the mark is left
    /// out, as it is on a wide character, whose two cells no stand-in can take.
    fn mark(&mut self, mark: char) {
        let cursor = self.cells.cursor();
        let Some(col) = cursor.col.checked_sub(1) else { return };
        let line = self.cells.screen().line(cursor.row);
        let cell = line.and_then(|line| line.cells().get(col)).filter(|cell| cell.width() == 1);
        let Some(marked) = cell.and_then(|cell| self.clusters.marked(cell.char(), mark)) else { return };
        let back = Function::Cha(u16::try_from(col + 1).unwrap_or(u16::MAX));
        self.cells.execute_with([back, Function::Print(marked)], &mut self.changes);
    }

    fn draw(&mut self, function: Function) {
        match function {
            Function::Print(ch) if is_mark(ch) => self.mark(ch),
            Function::Rep(count) => {
                let count = self.repeats(count);
                self.cells.execute_with(Function::Rep(count), &mut self.changes);
            }
            Function::Ed(EdScope::SavedLines) => self.forget_scrollback(),
            Function::Decstr => {
                // A soft reset also ends application cursor keys, which avt leaves on.
                let normal_cursor_keys = Function::Decrst(DecModes::from(&[DecMode::CursorKeys][..]));
                self.cells.execute_with([function, normal_cursor_keys], &mut self.changes);
            }
            function => self.cells.execute_with(function, &mut self.changes),
        }
    }

    /// One REP of eight bytes can ask for 65535 characters. Beyond a screenful more of them change nothing but
    /// where in the row they end, so whole rows are left out.
    fn repeats(&self, count: u16) -> u16 {
        let (cols, rows) = self.cells.size();
        let (count, screenful) = (usize::from(count), cols * rows);
        let wanted = if count > screenful { screenful + (count - screenful) % cols } else { count };
        wanted as u16
    }

    fn forget_scrollback(&mut self) {
        let last_row = Position { screen: ScreenKind::Primary, col: 0, row: -1 };
        self.forgotten = self.cells.anchor_at(last_row);
    }

    fn copy_modes(&mut self) {
        let modes = &mut self.watch.modes;
        modes.application_cursor = self.cells.cursor_key_app_mode();
        modes.cursor_visible = self.cells.cursor().visible;
        modes.alt_screen = self.cells.active_screen_kind() == ScreenKind::Alternate;
    }
}
