//! What can be known about a session without asking its owner: health probes never wait behind output.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;

use super::event::Ended;
use super::state::{Cause, State};
use super::tally::Times;
use crate::child::{Launch, Size};
use crate::terminal::Seq;

/// The child's life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Life {
    Starting,
    Running { pid: u32 },
    Exited(Ended),
}

/// One moment of the session, published whole.
#[derive(Clone, Debug)]
pub struct Vitals {
    pub life: Life,
    pub size: Size,
    pub state: State,
    pub state_since: Seq,
    /// Why the state is believed.
    pub cause: Cause,
    /// The agent's last words.
    pub last_message: Option<String>,
    /// The agent's own name for its conversation.
    pub conversation: Option<String>,
    pub restarts: u32,
    /// When a child that has ended will be started again by itself, in milliseconds since 1970.
    pub restarts_at_ms: Option<u64>,
    /// It ended too often for that.
    pub is_parked: bool,
    /// What the present child was started with, or the last one; `None` for what somebody else started.
    pub launched: Option<Arc<Launch>>,
    /// When the present child was started, in milliseconds since 1970.
    pub started_at_ms: u64,
    /// How long it was in each state.
    pub times: Times,
}

/// Counters that move with every byte; kept apart so that counting publishes nothing.
#[derive(Debug, Default)]
pub struct Counters {
    pub seq: AtomicU64,
    pub screen_seq: AtomicU64,
    pub bytes_read: AtomicU64,
    pub bytes_written: AtomicU64,
    /// In milliseconds since 1970; 0 before the first.
    pub last_output_at_ms: AtomicU64,
    pub last_input_at_ms: AtomicU64,
    /// The counter of the present child's queue.
    pub input_queued: ArcSwap<AtomicU64>,
}

impl Counters {
    pub fn seq(&self) -> Seq {
        Seq(self.seq.load(Ordering::Acquire))
    }

    pub fn screen_seq(&self) -> Seq {
        Seq(self.screen_seq.load(Ordering::Acquire))
    }
}
