//! What a subscriber reads: the current state first, then everything in order.

use std::collections::VecDeque;
use std::sync::Arc;

use super::convert;
use super::error::ApiError;
use super::outgoing::Outgoing;
use super::service::Service;
use crate::proto::v1::{self, EventMode, server_message};
use crate::session::{Event, Item, Life, Missing, Resume, Style, Subscription, Wants};
use crate::terminal::{Offset, Seq};

/// A subscription as the contract tells it.
pub struct Reader {
    service: Arc<Service>,
    subscription: Subscription,
    wants: Wants,
    /// Whether several kinds were asked for, in whose words the news are then told.
    by_kinds: bool,
    /// What must be said before anything else.
    first: VecDeque<Outgoing>,
    /// The state that has been told; what led to it is not told again.
    told_until: Seq,
}

impl Reader {
    pub fn new(service: &Arc<Service>, wants: Wants, resume: Resume, style: Style) -> Result<Self, ApiError> {
        // Joined before the state is read, so that no change can fall in between.
        let subscription = service.session.subscribe(wants, resume)?.in_style(style);
        let mut reader = Self {
            service: service.clone(),
            subscription,
            wants,
            by_kinds: false,
            first: VecDeque::new(),
            told_until: Seq(0),
        };
        if wants.state && resume.after_seq.is_none() {
            reader.tell_state();
        }
        Ok(reader)
    }

    pub fn of(service: &Arc<Service>, request: &v1::StreamEventsRequest) -> Result<Self, ApiError> {
        let resume = Resume { after_seq: request.after_seq.map(Seq), from_offset: request.from_offset.map(Offset) };
        let reader = Self::new(service, wants(request), resume, Style::Text)?;
        Ok(Self { by_kinds: !request.subscribe.is_empty(), ..reader })
    }

    /// The next message; `None` when coop is leaving. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Outgoing> {
        loop {
            if let Some(first) = self.first.pop_front() {
                return Some(first);
            }
            let item = self.subscription.next().await?;
            match &item {
                Item::Event(entry) if entry.seq <= self.told_until && is_state(&entry.event) => continue,
                Item::Gap(Missing::Events { .. }) if self.wants.state => self.tell_state(),
                _ => {}
            }
            let news = Outgoing::from(item);
            return Some(if self.by_kinds { news.by_kinds() } else { news });
        }
    }

    fn tell_state(&mut self) {
        let event = self.service.current_state();
        self.told_until = Seq(event.seq);
        let event = match event.exit {
            Some(exit) => server_message::Event::Exit(exit),
            None => server_message::Event::Transition(event),
        };
        self.first.push_back(Outgoing::event(event));
    }
}

impl Service {
    /// The state as a transition to itself.
    pub(super) fn current_state(&self) -> v1::AgentStateEvent {
        let vitals = self.session.vitals();
        v1::AgentStateEvent {
            cause: vitals.cause.rule.to_string(),
            last_message: vitals.last_message.clone(),
            exit: match &vitals.life {
                Life::Exited(ended) => Some(convert::exit_event(ended, vitals.state_since)),
                _ => None,
            },
            ..convert::state_in_words(&vitals.state, vitals.state_since)
        }
    }
}

fn is_state(event: &Event) -> bool {
    matches!(event, Event::Transition(_) | Event::Ended { .. })
}

fn wants(request: &v1::StreamEventsRequest) -> Wants {
    let single = std::iter::once(request.mode).filter(|mode| *mode != 0);
    let mut modes: Vec<i32> = single.chain(request.subscribe.iter().copied()).collect();
    if modes.is_empty() {
        modes.push(EventMode::All.into());
    }
    let mut wants = Wants::default();
    for mode in modes {
        match EventMode::try_from(mode) {
            Ok(EventMode::Raw) => wants.output = true,
            Ok(EventMode::Screen) => wants.screen = true,
            Ok(EventMode::State) => wants.state = true,
            Ok(EventMode::Messages) => wants.messages = true,
            _ => wants = Wants { output: true, screen: true, state: true, ..wants },
        }
    }
    wants
}
