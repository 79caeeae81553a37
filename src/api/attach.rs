//! Attach: a terminal joins, is painted once, and then sees every byte.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use tokio::sync::mpsc;

use super::convert;
use super::error::ApiError;
use super::faces::Face;
use super::service::Service;
use crate::child::Size;
use crate::proto::v1::attach_request::Event as Asked;
use crate::proto::v1::attach_response::Event as Told;
use crate::proto::v1::{self, AttachRequest, AttachResponse};
use crate::session::{Attached, Entry, Event, Item, Joining, Missing, Redrawn, Resume, Session, Subscription, Wants};
use crate::terminal::{Offset, Seq};

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
        let terminal = Attachment { service, tell };
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
}

/// `None` when the terminal has simply gone.
type Ending = Option<ApiError>;

impl Attachment {
    async fn run<S>(&self, mut incoming: S) -> Result<(), Ending>
    where
        S: Stream<Item = Result<AttachRequest, ApiError>> + Unpin,
    {
        let hello = self.hello(&mut incoming).await?;
        self.service.session.touch();
        let session = match hello.terminal.as_str() {
            "" => self.service.session.clone(),
            id => self.service.terminals.session(id)?,
        };
        let attached = session.attach(joining(&hello)?).await.map_err(ApiError::from)?;
        let Redrawn { bytes, offset, seq, size } = attached.redrawn.clone();
        let wants = Wants { output: true, screen: false, state: true, messages: false };
        let from = hello.from_offset.map_or(offset, Offset);
        // A shell may have ended before anybody came; the session's own end is told by its status.
        let after_seq = if hello.terminal.is_empty() { seq } else { Seq(0) };
        let resume = Resume { from_offset: Some(from), after_seq: Some(after_seq) };
        let live = session.subscribe(wants, resume).map_err(ApiError::from)?;
        let _counted = self.service.faces.count(Face::Terminal);
        let (cols, rows) = (size.cols().into(), size.rows().into());
        self.say(Told::Ready(v1::AttachReady { cols, rows, offset: from.0 })).await?;
        if hello.from_offset.is_none() {
            self.say(Told::Output(bytes)).await?;
        }
        // Both at once: what was typed may have to wait for its turn, and the picture must not wait with it.
        tokio::select! {
            done = self.hear(incoming, &attached, hello.view) => done,
            done = self.show(&session, live, seq) => done,
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

    /// What the terminal says, until it leaves.
    async fn hear<S>(&self, mut incoming: S, attached: &Attached, view: bool) -> Result<(), Ending>
    where
        S: Stream<Item = Result<AttachRequest, ApiError>> + Unpin,
    {
        while let Some(event) = incoming.next().await.transpose()?.and_then(|message| message.event) {
            self.service.session.touch();
            let done = match event {
                // Who only looks, never types and never sizes.
                _ if view => Ok(()),
                Asked::Hello(_) => Err(ApiError::bad_request("hello was said already")),
                Asked::Resize(request) => match size(request.cols, request.rows) {
                    Ok(size) => attached.measured(size).await.map_err(ApiError::from),
                    Err(error) => Err(error),
                },
                Asked::Input(data) => attached.type_in(data).await.map_err(ApiError::from),
            };
            if let Err(error) = done {
                let event = v1::ErrorEvent { code: error.code.word().to_owned(), message: error.message };
                self.say(Told::Error(event)).await?;
            }
        }
        Ok(())
    }

    /// What the terminal is told, until the session is over. `painted` is the last change that it has been shown.
    async fn show(&self, session: &Session, mut live: Subscription, mut painted: Seq) -> Result<(), Ending> {
        while let Some(item) = live.next().await {
            match item {
                Item::Output(frame) => self.say(Told::Output(frame.data.clone())).await?,
                Item::Gap(Missing::Output { redrawn, .. }) => painted = self.paint(redrawn).await?,
                Item::Event(entry) if matches!(entry.event, Event::Resized(_)) => {
                    // Terminals wrap lines anew each in its own way, and have not the session's scrollback for it: the
                    // picture is given afresh.
                    if entry.seq > painted {
                        let redrawn = session.redraw().await.map_err(ApiError::from)?;
                        live.skip_to(redrawn.offset);
                        painted = self.paint(redrawn).await?;
                    }
                }
                Item::Event(entry) => {
                    if let Some(event) = event(&entry) {
                        self.say(event).await?;
                    }
                }
                Item::Gap(Missing::Events { .. } | Missing::Lines { .. }) | Item::Screen(_) => {}
            }
        }
        Ok(())
    }

    async fn paint(&self, redrawn: Redrawn) -> Result<Seq, Ending> {
        let (cols, rows) = (redrawn.size.cols().into(), redrawn.size.rows().into());
        self.say(Told::Resize(v1::ResizeEvent { cols, rows, seq: redrawn.seq.0 })).await?;
        self.say(Told::Output(redrawn.bytes)).await?;
        Ok(redrawn.seq)
    }

    async fn say(&self, event: Told) -> Result<(), Ending> {
        self.tell.send(Ok(AttachResponse { event: Some(event) })).await.map_err(|_| None)
    }
}

fn joining(hello: &v1::AttachHello) -> Result<Joining, ApiError> {
    let size = match (hello.cols, hello.rows) {
        (Some(cols), Some(rows)) if !hello.view => Some(size(cols, rows)?),
        _ => None,
    };
    let answers = !hello.view && hello.answers.unwrap_or(true);
    Ok(Joining { size, types: !hello.view, answers })
}

fn size(cols: u32, rows: u32) -> Result<Size, ApiError> {
    Size::new(cols, rows).map_err(|error| ApiError::bad_request(error.to_string()))
}

fn event(entry: &Entry) -> Option<Told> {
    match &entry.event {
        Event::Ended { ended, .. } => Some(Told::Exit(convert::exit_event(ended, entry.seq))),
        Event::Transition(_) => convert::state_event(entry).map(Told::Transition),
        _ => None,
    }
}
