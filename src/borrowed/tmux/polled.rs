//! A pane that is looked at again and again, by single commands: for a tmux whose control mode cannot be used.

use std::io;

use super::barrier;
use super::server::Release;
use super::standing::Standing;
use super::{Pane, Resized, closed};
use crate::borrowed::CannotBorrow;
use crate::borrowed::picture::Picture;
use crate::borrowed::poll::{Looked, Polls, Unseen};
use crate::child::Size;

pub struct Polled {
    pane: Pane,
    standing: Standing,
    resized: Option<Resized>,
}

impl Polled {
    pub fn new(pane: Pane, standing: Standing, resized: Option<Resized>) -> Self {
        Self { pane, standing, resized }
    }

    /// What is to be undone.
    pub fn into_resized(self) -> Option<Resized> {
        self.resized
    }
}

impl Polls for Polled {
    fn name(&self) -> String {
        format!("tmux session {}", self.standing.session_name)
    }

    async fn look(&mut self) -> Result<Looked, Unseen> {
        let standing = self.pane.standing().await.map_err(|error| unseen(&error))?;
        if let Some(over) = standing.dead {
            return Err(Unseen::Over(over));
        }
        let blanks = if self.pane.release >= Release::KEEPS_BLANKS { &["-N"][..] } else { &[] };
        let words = [&["capture-pane", "-p", "-e", "-t", self.pane.id.as_str()], blanks].concat();
        let captured = self.pane.server.ask(&words).await;
        let captured = captured.map_err(|error| unseen(&error))?;
        let captured = captured.strip_suffix(b"\n").unwrap_or(&captured);
        let rows = captured.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        // Only what is shown can be followed; which of the two screens it is makes no difference then.
        let picture = Picture { alternate: None, history: Vec::new(), ..standing.picture(rows, Vec::new()) };
        self.standing = standing;
        Ok(Looked { picture, pid: self.standing.pid })
    }

    async fn type_in(&mut self, bytes: &[u8]) -> io::Result<()> {
        type_in(&self.pane, bytes).await
    }

    async fn resize(&mut self, size: Size) -> Result<(), String> {
        let (cols, rows) = (size.cols().to_string(), size.rows().to_string());
        let Standing { window, pane, is_alone, .. } = &self.standing;
        let resizes_window = *is_alone && self.pane.release >= Release::TAKES_BYTES;
        if resizes_window && self.resized.is_none() {
            let before = self.pane.server.ask(&["show-options", "-wqv", "-t", window, "window-size"]).await;
            let before = before.map_err(|error| error.to_string())?;
            let before = String::from_utf8_lossy(&before).trim().to_owned();
            self.resized = Some((window.clone(), Some(before).filter(|value| !value.is_empty())));
        }
        let words = match resizes_window {
            true => ["resize-window", "-t", window, "-x", &cols, "-y", &rows],
            false => ["resize-pane", "-t", pane, "-x", &cols, "-y", &rows],
        };
        self.pane.server.ask(&words).await.map(drop).map_err(|error| error.to_string())
    }
}

fn unseen(error: &CannotBorrow) -> Unseen {
    if error.is_gone() { Unseen::Over(closed(error)) } else { Unseen::Failed(error.to_string()) }
}

/// Types bytes as they are: from a buffer, because old versions take only text as keys.
pub async fn type_in(pane: &Pane, bytes: &[u8]) -> io::Result<()> {
    let failed = |error: CannotBorrow| io::Error::other(error.to_string());
    let answer = pane.server.ask(&["display-message", "-p", "-t", &pane.id, barrier::FORMAT]).await.map_err(failed)?;
    if let Some(why) = barrier::before_pastes(&String::from_utf8_lossy(&answer)) {
        return Err(io::Error::other(why));
    }
    // Nobody else's: the user may have a buffer of any name, another coop one of its own. It goes with the paste.
    let buffer = format!("coop-{}", std::process::id());
    pane.server.ask_with(&["load-buffer", "-b", &buffer, "-"], bytes).await.map_err(failed)?;
    pane.server.ask(&["paste-buffer", "-d", "-r", "-b", &buffer, "-t", &pane.id]).await.map(drop).map_err(failed)
}
