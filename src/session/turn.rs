//! Several writes that belong together: while a turn lasts nobody else types, and others wait for its end.

use std::borrow::Cow;

use bytes::Bytes;
use tokio::sync::oneshot;

use super::handle::Session;
use super::receipt::{EXITED, Phase, Ticket};
use super::refusal::Refusal;

/// Names a turn, and the receipt of all that is written in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TurnId(pub u64);

/// The right to write several times in a row. Dropping it lets others write again.
#[derive(Debug)]
pub struct Turn {
    pub id: TurnId,
    /// How far the whole of it got, for whoever asks first.
    ticket: Option<Ticket>,
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
        Self { id: given.id, ticket: Some(given.ticket), session, _held: given.held }
    }

    /// Writes bytes; done when the terminal has taken all of them.
    pub async fn write(&self, bytes: impl Into<Bytes>) -> Result<(), Refusal> {
        let mut ticket = self.session.write_in_turn(self.id, bytes.into()).await?;
        match ticket.reached(&Phase::Written).await.phase {
            Phase::Refused { why } if why != EXITED => {
                Err(Refusal::Failed { what: "typing", reason: why.into_owned() })
            }
            Phase::Refused { .. } | Phase::Queued => Err(Refusal::Exited),
            _ => Ok(()),
        }
    }

    /// Follows how far the whole of it gets; for one follower.
    pub fn take_ticket(&mut self) -> Option<Ticket> {
        self.ticket.take()
    }
}

/// Who saw that an input was taken.
pub type Witness = Cow<'static, str>;
