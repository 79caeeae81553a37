//! Attached terminals: they join and leave, measure, and type.

use std::time::Instant;

use bytes::Bytes;
use tokio::sync::oneshot;

use super::Owner;
use super::typing::locked;
use crate::child::Size;
use crate::session::handle::Redrawn;
use crate::session::outbox::Transaction;
use crate::session::refusal::Refusal;
use crate::session::terminals::{Joining, TerminalId};
use crate::terminal::{is_somebodys, without_replies};

impl Owner {
    pub(super) fn redrawn(&self) -> Redrawn {
        Redrawn {
            bytes: self.terminal.redraw().into(),
            offset: self.shared.feed.end(),
            seq: self.seq,
            size: self.terminal.size(),
        }
    }

    /// A terminal joins: first its size counts, then it is painted, so that it is painted in the size it will have.
    pub(super) fn attach(&mut self, joining: Joining, reply: oneshot::Sender<(TerminalId, Redrawn)>) {
        let id = self.terminals.join(joining);
        // A child that is gone has a last screen, and no size that could be changed.
        let _ = self.settle_size();
        if reply.send((id, self.redrawn())).is_err() {
            // Whoever wanted to join has gone, and nobody else will say so.
            self.detach(id);
        }
    }

    pub(super) fn measured(&mut self, terminal: TerminalId, size: Size) -> Result<(), Refusal> {
        self.running()?;
        self.terminals.resize(terminal, size);
        self.settle_size()
    }

    pub(super) fn detach(&mut self, terminal: TerminalId) {
        let before = self.terminals.size();
        self.terminals.leave(terminal);
        if self.terminals.size() != before {
            let _ = self.settle_size();
        }
    }

    pub(super) fn type_in(&mut self, terminal: TerminalId, bytes: Bytes) -> Result<(), Refusal> {
        let now = Instant::now();
        self.running()?;
        self.lock.admit(None, now).map_err(locked)?;
        let bytes = if self.terminals.answers_in_vain(terminal) { without_replies(&bytes).into() } else { bytes };
        let bytes = self.filtering.pass(terminal, bytes, now);
        if bytes.is_empty() {
            return Ok(());
        }
        // Every redraw makes some terminals say anew whether they are in front; sizes would follow them in turn, without end,
        // and nobody's answer to a dialog would be known to be the one that was taken.
        let is_somebodys = is_somebodys(&bytes);
        if is_somebodys && self.terminals.typed(terminal) {
            self.settle_size()?;
        }
        self.running()?.outbox.push(Transaction { id: None, bytes })?;
        if is_somebodys {
            self.note_input(now);
        }
        Ok(())
    }

    /// Gives the session the size that its terminals ask for.
    fn settle_size(&mut self) -> Result<(), Refusal> {
        match self.terminals.size().filter(|size| *size != self.vitals.size) {
            Some(size) => self.begin_resize(size).map(drop),
            None => Ok(()),
        }
    }
}
