//! The referee's rules about dialogs: who asked, what is drawn of it, and since when that counts.

use std::sync::Arc;

use super::{CONTRADICTED_MS, Ruling};
use crate::agent::evidence::{Claim, EpochMs, Evidence, Source};
use crate::agent::seen::Seen;
use crate::session::{Parked, Prompt, PromptKind, State, StateKind, Trouble};

/// A dialog counts once it has stayed on the screen for so long; a frame may be half drawn before.
pub const DRAWN_MS: u64 = 60;

/// How long after its dialog the hook of a tool may come; it is a process that must be started first.
const HOOK_WITHIN_MS: u64 = 2500;

/// A screen may show what is over for so long. Claude Code 2.1.197 repaints within 260 ms on a busy machine.
const REPAINT_MS: u64 = 700;

/// How long a dialog may be open before somebody says which one it is.
const UNNAMED_MS: u64 = 1000;

/// How long a dialog may be drawn before the one that comes before it. Gemini CLI 0.61.0 draws of two that which is ready
/// first, until the other is; where the other needs no answer, it stays.
const OUT_OF_TURN_MS: u64 = 700;

/// The agent asked through a hook.
pub fn asked(seen: &Seen, spoken: &Evidence, prompt: &Prompt, dialog: Option<&Evidence>, now: EpochMs) -> Ruling {
    // Several may be asked at once; the one whose dialog is shown counts.
    let prompt = seen.asked.as_ref().unwrap_or(prompt);
    let merged = |dialog: Option<&Prompt>| {
        let state = State::Prompt { prompt: Arc::new(merge(prompt, dialog)), trouble: None };
        Ruling::is(state, spoken.source, spoken.rule.clone())
    };
    // Several may be asked at once, in any order: which one is meant is seen when it is drawn.
    if let Some(until) = unsure_until(seen, now) {
        return Ruling::stay(until);
    }
    if let Some(Claim::Prompt(drawn)) = dialog.map(|dialog| &dialog.claim) {
        return merged(Some(drawn));
    }
    let opens_at = spoken.at.plus(seen.habits.opens_within_ms);
    // Where hooks stand in for dialogs, one that waits asks at once, and one that does not need not have a dialog.
    let may_be_drawn = if seen.habits.hook_hides_dialog { !prompt.ready } else { seen.has_looked };
    if may_be_drawn && now < opens_at {
        return Ruling::stay(opens_at);
    }
    // Nobody speaks when a dialog is dismissed, unless there is an arbiter. Without one, the screen tells.
    let silent = seen.asked.is_none() && seen.arbiter().is_none();
    let undrawn_since = seen.of(Source::Screen).map_or(spoken.at, |screen| screen.at.max(spoken.at));
    if silent && now.since(undrawn_since) >= CONTRADICTED_MS {
        let look = seen.of(Source::Screen).filter(|screen| screen.claim == Claim::Idle);
        return match look {
            Some(screen) => Ruling::by(screen),
            None => Ruling::is(State::Working, Source::Screen, "the dialog is gone"),
        };
    }
    merged(None).looking_again(silent.then(|| undrawn_since.plus(CONTRADICTED_MS)))
}

/// How long it may not be known which question is asked: the dialog on the screen may be of one whose own hook comes
/// later, or be half drawn.
fn unsure_until(seen: &Seen, now: EpochMs) -> Option<EpochMs> {
    let opens_by = seen.of(Source::Hooks)?.at.plus(seen.habits.opens_within_ms);
    let until = match seen.out_of_turn {
        _ if seen.draws_another || seen.is_unclear => opens_by,
        Some((_, true)) => opens_by,
        Some((since, false)) => since.plus(OUT_OF_TURN_MS),
        None => return None,
    };
    (now < until).then_some(until)
}

/// The arbiter says that a dialog is open.
pub fn waiting(seen: &Seen, spoken: &Evidence, dialog: Option<&Evidence>, present: &State, now: EpochMs) -> Ruling {
    let shown =
        dialog.and_then(|dialog| if let Claim::Prompt(drawn) = &dialog.claim { Some((dialog, drawn)) } else { None });
    match (&seen.asked, shown) {
        (Some(_), _) if let Some(until) = unsure_until(seen, now) => Ruling::stay(until),
        (Some(asked), shown) => {
            let prompt = merge(asked, shown.map(|(_, prompt)| prompt));
            Ruling::is(
                State::Prompt { prompt: Arc::new(prompt), trouble: trouble(seen) },
                spoken.source,
                spoken.rule.clone(),
            )
        }
        (None, Some((dialog, _))) if now.since(dialog.at) >= drawn_ms(seen, dialog) => drawn(seen, dialog),
        (None, Some((dialog, _))) => Ruling::stay(dialog.at.plus(drawn_ms(seen, dialog))),
        // Codex 0.166.0 draws its dialog when nobody has typed for a second; at rest it is not, meanwhile.
        (None, None) if spoken.source == Source::Signal && present.kind() == StateKind::Idle => {
            Ruling::is(State::Working, spoken.source, spoken.rule.clone())
                .looking_again(Some(spoken.at.plus(UNNAMED_MS)))
        }
        // The dialog has left the screen, and the arbiter will say so.
        (None, None) if seen.of(Source::Screen).is_some_and(|screen| screen.at > spoken.at) => {
            let screen = seen.of(Source::Screen).unwrap_or(spoken);
            let over_at = screen.at.plus(UNNAMED_MS);
            if now < over_at { Ruling::stay(over_at) } else { Ruling::by(screen) }
        }
        // One that has just left the screen, in the middle of a frame perhaps, is not followed by one that nobody can name.
        (None, None) if now.since(unnamed_since(seen, spoken)) < UNNAMED_MS => {
            Ruling::stay(unnamed_since(seen, spoken).plus(UNNAMED_MS))
        }
        (None, None) => {
            let is_about = |word: &str| spoken.detail.as_deref().is_some_and(|detail| detail.contains(word));
            let kind = match () {
                () if is_about("permission") => PromptKind::Permission,
                () if is_about("question") => PromptKind::Question,
                () => PromptKind::Setup,
            };
            let prompt = Prompt { subtype: Some("dialog".to_owned()), ..Prompt::new(kind) };
            Ruling::is(
                State::Prompt { prompt: Arc::new(prompt), trouble: trouble(seen) },
                spoken.source,
                spoken.rule.clone(),
            )
        }
    }
}

/// Since when the arbiter speaks of a dialog that is not drawn.
fn unnamed_since(seen: &Seen, spoken: &Evidence) -> EpochMs {
    seen.undrawn.map_or(spoken.at, |undrawn| undrawn.max(spoken.at))
}

/// The error or limit that a dialog may be about.
fn trouble(seen: &Seen) -> Option<Trouble> {
    [Source::Hooks, Source::Log].into_iter().find_map(|source| match &seen.of(source)?.claim {
        Claim::Error(trouble) => Some(trouble.clone()),
        Claim::Parked(Parked { reason, resume_at_epoch_ms, category }) => {
            Some(Trouble { category: *category, detail: reason.clone(), resume_at_epoch_ms: *resume_at_epoch_ms })
        }
        _ => None,
    })
}

/// How long a dialog must have been drawn to count without anybody speaking of it. A tool's dialog has a hook, which
/// may be late and knows much more.
fn drawn_ms(seen: &Seen, dialog: &Evidence) -> u64 {
    let is_tools = matches!(&dialog.claim, Claim::Prompt(prompt) if prompt.tool.is_some());
    if is_tools && seen.of(Source::Hooks).is_some() { HOOK_WITHIN_MS } else { DRAWN_MS }
}

/// A dialog that only the screen shows.
pub fn drawn(seen: &Seen, dialog: &Evidence) -> Ruling {
    match &dialog.claim {
        Claim::Prompt(prompt) => {
            let state = State::Prompt { prompt: Arc::new(prompt.clone()), trouble: trouble(seen) };
            Ruling::is(state, dialog.source, dialog.rule.clone())
        }
        _ => Ruling::by(dialog),
    }
}

/// A dialog on the screen that nobody speaks of. One that was drawn before the last word may be over already, and only
/// counts when it stays. `Err` says when it would count.
pub fn overdrawn<'a>(
    seen: &Seen,
    spoken: &Evidence,
    dialog: Option<&'a Evidence>,
    now: EpochMs,
) -> Result<&'a Evidence, Option<EpochMs>> {
    let Some(dialog) = dialog else { return Err(None) };
    let drawn_ms = drawn_ms(seen, dialog);
    // A conversation may begin behind a dialog of the start, and ends none; the arbiter, which shows how things are, does.
    let begins = spoken.source == Source::Hooks && spoken.claim == Claim::Idle && spoken.rule != seen.habits.stop_event;
    let overruled_at = if begins { seen.arbiter().map(|arbiter| arbiter.at) } else { Some(spoken.at) };
    let counts_from = match overruled_at.filter(|at| *at > dialog.at) {
        Some(at) => at.plus(REPAINT_MS.max(drawn_ms)),
        None => dialog.at.plus(drawn_ms),
    };
    if now >= counts_from { Ok(dialog) } else { Err(Some(counts_from)) }
}

/// What a hook knows about a dialog, and what the screen shows of it.
fn merge(asked: &Prompt, drawn: Option<&Prompt>) -> Prompt {
    let Some(drawn) = drawn else { return asked.clone() };
    // A list that is longer than its place shows a part of what the hook has told.
    let question = asked.questions.get(drawn.question_current).filter(|_| !drawn.ready);
    let told = question.map_or(&asked.options, |question| &question.options);
    let tells_less = drawn.options.is_empty() || question.is_some();
    Prompt {
        options: if tells_less { told.clone() } else { drawn.options.clone() },
        options_fallback: drawn.options.is_empty() && asked.options_fallback,
        question_current: drawn.question_current,
        screen_lines: drawn.screen_lines.clone(),
        ready: asked.ready || drawn.ready || question.is_some(),
        ..asked.clone()
    }
}
