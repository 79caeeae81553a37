//! Why the owner did not do what it was asked.

use super::environment::BadVariable;
use super::state::StateKind;
use crate::terminal::{Seq, UnknownKey};

/// A request that was not carried out; nothing of it was written.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Refusal {
    #[error("the child has exited: restart it (POST /api/v1/session/restart), or read its last screen")]
    Exited,
    #[error("what was borrowed has ended: read its last screen, or serve another with a new coop --attach")]
    Left,
    #[error("a {0} session that somebody else started cannot be restarted: end it there, and start it under coop")]
    Borrowed(&'static str),
    #[error("{what} of a session that somebody else started failed: {reason}")]
    Kept { what: &'static str, reason: String },
    #[error("the child is not running yet: try again in a moment")]
    NotReady,
    #[error("another writer holds the lock for {0} ms more: wait, or give its id (coop-lock, or --lock of the verbs)")]
    Locked(u64),
    #[error("the child does not read and its input queue is full ({queued} of {limit} bytes): try again later")]
    QueueFull { queued: usize, limit: usize },
    #[error("an input of {bytes} bytes is too large: {limit} bytes are the most")]
    TooLarge { bytes: usize, limit: usize },
    #[error("that lock is not held now: it has expired or was given back; acquire another")]
    NoSuchLock,
    #[error("nothing was written, because {expected} was expected, but {found}")]
    StateChanged { expected: String, found: String, state: StateKind, screen_seq: Seq },
    #[error(transparent)]
    UnknownKey(#[from] UnknownKey),
    #[error(transparent)]
    BadVariable(#[from] BadVariable),
    #[error("after_seq {asked} is ahead of this session, which is at {seq}: it belongs to another run of coop")]
    SeqAhead { asked: u64, seq: u64 },
    #[error("{0} callers wait already: try again later")]
    TooManyWaiters(usize),
    #[error("coop is shutting down")]
    Closing,
    #[error("{what} failed: {reason}")]
    Failed { what: &'static str, reason: String },
}
