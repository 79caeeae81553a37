//! Several writes that belong together: while a turn lasts nobody else types, and others wait for its end.

use std::borrow::Cow;

use bytes::Bytes;
use tokio::sync::oneshot;

use super::handle::Session;
use super::receipt::{Phase, Receipt, Ticket};
use super::refusal::Refusal;

/// Names a turn, and the receipt of all that is written in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TurnId(pub u64);

/// The right to write several times in a row. Dropping it lets others write again.
#[derive(Debug)]
pub struct Turn {
    pub id: TurnId,
    /// How far the whole of it got.
    pub ticket: Ticket,
    session: Session,
    /// The owner waits for its end.
    _held: oneshot::Sender<()>,
}

/// What the owner gives to one whose turn it is.
#[derive(Debug)]
pub struct Given {
    pub id: TurnId,
    pub ticket: Ticket,
    pub held: oneshot::Sender<()>,
}

impl Turn {
    pub(super) fn new(given: Given, session: Session) -> Self {
        Self { id: given.id, ticket: given.ticket, session, _held: given.held }
    }

    /// Writes bytes; done when the terminal has taken all of them.
    pub async fn write(&self, bytes: impl Into<Bytes>) -> Result<(), Refusal> {
        let mut ticket = self.session.write_in_turn(self.id, bytes.into()).await?;
        match ticket.reached(&Phase::Written).await.phase {
            Phase::Refused { .. } | Phase::Queued => Err(Refusal::Exited),
            _ => Ok(()),
        }
    }

    /// The receipt as it is.
    pub fn receipt(&self) -> Receipt {
        self.ticket.now()
    }
}

/// Who saw that an input was taken.
pub type Witness = Cow<'static, str>;
