//! The server-streaming calls.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::{Stream, stream};
use tonic::Status;

use super::convert;
use super::error::ApiError;
use super::gates;
use super::outgoing::{StateNews, output_chunk};
use super::reader::Reader;
use super::screens::style;
use super::service::Service;
use crate::log::LogTail;
use crate::proto::v1;
use crate::session::{Entry, Event, Item, Resume, Style, Subscription, Wants};
use crate::terminal::{Offset, Seq};

/// What the streaming calls return.
pub type Messages<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

const OUTPUT: Wants = Wants { output: true, screen: false, state: false, messages: false };
const SCREEN: Wants = Wants { output: false, screen: true, state: false, messages: false };
const STATE: Wants = Wants { output: false, screen: false, state: true, messages: false };

impl Service {
    pub(super) fn output_stream(
        &self,
        request: &v1::StreamOutputRequest,
    ) -> Result<Messages<v1::OutputChunk>, ApiError> {
        let resume = Resume { from_offset: request.from_offset.map(Offset), after_seq: None };
        Ok(messages(self.session.subscribe(OUTPUT, resume)?, |item| match item {
            Item::Output(frame) => Some(output_chunk(&frame)),
            Item::Gap(missing) => {
                let gap = convert::gap(&missing);
                Some(v1::OutputChunk {
                    offset: gap.to_offset.unwrap_or_default(),
                    gap: Some(gap),
                    ..Default::default()
                })
            }
            Item::Event(_) | Item::Screen(_) => None,
        }))
    }

    pub(super) fn screen_stream(
        &self,
        request: &v1::StreamScreenRequest,
    ) -> Result<Messages<v1::ScreenSnapshot>, ApiError> {
        let subscription = self.session.subscribe(SCREEN, Resume::default())?.in_style(style(request.format));
        let cursor = request.cursor != Some(false);
        Ok(messages(subscription, move |item| match item {
            Item::Screen(picture) => {
                let snapshot = convert::screen(&picture);
                Some(v1::ScreenSnapshot { cursor: snapshot.cursor.filter(|_| cursor), ..snapshot })
            }
            _ => None,
        }))
    }
}

impl Service {
    pub(super) fn stop_events(&self, after_seq: Option<u64>) -> Result<Messages<v1::StopEvent>, ApiError> {
        self.events(after_seq, |entry| match &entry.event {
            Event::Stopped(stopped) => Some(gates::stop_event(stopped, entry.seq)),
            _ => None,
        })
    }

    pub(super) fn start_events(&self, after_seq: Option<u64>) -> Result<Messages<v1::StartEvent>, ApiError> {
        self.events(after_seq, |entry| match &entry.event {
            Event::Began(began) => Some(gates::start_event(began, entry.seq)),
            _ => None,
        })
    }

    pub(super) fn transcript_events(&self, after_seq: Option<u64>) -> Result<Messages<v1::TranscriptEvent>, ApiError> {
        self.events(after_seq, |entry| match &entry.event {
            Event::Kept(kept) => Some(gates::transcript_event(kept, entry.seq)),
            _ => None,
        })
    }

    /// Events of one kind, in order.
    fn events<T: Send + 'static>(
        &self,
        after_seq: Option<u64>,
        pick: impl Fn(&Entry) -> Option<T> + Send + Sync + 'static,
    ) -> Result<Messages<T>, ApiError> {
        let resume = Resume { after_seq: after_seq.map(Seq), from_offset: None };
        let subscription = self.session.subscribe(STATE, resume)?;
        Ok(messages(subscription, move |item| if let Item::Event(entry) = item { pick(&entry) } else { None }))
    }
}

/// The states of the agent, the current one first.
pub fn state_stream(
    service: &Arc<Service>,
    request: &v1::StreamStateRequest,
) -> Result<Messages<v1::AgentStateEvent>, ApiError> {
    let resume = Resume { after_seq: request.after_seq.map(Seq), from_offset: None };
    let reader = Reader::new(service, STATE, resume, Style::Text)?;
    Ok(Box::pin(stream::unfold((reader, None), |(mut reader, mut gap)| async move {
        loop {
            let event = match reader.next().await?.into_state() {
                Some(StateNews::Gap(missing)) => {
                    gap = Some(missing);
                    continue;
                }
                Some(StateNews::State(event)) => v1::AgentStateEvent { gap: gap.take(), ..*event },
                None => continue,
            };
            return Some((Ok(event), (reader, gap)));
        }
    })))
}

/// Everything, in order.
pub fn event_stream(
    service: &Arc<Service>,
    request: &v1::StreamEventsRequest,
) -> Result<Messages<v1::ServerMessage>, ApiError> {
    let reader = Reader::of(service, request)?;
    Ok(Box::pin(stream::unfold(reader, |mut reader| async move {
        reader.next().await.map(|message| (Ok(message.into_message()), reader))
    })))
}

/// coop's own log.
pub fn log_stream(log: &LogTail, request: v1::StreamLogRequest) -> Messages<v1::LogLine> {
    let tail = request.tail.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX));
    let lines = stream::unfold(log.follow(tail, request.follow), |mut lines| async move {
        lines.next().await.map(|line| (Ok(v1::LogLine { line }), lines))
    });
    Box::pin(lines)
}

fn messages<T: Send + 'static>(
    subscription: Subscription,
    convert: impl Fn(Item) -> Option<T> + Send + Sync + 'static,
) -> Messages<T> {
    Box::pin(stream::unfold((subscription, convert), |(mut subscription, convert)| async move {
        loop {
            if let Some(message) = convert(subscription.next().await?) {
                return Some((Ok(message), (subscription, convert)));
            }
        }
    }))
}
