//! What is typed at the outer terminal: for the program, or to leave it.

use std::io;

use nix::errno::Errno;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::{Ending, Line, Sitting};
use crate::cli::attach::keyboard::{Act, Manner};

/// Portions of typed bytes that wait.
const TYPED_MAX: usize = 16;

/// Ctrl-C, which leaves where nothing can be typed.
const INTERRUPT: u8 = 0x03;

impl Sitting {
    pub(super) fn read(&mut self, bytes: &[u8]) -> Option<Ending> {
        let window = self.window();
        let (row, col) = self.canvas.corner();
        let bracketed_paste = self.canvas.modes().bracketed_paste;
        let manner = Manner { bracketed_paste, rows: window.rows, cols: window.cols, row, col };
        let acts = self.keyboard.read(bytes, manner);
        self.held = self.keyboard.holds().then(Instant::now);
        self.act(acts)
    }

    pub(super) fn act(&mut self, acts: Vec<Act>) -> Option<Ending> {
        for act in acts {
            match (act, &self.line) {
                (Act::Leave, _) => return Some(Ending::Detached),
                (Act::Send(bytes), Line::Up(link)) if !self.place.view => {
                    link.mouth.type_in(bytes);
                    if self.status.trouble.take().is_some() {
                        // It may stand over the program's last row.
                        self.paint_afresh();
                    }
                }
                // Nothing can be typed here.
                (Act::Send(bytes), _) if bytes.contains(&INTERRUPT) => return Some(Ending::Detached),
                (Act::Send(_), _) => {}
                (Act::Asked, Line::Up(_)) if !self.place.view => {}
                (Act::Asked, _) => return Some(Ending::Detached),
            }
        }
        let asked = self.keyboard.is_asked();
        if asked != self.status.asked {
            self.status.asked = asked;
            self.asked = asked.then(Instant::now);
            self.dirty();
        }
        None
    }
}

/// Bytes from the terminal as they come, read on a thread: a terminal that is shared with the shell must stay blocking.
pub(super) fn read_terminal() -> mpsc::Receiver<Vec<u8>> {
    let (tell, typed) = mpsc::channel(TYPED_MAX);
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        loop {
            match nix::unistd::read(io::stdin(), &mut buffer) {
                Err(Errno::EINTR) => {}
                Ok(0) | Err(_) => return,
                Ok(len) => {
                    if tell.blocking_send(buffer[..len].to_vec()).is_err() {
                        return;
                    }
                }
            }
        }
    });
    typed
}
