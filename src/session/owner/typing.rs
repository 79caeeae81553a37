//! Input: who may write, what it becomes on the wire, and how far it got.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::{Origin, Owner};
use crate::child::Size;
use crate::session::clock::epoch_ms;
use crate::session::command::{Expect, Reply, Write};
use crate::session::event::{Ended, Event};
use crate::session::life::{Resizing, Running};
use crate::session::lock::LockId;
use crate::session::outbox::{Transaction, Written};
use crate::session::receipt::{Followed, Phase, Receipt, Ticket};
use crate::session::refusal::Refusal;
use crate::session::vitals::Life;
use crate::terminal::encode_key;

/// Inputs whose receipt can still change; an input beyond these is written all the same, only not followed.
const RECEIPTS_MAX: usize = 4096;

/// As it is told when it fails.
const RESIZING: &str = "resizing the terminal";

impl Owner {
    pub(super) fn running(&self) -> Result<&Running, Refusal> {
        match (&self.child, &self.vitals.life) {
            (Some(child), Life::Running { .. }) => Ok(child),
            (_, Life::Exited(Ended::Left { .. })) => Err(Refusal::Left),
            (_, Life::Exited(_)) => Err(Refusal::Exited),
            _ => Err(Refusal::NotReady),
        }
    }

    pub(super) fn write(&mut self, what: &Write, writer: Option<LockId>, expect: &Expect) -> Result<Ticket, Refusal> {
        let now = Instant::now();
        self.may_write(writer, expect, now)?;
        let bytes = self.encode(what)?;
        let id = self.next_receipt;
        let count = bytes.len();
        let nothing = bytes.is_empty();
        if !nothing {
            self.running()?.outbox.push(Transaction { id: Some(id), bytes })?;
        }
        self.next_receipt += 1;
        self.note_input(now);
        let phase = if nothing { Phase::Written } else { Phase::Queued };
        let (followed, ticket) = Followed::new(self.receipt(id, phase), count);
        if let Write::Text { text, .. } = what {
            self.echoes.look_for(id, text, now);
        }
        if !nothing {
            self.follow(id, followed.counted_as(what.kind(), now));
        }
        Ok(ticket)
    }

    /// Whether this writer may write now, and what it expects is true.
    pub(super) fn may_write(&mut self, writer: Option<LockId>, expect: &Expect, now: Instant) -> Result<(), Refusal> {
        self.running()?;
        if let Some(id) = &writer
            && !self.lock.is_held_by(id, now)
        {
            return Err(Refusal::NoSuchLock);
        }
        self.lock.admit(writer.as_ref(), now).map_err(locked)?;
        self.check(expect)
    }

    /// Remembers an input whose receipt may change, and forgets those whose echo is not looked for any more.
    pub(super) fn follow(&mut self, id: u64, followed: Followed) {
        if self.receipts.len() >= RECEIPTS_MAX {
            self.receipts.retain(|id, known| {
                known.phase() == Phase::Queued || known.awaits_witness() || self.echoes.looks_for(*id)
            });
        }
        if self.receipts.len() >= RECEIPTS_MAX {
            // A witness that has not come by now is the least likely to come.
            let unconfirmed = self.receipts.iter().filter(|(_, known)| known.phase() == Phase::Unconfirmed);
            if let Some(oldest) = unconfirmed.map(|(id, _)| *id).min() {
                self.receipts.remove(&oldest);
            }
        }
        if self.receipts.len() < RECEIPTS_MAX {
            self.receipts.insert(id, followed);
        }
    }

    /// Something was given to be typed.
    pub(super) fn note_input(&mut self, now: Instant) {
        self.last_input = now;
        self.shared.counters.last_input_at_ms.store(epoch_ms(), Ordering::Relaxed);
    }

    pub(super) fn encode(&self, what: &Write) -> Result<Bytes, Refusal> {
        Ok(match what {
            Write::Text { text, enter: false } => Bytes::copy_from_slice(text.as_bytes()),
            Write::Text { text, enter: true } => [text.as_bytes(), b"\r"].concat().into(),
            Write::Raw(bytes) => bytes.clone(),
            Write::Keys(names) => {
                let mut bytes = Vec::new();
                for name in names {
                    bytes.extend(encode_key(name, self.terminal.modes())?);
                }
                bytes.into()
            }
        })
    }

    pub(super) fn check(&self, expect: &Expect) -> Result<(), Refusal> {
        let (state, screen_seq) = (self.vitals.state.kind(), self.terminal.screen_seq());
        let changed =
            |expected: String, found: String| Err(Refusal::StateChanged { expected, found, state, screen_seq });
        if let Some(expected) = expect.state.filter(|expected| *expected != state) {
            return changed(format!("state {}", expected.word()), format!("it is {}", state.word()));
        }
        let shown = self.vitals.state.prompt().map(|prompt| prompt.id.as_str());
        if let Some(id) = expect.prompt_id.as_deref().filter(|id| Some(*id) != shown) {
            let found = shown.map_or_else(|| "no prompt is shown".into(), |shown| format!("it is {shown}"));
            return changed(format!("prompt {id}"), found);
        }
        if let Some(seq) = expect.screen_seq.filter(|seq| *seq != screen_seq) {
            return changed(format!("screen_seq {}", seq.0), format!("it is {}", screen_seq.0));
        }
        Ok(())
    }

    pub(super) fn resize(&mut self, size: Size, reply: Reply<Size>) {
        match self.begin_resize(size) {
            Err(refusal) => drop(reply.send(Err(refusal))),
            Ok(None) => drop(reply.send(Ok(size))),
            Ok(Some(resizing)) => drop(tokio::spawn(async move {
                let answer = resizing.await.unwrap_or_else(|_| Err("it has ended".to_owned()));
                reply.send(answer.map_err(|reason| Refusal::Kept { what: RESIZING, reason }))
            })),
        }
    }

    /// A child of our own has the size at once; who was lent one tells later.
    pub(super) fn begin_resize(&mut self, size: Size) -> Result<Option<Resizing>, Refusal> {
        let failed = |reason: String| Refusal::Failed { what: RESIZING, reason };
        let resizing = self.running()?.resize(size).map_err(|error| failed(error.to_string()))?;
        if resizing.is_none() {
            self.sized(size);
        }
        Ok(resizing)
    }

    /// The terminal has this size now.
    pub(super) fn sized(&mut self, size: Size) {
        if size != self.vitals.size {
            self.vitals.size = size;
            if let Origin::Own { launch, .. } = &mut self.origin {
                // A restarted child finds the size that this one had.
                launch.size = size;
            }
            let seq = self.next_seq();
            self.terminal.resize(size, seq);
            self.publish_vitals();
            self.shared.feed.publish_event(seq, Event::Resized(size));
            self.screen_changed(Instant::now());
        }
    }

    pub(super) fn receipt(&self, id: u64, phase: Phase) -> Receipt {
        Receipt { id, phase, offset: self.shared.feed.end(), at_ms: epoch_ms() }
    }

    /// The terminal took the last byte of an input, or did not.
    pub(super) fn written(&mut self, written: Written) {
        let (id, phase) = match written {
            Written::Whole(id) if self.seen_early.remove(&id) => (id, Phase::Echoed),
            Written::Whole(id) => (id, Phase::Written),
            Written::Failed { id, why } => {
                self.seen_early.remove(&id);
                (id, Phase::Refused { why: why.into() })
            }
        };
        self.progress(id, phase);
    }

    /// The text of an input was seen. It counts once all of the input is written, which may be told a moment later.
    pub(super) fn echoed(&mut self, id: u64) {
        match self.receipts.get(&id).map(Followed::phase) {
            Some(Phase::Queued) => drop(self.seen_early.insert(id)),
            _ => self.progress(id, Phase::Echoed),
        }
    }

    /// An input got further. Whoever waits is told directly; the end of the way, and what came late, is told to everybody.
    pub(super) fn progress(&mut self, id: u64, phase: Phase) {
        let receipt = self.receipt(id, phase);
        let Some(followed) = self.receipts.get(&id) else { return };
        if followed.phase().reaches(&receipt.phase) {
            return;
        }
        if let Some((kind, since)) = followed.counted() {
            self.shared.tally.reached(kind, &followed.phase(), &receipt.phase, since.elapsed());
        }
        let tell_all = followed.tell(receipt.clone());
        let is_over = match &receipt.phase {
            Phase::Accepted { .. } | Phase::Refused { .. } => true,
            _ if followed.awaits_witness() => false,
            phase => phase.is_last() || !self.echoes.looks_for(id),
        };
        if is_over {
            self.receipts.remove(&id);
        }
        if tell_all {
            let seq = self.next_seq();
            self.shared.feed.publish_event(seq, Event::Receipt(receipt));
        }
    }
}

pub(super) fn locked(left: Duration) -> Refusal {
    Refusal::Locked(u64::try_from(left.as_millis()).unwrap_or(u64::MAX))
}
