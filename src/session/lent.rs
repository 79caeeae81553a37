//! What was borrowed, as the session holds it: it is let go of, never ended.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::clock::sleep_until;
use super::event::Ended;
use super::life::{Resizing, Sign};
use crate::borrowed::{Loan, News, Over, Signals, Wishes, process};
use crate::child::{Signal, SignalError, Size};
use crate::config::Agent;

/// How long letting go may take; it takes a moment, unless the other program hangs.
const LET_GO_WITHIN: Duration = Duration::from_secs(2);

pub struct Lent {
    news: tokio::sync::mpsc::Receiver<News>,
    wishes: Wishes,
    signals: Signals,
    agent: Option<Agent>,
    /// When it was let go of.
    let_go: OnceLock<Instant>,
    over: Option<Over>,
}

impl Lent {
    pub fn new(loan: Loan) -> Self {
        let signals = Signals::to(loan.pid);
        Self { news: loan.news, wishes: loan.wishes, signals, agent: loan.agent, let_go: OnceLock::new(), over: None }
    }

    /// Waits for the next news.
    pub async fn sign(&mut self) -> Sign {
        if self.over.is_some() {
            return std::future::pending().await;
        }
        let gone_at = self.let_go.get().map(|at| *at + LET_GO_WITHIN);
        let news = tokio::select! {
            news = self.news.recv() => news,
            () = sleep_until(gone_at) => None,
        };
        match news {
            Some(News::Printed(bytes)) => Sign::Printed(bytes),
            Some(News::Resized(size, answer)) => Sign::Resized(size, answer),
            Some(News::Stirred { pid }) => {
                // Another program may have been started in the same place.
                self.signals = Signals::to(pid);
                let agent = self.agent.and_then(|agent| process::agent_below(pid, Some(agent)));
                Sign::Stirred { pid: agent.as_ref().map_or(pid, |agent| agent.pid), is_agent: agent.is_some() }
            }
            Some(News::Over(over)) => {
                self.over = Some(over);
                Sign::Waning
            }
            None => {
                let reason = "coop let go of it; it runs on, as far as is known".to_owned();
                self.over = Some(Over { exit: None, reason });
                Sign::Waning
            }
        }
    }

    pub fn is_over(&self) -> Option<Ended> {
        let Over { exit, reason } = self.over.clone()?;
        Some(Ended::Left { exit, reason })
    }

    pub fn let_go(&self) {
        let _ = self.let_go.set(Instant::now());
        self.wishes.let_go();
    }

    pub fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        self.signals.send(signal)
    }

    pub fn resize(&self, size: Size) -> Resizing {
        self.wishes.resize(size)
    }
}
