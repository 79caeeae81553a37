//! What was borrowed, as the session holds it: it is let go of, never ended.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tokio::task::{JoinHandle, spawn_blocking};

use super::clock::sleep_until;
use super::event::Ended;
use super::life::{Resizing, Sign};
use crate::borrowed::process::{self, Found};
use crate::borrowed::{Loan, News, Over, Signals, Wishes};
use crate::child::{Signal, SignalError, Size};
use crate::config::Agent;

/// How long letting go may take; it takes a moment, unless the other program hangs.
const LET_GO_WITHIN: Duration = Duration::from_secs(2);

pub struct Lent {
    news: tokio::sync::mpsc::Receiver<News>,
    wishes: Wishes,
    signals: Signals,
    agent: Option<Agent>,
    /// The agent is being looked for among all processes, on another thread.
    search: Option<Search>,
    /// When it was let go of.
    let_go: OnceLock<Instant>,
    over: Option<Over>,
}

struct Search {
    /// What runs on the terminal.
    pid: u32,
    found: JoinHandle<Option<Found>>,
    /// It has changed again meanwhile: the search begins anew with this one.
    next: Option<u32>,
}

impl Search {
    fn begin(pid: u32, agent: Option<Agent>) -> Self {
        let found = spawn_blocking(move || agent.and_then(|agent| process::agent_below(pid, Some(agent))));
        Self { pid, found, next: None }
    }
}

impl Lent {
    pub fn new(loan: Loan) -> Self {
        let signals = Signals::to(loan.pid);
        let (news, wishes, agent) = (loan.news, loan.wishes, loan.agent);
        Self { news, wishes, signals, agent, search: None, let_go: OnceLock::new(), over: None }
    }

    /// Waits for the next news. Dropping the future loses nothing.
    pub async fn sign(&mut self) -> Sign {
        if self.over.is_some() {
            return std::future::pending().await;
        }
        let gone_at = self.let_go.get().map(|at| *at + LET_GO_WITHIN);
        loop {
            let news = tokio::select! {
                news = self.news.recv() => news,
                found = searched(&mut self.search) => return self.stirred(found),
                () = sleep_until(gone_at) => None,
            };
            return match news {
                Some(News::Printed(bytes)) => Sign::Printed(bytes),
                Some(News::Resized(size, answer)) => Sign::Resized(size, answer),
                Some(News::Stirred { pid }) => {
                    // Another program may have been started in the same place.
                    self.signals = Signals::to(pid);
                    match &mut self.search {
                        Some(search) => search.next = Some(pid),
                        None => self.search = Some(Search::begin(pid, self.agent)),
                    }
                    continue;
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
            };
        }
    }

    /// The search has ended.
    fn stirred(&mut self, (pid, found): (u32, Option<Found>)) -> Sign {
        let next = self.search.take().and_then(|search| search.next);
        self.search = next.map(|pid| Search::begin(pid, self.agent));
        Sign::Stirred { pid: found.as_ref().map_or(pid, |found| found.pid), is_agent: found.is_some() }
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

/// What runs on the terminal, and the agent that was found below it.
async fn searched(search: &mut Option<Search>) -> (u32, Option<Found>) {
    match search {
        // A search that failed has found nobody.
        Some(Search { pid, found, .. }) => (*pid, found.await.ok().flatten()),
        None => std::future::pending().await,
    }
}
