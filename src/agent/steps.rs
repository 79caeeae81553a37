//! Steps with conditions: the next key goes out when the last one is seen to have landed, never on a timer alone.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::handle::Agent;
use super::view::View;
use crate::session::{Phase, Refusal, Session, Turn};

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
