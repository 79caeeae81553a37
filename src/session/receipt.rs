//! How far an input got, and who saw it.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tokio::sync::watch;

use super::tally::InputKind;
use super::turn::Witness;
use crate::terminal::Offset;

/// Why an input was refused whose child ended first.
pub const EXITED: &str = "exited";

/// How far an input got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It waits for earlier inputs, or for the child to read.
    Queued,
    /// Every byte was handed to the terminal.
    Written,
    /// Its text was seen in what the child printed afterwards.
    Echoed,
    /// It was written, but no witness spoke in time; one still may.
    Unconfirmed,
    /// A witness saw the agent take it.
    Accepted { witness: Witness },
    /// It was not, or not wholly, given to the child.
    Refused { why: Cow<'static, str> },
}

/// What became of one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub id: u64,
    pub phase: Phase,
    /// How much the child had printed when the phase was reached.
    pub offset: Offset,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
}

/// An input that was accepted: follow it, or let go.
#[derive(Clone, Debug)]
pub struct Ticket {
    /// Bytes accepted for writing.
    pub bytes: usize,
    receipt: watch::Receiver<Receipt>,
    given_up: Arc<AtomicBool>,
}

/// The owner's end of a ticket.
#[derive(Debug)]
pub struct Followed {
    receipt: watch::Sender<Receipt>,
    given_up: Arc<AtomicBool>,
    /// Only a witness ends it: what an agent takes, not what a terminal shows.
    awaits_witness: bool,
    /// The child's end is one, once all is written.
    exit_confirms: bool,
    /// What it is counted as, and since when.
    counted: Option<(InputKind, Instant)>,
}

impl Followed {
    pub fn new(receipt: Receipt, bytes: usize) -> (Self, Ticket) {
        let (receipt, follow) = watch::channel(receipt);
        let given_up = Arc::new(AtomicBool::new(false));
        let followed =
            Self { receipt, given_up: given_up.clone(), awaits_witness: false, exit_confirms: false, counted: None };
        (followed, Ticket { bytes, receipt: follow, given_up })
    }

    pub fn awaiting_witness(self, exit_confirms: bool) -> Self {
        Self { awaits_witness: true, exit_confirms, ..self }
    }

    /// How long it takes is measured.
    pub fn counted_as(self, kind: InputKind, since: Instant) -> Self {
        Self { counted: Some((kind, since)), ..self }
    }

    pub fn counted(&self) -> Option<(InputKind, Instant)> {
        self.counted
    }

    /// What the child's end means for it; one that coop itself has ended tells nothing.
    pub fn phase_at_exit(&self, by_itself: bool) -> Phase {
        let was_written = self.phase().reaches(&Phase::Written);
        if self.exit_confirms && by_itself && was_written {
            return Phase::Accepted { witness: "process: exit".into() };
        }
        Phase::Refused { why: EXITED.into() }
    }

    pub fn awaits_witness(&self) -> bool {
        self.awaits_witness
    }

    pub fn phase(&self) -> Phase {
        self.receipt.borrow().phase.clone()
    }

    /// Tells the holder of the ticket; whether others must be told too, because the holder was promised word and left.
    pub fn tell(&self, receipt: Receipt) -> bool {
        let last = if self.awaits_witness { receipt.phase.is_judged() } else { receipt.phase.is_last() };
        // Nobody need be listening.
        self.receipt.send_replace(receipt);
        last || self.given_up.load(Ordering::Acquire)
    }
}

impl Phase {
    /// Whether nothing can follow.
    pub fn is_last(&self) -> bool {
        matches!(self, Self::Echoed | Self::Accepted { .. } | Self::Refused { .. })
    }

    /// Whether it is said what became of an input that awaits a witness.
    pub fn is_judged(&self) -> bool {
        matches!(self, Self::Accepted { .. } | Self::Refused { .. } | Self::Unconfirmed)
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Queued => 0,
            Self::Written => 1,
            Self::Echoed => 2,
            Self::Unconfirmed => 3,
            Self::Accepted { .. } => 4,
            Self::Refused { .. } => 5,
        }
    }

    /// Whether this is as far as `wanted`, or further.
    pub fn reaches(&self, wanted: &Self) -> bool {
        self.rank() >= wanted.rank()
    }
}

impl Ticket {
    /// The receipt as it is once the phase is reached, or when nothing more will come.
    pub async fn reached(&mut self, wanted: &Phase) -> Receipt {
        // An error means that nobody follows the input any more: what is known now is all there will be.
        let _ = self.receipt.wait_for(|r| r.phase.reaches(wanted)).await;
        self.now()
    }

    /// What became of an input that awaits a witness, as far as it is known after this time; what is still to come is told
    /// by an event.
    pub async fn judged_within(&mut self, time: std::time::Duration) -> Receipt {
        match tokio::time::timeout(time, self.reached(&Phase::Unconfirmed)).await {
            Ok(receipt) => receipt,
            Err(_) => self.give_up(),
        }
    }

    /// Stops waiting; what is still to come is told by an event.
    pub fn give_up(&self) -> Receipt {
        self.given_up.store(true, Ordering::Release);
        self.now()
    }

    /// The receipt as it is.
    pub fn now(&self) -> Receipt {
        self.receipt.borrow().clone()
    }
}
