//! The last events of a session, by sequence number; what is gone is said, never skipped.

use std::collections::VecDeque;
use std::sync::Arc;

use super::event::Entry;
use crate::terminal::Seq;

/// Enough for a client that was away for a while: an agent changes its state some times a minute.
pub const JOURNAL_ENTRIES_MAX: usize = 4096;

/// How much is kept of what an agent writes, so that a reader who was away for a minute finds all of it.
pub const LINES_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A bounded list of events with ever-increasing sequence numbers.
#[derive(Debug)]
pub struct Journal {
    entries: VecDeque<Arc<Entry>>,
    entries_max: usize,
    bytes: usize,
    bytes_max: usize,
    /// The newest entry that was dropped.
    forgotten: Option<Seq>,
}

impl Journal {
    pub fn new(entries_max: usize, bytes_max: usize) -> Self {
        Self { entries: VecDeque::new(), entries_max: entries_max.max(1), bytes: 0, bytes_max, forgotten: None }
    }

    pub fn push(&mut self, entry: Arc<Entry>) {
        let added = entry.event.bytes_held();
        while (self.entries.len() == self.entries_max || self.bytes + added > self.bytes_max)
            && let Some(oldest) = self.entries.pop_front()
        {
            self.bytes -= oldest.event.bytes_held();
            self.forgotten = Some(oldest.seq);
        }
        self.bytes += added;
        self.entries.push_back(entry);
    }

    /// The first event after `seq`. `Err` says from where on events are held, when some after `seq` are gone.
    pub fn after(&self, seq: Seq) -> Result<Option<&Arc<Entry>>, Seq> {
        if self.forgotten.is_some_and(|forgotten| forgotten > seq) {
            return Err(self.entries.front().map_or(seq, |oldest| oldest.seq));
        }
        let index = self.entries.partition_point(|entry| entry.seq <= seq);
        Ok(self.entries.get(index))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::child::Size;
    use crate::session::Event;
    use crate::terminal::Offset;

    fn entry(seq: u64) -> Arc<Entry> {
        let event = Event::Resized(Size::new(80, 24).unwrap());
        Arc::new(Entry { seq: Seq(seq), offset: Offset(0), event, encoded: Default::default() })
    }

    proptest! {
        /// Whoever comes back sees every later event exactly once, or is told which are gone.
        #[test]
        fn nothing_is_skipped_in_silence(steps in prop::collection::vec(1u64..5, 0..60), max in 1usize..20, from in 0u64..120) {
            let mut journal = Journal::new(max, 0);
            let mut all = Vec::new();
            let mut seq = 0;
            for step in steps {
                seq += step;
                all.push(seq);
                journal.push(entry(seq));
            }
            let missed = all.iter().rev().skip(max).any(|&s| s > from);
            let mut cursor = Seq(from);
            match journal.after(cursor) {
                Err(held_from) => {
                    prop_assert!(missed);
                    prop_assert_eq!(Some(&held_from.0), all.iter().rev().take(max).next_back());
                }
                Ok(_) => {
                    prop_assert!(!missed);
                    let mut seen = Vec::new();
                    while let Ok(Some(entry)) = journal.after(cursor) {
                        seen.push(entry.seq.0);
                        cursor = entry.seq;
                    }
                    let expected: Vec<u64> = all.iter().copied().filter(|&s| s > from).collect();
                    prop_assert_eq!(seen, expected);
                }
            }
        }
    }
}
