//! Several writes in a row: one writer has its turn, the others wait behind it in the order in which they came.

use std::collections::VecDeque;
use std::time::Instant;

use bytes::Bytes;
use tokio::sync::oneshot;

use super::Owner;
use crate::session::command::{Command, Expect, Reply};
use crate::session::lock::LockId;
use crate::session::outbox::Transaction;
use crate::session::receipt::{Followed, Phase, Ticket};
use crate::session::refusal::Refusal;
use crate::session::tally::InputKind;
use crate::session::turn::{Given, TurnId};

/// Writers that may wait for the end of a turn, which takes a second or two.
const WAITING_MAX: usize = 1024;

/// Whose turn it is, and who waits.
#[derive(Default)]
pub struct Turns {
    holder: Option<(TurnId, oneshot::Receiver<()>)>,
    waiting: VecDeque<Command>,
}

impl Turns {
    /// Lets a command pass, or keeps it until the turn is over; only writes have to wait.
    pub fn admit(&mut self, command: Command) -> Option<Command> {
        let is_write = matches!(command, Command::Write { .. } | Command::Type { .. } | Command::BeginTurn { .. });
        if !is_write || self.holder.is_none() {
            return Some(command);
        }
        if self.waiting.len() < WAITING_MAX {
            self.waiting.push_back(command);
            return None;
        }
        refuse(command, Refusal::TooManyWaiters(WAITING_MAX));
        None
    }

    /// The child is gone: the turn was for it, and so was what waits behind.
    pub fn end_with_child(&mut self, why: &Refusal) {
        self.holder = None;
        self.waiting.drain(..).for_each(|command| refuse(command, why.clone()));
    }

    /// Waits until whoever has its turn lets go of it.
    pub async fn over(&mut self) {
        match &mut self.holder {
            // The other end is only ever dropped.
            Some((_, held)) => drop(held.await),
            None => std::future::pending().await,
        }
    }
}

fn refuse(command: Command, why: Refusal) {
    match command {
        Command::Write { reply, .. } => drop(reply.send(Err(why))),
        Command::Type { reply, .. } => drop(reply.send(Err(why))),
        Command::BeginTurn { reply, .. } => drop(reply.send(Err(why))),
        _ => {}
    }
}

/// Whether whoever wanted this has stopped waiting for it: typed later, it would hit what is shown then.
fn is_abandoned(command: &Command) -> bool {
    match command {
        Command::Write { reply, .. } => reply.is_closed(),
        Command::Type { reply, .. } => reply.is_closed(),
        Command::BeginTurn { reply, .. } => reply.is_closed(),
        _ => false,
    }
}

impl Owner {
    pub(super) fn begin_turn(
        &mut self,
        kind: InputKind,
        writer: Option<LockId>,
        expect: &Expect,
        exit_confirms: bool,
    ) -> Result<Given, Refusal> {
        let now = Instant::now();
        self.may_write(writer, expect, now)?;
        let id = TurnId(self.next_receipt);
        self.next_receipt += 1;
        let (followed, ticket) = Followed::new(self.receipt(id.0, Phase::Queued), 0);
        self.follow(id.0, followed.awaiting_witness(exit_confirms).counted_as(kind, now));
        let (held, released) = oneshot::channel();
        self.turns.holder = Some((id, released));
        Ok(Given { id, ticket, held })
    }

    pub(super) fn write_in_turn(&mut self, turn: TurnId, bytes: Bytes) -> Result<Ticket, Refusal> {
        if !self.turns.holder.as_ref().is_some_and(|(holder, _)| *holder == turn) {
            // It ended with the child that it was for.
            return Err(Refusal::Exited);
        }
        let id = self.next_receipt;
        let count = bytes.len();
        self.running()?.outbox.push(Transaction { id: Some(id), bytes })?;
        self.next_receipt += 1;
        self.note_input(Instant::now());
        let (followed, ticket) = Followed::new(self.receipt(id, Phase::Queued), count);
        self.follow(id, followed);
        Ok(ticket)
    }

    /// The turn is over: those who waited come next, until one of them begins another turn.
    pub(super) fn end_turn(&mut self) {
        self.turns.holder = None;
        while self.turns.holder.is_none()
            && let Some(command) = self.turns.waiting.pop_front()
        {
            if !is_abandoned(&command) {
                self.obey(command);
            }
        }
    }

    /// Gives somebody its turn. Of one that nobody waits for any more no receipt stays.
    pub(super) fn give_turn(&mut self, given: Result<Given, Refusal>, reply: Reply<Given>) {
        let id = given.as_ref().ok().map(|given| given.id);
        if reply.send(given).is_err()
            && let Some(id) = id
        {
            self.progress(id.0, Phase::Refused { why: "nobody waits for it".into() });
        }
    }
}
