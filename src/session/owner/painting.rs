//! Output: published as bytes, painted as a picture, looked through for queries and echoes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::Owner;
use crate::session::clock::epoch_ms;
use crate::session::command::Difference;
use crate::session::outbox::Transaction;
use crate::session::picture::{Picture, Style};
use crate::terminal::Seq;

/// How often changes of the screen are announced at most; faster than anybody reads, slower than a child prints.
const SCREEN_EVERY: Duration = Duration::from_millis(30);

impl Owner {
    pub(super) fn paint(&mut self, bytes: Bytes) {
        let now = Instant::now();
        self.last_output = now;
        self.shared.counters.last_output_at_ms.store(epoch_ms(), Ordering::Relaxed);
        let seq = self.next_seq();
        // Readers of the bytes need not wait for the picture.
        self.shared.feed.publish_output(bytes.clone());
        self.shared.counters.bytes_read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let fed = self.terminal.feed(&bytes, seq);
        if fed.changed {
            self.screen_changed(now);
        }
        // A terminal that answers by itself may be attached; two answers would be typed into the program.
        if !fed.replies.is_empty()
            && self.terminals.answerer().is_none()
            && let Some(child) = self.child.as_ref().filter(|child| child.asks_us())
            && let Err(error) = child.outbox.push(Transaction { id: None, bytes: fed.replies.into() })
        {
            tracing::warn!(%error, "a terminal query stays unanswered");
        }
        for id in self.echoes.seen_in(&bytes, now) {
            self.echoed(id);
        }
    }

    pub(super) fn screen_changed(&mut self, now: Instant) {
        self.shared.counters.screen_seq.store(self.terminal.screen_seq().0, Ordering::Release);
        let watchers = self.shared.screen_watchers.load(Ordering::Relaxed)
            + self.shared.own_screen_watchers.load(Ordering::Relaxed);
        if watchers == 0 || self.screen_due.is_some() {
            return;
        }
        match self.screen_told.map(|told| told + SCREEN_EVERY).filter(|at| *at > now) {
            Some(later) => self.screen_due = Some(later),
            None => self.tell_screen(now),
        }
    }

    pub(super) fn tell_screen(&mut self, now: Instant) {
        self.screen_due = None;
        self.screen_told = Some(now);
        self.shared.feed.publish_screen(self.terminal.screen_seq());
    }

    pub(super) fn picture(&mut self, style: Style) -> Arc<Picture> {
        let place = self.shared.picture(style);
        if let Some(picture) = place.load_full().filter(|picture| picture.seq() == self.terminal.screen_seq()) {
            return picture;
        }
        let mut screen = self.terminal.snapshot();
        if style == Style::Ansi {
            screen.lines = self.terminal.ansi_rows();
        }
        let picture = Picture {
            style,
            screen,
            offset: self.shared.feed.end(),
            encoded: Default::default(),
            frame: Default::default(),
        };
        let picture = Arc::new(picture);
        place.store(Some(picture.clone()));
        picture
    }

    pub(super) fn difference(&mut self, style: Style, since: Seq) -> Difference {
        let picture = self.picture(style);
        let rows = self.terminal.changed_rows(since).map(|rows| {
            let styled = |(row, _): (usize, String)| (row, picture.screen.lines.get(row).cloned().unwrap_or_default());
            rows.into_iter().map(styled).collect()
        });
        Difference { picture, rows }
    }
}
