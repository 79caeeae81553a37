//! One reader of a session: what happened, in order, with every loss named.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::watch;

use super::event::{Entry, Event};
use super::feed::{Cursor, Feed, Found, Frame};
use super::handle::{Redrawn, Session};
use super::picture::{Picture, Style};
use crate::terminal::{Offset, Seq};

/// Which kinds of events are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    pub output: bool,
    pub screen: bool,
    pub state: bool,
    /// What the agent writes about its conversation.
    pub messages: bool,
}

impl Wants {
    /// Sizes and the end concern every reader, the rest only those who follow the state.
    pub fn event(self, event: &Event) -> bool {
        match event {
            Event::Resized(_) | Event::Ended { .. } => true,
            Event::Wrote(_) => self.messages,
            _ => self.state,
        }
    }
}

/// What cannot be given any more.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing {
    /// Output, with the screen as it was where the reader goes on.
    Output { from: Offset, redrawn: Redrawn },
    /// Events; `to` is the first that follows.
    Events { from: Seq, to: Seq },
    /// What the agent wrote; `to` is the first line that follows.
    Lines { from: Seq, to: Seq },
}

/// What a reader is told.
#[derive(Clone, Debug)]
pub enum Item {
    Output(Arc<Frame>),
    Event(Arc<Entry>),
    Screen(Arc<Picture>),
    Gap(Missing),
}

/// A reader's place in the session's history.
#[derive(Debug)]
pub struct Subscription {
    session: Session,
    feed: Arc<Feed>,
    cursor: Cursor,
    wants: Wants,
    style: Style,
    changes: watch::Receiver<u64>,
    /// A screen is due although none was announced: at the beginning, and after a gap.
    screen_due: bool,
    _counted: Counted,
}

/// Counts a reader for as long as it lives.
#[derive(Debug)]
pub struct Counted(Arc<AtomicUsize>);

impl Counted {
    pub fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Subscription {
    pub(super) fn new(session: Session, feed: Arc<Feed>, cursor: Cursor, wants: Wants, counted: Counted) -> Self {
        let changes = feed.changes();
        Self { session, feed, cursor, wants, style: Style::Text, changes, screen_due: wants.screen, _counted: counted }
    }

    /// Screens are to be written in this style.
    pub fn in_style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// Output before this is not wanted any more.
    pub fn skip_to(&mut self, offset: Offset) {
        self.cursor.offset = self.cursor.offset.max(offset);
    }

    /// The next thing that happened; `None` when coop is leaving and everything has been told.
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Item> {
        loop {
            self.changes.mark_unchanged();
            if self.screen_due {
                let picture = self.session.picture(self.style).await.ok()?;
                self.screen_due = false;
                return Some(Item::Screen(picture));
            }
            match self.feed.next(&mut self.cursor, self.wants) {
                Found::Output(frame) => return Some(Item::Output(frame)),
                Found::Event(entry) => return Some(Item::Event(entry)),
                Found::Screen => self.screen_due = true,
                Found::EventsGone(to) => {
                    let from = Seq(self.cursor.seq.0 + 1);
                    self.cursor.seq = Seq(to.0.saturating_sub(1));
                    self.screen_due = self.wants.screen;
                    return Some(self.gap(Missing::Events { from, to }));
                }
                Found::LinesGone(to) => {
                    let from = Seq(self.cursor.line.0 + 1);
                    self.cursor.line = Seq(to.0.saturating_sub(1));
                    return Some(self.gap(Missing::Lines { from, to }));
                }
                Found::OutputGone => {
                    let from = self.cursor.offset;
                    let redrawn = self.session.redraw().await.ok()?;
                    self.cursor.offset = redrawn.offset;
                    self.screen_due = self.wants.screen;
                    return Some(self.gap(Missing::Output { from, redrawn }));
                }
                Found::Closed => return None,
                Found::Nothing => self.changes.changed().await.ok()?,
            }
        }
    }

    fn gap(&self, missing: Missing) -> Item {
        self.session.tally().missed(&missing);
        Item::Gap(missing)
    }
}
