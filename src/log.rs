//! coop's own log: to stderr, and a bounded tail of it in memory for those who ask over the network.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tracing_subscriber::fmt::MakeWriter;

/// How much of the log is held; some thousand lines.
const TAIL_BYTES_MAX: usize = 256 * 1024;

/// The last lines of the log. Cheap to clone.
#[derive(Clone, Debug)]
pub struct LogTail {
    held: Arc<Mutex<Held>>,
    version: Arc<watch::Sender<u64>>,
}

#[derive(Debug, Default)]
struct Held {
    lines: VecDeque<String>,
    bytes: usize,
    /// The number of the line in front; lines are counted from 0 for ever.
    first: u64,
    closed: bool,
}

/// Reads the log from some line on.
pub struct LogLines {
    tail: LogTail,
    next: u64,
    changes: watch::Receiver<u64>,
    follow: bool,
}

impl Default for LogTail {
    fn default() -> Self {
        Self { held: Arc::default(), version: Arc::new(watch::Sender::new(0)) }
    }
}

impl LogTail {
    fn push(&self, line: String) {
        let mut held = self.lock();
        held.bytes += line.len();
        held.lines.push_back(line);
        while held.bytes > TAIL_BYTES_MAX
            && let Some(oldest) = held.lines.pop_front()
        {
            held.bytes -= oldest.len();
            held.first += 1;
        }
        drop(held);
        self.version.send_modify(|version| *version += 1);
    }

    /// The last `tail` lines, and with `follow` those that come.
    pub fn follow(&self, tail: usize, follow: bool) -> LogLines {
        let changes = self.version.subscribe();
        let held = self.lock();
        let skip = held.lines.len().saturating_sub(tail);
        let next = held.first + skip as u64;
        drop(held);
        LogLines { tail: self.clone(), next, changes, follow }
    }

    /// Nobody is kept waiting for further lines.
    pub fn close(&self) {
        self.lock().closed = true;
        self.version.send_modify(|version| *version += 1);
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogLines {
    pub async fn next(&mut self) -> Option<String> {
        loop {
            self.changes.mark_unchanged();
            {
                let held = self.tail.lock();
                self.next = self.next.max(held.first);
                let index = usize::try_from(self.next - held.first).unwrap_or(usize::MAX);
                if let Some(line) = held.lines.get(index) {
                    self.next += 1;
                    return Some(line.clone());
                }
                if held.closed || !self.follow {
                    return None;
                }
            }
            self.changes.changed().await.ok()?;
        }
    }
}

/// One event on its way to stderr and into the tail.
pub struct Line<'a> {
    tail: &'a LogTail,
    text: Vec<u8>,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        // A closed stderr must not end the session.
        let _ = io::stderr().write_all(&self.text);
        let text = String::from_utf8_lossy(&self.text);
        text.lines().for_each(|line| self.tail.push(line.to_owned()));
    }
}

impl<'a> MakeWriter<'a> for LogTail {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line { tail: self, text: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_tail_is_bounded_and_a_slow_reader_goes_on_with_the_oldest_line_held() {
        let tail = LogTail::default();
        let mut lines = tail.follow(usize::MAX, false);
        let long = "x".repeat(1000);
        (0..1000).for_each(|n| tail.push(format!("{n} {long}")));
        assert!(tail.lock().bytes <= TAIL_BYTES_MAX);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().await {
            seen.push(line);
        }
        assert!(seen.len() > 100 && seen.last().is_some_and(|line| line.starts_with("999 ")));
    }

    #[tokio::test]
    async fn the_last_lines_come_first_and_new_ones_follow() {
        let tail = LogTail::default();
        ["a", "b", "c"].into_iter().for_each(|line| tail.push(line.into()));
        let mut lines = tail.follow(2, true);
        assert_eq!(lines.next().await.as_deref(), Some("b"));
        assert_eq!(lines.next().await.as_deref(), Some("c"));
        tail.push("d".into());
        assert_eq!(lines.next().await.as_deref(), Some("d"));
        tail.close();
        assert_eq!(lines.next().await, None);
    }
}
