//! A message on its way to a reader: shared where many read the same, encoded once.

use std::sync::Arc;

use super::convert;
use super::error::ApiError;
use super::gates;
use crate::proto::v1::{self, ServerMessage, server_message};
use crate::session::{Denied, Entry, Event, Frame, Item, Missing, Picture, WrittenTo, Wrote};
use crate::terminal::Seq;

/// A message for one reader.
#[derive(Clone, Debug)]
pub enum Outgoing {
    /// Made for this reader alone.
    Own(Box<ServerMessage>),
    Output(Arc<Frame>),
    Event(Arc<Entry>),
    Screen(Arc<Picture>),
}

/// What a state stream tells.
#[derive(Debug)]
pub enum StateNews {
    State(Box<v1::AgentStateEvent>),
    Gap(v1::Gap),
}

impl Outgoing {
    pub fn event(event: server_message::Event) -> Self {
        Self::answer(event, None)
    }

    pub fn answer(event: server_message::Event, request_id: Option<String>) -> Self {
        Self::Own(Box::new(ServerMessage { request_id, event: Some(event) }))
    }

    pub fn error(error: &ApiError, request_id: Option<String>) -> Self {
        let error = v1::ErrorEvent { code: error.code.word().to_owned(), message: error.message.clone() };
        Self::answer(server_message::Event::Error(error), request_id)
    }

    /// As a message of the contract.
    pub fn into_message(self) -> ServerMessage {
        let event = match self {
            Self::Own(message) => return *message,
            Self::Output(frame) => server_message::Event::Output(output_chunk(&frame)),
            Self::Event(entry) => event(&entry),
            Self::Screen(picture) => server_message::Event::Screen(convert::screen(&picture)),
        };
        ServerMessage { request_id: None, event: Some(event) }
    }

    /// As a state stream tells it; `None` for what is no state.
    pub fn into_state(self) -> Option<StateNews> {
        if let Self::Event(entry) = &self {
            return convert::state_event(entry).map(Box::new).map(StateNews::State);
        }
        match self.into_message().event? {
            server_message::Event::Transition(event) => Some(StateNews::State(Box::new(event))),
            server_message::Event::Exit(exit) => Some(StateNews::State(Box::new(convert::exited_state(exit)))),
            server_message::Event::Gap(gap) => Some(StateNews::Gap(gap)),
            _ => None,
        }
    }

    /// As JSON in the face's own kind of text; what is shared is encoded by the first who asks.
    pub fn json<T: From<String> + Clone + Send + Sync + 'static>(&self) -> T {
        let encode = || serde_json::to_string(&self.clone().into_message()).unwrap_or_default().into();
        match self {
            Self::Own(_) => encode(),
            Self::Output(frame) => frame.encoded.get_or_make(encode),
            Self::Event(entry) => entry.encoded.get_or_make(encode),
            Self::Screen(picture) => picture.frame.get_or_make(encode),
        }
    }
}

impl From<Item> for Outgoing {
    fn from(item: Item) -> Self {
        match item {
            Item::Output(frame) => Self::Output(frame),
            Item::Event(entry) => Self::Event(entry),
            Item::Screen(picture) => Self::Screen(picture),
            Item::Gap(missing) => Self::gap(&missing),
        }
    }
}

impl Outgoing {
    /// In the words of those who subscribe to several kinds.
    pub fn by_kinds(self) -> Self {
        let Self::Event(entry) = &self else { return self };
        match event(entry) {
            server_message::Event::Stop(stop) => Self::event(server_message::Event::StopOutcome(stop)),
            server_message::Event::Start(start) => Self::event(server_message::Event::StartOutcome(start)),
            _ => self,
        }
    }

    fn gap(missing: &Missing) -> Self {
        Self::event(server_message::Event::Gap(convert::gap(missing)))
    }
}

pub fn output_chunk(frame: &Frame) -> v1::OutputChunk {
    v1::OutputChunk { data: frame.data.clone(), offset: frame.offset.0, gap: None }
}

fn message_event(wrote: &Wrote, seq: Seq) -> v1::MessageEvent {
    let source = match wrote.to {
        WrittenTo::Log => v1::MessageSource::Log,
        WrittenTo::Stdout => v1::MessageSource::Stdout,
    };
    v1::MessageEvent {
        data: wrote.line.as_deref().map(str::to_owned),
        source: source.into(),
        byte_size: wrote.bytes as u64,
        seq: seq.0,
    }
}

fn denial_event(denied: &Denied, seq: Seq) -> v1::DenialEvent {
    v1::DenialEvent {
        host: denied.host.clone(),
        port: denied.port.into(),
        reason: denied.why.to_owned(),
        untold: denied.untold,
        seq: seq.0,
    }
}

fn event(entry: &Entry) -> server_message::Event {
    match (&entry.event, convert::state_event(entry)) {
        (Event::Ended { ended, .. }, _) => server_message::Event::Exit(convert::exit_event(ended, entry.seq)),
        (Event::Resized(size), _) => server_message::Event::Resize(v1::ResizeEvent {
            cols: size.cols().into(),
            rows: size.rows().into(),
            seq: entry.seq.0,
        }),
        (Event::Receipt(receipt), _) => server_message::Event::Receipt(convert::receipt(receipt, Some(entry.seq))),
        (Event::Stopped(stopped), _) => server_message::Event::Stop(gates::stop_event(stopped, entry.seq)),
        (Event::Began(began), _) => server_message::Event::Start(gates::start_event(began, entry.seq)),
        (Event::Kept(kept), _) => server_message::Event::TranscriptSaved(gates::transcript_event(kept, entry.seq)),
        (Event::Wrote(wrote), _) => server_message::Event::MessageRaw(message_event(wrote, entry.seq)),
        (Event::Denied(denied), _) => server_message::Event::Denied(denial_event(denied, entry.seq)),
        (Event::Transition(_), transition) => server_message::Event::Transition(transition.unwrap_or_default()),
    }
}
