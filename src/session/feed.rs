//! What a session has published: written by its owner alone, read by any number of cursors.
//!
//! A subscriber is a position, not a queue. It costs the owner nothing, cannot miss or double a byte, and when it is so
//! slow that its position has left the history, it is told what is missing.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::watch;

use super::event::{Entry, Event};
use super::inbox::TAKE_BYTES_MAX;
use super::journal::{JOURNAL_ENTRIES_MAX, Journal, LINES_BYTES_MAX};
use super::keep::Keep;
use super::subscription::Wants;
use crate::terminal::{Offset, Ring, Seq, Slice};

/// How many of the latest frames keep their shared encodings. Readers further behind encode for themselves.
const FRAMES_MAX: usize = 64;

/// A piece of output as it was published.
#[derive(Debug)]
pub struct Frame {
    pub offset: Offset,
    pub data: Bytes,
    /// Its JSON frame, shared by all readers.
    pub encoded: Keep,
}

impl Frame {
    pub fn new(offset: Offset, data: Bytes) -> Self {
        Self { offset, data, encoded: Keep::default() }
    }

    pub fn end(&self) -> Offset {
        Offset(self.offset.0 + self.data.len() as u64)
    }
}

/// From where a subscriber goes on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resume {
    /// Events after this one; only new ones when absent.
    pub after_seq: Option<Seq>,
    /// Output from here on; from the oldest byte that is held when absent.
    pub from_offset: Option<Offset>,
}

/// Where a subscriber is.
#[derive(Clone, Debug)]
pub struct Cursor {
    pub seq: Seq,
    /// The last line of the agent's that was followed.
    pub line: Seq,
    pub offset: Offset,
    /// The last announcement of a screen that was followed.
    pub screen: Seq,
}

/// What a cursor finds.
#[derive(Debug)]
pub enum Found {
    Output(Arc<Frame>),
    Event(Arc<Entry>),
    Screen,
    /// Events before this one are gone.
    EventsGone(Seq),
    /// What the agent wrote before this is gone.
    LinesGone(Seq),
    /// Output at the cursor is gone.
    OutputGone,
    Nothing,
    /// Nothing, and nothing will follow.
    Closed,
}

#[derive(Debug)]
pub struct Feed {
    published: Mutex<Published>,
    /// Moves whenever something is published.
    version: watch::Sender<u64>,
}

#[derive(Debug)]
struct Published {
    ring: Ring,
    frames: VecDeque<Arc<Frame>>,
    journal: Journal,
    /// What the agent wrote; kept apart, because it is much, and would drive out the rest.
    lines: Journal,
    seq: Seq,
    screen: Seq,
    closed: bool,
}

impl Feed {
    pub fn new(ring_bytes_max: usize) -> Self {
        let published = Published {
            ring: Ring::new(ring_bytes_max),
            frames: VecDeque::new(),
            journal: Journal::new(JOURNAL_ENTRIES_MAX, 0),
            lines: Journal::new(JOURNAL_ENTRIES_MAX, LINES_BYTES_MAX),
            seq: Seq(0),
            screen: Seq(0),
            closed: false,
        };
        Self { published: Mutex::new(published), version: watch::Sender::new(0) }
    }

    pub fn publish_output(&self, data: Bytes) {
        let mut published = self.lock();
        let frame = Frame::new(published.ring.end(), data);
        published.ring.append(&frame.data);
        if published.frames.len() == FRAMES_MAX {
            published.frames.pop_front();
        }
        published.frames.push_back(Arc::new(frame));
        self.announce(published);
    }

    pub fn publish_event(&self, seq: Seq, event: Event) {
        let mut published = self.lock();
        let offset = published.ring.end();
        published.seq = seq;
        let kept = if matches!(event, Event::Wrote(_)) { &mut published.lines } else { &mut published.journal };
        kept.push(Arc::new(Entry { seq, offset, event, encoded: Keep::default() }));
        self.announce(published);
    }

    /// The screen has changed up to this sequence number.
    pub fn publish_screen(&self, seq: Seq) {
        let mut published = self.lock();
        published.screen = seq;
        self.announce(published);
    }

    /// Nothing more will come; readers finish what they have not read.
    pub fn close(&self) {
        let mut published = self.lock();
        published.closed = true;
        self.announce(published);
    }

    /// Wakes readers after the lock is free, so that none of them wakes only to wait for it.
    fn announce(&self, published: MutexGuard<'_, Published>) {
        drop(published);
        self.version.send_modify(|version| *version += 1);
    }

    pub fn changes(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    pub fn end(&self) -> Offset {
        self.lock().ring.end()
    }

    pub fn oldest(&self) -> Offset {
        self.lock().ring.oldest()
    }

    pub fn read(&self, from: Option<Offset>, limit: usize) -> (Slice, Offset) {
        let published = self.lock();
        let from = from.unwrap_or(published.ring.oldest());
        (published.ring.read(from, limit), published.ring.end())
    }

    /// Where a new subscriber begins. `Err` tells the present sequence number when `after_seq` is ahead of it.
    pub fn join(&self, resume: Resume, now: Seq) -> Result<Cursor, Seq> {
        let published = self.lock();
        if resume.after_seq.is_some_and(|after| after > now.max(published.seq)) {
            return Err(now);
        }
        let seq = resume.after_seq.unwrap_or(published.seq);
        let offset = resume.from_offset.unwrap_or(published.ring.oldest());
        Ok(Cursor { seq, line: seq, offset, screen: published.screen })
    }

    /// The next thing for this cursor, in the order in which it happened. The cursor moves past what is found.
    pub fn next(&self, cursor: &mut Cursor, wants: Wants) -> Found {
        let published = self.lock();
        let event = loop {
            match published.journal.after(cursor.seq) {
                Ok(Some(entry)) if !wants.event(&entry.event) => cursor.seq = entry.seq,
                Ok(event) => break event,
                Err(held_from) if wants.state => return Found::EventsGone(held_from),
                Err(held_from) => cursor.seq = Seq(held_from.0.saturating_sub(1)),
            }
        };
        let event = match published.line(cursor, wants, event) {
            Ok(line) => first_of(event, line),
            Err(held_from) => return Found::LinesGone(held_from),
        };
        let end = published.ring.end();
        if wants.output && cursor.offset < end {
            // An event that happened before this output comes first; one that happened within it ends the piece.
            let until = event.map_or(end, |entry| entry.offset);
            if cursor.offset < until {
                if cursor.offset < published.ring.oldest() {
                    return Found::OutputGone;
                }
                let frame = published.output(cursor.offset, until);
                cursor.offset = frame.end();
                return Found::Output(frame);
            }
        }
        if let Some(entry) = event {
            let place = if matches!(entry.event, Event::Wrote(_)) { &mut cursor.line } else { &mut cursor.seq };
            *place = entry.seq;
            return Found::Event(entry.clone());
        }
        if wants.screen && cursor.screen < published.screen {
            cursor.screen = published.screen;
            return Found::Screen;
        }
        if published.closed { Found::Closed } else { Found::Nothing }
    }

    fn lock(&self) -> MutexGuard<'_, Published> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn first_of<'a>(one: Option<&'a Arc<Entry>>, other: Option<&'a Arc<Entry>>) -> Option<&'a Arc<Entry>> {
    [one, other].into_iter().flatten().min_by_key(|entry| entry.seq)
}

impl Published {
    /// The next line for this cursor. `Err` says from where on lines are held, when it is time to say that some are gone:
    /// not before what happened earlier.
    fn line(&self, cursor: &Cursor, wants: Wants, event: Option<&Arc<Entry>>) -> Result<Option<&Arc<Entry>>, Seq> {
        if !wants.messages {
            return Ok(None);
        }
        match self.lines.after(cursor.line) {
            Err(held_from) if event.is_some_and(|event| event.seq < held_from) => Ok(None),
            line => line,
        }
    }

    /// The shared frame that begins at the cursor, or a piece of the ring for those who catch up.
    fn output(&self, from: Offset, until: Offset) -> Arc<Frame> {
        let index = self.frames.partition_point(|frame| frame.offset < from);
        if let Some(frame) = self.frames.get(index)
            && frame.offset == from
            && frame.end() <= until
        {
            return frame.clone();
        }
        let limit = usize::try_from(until.0 - from.0).unwrap_or(usize::MAX).min(TAKE_BYTES_MAX);
        let slice = self.ring.read(from, limit);
        Arc::new(Frame::new(slice.offset, slice.data))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::child::Size;

    const ALL: Wants = Wants { output: true, screen: true, state: true, messages: true };

    #[derive(Clone, Debug)]
    enum Step {
        Print(Vec<u8>),
        Happen,
        Read(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let print = prop::collection::vec(any::<u8>(), 1..40).prop_map(Step::Print);
        prop::collection::vec(
            prop_oneof![3 => print, 2 => Just(Step::Happen), 2 => (0usize..6).prop_map(Step::Read)],
            0..80,
        )
    }

    proptest! {
        /// However reads and writes alternate, a reader sees every byte and every event once, in the order they happened.
        #[test]
        fn a_reader_sees_everything_once_and_in_order(steps in steps()) {
            let feed = Feed::new(1 << 20);
            let size = Size::new(80, 24).unwrap();
            let mut cursor = feed.join(Resume::default(), Seq(0)).unwrap();
            let (mut printed, mut seq) = (0u64, 0u64);
            // What happened and what was seen, as (bytes so far, events so far) at each event.
            let (mut happened, mut seen) = (Vec::new(), Vec::new());
            let (mut bytes, mut expected) = (Vec::new(), Vec::new());
            let mut read = |cursor: &mut Cursor, times: usize| {
                for _ in 0..times {
                    match feed.next(cursor, ALL) {
                        Found::Output(frame) => {
                            assert_eq!(frame.offset.0, bytes.len() as u64);
                            bytes.extend_from_slice(&frame.data);
                        }
                        Found::Event(entry) => seen.push((bytes.len() as u64, entry.seq.0)),
                        Found::Nothing => break,
                        other => panic!("{other:?}"),
                    }
                }
            };
            for step in steps {
                match step {
                    Step::Print(data) => {
                        printed += data.len() as u64;
                        expected.extend_from_slice(&data);
                        feed.publish_output(data.into());
                    }
                    Step::Happen => {
                        seq += 1;
                        happened.push((printed, seq));
                        feed.publish_event(Seq(seq), Event::Resized(size));
                    }
                    Step::Read(times) => read(&mut cursor, times),
                }
            }
            read(&mut cursor, usize::MAX);
            prop_assert_eq!(bytes, expected);
            prop_assert_eq!(seen, happened);
        }
    }

    #[test]
    fn a_reader_that_fell_behind_is_told() {
        let feed = Feed::new(8);
        let mut cursor = feed.join(Resume::default(), Seq(0)).unwrap();
        feed.publish_output(Bytes::from_static(b"0123456789"));
        assert!(matches!(feed.next(&mut cursor, ALL), Found::OutputGone));
    }

    #[test]
    fn without_an_offset_a_stream_begins_at_the_oldest_byte_held() {
        let feed = Feed::new(8);
        feed.publish_output(Bytes::from_static(b"0123456789"));
        let mut cursor = feed.join(Resume::default(), Seq(0)).unwrap();
        let Found::Output(frame) = feed.next(&mut cursor, ALL) else { panic!("no output") };
        assert_eq!((frame.offset, &frame.data[..]), (Offset(2), &b"23456789"[..]));
    }

    #[test]
    fn an_offset_in_the_future_waits_and_a_seq_in_the_future_is_refused() {
        let feed = Feed::new(8);
        let resume = Resume { from_offset: Some(Offset(4)), after_seq: None };
        let mut cursor = feed.join(resume, Seq(0)).unwrap();
        feed.publish_output(Bytes::from_static(b"012"));
        assert!(matches!(feed.next(&mut cursor, ALL), Found::Nothing));
        feed.publish_output(Bytes::from_static(b"3456"));
        let Found::Output(frame) = feed.next(&mut cursor, ALL) else { panic!("no output") };
        assert_eq!((frame.offset, &frame.data[..]), (Offset(4), &b"456"[..]));
        let ahead = Resume { after_seq: Some(Seq(5)), from_offset: None };
        assert_eq!(feed.join(ahead, Seq(3)).unwrap_err(), Seq(3));
    }
}
