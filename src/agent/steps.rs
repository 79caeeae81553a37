//! Steps with conditions: the next key goes out when the last one is seen to have landed, never on a timer alone.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::handle::Agent;
use super::view::View;
use crate::session::{Phase, Refusal, Session, Turn};

/// How long the watch may take to look at a screen that has changed. Changes are told every 30 ms; a machine that is far too
/// busy stands still for seconds, and what is drawn meanwhile must not be typed into unseen.
const LOOKED_WITHIN: Duration = Duration::from_secs(10);

/// How long somebody's turn to type is waited for at least. Whoever waits for no witness at all wants it typed all the same, and
/// a busy machine takes a moment for it where nobody else types.
pub const TURN_WITHIN_MIN: Duration = Duration::from_secs(1);

/// Why nothing is typed any more.
pub const NOT_SEEN: &str = "what the screen shows now was not seen in time: try again";

/// How long the agent may take to read what was written. On a machine that is far too busy Claude read nothing for 7 s.
pub const READ_WITHIN: Duration = Duration::from_secs(20);

/// How long an agent that has drawn may take until it asks for keys.
const LISTENS_WITHIN: Duration = Duration::from_secs(10);

/// How often it is looked whether it has.
const READ_EVERY: Duration = Duration::from_millis(100);

/// What became of a key.
#[derive(Clone, Debug)]
pub enum Effect {
    /// What was waited for is seen.
    Seen(Arc<View>),
    /// The key was read, and nothing came of it.
    Nothing,
    /// Nobody has read it; somebody still may.
    Unread,
    /// Nothing is seen, and whether it was read cannot be told.
    Unknown,
}

/// Hands on the keyboard, and eyes on the agent.
pub struct Hands {
    turn: Turn,
    session: Session,
    views: watch::Receiver<Arc<View>>,
}

impl Hands {
    pub fn new(agent: &Agent, turn: Turn) -> Self {
        Self { turn, session: agent.session().clone(), views: agent.views() }
    }

    /// The agent as it is seen now.
    pub fn view(&mut self) -> Arc<View> {
        self.views.borrow_and_update().clone()
    }

    /// The agent as the screen shows it at this moment, however much it prints; an older picture is no answer.
    pub async fn view_of_now(&mut self) -> Result<Arc<View>, &'static str> {
        let now = self.session.screen_seq();
        self.until(LOOKED_WITHIN, |view| view.screen_seq >= now || view.pid.is_none()).await.ok_or(NOT_SEEN)
    }

    pub async fn write(&self, bytes: impl Into<bytes::Bytes>) -> Result<(), Refusal> {
        self.turn.write(bytes).await
    }

    /// Says that all that matters is written.
    pub async fn tell_written(&self) {
        self.session.progress(self.turn.id, Phase::Written).await;
    }

    /// Waits until something is seen; `None` when it was not within this time.
    pub async fn until(&mut self, within: Duration, seen: impl Fn(&View) -> bool) -> Option<Arc<View>> {
        let look = self.views.wait_for(|view| seen(view));
        let found = tokio::time::timeout(within, look).await.ok()?.ok()?;
        Some(found.clone())
    }

    /// Waits until the agent listens and has read all that was written; `false` when it has not in time.
    pub async fn all_read(&mut self) -> bool {
        // At its start it may draw before it asks for keys. What is typed then is shown by the terminal, as if it had had an
        // effect, and is lost: a "1" at the trust dialog was, on a busy machine.
        let given_up = Instant::now() + LISTENS_WITHIN;
        while self.session.echoes().await == Some(true) {
            if Instant::now() >= given_up {
                return false;
            }
            tokio::time::sleep(READ_EVERY).await;
        }
        !matches!(self.effect(Duration::ZERO, |_| false).await, Effect::Unread)
    }

    /// Waits for what a key does. Its time begins when it is read: a busy agent reads late, and all at once.
    pub async fn effect(&mut self, within: Duration, seen: impl Fn(&View) -> bool) -> Effect {
        // Nobody sees what a child that is gone would have done.
        let seen = |view: &View| view.pid.is_none() || seen(view);
        let given_up = Instant::now() + READ_WITHIN;
        let has_read = loop {
            match self.session.has_read().await {
                Some(false) if Instant::now() >= given_up => return Effect::Unread,
                Some(false) => {}
                has_read => break has_read,
            }
            if let Some(view) = self.until(READ_EVERY, seen).await {
                return Effect::Seen(view);
            }
        };
        match (self.until(within, seen).await, has_read) {
            (Some(view), _) => Effect::Seen(view),
            (None, Some(_)) => Effect::Nothing,
            (None, None) => Effect::Unknown,
        }
    }

    /// Lets others write, and goes on looking.
    pub fn let_go(self) -> watch::Receiver<Arc<View>> {
        self.views
    }
}

/// Waits until something is seen by one who does not write any more.
pub async fn seen_within(
    views: &mut watch::Receiver<Arc<View>>,
    within: Duration,
    seen: impl Fn(&View) -> bool,
) -> Option<Arc<View>> {
    let found = tokio::time::timeout(within, views.wait_for(|view| seen(view))).await.ok()?.ok()?;
    Some(found.clone())
}
