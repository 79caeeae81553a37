//! What happens at an agent's start and stop and when it compacts, in the contract's words.

use crate::proto::v1;
use crate::session::{Began, Kept, Stopped};
use crate::terminal::Seq;

pub fn stop_event(stopped: &Stopped, seq: Seq) -> v1::StopEvent {
    let (kind, signal, error_detail) = match stopped {
        Stopped::Allowed => (v1::StopType::Allowed, None, None),
        Stopped::Signaled(signal) => (v1::StopType::Signaled, Some(signal.clone()), None),
        Stopped::Error(detail) => (v1::StopType::Error, None, Some(detail.clone())),
        Stopped::SafetyValve => (v1::StopType::SafetyValve, None, None),
        Stopped::Blocked => (v1::StopType::Blocked, None, None),
    };
    v1::StopEvent { r#type: kind.into(), signal, error_detail, seq: seq.0 }
}

pub fn start_event(began: &Began, seq: Seq) -> v1::StartEvent {
    v1::StartEvent {
        source: began.source.clone(),
        session_id: began.conversation.clone(),
        injected: began.injected,
        seq: seq.0,
    }
}

pub fn transcript_event(kept: &Kept, seq: Seq) -> v1::TranscriptEvent {
    v1::TranscriptEvent {
        number: kept.number,
        timestamp: kept.timestamp.clone(),
        line_count: kept.line_count,
        seq: seq.0,
    }
}
