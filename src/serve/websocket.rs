//! WebSocket: Session in JSON at `/ws`, Attach in binary frames at `/api/v1/attach`.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::body::Bytes;
use axum::extract::ws::{
    CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, rejection::WebSocketUpgradeRejection,
};
use axum::extract::{RawQuery, State};
use axum::http::Response;
use axum::response::IntoResponse;
use futures_util::stream::{self, SplitStream};
use futures_util::{Sink, SinkExt, Stream, StreamExt};
use serde_json::{Map, Value};
use tokio::sync::{Mutex, mpsc};
use tokio_util::task::TaskTracker;

use super::{body, error, params};
use crate::api::{self, Api, ApiError, Code, Conversation, Misheard, Outgoing, Service, Speech, Trusted};
use crate::proto::v1::{self, AttachRequest, ClientMessage, attach_request, attach_response};
use crate::session::Life;

/// The largest message: 16 MiB of raw input in base64, and its frame.
const MESSAGE_BYTES_MAX: usize = 23 * 1024 * 1024;

/// The subprotocol that is spoken; offered beside it may be the caller's token (see `guard`).
const SUBPROTOCOL: &str = "coop.v1";

/// What each connection sets aside; most of them send little and wait much.
const BUFFER_BYTES: usize = 8 * 1024;

/// Open WebSockets at once; each holds a few tasks and buffers.
const SOCKETS_MAX: usize = 4096;

/// Close codes beside the standard ones.
const CLOSE_UNAUTHORIZED: u16 = 4401;
const CLOSE_NO_CHILD: u16 = 4503;
/// The server is going away; also the ordinary end of a conversation that coop ends.
const CLOSE_AWAY: u16 = 1001;
/// Something that the caller sent: a message beyond the limit, a broken frame, no hello.
const CLOSE_BAD: u16 = 1008;

/// How long a socket may be silent before it is pinged. Proxies cut off what says nothing for a minute (nginx), or for less
/// (55 s at some hosts).
const SILENT_FOR: Duration = Duration::from_secs(25);

/// How long the other side may take to answer a close frame.
const FAREWELL: Duration = Duration::from_secs(1);

/// Open sockets, so that shutting down can wait for their close frames.
#[derive(Clone, Debug, Default)]
pub struct Sockets(pub TaskTracker);

type Upgrade = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;

pub async fn session(
    State(Api(service)): State<Api>,
    Extension(sockets): Extension<Sockets>,
    trusted: Option<Extension<Trusted>>,
    RawQuery(query): RawQuery,
    upgrade: Upgrade,
) -> Response<Body> {
    let upgrade = match sockets.admit(upgrade) {
        Ok(upgrade) => upgrade,
        Err(error) => return error::json_error(&error),
    };
    let subscribe = match subscription(query.as_deref().unwrap_or_default()) {
        Ok(request) => request,
        Err(error) => return error::json_error(&error),
    };
    let trusted = trusted.is_some();
    let talk = move |socket| async move { converse(service, socket, trusted, subscribe).await };
    upgrade.on_upgrade(move |socket| sockets.0.track_future(talk(socket))).into_response()
}

pub async fn attach(
    State(Api(service)): State<Api>,
    Extension(sockets): Extension<Sockets>,
    trusted: Option<Extension<Trusted>>,
    upgrade: Upgrade,
) -> Response<Body> {
    let upgrade = match sockets.admit(upgrade) {
        Ok(upgrade) => upgrade,
        Err(error) => return error::json_error(&error),
    };
    let trusted = trusted.is_some();
    let talk = move |socket| async move { serve_terminal(service, socket, trusted).await };
    upgrade.on_upgrade(move |socket| sockets.0.track_future(talk(socket))).into_response()
}

impl Sockets {
    fn admit(&self, upgrade: Upgrade) -> Result<WebSocketUpgrade, ApiError> {
        if self.0.len() >= SOCKETS_MAX {
            let message = format!("{SOCKETS_MAX} WebSockets are open already: try again later");
            return Err(ApiError::new(Code::NotReady, message));
        }
        match upgrade {
            Ok(upgrade) => Ok(upgrade
                .protocols([SUBPROTOCOL])
                .max_message_size(MESSAGE_BYTES_MAX)
                .max_frame_size(MESSAGE_BYTES_MAX)
                .read_buffer_size(BUFFER_BYTES)
                .write_buffer_size(BUFFER_BYTES)),
            Err(rejection) => {
                let message = format!("this path speaks WebSocket: {}", rejection.body_text());
                Err(ApiError::bad_request(message))
            }
        }
    }
}

/// The parameters of the address as a subscription.
fn subscription(query: &str) -> Result<v1::StreamEventsRequest, ApiError> {
    let mut params = params::query(query)?;
    params.retain(|(name, _)| name != "token");
    for (name, text) in &mut params {
        // Clients of today say `pty` for the raw output.
        if name == "subscribe" {
            *text = text.split(',').map(|word| if word == "pty" { "raw" } else { word }).collect::<Vec<_>>().join(",");
        }
    }
    params::from_params(&params)
}

async fn converse(service: Arc<Service>, socket: WebSocket, trusted: bool, subscribe: v1::StreamEventsRequest) {
    let _counted = service.count_ws_client();
    let (mut sink, stream) = socket.split();
    let heard = Heard::new(stream);
    if matches!(service.session.vitals().life, Life::Starting) && service.session.vitals().restarts == 0 {
        return close(&mut sink, &heard, CLOSE_NO_CHILD, "the child has not been started yet").await;
    }
    let begin = Conversation { service: service.clone(), trusted, subscribe: Some(subscribe) };
    let mut speech = api::converse(begin, Box::pin(heard.messages(client_message)));
    while let Some(speech) = next(&mut speech, &mut sink, SILENT_FOR).await {
        let message = match speech {
            Speech::Say(message) => message,
            Speech::Refuse(error) => {
                let _ = sink.send(text(&Outgoing::error(&error, None))).await;
                return close(&mut sink, &heard, CLOSE_UNAUTHORIZED, "the token was refused").await;
            }
        };
        if sink.send(text(&message)).await.is_err() {
            return;
        }
    }
    say_goodbye(&mut sink, &heard).await;
}

async fn serve_terminal(service: Arc<Service>, socket: WebSocket, trusted: bool) {
    let (mut sink, stream) = socket.split();
    let heard = Heard::new(stream);
    let requests = heard.messages(attach_request).map(move |request| only_looks_unless(trusted, request?));
    let mut told = api::attach(service, Box::pin(requests));
    while let Some(message) = next(&mut told, &mut sink, SILENT_FOR).await {
        let event = match message {
            Ok(message) => message.event,
            Err(error) => {
                let code = if error.code == Code::Unauthorized { CLOSE_UNAUTHORIZED } else { CLOSE_BAD };
                return close(&mut sink, &heard, code, &error.message).await;
            }
        };
        let message = match event {
            Some(attach_response::Event::Output(bytes)) => Message::Binary(bytes),
            event => match serde_json::to_string(&v1::AttachResponse { event }) {
                Ok(json) => Message::Text(json.into()),
                Err(_) => continue,
            },
        };
        if sink.send(message).await.is_err() {
            return;
        }
    }
    say_goodbye(&mut sink, &heard).await;
}

/// What is to be said next; while there is nothing, the other side is shown that somebody is there.
async fn next<T, S>(speech: &mut mpsc::Receiver<T>, sink: &mut S, silent_for: Duration) -> Option<T>
where
    S: Sink<Message> + Unpin,
{
    loop {
        match tokio::time::timeout(silent_for, speech.recv()).await {
            Ok(said) => return said,
            Err(_) => sink.send(Message::Ping(Bytes::new())).await.ok()?,
        }
    }
}

/// A terminal without the token may look, where the operator lets anybody read, and says so in its hello.
fn only_looks_unless(trusted: bool, request: AttachRequest) -> Result<AttachRequest, ApiError> {
    match &request.event {
        Some(attach_request::Event::Hello(hello)) if !trusted && !hello.view => {
            Err(ApiError::new(Code::Unauthorized, "no token: only a hello with view:true"))
        }
        _ => Ok(request),
    }
}

/// The listening half of a socket, which outlives the conversation by its farewell.
#[derive(Clone)]
struct Heard {
    stream: Arc<Mutex<SplitStream<WebSocket>>>,
    /// Why it can be heard no longer, if it broke.
    broken: Arc<OnceLock<String>>,
}

impl Heard {
    fn new(stream: SplitStream<WebSocket>) -> Self {
        Self { stream: Arc::new(Mutex::new(stream)), broken: Arc::default() }
    }

    /// What comes in, until the other side closes or breaks off.
    fn messages<T>(&self, read: fn(Message) -> Option<T>) -> impl Stream<Item = T> + use<T> {
        stream::unfold(self.clone(), move |heard| async move {
            loop {
                match heard.stream.lock().await.next().await? {
                    Ok(Message::Close(_)) => return None,
                    Ok(message) => match read(message) {
                        Some(message) => return Some((message, heard.clone())),
                        None => continue,
                    },
                    Err(error) => {
                        // The first reason is the one that counts.
                        let _ = heard.broken.set(error.to_string());
                        return None;
                    }
                }
            }
        })
    }

    /// Lets the other side answer a close frame; a reset could overtake the frame itself.
    async fn hear_out(&self) {
        let drained = async {
            let mut stream = self.stream.lock().await;
            while let Some(Ok(_)) = stream.next().await {}
        };
        // Whoever does not answer is left.
        let _ = tokio::time::timeout(FAREWELL, drained).await;
    }
}

async fn say_goodbye<S: Sink<Message> + Unpin>(sink: &mut S, heard: &Heard) {
    match heard.broken.get() {
        Some(why) => close(sink, heard, CLOSE_BAD, why).await,
        None => close(sink, heard, CLOSE_AWAY, "the session has ended").await,
    }
}

fn client_message(message: Message) -> Option<Result<ClientMessage, Misheard>> {
    match message {
        Message::Text(text) => Some(read_client_message(&text)),
        Message::Binary(_) => {
            Some(Err(ApiError::bad_request("binary frames are for /api/v1/attach: send JSON text").into()))
        }
        _ => None,
    }
}

fn read_client_message(text: &str) -> Result<ClientMessage, Misheard> {
    let mut fields = object(text)?;
    let request_id = fields.remove("request_id").filter(|id| !id.is_null());
    let request_id = request_id.map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
    let message =
        take_word(&mut fields).and_then(|word| by_word(fields, |fields| ClientMessage::from_event(&word, fields)));
    match message {
        Ok(message) => Ok(ClientMessage { request_id, ..message }),
        Err(error) => Err(Misheard { error, request_id }),
    }
}

fn attach_request(message: Message) -> Option<Result<AttachRequest, ApiError>> {
    match message {
        Message::Binary(bytes) => Some(Ok(AttachRequest { event: Some(attach_request::Event::Input(bytes)) })),
        Message::Text(text) => Some(object(&text).and_then(|mut fields| {
            let word = take_word(&mut fields)?;
            by_word(fields, |fields| AttachRequest::from_event(&word, fields))
        })),
        _ => None,
    }
}

fn object(text: &str) -> Result<Map<String, Value>, ApiError> {
    serde_json::from_str(text).map_err(|error| ApiError::bad_request(format!("not a JSON object: {error}")))
}

fn take_word(fields: &mut Map<String, Value>) -> Result<String, ApiError> {
    match fields.remove("event") {
        Some(Value::String(word)) => Ok(word),
        _ => Err(ApiError::bad_request("the message has no event: write {\"event\":\"ping\"}, for example")),
    }
}

/// Reads the message that a word names; an error says in which field.
fn by_word<T>(
    fields: Map<String, Value>,
    read: impl FnOnce(serde_path_to_error::Deserializer<'_, '_, Value>) -> Result<T, serde_json::Error>,
) -> Result<T, ApiError> {
    let mut track = serde_path_to_error::Track::new();
    let message = read(serde_path_to_error::Deserializer::new(Value::Object(fields), &mut track));
    message.map_err(|error| ApiError::bad_request(body::explain(&track.path(), &error)))
}

fn text(message: &Outgoing) -> Message {
    Message::Text(message.json::<Utf8Bytes>())
}

async fn close<S: Sink<Message> + Unpin>(sink: &mut S, heard: &Heard, code: u16, reason: &str) {
    // A reason has at most 123 bytes on the wire.
    let reason: String = reason.chars().take(40).collect();
    if sink.send(Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await.is_ok() {
        heard.hear_out().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_socket_on_which_nothing_is_said_is_pinged_until_something_is() {
        let (say, mut speech) = mpsc::channel(1);
        let (send, mut sent) = mpsc::channel(1);
        let mut sink = Box::pin(futures_util::sink::unfold(send, |send, message| async move {
            send.send(message).await.map(|()| send).map_err(drop)
        }));
        let speaker = async {
            for _ in 0..2 {
                assert_eq!(sent.recv().await, Some(Message::Ping(Bytes::new())));
            }
            say.send("at last").await.unwrap();
            // Whatever else would be pinged in the meantime has its place.
            while sent.recv().await.is_some() {}
        };
        let next = async {
            let said = next(&mut speech, &mut sink, Duration::from_millis(1)).await;
            drop(sink);
            said
        };
        assert_eq!(tokio::join!(next, speaker).0, Some("at last"));
    }
}
