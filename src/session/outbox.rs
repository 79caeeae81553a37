//! What is to be written to the child: whole inputs, one after the other, bounded in bytes.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

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
    writer: JoinHandle<()>,
    stop: CancellationToken,
}

impl Outbox {
    pub fn new(input: Pen, counters: Arc<Counters>, written: mpsc::Sender<Written>) -> Self {
        let queued = Arc::new(AtomicU64::new(0));
        counters.input_queued.store(queued.clone());
        let (queue, transactions) = mpsc::channel(INPUTS_MAX);
        let stop = CancellationToken::new();
        let writer = Writer { input, queued: queued.clone(), counters, written, stop: stop.clone() };
        Self { queue, queued, writer: tokio::spawn(writer.run(transactions)), stop }
    }

    /// Ends writing, and waits until what was written has been told: a child may have read it and left before that.
    pub async fn stopped(&mut self) {
        self.stop.cancel();
        // It cannot fail but by a panic, which has been told.
        let _ = (&mut self.writer).await;
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
    /// Nothing is written from then on.
    stop: CancellationToken,
}

impl Writer {
    async fn run(mut self, mut transactions: mpsc::Receiver<Transaction>) {
        while let Some(Transaction { id, bytes }) = self.next(&mut transactions).await {
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

    async fn next(&self, transactions: &mut mpsc::Receiver<Transaction>) -> Option<Transaction> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            next = transactions.recv() => next,
        }
    }

    /// Writes all of it, or what goes; the rest waits no more.
    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            // A write that is dropped before it is done has taken nothing.
            let taken = tokio::select! {
                biased;
                () = self.stop.cancelled() => Err(io::ErrorKind::BrokenPipe.into()),
                taken = self.input.write(rest) => taken,
            };
            let taken = match taken {
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

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::*;
    use crate::child::{Launch, Size, spawn};

    #[tokio::test(flavor = "multi_thread")]
    async fn what_a_child_has_read_is_told_before_its_end_is() {
        let launch = Launch {
            argv: ["sh", "-c", "read line; exit"].map(Into::into).to_vec(),
            cwd: None,
            env: Vec::new(),
            env_remove: Vec::new(),
            bare: false,
            size: Size::new(80, 24).unwrap(),
        };
        let mut child = spawn(&launch).unwrap();
        // One place, so that the writer waits when it tells of the second input.
        let (tell, mut told) = mpsc::channel(1);
        let mut outbox = Outbox::new(Pen::Own(child.input), Arc::default(), tell);
        for (id, text) in [(1, "a"), (2, "b\r"), (3, "too late")] {
            outbox.push(Transaction { id: Some(id), bytes: text.into() }).unwrap();
        }
        // It has read both when its terminal closes.
        let mut printed = BytesMut::new();
        while child.output.read(&mut printed, 4096).await.is_ok_and(|read| read > 0) {}
        let mut whole = Vec::new();
        loop {
            tokio::select! {
                Some(Written::Whole(id)) = told.recv() => whole.push(id),
                () = outbox.stopped() => break,
            }
        }
        while let Ok(Written::Whole(id)) = told.try_recv() {
            whole.push(id);
        }
        assert!(whole.starts_with(&[1, 2]), "{whole:?}");
    }
}
