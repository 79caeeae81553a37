//! What was read from the child and not yet painted: one buffer between reader and owner, bounded in bytes.

use std::sync::{Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use tokio::sync::Notify;

use crate::child::Output;

/// How far the reader may run ahead of the terminal. Deep enough to keep both busy; shallow enough that a picture is
/// at most some milliseconds old while the child prints at full speed.
const INBOX_BYTES_MAX: usize = 256 * 1024;

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
    bytes: BytesMut,
    ended: bool,
}

impl Inbox {
    /// Reads the child until its terminal is hung up.
    pub async fn fill(&self, mut output: Output) {
        let mut buffer = BytesMut::new();
        loop {
            let room = self.room().await;
            match output.read(&mut buffer, room.min(TAKE_BYTES_MAX)).await {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => {
                    tracing::error!(%error, "reading the child's terminal failed");
                    break;
                }
            }
            self.lock().bytes.extend_from_slice(&buffer);
            buffer.clear();
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
                if !held.bytes.is_empty() {
                    let len = held.bytes.len().min(TAKE_BYTES_MAX);
                    let taken = held.bytes.split_to(len).freeze();
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
            let len = self.lock().bytes.len();
            if len < INBOX_BYTES_MAX {
                return INBOX_BYTES_MAX - len;
            }
            emptied.await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
