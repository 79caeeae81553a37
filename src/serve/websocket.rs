//! WebSocket: Session in JSON at `/ws`, Attach in binary frames at `/api/v1/attach`.

use std::sync::{Arc, OnceLock};

use axum::Extension;
use axum::body::Body;
use axum::extract::ws::{
    CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, rejection::WebSocketUpgradeRejection,
};
use axum::extract::{RawQuery, State};
use axum::http::Response;
use axum::response::IntoResponse;
use futures_util::{Sink, SinkExt, Stream, StreamExt, future};
use serde_json::{Map, Value};
use tokio_util::task::TaskTracker;

use super::{body, error, params};
use crate::api::{self, Api, ApiError, Code, Conversation, Outgoing, Service, Speech, Trusted};
use crate::proto::v1::{self, AttachRequest, ClientMessage, attach_request, attach_response};
use crate::session::Life;

/// The largest message: 16 MiB of raw input in base64, and its frame.
const MESSAGE_BYTES_MAX: usize = 23 * 1024 * 1024;

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
    upgrade: Upgrade,
) -> Response<Body> {
    let upgrade = match sockets.admit(upgrade) {
        Ok(upgrade) => upgrade,
        Err(error) => return error::json_error(&error),
    };
    let talk = move |socket| async move { serve_terminal(service, socket).await };
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
    if matches!(service.session.vitals().life, Life::Starting) && service.session.vitals().restarts == 0 {
        return close(&mut sink, CLOSE_NO_CHILD, "the child has not been started yet").await;
    }
    let begin = Conversation { service: service.clone(), trusted, subscribe: Some(subscribe) };
    let broken = Arc::new(OnceLock::new());
    let mut speech = api::converse(begin, Box::pin(incoming(stream, client_message, broken.clone())));
    while let Some(speech) = speech.recv().await {
        let message = match speech {
            Speech::Say(message) => message,
            Speech::Refuse(error) => {
                let _ = sink.send(text(&Outgoing::error(&error, None))).await;
                return close(&mut sink, CLOSE_UNAUTHORIZED, "the token was refused").await;
            }
        };
        if sink.send(text(&message)).await.is_err() {
            return;
        }
    }
    say_goodbye(&mut sink, &broken).await;
}

async fn serve_terminal(service: Arc<Service>, socket: WebSocket) {
    let (mut sink, stream) = socket.split();
    let broken = Arc::new(OnceLock::new());
    let mut told = api::attach(service, Box::pin(incoming(stream, attach_request, broken.clone())));
    while let Some(message) = told.recv().await {
        let event = match message {
            Ok(message) => message.event,
            Err(error) => return close(&mut sink, CLOSE_BAD, &error.message).await,
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
    say_goodbye(&mut sink, &broken).await;
}

/// Why a connection can be heard no longer, if it broke.
type Broken = Arc<OnceLock<String>>;

async fn say_goodbye<S: Sink<Message> + Unpin>(sink: &mut S, broken: &Broken) {
    match broken.get() {
        Some(why) => close(sink, CLOSE_BAD, why).await,
        None => close(sink, CLOSE_AWAY, "the session has ended").await,
    }
}

/// What comes in, until the other side closes or breaks off.
fn incoming<S, T>(
    stream: S,
    read: fn(Message) -> Option<Result<T, ApiError>>,
    broken: Broken,
) -> impl Stream<Item = Result<T, ApiError>>
where
    S: Stream<Item = Result<Message, axum::Error>>,
{
    let open = move |message: &Result<Message, axum::Error>| {
        if let Err(error) = message {
            // The first reason is the one that counts.
            let _ = broken.set(error.to_string());
        }
        future::ready(!matches!(message, Err(_) | Ok(Message::Close(_))))
    };
    stream.take_while(open).filter_map(move |message| future::ready(message.ok().and_then(read)))
}

fn client_message(message: Message) -> Option<Result<ClientMessage, ApiError>> {
    match message {
        Message::Text(text) => Some(event(&text).and_then(|(word, mut fields)| {
            let request_id = fields.remove("request_id").filter(|id| !id.is_null());
            let request_id = request_id.map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
            let message = by_word(fields, |fields| ClientMessage::from_event(&word, fields))?;
            Ok(ClientMessage { request_id, ..message })
        })),
        Message::Binary(_) => Some(Err(ApiError::bad_request("binary frames are for /api/v1/attach: send JSON text"))),
        _ => None,
    }
}

fn attach_request(message: Message) -> Option<Result<AttachRequest, ApiError>> {
    match message {
        Message::Binary(bytes) => Some(Ok(AttachRequest { event: Some(attach_request::Event::Input(bytes)) })),
        Message::Text(text) => Some(
            event(&text).and_then(|(word, fields)| by_word(fields, |fields| AttachRequest::from_event(&word, fields))),
        ),
        _ => None,
    }
}

/// The word and the other fields of a message.
fn event(text: &str) -> Result<(String, Map<String, Value>), ApiError> {
    let mut fields: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| ApiError::bad_request(format!("not a JSON object: {error}")))?;
    match fields.remove("event") {
        Some(Value::String(word)) => Ok((word, fields)),
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

async fn close<S: Sink<Message> + Unpin>(sink: &mut S, code: u16, reason: &str) {
    // A reason has at most 123 bytes on the wire.
    let reason: String = reason.chars().take(40).collect();
    let _ = sink.send(Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await;
}
