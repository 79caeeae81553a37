//! A pane that is looked at again and again, by single commands: for a tmux whose control mode cannot be used.

use std::io;

use super::server::Release;
use super::standing::Standing;
use super::{Pane, closed};
use crate::borrowed::Over;
use crate::borrowed::picture::Picture;
use crate::borrowed::poll::{Looked, Polls};
use crate::child::Size;

/// The buffer through which bytes are typed; it goes with the paste.
const BUFFER: &str = "coop";

pub struct Polled {
    pane: Pane,
    standing: Standing,
}

impl Polled {
    pub fn new(pane: Pane, standing: Standing) -> Self {
        Self { pane, standing }
    }
}

impl Polls for Polled {
    fn name(&self) -> String {
        format!("tmux session {}", self.standing.session_name)
    }

    async fn look(&mut self) -> Result<Looked, Over> {
        let standing = match self.pane.standing().await {
            Ok(standing) => standing,
            Err(error) if error.is_gone() => return Err(closed(&error)),
            Err(error) => return Err(Over { exit: None, reason: error.to_string() }),
        };
        if let Some(over) = standing.dead {
            return Err(over);
        }
        let captured = self.pane.server.ask(&["capture-pane", "-p", "-e", "-t", &self.pane.id]).await;
        let captured = captured.map_err(|error| closed(&error))?;
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
        let words = match *is_alone && self.pane.release >= Release::TAKES_BYTES {
            true => ["resize-window", "-t", window, "-x", &cols, "-y", &rows],
            false => ["resize-pane", "-t", pane, "-x", &cols, "-y", &rows],
        };
        self.pane.server.ask(&words).await.map(drop).map_err(|error| error.to_string())
    }
}

/// Types bytes as they are: from a buffer, because old versions take only text as keys.
pub async fn type_in(pane: &Pane, bytes: &[u8]) -> io::Result<()> {
    let failed = |error: crate::borrowed::CannotBorrow| io::Error::other(error.to_string());
    pane.server.ask_with(&["load-buffer", "-b", BUFFER, "-"], bytes).await.map_err(failed)?;
    pane.server.ask(&["paste-buffer", "-d", "-r", "-b", BUFFER, "-t", &pane.id]).await.map(drop).map_err(failed)
}
