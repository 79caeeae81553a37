//! What the session says becomes what the outer terminal shows.

use tokio::time::Instant;

use super::{Ending, Sitting, inner};
use crate::child::Size;
use crate::cli::attach::about::worth_telling;
use crate::cli::attach::canvas::Window;
use crate::cli::attach::push;
use crate::proto::v1::attach_response::Event as Told;
use crate::terminal::Note;

impl Sitting {
    pub(super) fn hear(&mut self, told: Told) -> Option<Ending> {
        match told {
            Told::Ready(ready) => self.restart(ready.cols, ready.rows),
            Told::Resize(resize) => self.restart(resize.cols, resize.rows),
            Told::Output(bytes) => {
                let was_whole = self.canvas.is_whole();
                let fed = self.canvas.feed(&bytes);
                self.bell |= was_whole && fed.notes.contains(&Note::Bell);
            }
            // A shell is no agent.
            Told::Transition(_) if self.place.terminal.is_some() => return None,
            Told::Transition(state) => self.status.state = worth_telling(state),
            Told::Exit(exit) => return Some(Ending::Ended(exit)),
            Told::Error(error) => self.status.trouble = Some(error.message),
        }
        self.dirty();
        None
    }

    fn restart(&mut self, cols: u32, rows: u32) {
        if let Ok(size) = Size::new(cols, rows) {
            self.canvas.restart(size);
        }
    }

    pub(super) fn dirty(&mut self) {
        self.dirty.get_or_insert_with(Instant::now);
    }

    pub(super) fn paint_afresh(&mut self) {
        self.afresh = true;
        self.dirty();
    }

    /// What the session has of the outer terminal.
    pub(super) fn window(&self) -> Window {
        let size = inner(self.size, self.wishes.with_status);
        Window { cols: size.cols().into(), rows: size.rows().into() }
    }

    pub(super) fn paint(&mut self) {
        self.dirty = None;
        let window = self.window();
        let mut out = String::from("\x1b[?2026h\x1b[?25l");
        if std::mem::take(&mut self.afresh) {
            out.push_str("\x1b[0m\x1b[2J");
            self.canvas.forget();
            self.status_shown.clear();
        }
        if self.canvas.is_whole() {
            self.canvas.draw(window, &mut out);
            self.manners.tell(self.canvas.modes(), self.canvas.title(), self.place.view, &mut out);
        }
        self.paint_status(window, &mut out);
        if std::mem::take(&mut self.bell) {
            out.push('\x07');
        }
        self.canvas.place_cursor(window, &mut out);
        out.push_str("\x1b[?2026l");
        self.pen.write(out);
    }

    /// What is wrong is told even where no status is wanted, over the last row.
    fn paint_status(&mut self, window: Window, out: &mut String) {
        let has_row = usize::from(self.size.rows()) > window.rows;
        if !has_row && !self.status.is_wrong() {
            return;
        }
        let shown = (window.cols, window.rows);
        let row = self.status.row(window.cols, shown, self.canvas.size(), self.wishes.key.as_ref());
        if !has_row || row != self.status_shown {
            push(out, format_args!("\x1b[{};1H{row}", self.size.rows()));
            self.status_shown = row;
        }
    }
}
