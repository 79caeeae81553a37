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
                let painted = self.session.picture(self.style).await;
                // Not before: who drops this future still wants the picture.
                self.screen_due = false;
                match painted {
                    Ok(picture) => return Some(Item::Screen(picture)),
                    // The owner has left, and nobody paints any more; what happened before is still told, its end above all.
                    Err(_) => self.wants.screen = false,
                }
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
                    let Ok(redrawn) = self.session.redraw().await else {
                        self.wants.output = false;
                        continue;
                    };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::{Ground, Guardian, Launch, Size};
    use crate::session::{Given, InputFilter, Plan, Program, RestartPolicy, Resume, SizePolicy, start};

    fn session_with(script: &str) -> Plan {
        // Nobody reads what it is told: the child ends by itself.
        let guardian = Guardian::on(std::io::pipe().unwrap().1.into()).unwrap();
        let launch = Launch {
            argv: ["sh", "-c", script].map(Into::into).to_vec(),
            cwd: None,
            env: Vec::new(),
            env_remove: Vec::new(),
            bare: false,
            size: Size::new(80, 24).unwrap(),
        };
        Plan {
            program: Program::Own { launch, given: Given::new([], []), ground: Ground::host(guardian) },
            ring_bytes_max: 4096,
            attach_size: SizePolicy::Latest,
            idle_timeout: None,
            exit_with_child: true,
            restart: RestartPolicy::No,
            is_watched: false,
            input_filter: InputFilter::default(),
            called: "the child",
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn who_stops_waiting_for_a_picture_gets_it_the_next_time() {
        let plan = Plan { exit_with_child: false, ..session_with("read line") };
        let (session, _outcome) = start(plan);
        let wants = Wants { screen: true, ..Wants::default() };
        let mut reader = session.subscribe(wants, Resume::default()).unwrap();
        // The owner answers from its own thread: asked once, it is not there yet.
        let _ = futures_util::FutureExt::now_or_never(reader.next());
        let next = tokio::time::timeout(std::time::Duration::from_secs(20), reader.next()).await;
        assert!(matches!(next, Ok(Some(Item::Screen(_)))), "{next:?}");
        session.shutdown().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_reader_that_comes_late_is_told_the_end_though_nobody_paints_any_more() {
        // More than the ring holds, so that a redraw is wanted, too.
        let (session, outcome) = start(session_with("head -c 9999 /dev/zero | tr '\\0' x; exit 5"));
        let wants = Wants { output: true, screen: true, state: true, messages: false };
        let mut reader = session.subscribe(wants, Resume::default()).unwrap();
        outcome.await.unwrap();
        let mut ends = Vec::new();
        while let Some(item) = reader.next().await {
            if let Item::Event(entry) = item
                && let Event::Ended { ended, .. } = &entry.event
            {
                ends.push(ended.code());
            }
        }
        assert_eq!(ends, [Some(5)]);
    }
}
