//! When a program that has ended is started again by itself: soon at first, then later and later, and not at all once it
//! has ended too often. Pure: told the time, never asks for it.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::event::Ended;

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

/// What follows from an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Next {
    /// It stays as it is.
    #[default]
    Stay,
    Again(Duration),
    /// It ended too often.
    Park,
}

/// The ends so far.
#[derive(Debug)]
pub struct Ends {
    policy: RestartPolicy,
    recent: VecDeque<Instant>,
    wait: Duration,
}

impl Ends {
    pub fn new(policy: RestartPolicy) -> Self {
        Self { policy, recent: VecDeque::new(), wait: WAIT_MIN }
    }

    /// Somebody has started it by hand, and thinks that it will do better.
    pub fn forget(&mut self) {
        *self = Self::new(self.policy);
    }

    /// Notes an end of a child that was started then.
    pub fn ended(&mut self, ended: &Ended, started: Instant, now: Instant) -> Next {
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
        ends.forget();
        assert_eq!(ends.ended(&FAILED, after(20), after(21)), again(1), "whoever starts it by hand gives it a chance");
    }

    #[test]
    fn a_program_that_ends_now_and_then_waits_at_most_a_minute_and_is_well_after_one() {
        let mut ends = Ends::new(RestartPolicy::Always);
        let told: Vec<Next> = (0..8).map(|n| ends.ended(&FAILED, after(n * 30), after(n * 30 + 30))).collect();
        assert_eq!(told.last(), Some(&again(60)));
        assert_eq!(ends.ended(&FAILED, after(1000), after(1060)), again(1));
    }
}
