//! Starts a program again that has ended, where the operator asked for it: soon at first, then later and later, and not at
//! all once it has ended too often.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;

use super::service::Service;
use crate::proto::v1;
use crate::session::{Ended, Event, Item, Life, Resume, Wants, epoch_ms};

/// How long to wait before the first new start, and at most; each time twice as long.
const WAIT_MIN: Duration = Duration::from_secs(1);
const WAIT_MAX: Duration = Duration::from_secs(60);

/// A program that has run for so long is taken to be well again.
const WELL_AFTER: Duration = Duration::from_secs(60);

/// So many ends within so long are too many.
const ENDS_MAX: usize = 5;
const ENDS_WITHIN: Duration = Duration::from_secs(60);

/// When a program that has ended is started again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RestartPolicy {
    /// Only when somebody asks.
    #[default]
    No,
    /// When it ended with another code than 0, or by a signal.
    OnFailure,
    /// However it ended.
    Always,
}

/// What is known about the next start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keeping {
    /// It is waited for, until then, in milliseconds since 1970.
    pub restarts_at_ms: Option<u64>,
    /// It ended too often.
    pub parked: bool,
}

/// Published for the status.
pub type Kept = Arc<ArcSwap<Keeping>>;

/// What follows from an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// It stays as it is.
    Stay,
    Again(Duration),
    Park,
}

/// The ends so far. Pure: told the time, never asks for it.
#[derive(Debug)]
struct Ends {
    policy: RestartPolicy,
    recent: VecDeque<Instant>,
    wait: Duration,
}

impl Ends {
    fn new(policy: RestartPolicy) -> Self {
        Self { policy, recent: VecDeque::new(), wait: WAIT_MIN }
    }

    /// Notes an end of a child that was started then.
    fn ended(&mut self, ended: &Ended, started: Instant, now: Instant) -> Next {
        let wanted = match self.policy {
            RestartPolicy::No => false,
            RestartPolicy::OnFailure => ended.code() != Some(0),
            RestartPolicy::Always => true,
        };
        // What cannot be started once cannot be started a second later; somebody must mend it first.
        if !wanted || matches!(ended, Ended::NotStarted { .. }) {
            return Next::Stay;
        }
        if now.saturating_duration_since(started) >= WELL_AFTER {
            self.wait = WAIT_MIN;
        }
        self.recent.push_back(now);
        self.recent.retain(|at| now.saturating_duration_since(*at) < ENDS_WITHIN);
        if self.recent.len() >= ENDS_MAX {
            return Next::Park;
        }
        let wait = self.wait;
        self.wait = (wait * 2).min(WAIT_MAX);
        Next::Again(wait)
    }
}

/// Follows the session until it is over.
pub async fn keep(service: Arc<Service>, policy: RestartPolicy) {
    if policy == RestartPolicy::No {
        return;
    }
    let wants = Wants { output: false, screen: false, state: true, messages: false };
    let Ok(mut events) = service.session.subscribe_uncounted(wants, Resume::default()) else { return };
    let (mut ends, mut started) = (Ends::new(policy), Instant::now());
    while let Some(item) = events.next().await {
        let Item::Event(entry) = item else { continue };
        let Event::Ended { ended, .. } = &entry.event else {
            if matches!(service.session.vitals().life, Life::Running { .. }) && service.kept.load().parked {
                // Somebody has started it by hand.
                service.kept.store(Arc::default());
                (ends, started) = (Ends::new(policy), Instant::now());
            }
            continue;
        };
        match ends.ended(ended, started, Instant::now()) {
            Next::Stay => {}
            Next::Park => {
                tracing::warn!("the program ended {ENDS_MAX} times within a minute and is not started again by itself");
                service.kept.store(Arc::new(Keeping { restarts_at_ms: None, parked: true }));
            }
            Next::Again(wait) => {
                tracing::info!(secs = wait.as_secs(), "the program will be started again");
                let at = epoch_ms().saturating_add(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
                service.kept.store(Arc::new(Keeping { restarts_at_ms: Some(at), parked: false }));
                tokio::time::sleep(wait).await;
                service.kept.store(Arc::default());
                started = Instant::now();
                // In the meantime somebody may have started it, or the session may be leaving.
                if matches!(service.session.vitals().life, Life::Exited(_)) {
                    let request = v1::RestartRequest { resume: Some(true), ..Default::default() };
                    if let Err(error) = service.restart_child(request).await {
                        tracing::warn!(%error, "the program could not be started again");
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::Exit;

    const FAILED: Ended = Ended::Exited(Exit::Code(1));
    const FINE: Ended = Ended::Exited(Exit::Code(0));

    fn after(secs: u64) -> Instant {
        static BEGAN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
        *BEGAN + Duration::from_secs(secs)
    }

    fn again(secs: u64) -> Next {
        Next::Again(Duration::from_secs(secs))
    }

    #[test]
    fn only_what_the_operator_asked_for_is_started_again() {
        let next = |policy, ended: &Ended| Ends::new(policy).ended(ended, after(0), after(1));
        assert_eq!(next(RestartPolicy::No, &FAILED), Next::Stay);
        assert_eq!(
            [next(RestartPolicy::OnFailure, &FINE), next(RestartPolicy::OnFailure, &FAILED)],
            [Next::Stay, again(1)]
        );
        assert_eq!(next(RestartPolicy::OnFailure, &Ended::Exited(Exit::Signal(9))), again(1));
        assert_eq!(next(RestartPolicy::Always, &FINE), again(1));
        let missing = Ended::NotStarted { code: 127, reason: "no such program".into() };
        assert_eq!(next(RestartPolicy::Always, &missing), Next::Stay, "it would fail again");
    }

    #[test]
    fn each_wait_is_twice_as_long_and_five_ends_in_a_minute_are_too_many() {
        let mut ends = Ends::new(RestartPolicy::Always);
        let told: Vec<Next> = [1, 3, 6, 11, 20].map(|secs| ends.ended(&FAILED, after(secs - 1), after(secs))).into();
        assert_eq!(told, [again(1), again(2), again(4), again(8), Next::Park]);
    }

    #[test]
    fn a_program_that_ends_now_and_then_waits_at_most_a_minute_and_is_well_after_one() {
        let mut ends = Ends::new(RestartPolicy::Always);
        let told: Vec<Next> = (0..8).map(|n| ends.ended(&FAILED, after(n * 30), after(n * 30 + 30))).collect();
        assert_eq!(told.last(), Some(&again(60)));
        assert_eq!(ends.ended(&FAILED, after(1000), after(1060)), again(1));
    }
}
