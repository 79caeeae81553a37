//! What was read from the child and not yet painted: pieces between reader and owner, bounded in bytes.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use tokio::sync::Notify;

use crate::child::Output;

/// How far the reader may run ahead of the terminal. Deep enough to keep both busy; shallow enough that a picture is
/// at most some milliseconds old while the child prints at full speed.
const INBOX_BYTES_MAX: usize = 128 * 1024;

/// How much the owner takes at once, between two looks at its commands.
pub const TAKE_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug, Default)]
pub struct Inbox {
    held: Mutex<Held>,
    filled: Notify,
    emptied: Notify,
}

#[derive(Debug, Default)]
struct Held {
    pieces: VecDeque<Bytes>,
    /// All of them together.
    bytes: usize,
    ended: bool,
}

impl Inbox {
    /// Reads the child until its terminal is hung up.
    pub async fn fill(&self, mut output: Output) {
        let mut buffer = BytesMut::with_capacity(TAKE_BYTES_MAX);
        loop {
            let room = self.room().await;
            match output.read(&mut buffer, room.min(TAKE_BYTES_MAX)).await {
                Ok(0) => break,
                Ok(_) => self.lock().push(buffer.split().freeze()),
                Err(error) => {
                    tracing::error!(%error, "reading the child's terminal failed");
                    break;
                }
            }
            self.filled.notify_one();
        }
        self.lock().ended = true;
        self.filled.notify_one();
    }

    /// Waits for output and takes some of it; `None` after the last byte.
    pub async fn take(&self) -> Option<Bytes> {
        loop {
            let filled = self.filled.notified();
            {
                let mut held = self.lock();
                if let Some(taken) = held.take(TAKE_BYTES_MAX) {
                    self.emptied.notify_one();
                    return Some(taken);
                }
                if held.ended {
                    return None;
                }
            }
            filled.await;
        }
    }

    async fn room(&self) -> usize {
        loop {
            let emptied = self.emptied.notified();
            let held = self.lock().bytes;
            if held < INBOX_BYTES_MAX {
                return INBOX_BYTES_MAX - held;
            }
            emptied.await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn push(&mut self, piece: Bytes) {
        self.bytes += piece.len();
        self.pieces.push_back(piece);
    }

    /// The next pieces as one. A piece alone is passed on as it is; several are copied together, because each would
    /// otherwise keep the whole buffer alive that it was read into.
    fn take(&mut self, bytes_max: usize) -> Option<Bytes> {
        let first = self.pieces.pop_front()?;
        self.bytes -= first.len();
        let fits = |len: usize, next: &Bytes| len + next.len() <= bytes_max;
        if !self.pieces.front().is_some_and(|next| fits(first.len(), next)) {
            return Some(first);
        }
        let mut joined = BytesMut::with_capacity(bytes_max.min(first.len() + self.bytes));
        joined.extend_from_slice(&first);
        while let Some(next) = self.pieces.pop_front_if(|next| fits(joined.len(), next)) {
            self.bytes -= next.len();
            joined.extend_from_slice(&next);
        }
        Some(joined.freeze())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// However it was cut when it was read, the owner gets every byte in order, in pieces of bounded size.
        #[test]
        fn nothing_is_lost_or_too_large(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..20), 0..30)) {
            let mut held = Held::default();
            pieces.iter().for_each(|piece| held.push(Bytes::copy_from_slice(piece)));
            let mut taken = Vec::new();
            while let Some(bytes) = held.take(20) {
                prop_assert!(!bytes.is_empty() && bytes.len() <= 20);
                taken.extend_from_slice(&bytes);
            }
            prop_assert_eq!(taken, pieces.concat());
            prop_assert_eq!(held.bytes, 0);
        }
    }
}
