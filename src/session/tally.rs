//! What a session counts about itself, for those who keep statistics. Counting is an addition to an atomic number and
//! never waits; reading takes no lock that output could hold.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::receipt::Phase;
use super::state::{PromptKind, State, StateKind};
use super::subscription::Missing;

/// Upper bounds of how long an input takes, in milliseconds: a terminal needs less than one, a witness some hundred.
const RECEIPT_BOUNDS_MS: [u64; 12] = [1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 10_000, 60_000];

/// Upper bounds of how long a dialog waits: a program answers within a second, people within minutes or hours.
const PROMPT_BOUNDS_MS: [u64; 12] =
    [100, 500, 1000, 5000, 15_000, 60_000, 300_000, 900_000, 1_800_000, 3_600_000, 14_400_000, 86_400_000];

/// More events than any agent's hooks have; what goes beyond is counted together.
const HOOK_NAMES_MAX: usize = 32;

/// Longer names are none of an agent's.
const HOOK_NAME_CHARS_MAX: usize = 40;

/// What is called when a name is not counted by itself.
const OTHER: &str = "other";

/// What kind of input a receipt is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    Input,
    Raw,
    Keys,
    Nudge,
    Respond,
    /// What coop does by itself: it passes a dialog of the start, or takes back what a refused message left in the box.
    Groom,
}

/// How often something took how long.
#[derive(Debug)]
pub struct Histogram {
    bounds_ms: &'static [u64],
    /// One for each bound, and one for what is longer than all.
    buckets: Box<[AtomicU64]>,
    sum_micros: AtomicU64,
}

/// A histogram at one moment, with buckets that include the smaller ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Upper bounds in seconds, and how many were not above them.
    pub buckets: Vec<(f64, u64)>,
    pub count: u64,
    pub sum: Duration,
}

/// All that is counted.
#[derive(Debug)]
pub struct Tally {
    prompts: [Histogram; PromptKind::ALL.len()],
    receipts: [[Histogram; OUTCOMES.len()]; InputKind::ALL.len()],
    late: [AtomicU64; InputKind::ALL.len()],
    entered: [AtomicU64; StateKind::ALL.len()],
    gaps: [AtomicU64; GAPS.len()],
    /// Known to hooks and to those who ask, never to output.
    hooks: Mutex<BTreeMap<String, u64>>,
    hooks_unread: AtomicU64,
}

/// How far an input got, in the order of [`outcome`].
pub const OUTCOMES: [&str; 5] = ["written", "echoed", "unconfirmed", "accepted", "refused"];

/// What a reader can miss, in the order of [`Tally::missed`].
pub const GAPS: [&str; 3] = ["output", "events", "messages"];

/// How long a session was in each state; published whole with its other signs of life.
#[derive(Clone, Debug)]
pub struct Times {
    spent: [Duration; StateKind::ALL.len()],
    since: Instant,
    /// The dialog that is shown, and since when.
    prompt: Option<(String, PromptKind, Instant)>,
}

impl InputKind {
    pub const ALL: [Self; 6] = [Self::Input, Self::Raw, Self::Keys, Self::Nudge, Self::Respond, Self::Groom];

    pub fn word(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Raw => "raw",
            Self::Keys => "keys",
            Self::Nudge => "nudge",
            Self::Respond => "respond",
            Self::Groom => "groom",
        }
    }
}

impl Histogram {
    fn new(bounds_ms: &'static [u64]) -> Self {
        let buckets = (0..=bounds_ms.len()).map(|_| AtomicU64::new(0)).collect();
        Self { bounds_ms, buckets, sum_micros: AtomicU64::new(0) }
    }

    fn observe(&self, took: Duration) {
        let place = self.bounds_ms.partition_point(|bound| Duration::from_millis(*bound) < took);
        self.buckets[place].fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.sum_micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub fn measured(&self) -> Measured {
        let mut count = 0;
        let mut buckets = Vec::with_capacity(self.bounds_ms.len());
        for (bucket, bound) in self.buckets.iter().zip(self.bounds_ms) {
            count += bucket.load(Ordering::Relaxed);
            buckets.push((Duration::from_millis(*bound).as_secs_f64(), count));
        }
        count += self.buckets[self.bounds_ms.len()].load(Ordering::Relaxed);
        Measured { buckets, count, sum: Duration::from_micros(self.sum_micros.load(Ordering::Relaxed)) }
    }
}

impl Default for Tally {
    fn default() -> Self {
        let receipts = || std::array::from_fn(|_| Histogram::new(&RECEIPT_BOUNDS_MS));
        Self {
            prompts: std::array::from_fn(|_| Histogram::new(&PROMPT_BOUNDS_MS)),
            receipts: std::array::from_fn(|_| receipts()),
            late: Default::default(),
            entered: Default::default(),
            gaps: Default::default(),
            hooks: Mutex::default(),
            hooks_unread: AtomicU64::new(0),
        }
    }
}

impl Tally {
    /// An input got this far, so long after it was given.
    pub(super) fn reached(&self, kind: InputKind, before: &Phase, now: &Phase, took: Duration) {
        let Some(outcome) = outcome(now) else { return };
        self.receipts[kind as usize][outcome].observe(took);
        if matches!((before, now), (Phase::Unconfirmed, Phase::Accepted { .. })) {
            self.late[kind as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn entered(&self, state: StateKind) {
        self.entered[state as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn prompted(&self, kind: PromptKind, waited: Duration) {
        self.prompts[kind as usize].observe(waited);
    }

    /// A reader was told that it missed something.
    pub(super) fn missed(&self, missing: &Missing) {
        let place = match missing {
            Missing::Output { .. } => 0,
            Missing::Events { .. } => 1,
            Missing::Lines { .. } => 2,
        };
        self.gaps[place].fetch_add(1, Ordering::Relaxed);
    }

    /// A hook called with this event.
    pub fn heard(&self, event: &str) {
        let is_name = !event.is_empty()
            && event.chars().count() <= HOOK_NAME_CHARS_MAX
            && event.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        let mut hooks = self.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        let known = hooks.contains_key(event) || hooks.len() < HOOK_NAMES_MAX;
        *hooks.entry(if is_name && known { event } else { OTHER }.to_owned()).or_default() += 1;
    }

    /// A hook told something that could not be read.
    pub fn misheard(&self) {
        self.hooks_unread.fetch_add(1, Ordering::Relaxed);
    }

    pub fn prompts(&self) -> impl Iterator<Item = (PromptKind, Measured)> {
        PromptKind::ALL.into_iter().map(|kind| (kind, self.prompts[kind as usize].measured()))
    }

    /// By kind and outcome.
    pub fn receipts(&self) -> impl Iterator<Item = (InputKind, &'static str, Measured)> {
        InputKind::ALL.into_iter().flat_map(move |kind| {
            let outcomes = OUTCOMES.iter().zip(&self.receipts[kind as usize]);
            outcomes.map(move |(outcome, took)| (kind, *outcome, took.measured()))
        })
    }

    pub fn late(&self) -> impl Iterator<Item = (InputKind, u64)> {
        InputKind::ALL.into_iter().map(|kind| (kind, self.late[kind as usize].load(Ordering::Relaxed)))
    }

    pub fn transitions(&self) -> impl Iterator<Item = (StateKind, u64)> {
        StateKind::ALL.into_iter().map(|kind| (kind, self.entered[kind as usize].load(Ordering::Relaxed)))
    }

    pub fn gaps(&self) -> impl Iterator<Item = (&'static str, u64)> {
        GAPS.into_iter().zip(self.gaps.iter().map(|gaps| gaps.load(Ordering::Relaxed)))
    }

    pub fn hooks(&self) -> BTreeMap<String, u64> {
        self.hooks.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn hooks_unread(&self) -> u64 {
        self.hooks_unread.load(Ordering::Relaxed)
    }
}

/// The place of a phase among [`OUTCOMES`]; nothing has come of an input that waits.
fn outcome(phase: &Phase) -> Option<usize> {
    match phase {
        Phase::Queued => None,
        Phase::Written => Some(0),
        Phase::Echoed => Some(1),
        Phase::Unconfirmed => Some(2),
        Phase::Accepted { .. } => Some(3),
        Phase::Refused { .. } => Some(4),
    }
}

impl Times {
    pub fn begin(now: Instant) -> Self {
        Self { spent: Default::default(), since: now, prompt: None }
    }

    /// The state changes. The dialog that was shown until now comes back with how long it waited, unless it stays.
    pub(super) fn change(&mut self, from: StateKind, to: &State, now: Instant) -> Option<(PromptKind, Duration)> {
        self.spent[from as usize] += now.saturating_duration_since(self.since);
        self.since = now;
        let shown = to.prompt().map(|prompt| (&prompt.id, prompt.kind));
        if self.prompt.as_ref().map(|(id, kind, _)| (id, *kind)) == shown {
            return None;
        }
        let shown = shown.map(|(id, kind)| (id.clone(), kind, now));
        let over = std::mem::replace(&mut self.prompt, shown);
        over.map(|(_, kind, since)| (kind, now.saturating_duration_since(since)))
    }

    /// How long each state lasted in all, the present one until now.
    pub fn spent(&self, present: StateKind, now: Instant) -> impl Iterator<Item = (StateKind, Duration)> {
        StateKind::ALL.into_iter().map(move |kind| {
            let going_on = if kind == present { now.saturating_duration_since(self.since) } else { Duration::ZERO };
            (kind, self.spent[kind as usize] + going_on)
        })
    }

    /// How long the present state has lasted.
    pub fn in_present(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.since)
    }

    /// The dialog that waits, and since when.
    pub fn waiting(&self) -> Option<(PromptKind, Instant)> {
        self.prompt.as_ref().map(|(_, kind, since)| (*kind, *since))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::session::Prompt;

    const SECOND: Duration = Duration::from_secs(1);

    fn prompt(id: &str, kind: PromptKind) -> State {
        State::Prompt { prompt: Arc::new(Prompt { id: id.to_owned(), ..Prompt::new(kind) }), trouble: None }
    }

    #[test]
    fn every_second_is_counted_to_one_state() {
        let begun = Instant::now();
        let mut times = Times::begin(begun);
        times.change(StateKind::Starting, &State::Idle, begun + SECOND);
        times.change(StateKind::Idle, &State::Working, begun + 3 * SECOND);
        let spent: Vec<_> =
            times.spent(StateKind::Working, begun + 10 * SECOND).filter(|(_, d)| !d.is_zero()).collect();
        let expected = [(StateKind::Starting, SECOND), (StateKind::Working, 7 * SECOND), (StateKind::Idle, 2 * SECOND)];
        assert_eq!(spent, expected);
    }

    #[test]
    fn a_dialog_waits_from_when_it_is_shown_until_it_is_gone() {
        let begun = Instant::now();
        let mut times = Times::begin(begun);
        assert_eq!(times.change(StateKind::Idle, &prompt("p1", PromptKind::Plan), begun), None);
        // It grew, and is the same.
        assert_eq!(times.change(StateKind::Prompt, &prompt("p1", PromptKind::Plan), begun + SECOND), None);
        assert_eq!(times.waiting(), Some((PromptKind::Plan, begun)));
        let over = times.change(StateKind::Prompt, &prompt("p2", PromptKind::Question), begun + 2 * SECOND);
        assert_eq!(over, Some((PromptKind::Plan, 2 * SECOND)));
        let over = times.change(StateKind::Prompt, &State::Working, begun + 5 * SECOND);
        assert_eq!((over, times.waiting()), (Some((PromptKind::Question, 3 * SECOND)), None));
    }

    #[test]
    fn a_bucket_holds_what_is_not_above_its_bound() {
        let histogram = Histogram::new(&[10, 100]);
        for ms in [0, 10, 11, 100, 101, 5000] {
            histogram.observe(Duration::from_millis(ms));
        }
        let measured = histogram.measured();
        assert_eq!(measured.buckets, [(0.01, 2), (0.1, 4)]);
        assert_eq!((measured.count, measured.sum), (6, Duration::from_millis(5222)));
    }

    #[test]
    fn names_of_hooks_do_not_grow_without_end() {
        let tally = Tally::default();
        for n in 0..1000 {
            tally.heard(&format!("Event{n}"));
        }
        for odd in ["", "a b", "x\n", &"y".repeat(HOOK_NAME_CHARS_MAX + 1), "é"] {
            tally.heard(odd);
        }
        tally.heard("Event3");
        let hooks = tally.hooks();
        assert_eq!((hooks.len(), hooks["Event3"]), (HOOK_NAMES_MAX + 1, 2));
        assert_eq!(hooks.values().sum::<u64>(), 1006, "nothing is lost");
    }

    #[test]
    fn what_is_confirmed_late_is_counted_as_late() {
        let tally = Tally::default();
        let accepted = Phase::Accepted { witness: "hooks".into() };
        tally.reached(InputKind::Nudge, &Phase::Queued, &Phase::Unconfirmed, SECOND);
        tally.reached(InputKind::Nudge, &Phase::Unconfirmed, &accepted, 2 * SECOND);
        tally.reached(InputKind::Respond, &Phase::Written, &accepted, SECOND);
        let late: Vec<_> = tally.late().filter(|(_, count)| *count > 0).collect();
        assert_eq!(late, [(InputKind::Nudge, 1)]);
        let counted: Vec<_> =
            tally.receipts().filter(|(.., took)| took.count > 0).map(|(kind, outcome, _)| (kind, outcome)).collect();
        let expected =
            [(InputKind::Nudge, "unconfirmed"), (InputKind::Nudge, "accepted"), (InputKind::Respond, "accepted")];
        assert_eq!(counted, expected);
    }
}
