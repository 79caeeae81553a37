//! Attach: a terminal joins, is painted once, and then sees every byte.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use tokio::sync::mpsc;

use super::convert;
use super::error::ApiError;
use super::faces::Face;
use super::service::Service;
use crate::proto::v1::attach_request::Event as Asked;
use crate::proto::v1::attach_response::Event as Told;
use crate::proto::v1::{self, AttachRequest, AttachResponse};
use crate::session::{Entry, Event, Item, Missing, Resume, Wants};

/// How long a terminal may take to say its size.
const HELLO_WITHIN: Duration = Duration::from_secs(10);

/// Messages between the session and the network.
const WAITING_MAX: usize = 16;

/// What an attached terminal is told; an error ends it.
pub type Telling = mpsc::Receiver<Result<AttachResponse, ApiError>>;

/// Serves one terminal until either side leaves.
pub fn attach<S>(service: Arc<Service>, incoming: S) -> Telling
where
    S: Stream<Item = Result<AttachRequest, ApiError>> + Send + Unpin + 'static,
{
    let (tell, told) = mpsc::channel(WAITING_MAX);
    tokio::spawn(async move {
        let mut terminal = Attachment { service, tell, view: false };
        if let Err(Some(error)) = terminal.run(incoming).await {
            // The last word; whether it is heard changes nothing.
            let _ = terminal.tell.send(Err(error)).await;
        }
    });
    told
}

struct Attachment {
    service: Arc<Service>,
    tell: mpsc::Sender<Result<AttachResponse, ApiError>>,
    view: bool,
}

/// `None` when the terminal has simply gone.
type Ending = Option<ApiError>;

impl Attachment {
    async fn run<S>(&mut self, mut incoming: S) -> Result<(), Ending>
    where
        S: Stream<Item = Result<AttachRequest, ApiError>> + Unpin,
    {
        let hello = self.hello(&mut incoming).await?;
        self.view = hello.view;
        if let (Some(cols), Some(rows), false) = (hello.cols, hello.rows, hello.view) {
            self.act(Asked::Resize(v1::ResizeRequest { cols, rows })).await?;
        }
        let session = &self.service.session;
        let attached = session.attach(!hello.view).await.map_err(ApiError::from)?;
        let wants = Wants { output: true, screen: false, state: true, messages: false };
        let resume = Resume { from_offset: Some(attached.offset), after_seq: None };
        let mut live = session.subscribe(wants, resume).map_err(ApiError::from)?;
        let _counted = self.service.faces.count(Face::Terminal);
        let size = session.vitals().size;
        let (cols, rows) = (size.cols().into(), size.rows().into());
        self.say(Told::Ready(v1::AttachReady { cols, rows, offset: attached.offset.0 })).await?;
        self.say(Told::Output(attached.redraw.clone())).await?;
        loop {
            tokio::select! {
                message = incoming.next() => match message.transpose()?.and_then(|message| message.event) {
                    Some(event) => self.act(event).await?,
                    None => return Ok(()),
                },
                item = live.next() => match item {
                    Some(item) => self.pass_on(item).await?,
                    None => return Ok(()),
                },
            }
        }
    }

    async fn hello<S>(&self, incoming: &mut S) -> Result<v1::AttachHello, Ending>
    where
        S: Stream<Item = Result<AttachRequest, ApiError>> + Unpin,
    {
        let first = tokio::time::timeout(HELLO_WITHIN, incoming.next()).await;
        match first.ok().flatten().transpose()?.and_then(|message| message.event) {
            Some(Asked::Hello(hello)) => Ok(hello),
            _ => Err(Some(ApiError::bad_request(
                "the first message of an attach must be hello, with the terminal's size",
            ))),
        }
    }

    async fn act(&self, event: Asked) -> Result<(), Ending> {
        self.service.session.touch();
        let done = match event {
            // Who only looks, never types and never sizes.
            _ if self.view => Ok(()),
            Asked::Hello(_) => Err(ApiError::bad_request("hello was said already")),
            Asked::Resize(request) => self.service.resize_to(request).await.map(drop),
            Asked::Input(data) => self.service.session.type_in(data).await.map_err(ApiError::from),
        };
        match done {
            Ok(()) => Ok(()),
            Err(error) => {
                let event = v1::ErrorEvent { code: error.code.word().to_owned(), message: error.message };
                self.say(Told::Error(event)).await
            }
        }
    }

    async fn pass_on(&self, item: Item) -> Result<(), Ending> {
        match item {
            Item::Output(frame) => self.say(Told::Output(frame.data.clone())).await,
            Item::Gap(Missing::Output { redraw, .. }) => self.say(Told::Output(redraw)).await,
            Item::Event(entry) => match event(&entry) {
                Some(event) => self.say(event).await,
                None => Ok(()),
            },
            Item::Gap(Missing::Events { .. } | Missing::Lines { .. }) | Item::Screen(_) => Ok(()),
        }
    }

    async fn say(&self, event: Told) -> Result<(), Ending> {
        self.tell.send(Ok(AttachResponse { event: Some(event) })).await.map_err(|_| None)
    }
}

fn event(entry: &Entry) -> Option<Told> {
    match &entry.event {
        Event::Ended { ended, .. } => Some(Told::Exit(convert::exit_event(ended, entry.seq))),
        Event::Resized(size) => {
            let (cols, rows) = (size.cols().into(), size.rows().into());
            Some(Told::Resize(v1::ResizeEvent { cols, rows, seq: entry.seq.0 }))
        }
        Event::Transition(_) => convert::state_event(entry).map(Told::Transition),
        _ => None,
    }
}
