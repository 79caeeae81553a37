//! What is to be written to the child: whole inputs, one after the other, bounded in bytes.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use tokio::sync::mpsc;

use super::refusal::Refusal;
use super::vitals::Counters;
use crate::borrowed;
use crate::child;

/// The largest single input, and all that may wait at once: whoever has an empty queue before them is never refused.
pub const INPUT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// How many inputs may wait; single keys are small, so this is not reached before the child has stopped reading.
const INPUTS_MAX: usize = 4096;

/// One input, never interleaved with another.
#[derive(Debug)]
pub struct Transaction {
    /// `None` for what coop itself says to the child: answers to its terminal's queries.
    pub id: Option<u64>,
    pub bytes: Bytes,
}

/// The write half of a child, or of what was borrowed.
#[derive(Debug)]
pub enum Pen {
    Own(child::Input),
    Lent(borrowed::Input),
}

impl Pen {
    async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Own(input) => input.write(bytes).await,
            Self::Lent(input) => input.write(bytes).await,
        }
    }

    /// Whether nothing can be written any more after this. One command to tmux or screen may fail, and the next succeed.
    fn is_closed_by(&self, error: &io::Error) -> bool {
        match self {
            Self::Own(_) => true,
            Self::Lent(_) => error.kind() == io::ErrorKind::BrokenPipe,
        }
    }
}

/// What became of an input.
#[derive(Debug)]
pub enum Written {
    /// The terminal has taken its last byte.
    Whole(u64),
    /// It was not, or not wholly, taken.
    Failed { id: u64, why: String },
}

/// The queue to one child; dropping it drops what has not been written.
#[derive(Debug)]
pub struct Outbox {
    queue: mpsc::Sender<Transaction>,
    /// Bytes that wait. Each child has a counter of its own, so that a late writer cannot disturb the next one's.
    queued: Arc<AtomicU64>,
    writer: tokio::task::AbortHandle,
}

impl Outbox {
    pub fn new(input: Pen, counters: Arc<Counters>, written: mpsc::Sender<Written>) -> Self {
        let queued = Arc::new(AtomicU64::new(0));
        counters.input_queued.store(queued.clone());
        let (queue, transactions) = mpsc::channel(INPUTS_MAX);
        let writer = Writer { input, queued: queued.clone(), counters, written };
        Self { queue, queued, writer: tokio::spawn(writer.run(transactions)).abort_handle() }
    }

    /// Takes an input, or refuses it whole.
    pub fn push(&self, transaction: Transaction) -> Result<(), Refusal> {
        let bytes = transaction.bytes.len();
        if bytes > INPUT_BYTES_MAX {
            return Err(Refusal::TooLarge { bytes, limit: INPUT_BYTES_MAX });
        }
        // Only the owner adds, so that nothing can slip in between look and leap.
        let queued = usize::try_from(self.queued.load(Ordering::Acquire)).unwrap_or(usize::MAX);
        let full = Refusal::QueueFull { queued, limit: INPUT_BYTES_MAX };
        if queued + bytes > INPUT_BYTES_MAX {
            return Err(full);
        }
        self.queued.fetch_add(bytes as u64, Ordering::AcqRel);
        self.queue.try_send(transaction).map_err(|_| {
            self.queued.fetch_sub(bytes as u64, Ordering::AcqRel);
            full
        })
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.writer.abort();
        self.queued.store(0, Ordering::Release);
    }
}

/// Writes what waits, for as long as the child takes it.
struct Writer {
    input: Pen,
    queued: Arc<AtomicU64>,
    counters: Arc<Counters>,
    written: mpsc::Sender<Written>,
}

impl Writer {
    async fn run(mut self, mut transactions: mpsc::Receiver<Transaction>) {
        while let Some(Transaction { id, bytes }) = transactions.recv().await {
            let written = match self.write(&bytes).await {
                Ok(()) => id.map(Written::Whole),
                // The child's side is closed; its exit is about to be told.
                Err(error) if self.input.is_closed_by(&error) => {
                    return tracing::debug!(%error, "the child takes no more input");
                }
                Err(error) => {
                    tracing::warn!(%error, "an input could not be typed; later ones may be");
                    id.map(|id| Written::Failed { id, why: error.to_string() })
                }
            };
            if let Some(written) = written
                && self.written.send(written).await.is_err()
            {
                return;
            }
        }
    }

    /// Writes all of it, or what goes; the rest waits no more.
    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = match self.input.write(rest).await {
                Ok(taken) => taken,
                Err(error) => {
                    self.queued.fetch_sub(rest.len() as u64, Ordering::AcqRel);
                    return Err(error);
                }
            };
            rest = &rest[taken..];
            self.counters.bytes_written.fetch_add(taken as u64, Ordering::Relaxed);
            self.queued.fetch_sub(taken as u64, Ordering::AcqRel);
        }
        Ok(())
    }
}
