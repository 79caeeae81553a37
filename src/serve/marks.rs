//! Where a reader of server-sent events goes on: the `id:` of each event, and what `Last-Event-ID` means.

use crate::proto::v1::{self, server_message::Event};

/// How far a reader has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marks {
    pub seq: Option<u64>,
    pub offset: Option<u64>,
}

/// A message of a stream that says where it stands.
pub trait Marked {
    /// Moves the marks past this message.
    fn mark(&self, marks: &mut Marks);
}

impl Marks {
    /// `seq`, `offset`, or `seq.offset`: as many as the stream knows.
    pub fn id(self) -> Option<String> {
        match (self.seq, self.offset) {
            (Some(seq), Some(offset)) => Some(format!("{seq}.{offset}")),
            (one, other) => one.or(other).map(|n| n.to_string()),
        }
    }
}

impl Marked for v1::OutputChunk {
    fn mark(&self, marks: &mut Marks) {
        marks.offset = Some(self.offset + self.data.len() as u64);
    }
}

impl Marked for v1::ServerMessage {
    fn mark(&self, marks: &mut Marks) {
        match &self.event {
            Some(Event::Output(chunk)) => chunk.mark(marks),
            Some(Event::Transition(event)) => event.mark(marks),
            Some(Event::Gap(gap)) => {
                marks.offset = gap.to_offset.or(marks.offset);
                marks.seq = gap.to_seq.map(|seq| seq.saturating_sub(1)).or(marks.seq);
            }
            Some(Event::Exit(event)) => marks.seq = Some(event.seq),
            Some(Event::Resize(event)) => marks.seq = Some(event.seq),
            Some(Event::Receipt(receipt)) => marks.seq = receipt.seq.or(marks.seq),
            Some(Event::Stop(event) | Event::StopOutcome(event)) => event.mark(marks),
            Some(Event::Start(event) | Event::StartOutcome(event)) => event.mark(marks),
            Some(Event::MessageRaw(event)) => event.mark(marks),
            Some(Event::TranscriptSaved(event)) => event.mark(marks),
            // A screen is not kept: the newest is always sent first.
            _ => {}
        }
    }
}

/// Streams that cannot be resumed: they begin with how things are.
macro_rules! unmarked {
    ($($message:ty),*) => {
        $(impl Marked for $message {
            fn mark(&self, _: &mut Marks) {}
        })*
    };
}

unmarked!(v1::LogLine, v1::BoxEvent, v1::BuildProgress);

macro_rules! marked_by_seq {
    ($($message:ty),*) => {
        $(impl Marked for $message {
            fn mark(&self, marks: &mut Marks) {
                marks.seq = Some(self.seq);
            }
        })*
    };
}

marked_by_seq!(
    v1::AgentStateEvent,
    v1::ScreenSnapshot,
    v1::StopEvent,
    v1::StartEvent,
    v1::TranscriptEvent,
    v1::MessageEvent
);
