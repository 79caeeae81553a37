//! What tmux is asked; every line gets one answer, in order.

use std::io;

use bytes::Bytes;
use tokio::io::AsyncWriteExt;

use super::{Awaited, Live, Looking};
use crate::borrowed::tmux::HISTORY_LINES_MAX;
use crate::borrowed::tmux::barrier;
use crate::borrowed::tmux::server::Release;
use crate::borrowed::tmux::standing::{FORMAT, Standing};
use crate::child::Size;

impl Live<'_> {
    /// Begins to type what is to be typed: asks first whether it would reach the program.
    pub(super) async fn begin_to_type(&mut self) -> io::Result<()> {
        let ask = format!("display-message -p -t {} '{}'", self.pane.id, barrier::FORMAT);
        self.send(&ask, Awaited::Barrier).await
    }

    /// Types it. A mode that somebody has entered since is ended in the same breath.
    pub(super) async fn type_in(&mut self, bytes: &Bytes) -> io::Result<()> {
        let pane = self.pane.id.clone();
        self.send(&barrier::lift(&pane, self.pane.release), Awaited::Nothing).await?;
        let hex: String = bytes.iter().map(|byte| format!(" {byte:02x}")).collect();
        self.send(&format!("send-keys -t {pane} -H{hex}"), Awaited::Written).await
    }

    pub(super) async fn send_resize(&mut self, size: Size) -> io::Result<()> {
        let Standing { window, pane, is_alone, .. } = self.course.standing.clone();
        let (cols, rows) = (size.cols(), size.rows());
        if is_alone {
            if self.course.resized.is_none() {
                let before = format!("show-options -wqv -t {window} window-size");
                self.send(&before, Awaited::SizedBefore(window.clone())).await?;
            }
            self.send(&format!("resize-window -t {window} -x {cols} -y {rows}"), Awaited::Resized).await?;
        } else {
            self.send(&format!("resize-pane -t {pane} -x {cols} -y {rows}"), Awaited::Resized).await?;
        }
        self.ask_standing(Awaited::Sized).await
    }

    pub(super) async fn ask_standing(&mut self, awaited: Awaited) -> io::Result<()> {
        let ask = format!("display-message -p -t {} '{FORMAT}'", self.pane.id);
        self.send(&ask, awaited).await
    }

    /// Takes a picture. The commands go out together, so that nothing comes between them.
    pub(super) async fn look(&mut self, looking: Looking) -> io::Result<()> {
        let pane = &self.pane.id;
        let blanks = if self.pane.release >= Release::KEEPS_BLANKS { " -N" } else { "" };
        // Only at the very first: later the session has seen it scroll by.
        let is_first = self.course.ready.is_some();
        let history = if is_first { format!(" -S -{HISTORY_LINES_MAX}") } else { String::new() };
        let lines = format!(
            "display-message -p -t {pane} '{FORMAT}'\ncapture-pane -p -e{blanks}{history} -t {pane}\n\
             capture-pane -p -e{blanks} -a -q -t {pane}\n"
        );
        self.looking = Some(looking);
        self.awaited.extend([Awaited::Frame, Awaited::Rows, Awaited::Beneath]);
        self.stdin.write_all(lines.as_bytes()).await
    }

    pub(super) async fn send(&mut self, line: &str, awaited: Awaited) -> io::Result<()> {
        self.awaited.push_back(awaited);
        self.stdin.write_all(format!("{line}\n").as_bytes()).await
    }
}
