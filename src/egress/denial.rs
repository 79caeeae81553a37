//! What a box was refused, told to whoever watches it. A program that asks in a loop is told of once a minute.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::mpsc;

use super::host::{self, Host};
use super::policy::Why;

/// How long the same refusal is not told again.
const AGAIN_AFTER: Duration = Duration::from_mins(1);

/// How many different refusals are told within that time. A box can make up names faster than anybody reads.
const TOLD_MAX: usize = 30;

/// Somebody whom the box asked for and may not reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// As it is compared: in lower case; an address without brackets.
    pub host: String,
    pub port: u16,
    pub why: Why,
    pub at: SystemTime,
    /// How many refusals before this one were not told: repetitions, and what was too much.
    pub untold: u64,
}

impl std::fmt::Display for Denial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let whom = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        write!(f, "{whom}:{} {}", self.port, self.why)
    }
}

/// Where refusals go.
pub(super) struct Denials {
    to: mpsc::Sender<Denial>,
    ledger: Mutex<Ledger>,
}

impl Denials {
    pub fn new(to: mpsc::Sender<Denial>) -> Self {
        Self { to, ledger: Mutex::default() }
    }

    pub fn tell(&self, host: &Host, port: u16, why: &Why) {
        // Nothing under this lock can leave it half changed.
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let what = (host::show(host, port), why.word());
        let Some(untold) = ledger.hear(what, Instant::now()) else { return };
        let denial = Denial { host: host.to_string(), port, why: why.clone(), at: SystemTime::now(), untold };
        tracing::info!(%denial, "a box may not reach somebody");
        if self.to.try_send(denial).is_err() {
            ledger.missed(untold);
        }
    }
}

/// What was told lately. Pure: the clock is brought along.
#[derive(Default)]
struct Ledger {
    /// Oldest first; never more than [`TOLD_MAX`].
    told: VecDeque<(Instant, What)>,
    untold: u64,
}

/// Whom, and why in a word.
type What = (String, &'static str);

impl Ledger {
    /// Whether to tell; if so, with how many that were not told before.
    fn hear(&mut self, what: What, now: Instant) -> Option<u64> {
        while self.told.front().is_some_and(|(at, _)| now.duration_since(*at) >= AGAIN_AFTER) {
            self.told.pop_front();
        }
        if self.told.len() >= TOLD_MAX || self.told.iter().any(|(_, told)| *told == what) {
            self.untold = self.untold.saturating_add(1);
            return None;
        }
        self.told.push_back((now, what));
        Some(std::mem::take(&mut self.untold))
    }

    /// What was to be told found nobody ready to hear it. It counts, and comes again when it happens again.
    fn missed(&mut self, untold: u64) {
        self.told.pop_back();
        self.untold = untold.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(name: &str) -> What {
        (name.to_owned(), "not_listed")
    }

    #[test]
    fn a_loop_is_told_once_and_then_with_how_often() {
        let (mut ledger, start) = (Ledger::default(), Instant::now());
        assert_eq!(ledger.hear(what("a:1"), start), Some(0));
        for _ in 0..1000 {
            assert_eq!(ledger.hear(what("a:1"), start + Duration::from_secs(59)), None);
        }
        assert_eq!(ledger.hear(what("b:1"), start + Duration::from_secs(59)), Some(1000));
        assert_eq!(ledger.hear(what("a:1"), start + AGAIN_AFTER), Some(0));
    }

    #[test]
    fn another_reason_is_another_refusal() {
        let (mut ledger, now) = (Ledger::default(), Instant::now());
        assert_eq!(ledger.hear(("a:1".to_owned(), "not_listed"), now), Some(0));
        assert_eq!(ledger.hear(("a:1".to_owned(), "address"), now), Some(0));
    }

    #[test]
    fn names_that_are_made_up_are_bounded_too() {
        let (mut ledger, start) = (Ledger::default(), Instant::now());
        let told = (0..10_000).filter(|n| ledger.hear(what(&format!("x{n}.org:443")), start).is_some()).count();
        assert_eq!((told, ledger.told.len()), (TOLD_MAX, TOLD_MAX));
        let rest = u64::try_from(10_000 - TOLD_MAX).unwrap();
        assert_eq!(ledger.hear(what("late.org:443"), start + AGAIN_AFTER), Some(rest));
    }

    #[test]
    fn who_is_not_ready_to_hear_learns_the_number_later() {
        let (to, mut heard) = mpsc::channel(1);
        let denials = Denials::new(to);
        for name in ["a.org", "b.org", "b.org", "c.org"] {
            denials.tell(&Host::parse(name).unwrap(), 443, &Why::NotListed);
        }
        assert_eq!(heard.try_recv().unwrap().host, "a.org");
        denials.tell(&Host::parse("b.org").unwrap(), 443, &Why::NotListed);
        let second = heard.try_recv().unwrap();
        assert_eq!((second.host.as_str(), second.untold), ("b.org", 3));
        assert_eq!(second.to_string(), "b.org:443 is not allowed (network.allow of coop.toml, or --allow)");
    }
}
