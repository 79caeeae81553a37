//! The session's own types and the contract's, side by side.

use std::time::Duration;

use super::error::ApiError;
use super::states::Context;
use crate::proto::v1;
use crate::session::{
    Condition, Conditions, Ended, Entry, Event, Expect, Life, Missing, Phase, Picture, Receipt, State, StateKind, Tier,
};
use crate::terminal::{Offset, Seq};

/// The longest pattern, in bytes, and the largest compiled one.
const PATTERN_BYTES_MAX: usize = 4096;
const REGEX_BYTES_MAX: usize = 1 << 20;

impl From<StateKind> for v1::AgentStateKind {
    fn from(kind: StateKind) -> Self {
        match kind {
            StateKind::Starting => Self::Starting,
            StateKind::Working => Self::Working,
            StateKind::Idle => Self::Idle,
            StateKind::Prompt => Self::Prompt,
            StateKind::Error => Self::Error,
            StateKind::Parked => Self::Parked,
            StateKind::Restarting => Self::Restarting,
            StateKind::Exited => Self::Exited,
            StateKind::Unknown => Self::Unknown,
        }
    }
}

impl From<Tier> for v1::DetectionTier {
    fn from(tier: Tier) -> Self {
        match tier {
            Tier::Hooks => Self::Hooks,
            Tier::SessionLog => Self::SessionLog,
            Tier::Stream => Self::Stream,
            Tier::Process => Self::Process,
            Tier::Screen => Self::Screen,
        }
    }
}

pub fn state_kind(number: i32) -> Result<StateKind, ApiError> {
    Ok(match v1::AgentStateKind::try_from(number) {
        Ok(v1::AgentStateKind::Starting) => StateKind::Starting,
        Ok(v1::AgentStateKind::Working) => StateKind::Working,
        Ok(v1::AgentStateKind::Idle) => StateKind::Idle,
        Ok(v1::AgentStateKind::Prompt) => StateKind::Prompt,
        Ok(v1::AgentStateKind::Error) => StateKind::Error,
        Ok(v1::AgentStateKind::Parked) => StateKind::Parked,
        Ok(v1::AgentStateKind::Restarting) => StateKind::Restarting,
        Ok(v1::AgentStateKind::Exited) => StateKind::Exited,
        Ok(v1::AgentStateKind::Unknown) => StateKind::Unknown,
        Ok(v1::AgentStateKind::Unspecified) | Err(_) => {
            return Err(ApiError::bad_request(format!(
                "{number} is no state: use a word such as idle, working or exited"
            )));
        }
    })
}

pub fn expect(expect: Option<v1::Expect>) -> Result<Expect, ApiError> {
    let Some(expect) = expect else { return Ok(Expect::default()) };
    Ok(Expect {
        state: expect.state.map(state_kind).transpose()?,
        prompt_id: expect.prompt_id,
        screen_seq: expect.screen_seq.map(Seq),
    })
}

pub fn session_state(life: &Life) -> v1::SessionState {
    match life {
        Life::Starting => v1::SessionState::Starting,
        Life::Running { .. } => v1::SessionState::Running,
        Life::Exited(_) => v1::SessionState::Exited,
    }
}

pub fn exit_event(ended: &Ended, seq: Seq) -> v1::ExitEvent {
    v1::ExitEvent { code: ended.code(), signal: ended.signal(), seq: seq.0, error: ended.reason().map(str::to_owned) }
}

pub fn receipt(receipt: &Receipt, seq: Option<Seq>) -> v1::Receipt {
    let (phase, witness) = match &receipt.phase {
        Phase::Queued => (v1::ReceiptPhase::Queued, None),
        Phase::Written => (v1::ReceiptPhase::Written, Some("pty")),
        Phase::Echoed => (v1::ReceiptPhase::Echoed, Some("output")),
        Phase::Unconfirmed => (v1::ReceiptPhase::Unconfirmed, None),
        Phase::Accepted { witness } => (v1::ReceiptPhase::Accepted, Some(witness.as_ref())),
        Phase::Refused { why } => (v1::ReceiptPhase::Refused, Some(why.as_ref())),
    };
    v1::Receipt {
        id: receipt.id,
        phase: phase.into(),
        witness: witness.map(str::to_owned),
        offset: receipt.offset.0,
        at_ms: receipt.at_ms,
        seq: seq.map(|seq| seq.0),
    }
}

pub fn gap(missing: &Missing) -> v1::Gap {
    match missing {
        Missing::Output { from, redrawn } => v1::Gap {
            from_offset: Some(from.0),
            to_offset: Some(redrawn.offset.0),
            redraw: Some(redrawn.bytes.clone()),
            ..Default::default()
        },
        Missing::Events { from, to } | Missing::Lines { from, to } => {
            v1::Gap { from_seq: Some(from.0), to_seq: Some(to.0), ..Default::default() }
        }
    }
}

pub fn screen(picture: &Picture) -> v1::ScreenSnapshot {
    let screen = &picture.screen;
    v1::ScreenSnapshot {
        lines: screen.lines.clone(),
        cols: screen.size.cols().into(),
        rows: screen.size.rows().into(),
        alt_screen: screen.alt_screen,
        cursor: Some(cursor(picture)),
        seq: screen.seq.0,
        changed: Vec::new(),
        title: screen.title.clone(),
        offset: picture.offset.0,
    }
}

fn cursor(picture: &Picture) -> v1::CursorPosition {
    let cursor = picture.cursor();
    let cell = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    v1::CursorPosition { row: cell(cursor.row), col: cell(cursor.col), visible: cursor.visible }
}

/// An event of the journal as state streams tell it; `None` for those that are no states.
pub fn state_event(entry: &Entry) -> Option<v1::AgentStateEvent> {
    match &entry.event {
        Event::Transition(transition) => Some(v1::AgentStateEvent {
            prev: v1::AgentStateKind::from(transition.prev).into(),
            cause: transition.cause.rule.to_string(),
            last_message: transition.last_message.clone(),
            ..state_in_words(&transition.next, entry.seq)
        }),
        Event::Ended { ended, prev } => Some(v1::AgentStateEvent {
            prev: v1::AgentStateKind::from(*prev).into(),
            next: v1::AgentStateKind::Exited.into(),
            seq: entry.seq.0,
            cause: "exit".to_owned(),
            exit: Some(exit_event(ended, entry.seq)),
            ..Default::default()
        }),
        _ => None,
    }
}

/// A state as it is, without how it came to be.
pub fn state_in_words(state: &State, seq: Seq) -> v1::AgentStateEvent {
    let kind = v1::AgentStateKind::from(state.kind()).into();
    let context = Context::from(state);
    v1::AgentStateEvent {
        prev: kind,
        next: kind,
        seq: seq.0,
        prompt: context.prompt,
        error_detail: context.error_detail,
        error_category: context.error_category,
        parked_reason: context.parked_reason,
        resume_at_epoch_ms: context.resume_at_epoch_ms,
        ..Default::default()
    }
}

/// An exit that has been told before, as the state it left behind.
pub fn exited_state(exit: v1::ExitEvent) -> v1::AgentStateEvent {
    let exited = v1::AgentStateKind::Exited.into();
    let (seq, cause) = (exit.seq, "exit".to_owned());
    v1::AgentStateEvent { prev: exited, next: exited, seq, cause, exit: Some(exit), ..Default::default() }
}

pub fn conditions(request: &v1::WaitRequest) -> Result<Conditions, ApiError> {
    let mut list = Vec::new();
    if !request.states.is_empty() {
        list.push(Condition::State(request.states.iter().map(|n| state_kind(*n)).collect::<Result<_, _>>()?));
    }
    for (name, pattern) in [("text", &request.text), ("regex", &request.regex)] {
        match pattern {
            Some(p) if p.is_empty() => {
                return Err(ApiError::bad_request(format!("{name} is empty, which matches anything")));
            }
            Some(p) if p.len() > PATTERN_BYTES_MAX => {
                return Err(ApiError::bad_request(format!("{name} is longer than {PATTERN_BYTES_MAX} bytes")));
            }
            _ => {}
        }
    }
    if let Some(text) = &request.text {
        list.push(Condition::Text(text.clone()));
    }
    if let Some(regex) = &request.regex {
        let compiled = regex::RegexBuilder::new(regex).size_limit(REGEX_BYTES_MAX).build();
        list.push(Condition::Regex(compiled.map_err(|error| ApiError::bad_request(format!("regex: {error}")))?));
    }
    list.extend(request.quiet_ms.map(|ms| Condition::Quiet(Duration::from_millis(ms.into()))));
    list.extend(request.offset.map(|offset| Condition::Offset(Offset(offset))));
    list.extend(request.exited.then_some(Condition::Exited));
    if list.is_empty() {
        let message = "nothing to wait for: give states, text, regex, quiet_ms, offset or exited";
        return Err(ApiError::bad_request(message));
    }
    Ok(Conditions { list, all: request.all })
}
