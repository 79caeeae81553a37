//! Who is right, when sources disagree: a pure function of what was seen, the present state, and the time.
//!
//! Hooks, the log and the agent's *arbiter* speak: they tell what the agent itself says, and the newest of them counts,
//! with a few exceptions that are written below as rules. The arbiter is the one source that shows at any moment how
//! things are: a status file, a signal in the output, or the title. All else only *looks*: it fills in what nobody speaks
//! of (dialogs at the start, retries), and overrules the speakers when these have been contradicted for a while.

mod dialogs;

use std::borrow::Cow;
use std::sync::Arc;

use dialogs::{DRAWN_MS, asked, drawn, overdrawn, waiting};

use super::evidence::{Claim, EpochMs, Evidence, Source};
use super::seen::Seen;
use crate::session::{ErrorCategory, Prompt, PromptKind, State, StateKind};

/// The same, when messages are known to be queued.
const QUEUE_SETTLES_MS: u64 = 2000;

/// How long after a turn's end the dialog may be drawn that it ends with. Codex 0.166.0 took 93 ms for that of a plan.
const ENDS_ASKING_MS: u64 = 1000;

/// How long after its dialog has gone an agent may take to begin with the plan. For Codex 0.166.0 that is a turn like any
/// other, or a new conversation first.
const CARRIED_OUT_WITHIN_MS: u64 = 1000;

/// How long the arbiter may be ahead of the hook or the line that tells how a turn ended; on a busy machine the hook of a
/// failure came a quarter of a second later.
const ALONE_MS: u64 = 600;

/// How long an input box must stand before it is one that is read.
const BOX_STANDS_MS: u64 = 700;

/// How long the screen must contradict a speaker before it is believed.
const CONTRADICTED_MS: u64 = 2500;

/// How long after its input box an agent without hooks is taken to be ready.
const READY_WITHIN_MS: u64 = 1000;

/// How long after its first word an agent may still be busy with its own start.
const WAKING_MS: u64 = 1000;

/// An agent of which nothing was recognised for so long is in a state that nobody can tell.
const STARTING_MAX_MS: u64 = 45_000;

/// What was decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Ruling {
    /// The state, and what it rests on; `None` leaves things as they are.
    pub verdict: Option<Verdict>,
    /// When time alone may change the decision.
    pub look_again: Option<EpochMs>,
    /// The agent has stopped, and will be called idle then.
    pub idle_at: Option<EpochMs>,
}

/// A state, and what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub state: State,
    pub source: Source,
    pub rule: Cow<'static, str>,
}

impl Ruling {
    fn stay(look_again: impl Into<Option<EpochMs>>) -> Self {
        Self { verdict: None, look_again: look_again.into(), idle_at: None }
    }

    fn is(state: State, source: Source, rule: impl Into<Cow<'static, str>>) -> Self {
        Self { verdict: Some(Verdict { state, source, rule: rule.into() }), look_again: None, idle_at: None }
    }

    fn by(evidence: &Evidence) -> Self {
        Self::is(state(&evidence.claim), evidence.source, evidence.rule.clone())
    }

    fn looking_again(mut self, at: Option<EpochMs>) -> Self {
        self.look_again = self.look_again.into_iter().chain(at).min();
        self
    }
}

/// Decides what the agent is doing.
pub fn judge(seen: &Seen, present: &State, now: EpochMs) -> Ruling {
    filled_in(seen, decided(seen, present, now), now)
}

/// By what was told, and what is seen.
fn decided(seen: &Seen, present: &State, now: EpochMs) -> Ruling {
    if present.kind() == StateKind::Exited {
        return Ruling::stay(None);
    }
    if let Some(line) = seen.of(Source::Jsonl) {
        return Ruling::by(line);
    }
    let dialog = seen.of(Source::Screen).filter(|screen| matches!(screen.claim, Claim::Prompt(_)));
    let Some(spoken) = spoken(seen) else { return looked(seen, dialog, now) };
    match &spoken.claim {
        Claim::Prompt(prompt) => asked(seen, spoken, prompt, dialog, now),
        Claim::Waiting => waiting(seen, spoken, dialog, present, now),
        _ => match overdrawn(seen, spoken, dialog, now) {
            Ok(dialog) => drawn(seen, dialog),
            Err(look_again) => unprompted(seen, spoken, present, now).looking_again(look_again),
        },
    }
}

/// An error that only the screen shows, where all that others say is that nothing goes on.
fn filled_in(seen: &Seen, ruling: Ruling, now: EpochMs) -> Ruling {
    let is_silent = |verdict: &Verdict| match &verdict.state {
        State::Idle => true,
        State::Error(trouble) => trouble.category == ErrorCategory::Other && verdict.source == seen.habits.arbiter,
        _ => false,
    };
    let Some(banner) = seen.banner.as_ref().filter(|_| seen.has_worked && !is_end_told(seen)) else { return ruling };
    let over = match &banner.claim {
        Claim::Parked(parked) => parked.resume_at_epoch_ms.map(EpochMs),
        _ => None,
    };
    if over.is_some_and(|over| over <= now) || !ruling.verdict.as_ref().is_some_and(is_silent) {
        return ruling;
    }
    Ruling { verdict: Ruling::by(banner).verdict, ..ruling }.looking_again(over)
}

/// Whether somebody has told how the last turn ended, or would have. A model's own words may be drawn like an error.
fn is_end_told(seen: &Seen) -> bool {
    match seen.of(Source::Hooks) {
        // Where a failure ends like any other turn, the log alone tells of it.
        Some(hook) if seen.habits.stops_after_failure && hook.rule == seen.habits.stop_event => {
            seen.log_tells_of_turn()
        }
        Some(hook) => seen.of(Source::Log).is_some() || hook.claim != Claim::Working,
        None => seen.of(Source::Log).is_some(),
    }
}

/// The newest of those who speak, unless a rule says that it cannot overrule the one before.
fn spoken(seen: &Seen) -> Option<&Evidence> {
    let mut words: Vec<_> =
        [Source::Hooks, seen.habits.arbiter, Source::Log].into_iter().filter_map(|source| seen.of(source)).collect();
    words.retain(|word| !is_too_early(seen, word));
    words.sort_by_key(|word| word.at);
    words.into_iter().reduce(|before, next| if may_follow(seen, before, next) { next } else { before })
}

/// An agent whose hooks tell when it is ready is not idle before, whatever else it shows. Hooks that were not heard by
/// the time it was seen to be ready will not be heard at all.
fn is_too_early(seen: &Seen, word: &Evidence) -> bool {
    let awaits_hooks = seen.habits.hook_tells_ready && seen.expects_hooks && seen.of(Source::Hooks).is_none();
    awaits_hooks && seen.is_beginning && word.source == seen.habits.arbiter && word.claim.kind() == StateKind::Idle
}

fn may_follow(seen: &Seen, before: &Evidence, next: &Evidence) -> bool {
    let (arbiter, lag_ms) = (seen.habits.arbiter, seen.habits.arbiter_lag_ms);
    match (&before.claim, &next.claim) {
        // An error stays on the screen of an agent that takes messages again; it ends with a new turn. Some agents tell
        // the end of a turn that failed like that of any other.
        (Claim::Error(_) | Claim::Parked(_), Claim::Idle | Claim::Still) => {
            next.source == Source::Hooks && next.rule != seen.habits.stop_event
        }
        // The arbiter lags behind the hook that asks; it counts when it has said that a dialog is open.
        (Claim::Prompt(_), Claim::Working) if next.source == arbiter => {
            seen.waited.is_some_and(|waited| waited >= before.at) || next.at.since(before.at) > lag_ms
        }
        // Busy may still be the turn that the hook has ended, or whose failure was logged.
        (Claim::Idle | Claim::Error(_) | Claim::Parked(_), Claim::Working)
            if next.source == arbiter
                && (before.source == Source::Hooks || before.source == Source::Log && before.claim != Claim::Idle) =>
        {
            let log_agrees = |log: &Evidence| log.claim == Claim::Working && log.at > before.at;
            next.at.since(before.at) > lag_ms || seen.of(Source::Log).is_some_and(log_agrees)
        }
        // The line of another tool's result says nothing about this dialog.
        (Claim::Prompt(_), Claim::Working) if next.source == Source::Log => false,
        // The question that was asked by a hook is the dialog that the arbiter speaks of.
        (Claim::Prompt(_), Claim::Waiting) => seen.asked.is_none(),
        // The arbiter knows that something failed, others know what.
        (Claim::Error(_) | Claim::Parked(_), Claim::Error(_)) if next.source == arbiter => false,
        (_, Claim::Error(_) | Claim::Parked(_)) => true,
        // The arbiter shows how things are; the log only how they were when a line was written.
        _ if next.source == Source::Log => seen.arbiter().is_none(),
        _ if before.source == Source::Log && next.source == Source::Hooks => true,
        _ => true,
    }
}

/// No dialog: working, idle, or stopped by something.
fn unprompted(seen: &Seen, spoken: &Evidence, present: &State, now: EpochMs) -> Ruling {
    let screen = seen.of(Source::Screen);
    match &spoken.claim {
        Claim::Working => {
            if let Some(later) = wakes(seen, spoken, now) {
                return Ruling::stay(later);
            }
            if let Some(screen) = screen.filter(|screen| matches!(screen.claim, Claim::Parked(_))) {
                // Retries are told of by nobody else.
                return Ruling::by(screen);
            }
            contradicted(seen, spoken, Claim::Idle, now)
                .unwrap_or_else(|look_again| Ruling::by(credited(seen, spoken)).looking_again(look_again))
        }
        Claim::Parked(parked) => match parked.resume_at_epoch_ms.map(EpochMs) {
            Some(over) if over <= now => Ruling::is(State::Idle, spoken.source, "the limit has passed"),
            over => Ruling::by(spoken).looking_again(over),
        },
        Claim::Idle | Claim::Still => match settled(seen, spoken, present, now) {
            Some(later) => Ruling { idle_at: Some(later), ..Ruling::stay(later) },
            None => contradicted(seen, spoken, Claim::Working, now)
                .unwrap_or_else(|look_again| Ruling::by(credited(seen, spoken)).looking_again(look_again)),
        },
        // The arbiter knows that something failed, and others are about to tell what.
        Claim::Error(_) if spoken.source == seen.habits.arbiter && now < spoken.at.plus(ALONE_MS) => {
            Ruling::stay(spoken.at.plus(ALONE_MS))
        }
        _ => Ruling::by(spoken),
    }
}

/// Until when an agent at its start is busy with itself: nobody else has spoken of any work.
fn wakes(seen: &Seen, spoken: &Evidence, now: EpochMs) -> Option<EpochMs> {
    let is_alone = seen.of(Source::Hooks).is_none() && seen.of(Source::Log).is_none();
    let first = seen.recent().find(|word| word.source == seen.habits.arbiter).map_or(spoken.at, |word| word.at);
    let is_early = spoken.at.since(first) < WAKING_MS;
    let until = spoken.at.plus(seen.habits.wakes_within_ms);
    (is_alone && is_early && spoken.source == seen.habits.arbiter && now < until).then_some(until)
}

/// Who is named for what several say: the hooks, which know most about it.
fn credited<'a>(seen: &'a Seen, spoken: &'a Evidence) -> &'a Evidence {
    seen.of(Source::Hooks).filter(|hook| hook.claim == spoken.claim).unwrap_or(spoken)
}

/// Until when an agent that has stopped is not called idle yet.
fn settled(seen: &Seen, spoken: &Evidence, present: &State, now: EpochMs) -> Option<EpochMs> {
    if present.kind() == StateKind::Idle {
        return None;
    }
    let mut wait_ms = seen.idle_grace_ms;
    match spoken.source {
        Source::Hooks if spoken.rule == seen.habits.stop_event => wait_ms = wait_ms.max(seen.habits.stop_settles_ms),
        source if source == seen.habits.arbiter => {
            let alone_ms = if is_alone(seen) { ALONE_MS } else { 0 };
            wait_ms = wait_ms.max(seen.habits.arbiter_settles_ms).max(alone_ms);
        }
        _ => {}
    }
    if seen.queued + seen.ours_queued > 0 || seen.shows_queue {
        wait_ms = wait_ms.max(QUEUE_SETTLES_MS);
    }
    if seen.ends_asking {
        wait_ms = wait_ms.max(ENDS_ASKING_MS);
    }
    let until = spoken.at.plus(wait_ms).max(drawn_from(seen, spoken)).max(carried_out_from(seen, spoken, present));
    (now < until).then_some(until)
}

/// From when on an agent whose plan was answered is not about to carry it out. An answer is told by nobody.
fn carried_out_from(seen: &Seen, spoken: &Evidence, present: &State) -> EpochMs {
    let planned = matches!(present, State::Prompt { prompt, .. } if prompt.kind == PromptKind::Plan);
    seen.undrawn
        .filter(|undrawn| planned && *undrawn > spoken.at)
        .map_or(spoken.at, |at| at.plus(CARRIED_OUT_WITHIN_MS))
}

/// From when on an agent that has said that it is ready can be typed to. A conversation that goes on may be told before
/// anything is drawn, and while its past is drawn the input box comes and goes: what is typed then is lost.
fn drawn_from(seen: &Seen, spoken: &Evidence) -> EpochMs {
    if !seen.is_beginning || !seen.habits.hook_tells_ready {
        return spoken.at;
    }
    match seen.of(Source::Screen).filter(|screen| screen.claim == Claim::Idle) {
        Some(screen) => screen.at.plus(BOX_STANDS_MS),
        None => spoken.at.plus(seen.habits.speaks_within_ms),
    }
}

/// Whether the arbiter is the only one to say that a turn is over, of which the hooks told that it began: why it ended is
/// about to be told.
fn is_alone(seen: &Seen) -> bool {
    let Some(began) = seen.of(Source::Hooks).filter(|hook| hook.claim == Claim::Working) else { return false };
    !seen.of(Source::Log).is_some_and(|log| log.at >= began.at && log.claim != Claim::Working)
}

/// What the screen shows, once it has contradicted a speaker for long enough. The arbiter is not contradicted: it
/// shows how things are, as the screen does, and is made for it. `Err` says when it would be believed.
fn contradicted(seen: &Seen, spoken: &Evidence, shown: Claim, now: EpochMs) -> Result<Ruling, Option<EpochMs>> {
    if seen.arbiter().is_some() {
        return Err(None);
    }
    // A title that turns is drawn by what works, while the screen may show nothing but its words.
    let turns = seen.of(Source::Title).is_some_and(|title| title.claim == Claim::Working);
    if turns && shown == Claim::Idle {
        return Err(None);
    }
    let Some(screen) = seen.of(Source::Screen).filter(|screen| screen.claim == shown) else { return Err(None) };
    let from = screen.at.max(spoken.at).plus(CONTRADICTED_MS);
    if now < from { Err(Some(from)) } else { Ok(Ruling::by(screen)) }
}

/// Nobody has spoken yet: what can be seen.
fn looked(seen: &Seen, dialog: Option<&Evidence>, now: EpochMs) -> Ruling {
    let screen = dialog.or(seen.of(Source::Screen));
    if let Some(screen) = screen {
        // An input box is drawn before anybody reads what is typed there; an agent that speaks says when it does.
        let may_still_speak = seen.expects_hooks && seen.is_beginning;
        let settles_ms = match (&screen.claim, may_still_speak) {
            (Claim::Idle, true) => seen.habits.speaks_within_ms,
            (Claim::Idle, false) => READY_WITHIN_MS,
            _ => DRAWN_MS,
        };
        let drawn_at = screen.at.plus(settles_ms);
        return if now >= drawn_at { Ruling::by(screen) } else { Ruling::stay(drawn_at) };
    }
    if let Some(title) = seen.of(Source::Title).filter(|title| title.claim == Claim::Working) {
        let awake_at = title.at.plus(seen.habits.wakes_within_ms);
        return if now >= awake_at { Ruling::by(title) } else { Ruling::stay(awake_at) };
    }
    if let Some(banner) = &seen.banner {
        let believed_at = banner.at.plus(CONTRADICTED_MS);
        return if now >= believed_at { Ruling::by(banner) } else { Ruling::stay(believed_at) };
    }
    let lost_at = seen.started.plus(STARTING_MAX_MS);
    if now < lost_at {
        return Ruling::stay(lost_at);
    }
    Ruling::is(State::Unknown, Source::Process, "nothing was recognised")
}

fn state(claim: &Claim) -> State {
    match claim {
        Claim::Working => State::Working,
        Claim::Idle | Claim::Still => State::Idle,
        Claim::Waiting => State::Prompt { prompt: Arc::new(Prompt::new(PromptKind::Setup)), trouble: None },
        Claim::Prompt(prompt) => State::Prompt { prompt: Arc::new(prompt.clone()), trouble: None },
        Claim::Error(trouble) => State::Error(trouble.clone()),
        Claim::Parked(parked) => State::Parked(parked.clone()),
    }
}
