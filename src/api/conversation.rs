//! Session: one connection for everything. gRPC brings messages, WebSocket brings JSON; both come here.

use std::sync::Arc;

use futures_util::{Stream, StreamExt};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::access::Access;
use super::error::{ApiError, Code};
use super::inputs::Accepted;
use super::outgoing::Outgoing;
use super::reader::Reader;
use super::service::Service;
use crate::proto::v1::client_message::Event as Asked;
use crate::proto::v1::server_message::Event as Told;
use crate::proto::v1::{self, ClientMessage, LockAction};
use crate::session::LockId;

/// Messages between the conversation and the network. A reader that is slower than this waits in the session's history.
const WAITING_MAX: usize = 16;

/// Answers that take their time, such as `wait`; beyond these the connection is not listened to until one is given.
const ANSWERS_MAX: usize = 256;

/// What a conversation says.
#[derive(Debug)]
pub enum Speech {
    Say(Outgoing),
    /// The last word: the caller may not talk to us.
    Refuse(ApiError),
}

/// A message that could not be read, and whose answer is awaited.
#[derive(Debug)]
pub struct Misheard {
    pub error: ApiError,
    pub request_id: Option<String>,
}

/// How a conversation begins.
pub struct Conversation {
    pub service: Arc<Service>,
    /// Whether the caller has shown its token.
    pub trusted: bool,
    /// Events to push from the beginning, or as soon as the caller is trusted.
    pub subscribe: Option<v1::StreamEventsRequest>,
}

impl From<ApiError> for Misheard {
    fn from(error: ApiError) -> Self {
        Self { error, request_id: None }
    }
}

/// Holds a conversation until either side ends it.
pub fn converse<S>(begin: Conversation, incoming: S) -> mpsc::Receiver<Speech>
where
    S: Stream<Item = Result<ClientMessage, Misheard>> + Send + Unpin + 'static,
{
    let (say, speech) = mpsc::channel(WAITING_MAX);
    let lock = begin.service.new_lock_id();
    tokio::spawn(async move {
        let Conversation { service, trusted, subscribe } = begin;
        let mut talk = Talk {
            service: service.clone(),
            say,
            trusted,
            lock: lock.clone(),
            holds_lock: false,
            wish: subscribe,
            reader: None,
            typed: None,
        };
        // An error means that the other side is gone.
        let _ = talk.run(incoming).await;
        if talk.holds_lock {
            let _ = service.session.release(lock).await;
        }
    });
    speech
}

/// The other side is gone, or has been sent away.
struct Over;

struct Talk {
    service: Arc<Service>,
    say: mpsc::Sender<Speech>,
    trusted: bool,
    /// The lock that this connection takes when asked to.
    lock: LockId,
    holds_lock: bool,
    /// A subscription that waits for the caller to be trusted.
    wish: Option<v1::StreamEventsRequest>,
    reader: Option<Reader>,
    /// Ends when the last input has been handed to the session: the next one waits for it.
    typed: Option<oneshot::Receiver<()>>,
}

/// Answers that take their time, some of which are for nobody. Each is a task of its own, because one that waits for its turn
/// to write must take it when it comes, whatever the conversation is busy with: others would wait behind it for ever.
type Answers = JoinSet<Option<Outgoing>>;

impl Talk {
    async fn run<S>(&mut self, incoming: S) -> Result<(), Over>
    where
        S: Stream<Item = Result<ClientMessage, Misheard>> + Unpin,
    {
        let mut answers = Answers::new();
        let over = self.listen(incoming, &mut answers).await;
        // Whoever types and leaves has typed.
        self.all_typed().await;
        over
    }

    /// Waits until all inputs so far have been handed to the session.
    async fn all_typed(&mut self) {
        if let Some(typed) = self.typed.take() {
            // The other end is only ever dropped.
            let _ = typed.await;
        }
    }

    async fn listen<S>(&mut self, mut incoming: S, answers: &mut Answers) -> Result<(), Over>
    where
        S: Stream<Item = Result<ClientMessage, Misheard>> + Unpin,
    {
        self.grant_wish().await?;
        loop {
            tokio::select! {
                message = incoming.next(), if answers.len() < ANSWERS_MAX => match message {
                    Some(Ok(message)) => {
                        self.service.session.touch();
                        self.hear(message, answers).await?;
                    }
                    Some(Err(misheard)) => self.say(Outgoing::error(&misheard.error, misheard.request_id)).await?,
                    None => return Ok(()),
                },
                Some(answer) = answers.join_next(), if !answers.is_empty() => {
                    if let Ok(Some(answer)) = answer {
                        self.say(answer).await?;
                    }
                }
                message = next(&mut self.reader) => match message {
                    Some(message) => self.say(message).await?,
                    // coop is leaving, and everything has been told.
                    None => return Ok(()),
                },
            }
        }
    }

    async fn say(&self, message: Outgoing) -> Result<(), Over> {
        self.say.send(Speech::Say(message)).await.map_err(|_| Over)
    }

    async fn hear(&mut self, message: ClientMessage, answers: &mut Answers) -> Result<(), Over> {
        let ClientMessage { request_id, event } = message;
        let Some(event) = event else {
            let error = ApiError::bad_request("the message has no event");
            return self.say(Outgoing::error(&error, request_id)).await;
        };
        if let Err(error) = self.admit(event.access()) {
            return self.say(Outgoing::error(&error, request_id)).await;
        }
        if let Asked::Auth(auth) = event {
            self.authenticate(&auth.token).await?;
            return self.say_done(request_id).await;
        }
        match self.act(event, request_id.as_ref(), answers).await {
            Ok(Some(told)) => self.say(Outgoing::answer(told, request_id)).await,
            Ok(None) => Ok(()),
            Err(error) => self.say(Outgoing::error(&error, request_id)).await,
        }
    }

    async fn say_done(&self, request_id: Option<String>) -> Result<(), Over> {
        match request_id {
            Some(id) => self.say(Outgoing::answer(Told::Done(v1::Done {}), Some(id))).await,
            None => Ok(()),
        }
    }

    fn admit(&self, access: Access) -> Result<(), ApiError> {
        if self.trusted { Ok(()) } else { self.service.gate.admit(access, None) }
    }

    async fn authenticate(&mut self, token: &str) -> Result<(), Over> {
        match self.service.gate.admit(Access::Write, Some(token)) {
            Ok(()) => {
                self.trusted = true;
                self.grant_wish().await
            }
            Err(error) => {
                let error = ApiError::new(Code::Unauthorized, error.message);
                // The last word; whether it is heard changes nothing.
                let _ = self.say.send(Speech::Refuse(error)).await;
                Err(Over)
            }
        }
    }

    /// Begins the subscription that the caller came with, once it may read.
    async fn grant_wish(&mut self) -> Result<(), Over> {
        if self.admit(Access::Read).is_err() {
            return Ok(());
        }
        let Some(wish) = self.wish.take() else { return Ok(()) };
        match Reader::of(&self.service, &wish) {
            Ok(reader) => self.reader = Some(reader),
            Err(error) => self.say(Outgoing::error(&error, None)).await?,
        }
        Ok(())
    }

    /// Carries out a message. What has to be waited for is added to the answers, so that the conversation goes on.
    async fn act(
        &mut self,
        event: Asked,
        id: Option<&String>,
        answers: &mut Answers,
    ) -> Result<Option<Told>, ApiError> {
        let service = &self.service.clone();
        let writer = self.holds_lock.then(|| self.lock.clone());
        let is_act = matches!(event.access(), Access::Write);
        if is_act && !matches!(event, Asked::Input(_) | Asked::InputRaw(_) | Asked::Keys(_)) {
            // What was typed before it comes before it.
            self.all_typed().await;
        }
        match event {
            Asked::Ping(_) => return Ok(Some(Told::Pong(v1::Pong {}))),
            Asked::Auth(_) => return Ok(None),
            Asked::Subscribe(request) => {
                self.reader = Some(Reader::of(service, &request)?);
                return Ok(id.map(|_| Told::Done(v1::Done {})));
            }
            Asked::ScreenGet(request) => return Ok(Some(Told::Screen(service.screen(&request).await?))),
            Asked::StateGet(_) => return Ok(Some(Told::Transition(service.current_state()))),
            Asked::StatusGet(_) => return Ok(Some(Told::Status(service.status()))),
            Asked::Replay(request) => return Ok(Some(Told::ReplayResult(service.output(&request)))),
            Asked::Resize(request) => {
                let resized = service.resize_to(request).await?;
                return Ok(id.map(|_| Told::ResizeResult(resized)));
            }
            Asked::Signal(request) => {
                let sent = service.signal(&request).await?;
                return Ok(id.map(|_| Told::SignalResult(sent)));
            }
            Asked::Lock(request) => return self.lock(request).await.map(|result| Some(Told::LockResult(result))),
            Asked::Wait(request) => {
                let service = service.clone();
                let met = async move { service.wait_until(&request).await.map(Told::WaitResult) };
                return Ok(later(answers, id, met));
            }
            Asked::Restart(request) => {
                let service = service.clone();
                let started = async move { service.restart_child(request, true).await.map(Told::RestartResult) };
                return Ok(later(answers, id, started));
            }
            Asked::Nudge(request) => {
                let service = service.clone();
                let told = async move { service.nudge_agent(request, writer).await.map(Told::NudgeResult) };
                return Ok(later(answers, id, told));
            }
            Asked::Respond(request) => {
                let service = service.clone();
                let given = async move { service.respond_to_prompt(request, writer).await.map(Told::RespondResult) };
                return Ok(later(answers, id, given));
            }
            Asked::TranscriptList(_) => {
                return service.list_of_transcripts().await.map(|list| Some(Told::TranscriptList(list)));
            }
            Asked::TranscriptGet(request) => {
                return service.one_transcript(request.number).await.map(|one| Some(Told::TranscriptGet(one)));
            }
            Asked::TranscriptCatchup(request) => {
                return service.catchup(request).await.map(|caught| Some(Told::TranscriptCatchup(caught)));
            }
            Asked::Shutdown(_) => {
                service.session.shutdown().await;
                return Ok(id.map(|_| Told::Done(v1::Done {})));
            }
            Asked::Input(request) => {
                let service = service.clone();
                self.typing(answers, id, async move { service.input(request, writer).await });
            }
            Asked::InputRaw(request) => {
                let service = service.clone();
                self.typing(answers, id, async move { service.raw(request, writer).await });
            }
            Asked::Keys(request) => {
                let service = service.clone();
                self.typing(answers, id, async move { service.keys(request, writer).await });
            }
        }
        Ok(None)
    }

    /// Types behind what was typed before. It may have to wait for somebody's turn to end, and the conversation goes on.
    fn typing(
        &mut self,
        answers: &mut Answers,
        id: Option<&String>,
        input: impl Future<Output = Result<Accepted, ApiError>> + Send + 'static,
    ) {
        let (handed_over, typed) = oneshot::channel();
        let (before, id) = (self.typed.replace(typed), id.cloned());
        answers.spawn(async move {
            if let Some(before) = before {
                // It is only ever dropped.
                let _ = before.await;
            }
            let accepted = input.await;
            drop::<oneshot::Sender<()>>(handed_over);
            match accepted {
                // Whoever wants the receipt names the message; the others go on typing.
                Ok(accepted) => Some(Outgoing::answer(Told::InputResult(accepted.response().await), Some(id?))),
                Err(error) => Some(Outgoing::error(&error, id)),
            }
        });
    }

    async fn lock(&mut self, request: v1::LockRequest) -> Result<v1::LockResult, ApiError> {
        if request.action == LockAction::Release as i32 {
            self.service.session.release(self.lock.clone()).await?;
            self.holds_lock = false;
            return Ok(v1::LockResult::default());
        }
        let acquired = self.service.acquire(request.ttl_secs, self.lock.clone()).await?;
        self.holds_lock = true;
        Ok(v1::LockResult { held: true, lock_id: Some(acquired.lock_id), expires_in_ms: Some(acquired.expires_in_ms) })
    }
}

/// Adds an answer that takes its time, so that the conversation goes on.
fn later(
    answers: &mut Answers,
    id: Option<&String>,
    work: impl Future<Output = Result<Told, ApiError>> + Send + 'static,
) -> Option<Told> {
    let id = id.cloned();
    answers.spawn(async move {
        Some(match work.await {
            Ok(told) => Outgoing::answer(told, id),
            Err(error) => Outgoing::error(&error, id),
        })
    });
    None
}

async fn next(reader: &mut Option<Reader>) -> Option<Outgoing> {
    match reader {
        Some(reader) => reader.next().await,
        None => std::future::pending().await,
    }
}
