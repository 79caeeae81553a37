//! WebSockets as a client sees them.

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::client::Response;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::place::{Place, Wire};

/// An open WebSocket.
pub struct WebSocket {
    place: Place,
    stream: WebSocketStream<Box<dyn Wire>>,
}

/// What comes over it.
#[derive(Debug)]
pub enum Heard {
    Event(Value),
    Bytes(Vec<u8>),
    /// The close frame's code, if there was one.
    Closed(Option<u16>),
}

impl Heard {
    pub fn event(self) -> Value {
        match self {
            Self::Event(event) => event,
            other => panic!("expected an event, got {other:?}"),
        }
    }
}

impl Place {
    /// Opens a WebSocket, or tells how it was refused.
    pub async fn try_ws(&self, path: &str, headers: &[(&'static str, &str)]) -> Result<WebSocket, Box<Response>> {
        let mut request = format!("ws://{}{path}", self.host()).into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let wire = self.connect().await;
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let opened = self.within("a WebSocket", client_async_with_config(request, wire, Some(config))).await;
        match opened {
            Ok((stream, _)) => Ok(WebSocket { place: self.clone(), stream }),
            Err(Error::Http(response)) => {
                let (parts, body) = response.into_parts();
                Err(Box::new(Response::from_parts(parts, body)))
            }
            Err(error) => panic!("{path}: {error}"),
        }
    }

    pub async fn ws(&self, path: &str) -> WebSocket {
        let headers: Vec<_> = self.token.iter().map(|token| format!("Bearer {token}")).collect();
        let headers: Vec<_> = headers.iter().map(|value| ("authorization", value.as_str())).collect();
        match self.try_ws(path, &headers).await {
            Ok(socket) => socket,
            Err(response) => panic!("{path}: {response:?}"),
        }
    }
}

impl WebSocket {
    pub async fn say(&mut self, message: Value) {
        self.send(Message::text(message.to_string())).await;
    }

    pub async fn say_text(&mut self, text: &str) {
        self.send(Message::text(text)).await;
    }

    pub async fn say_bytes(&mut self, bytes: impl Into<bytes::Bytes>) {
        self.send(Message::binary(bytes)).await;
    }

    async fn send(&mut self, message: Message) {
        // The other side may have closed already; what it said then is what tests look at.
        let _ = self.place.within("sending", self.stream.send(message)).await;
    }

    pub async fn close(mut self) {
        let _ = self.stream.close(None).await;
        while !matches!(self.hear().await, Heard::Closed(_)) {}
    }

    /// The next message.
    pub async fn hear(&mut self) -> Heard {
        loop {
            return match self.place.within("the next message of a WebSocket", self.stream.next()).await {
                Some(Ok(Message::Text(text))) => Heard::Event(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Binary(bytes))) => Heard::Bytes(bytes.to_vec()),
                Some(Ok(Message::Close(frame))) => Heard::Closed(frame.map(|frame| frame.code.into())),
                Some(Ok(_)) => continue,
                Some(Err(_)) | None => Heard::Closed(None),
            };
        }
    }

    /// The next event of this kind; others are passed over.
    pub async fn next_event(&mut self, word: &str) -> Value {
        let mut passed = Vec::new();
        loop {
            match self.hear().await {
                Heard::Event(event) if event["event"] == word => return event,
                Heard::Closed(code) => panic!("closed ({code:?}) before {word}; passed over: {passed:?}"),
                other => passed.push(other),
            }
        }
    }

    /// The answer to the message with this id; others are passed over.
    pub async fn answer(&mut self, request_id: &str) -> Value {
        loop {
            match self.hear().await {
                Heard::Event(event) if event["request_id"] == request_id => return event,
                Heard::Closed(code) => panic!("closed ({code:?}) before the answer to {request_id}"),
                _ => {}
            }
        }
    }

    /// Asks and waits for the answer.
    pub async fn ask(&mut self, mut message: Value) -> Value {
        message["request_id"] = "asked".into();
        self.say(message).await;
        self.answer("asked").await
    }

    /// Everything that was sent before this moment: a ping is answered after it.
    pub async fn until_pong(&mut self) -> Vec<Value> {
        self.say(serde_json::json!({"event": "ping", "request_id": "mark"})).await;
        let mut events = Vec::new();
        loop {
            let event = self.hear().await.event();
            if event["request_id"] == "mark" {
                return events;
            }
            events.push(event);
        }
    }

    /// The code of the close frame; all that came before is passed over.
    pub async fn closed(&mut self) -> Option<u16> {
        loop {
            if let Heard::Closed(code) = self.hear().await {
                return code;
            }
        }
    }
}
