//! Plain HTTP/1.1 calls, and streams of lines.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;

use super::Place;

/// A request on its way.
pub struct Call {
    place: Place,
    request: Request<Full<Bytes>>,
}

/// A whole answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// The lines of an answer without end.
pub struct Lines {
    place: Place,
    pub headers: HeaderMap,
    body: Incoming,
    held: Vec<u8>,
}

impl Call {
    pub fn new(place: Place, verb: &str, path: &str) -> Self {
        let mut request = Request::builder().method(verb).uri(path).header("host", place.host());
        if let Some(token) = &place.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        Self { place, request: request.body(Full::default()).unwrap() }
    }

    /// Sets a header, or takes it away when the value is empty.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let name: HeaderName = name.parse().unwrap();
        if value.is_empty() {
            self.request.headers_mut().remove(name);
        } else {
            self.request.headers_mut().insert(name, HeaderValue::from_str(value).unwrap());
        }
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.bytes(body.to_string())
    }

    pub fn bytes(mut self, body: impl Into<Bytes>) -> Self {
        *self.request.body_mut() = Full::new(body.into());
        self
    }

    async fn begin(self) -> Response<Incoming> {
        let wire = TokioIo::new(self.place.connect().await);
        let (mut sender, connection) = hyper::client::conn::http1::handshake(wire).await.unwrap();
        tokio::spawn(connection.with_upgrades());
        let what = format!("{} {}", self.request.method(), self.request.uri());
        sender.send_request(self.request).await.unwrap_or_else(|error| panic!("{what}: {error}"))
    }

    /// Without a deadline of its own.
    pub async fn send_within(self) -> Answer {
        let response = self.begin().await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    pub async fn send(self) -> Answer {
        let place = self.place.clone();
        let what = format!("{} {}", self.request.method(), self.request.uri());
        place.within(&what, self.send_within()).await
    }

    /// Only the beginning of the answer; the rest comes line by line.
    pub async fn stream(self) -> Lines {
        let place = self.place.clone();
        let response = place.within("the head of a stream", self.begin()).await;
        let (parts, body) = response.into_parts();
        assert_eq!(parts.status, 200);
        Lines { place, headers: parts.headers, body, held: Vec::new() }
    }
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn value(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.text()))
    }

    /// The object of a success.
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.value()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// A field that holds base64.
    pub fn bytes_of(&self, field: &str) -> Vec<u8> {
        STANDARD.decode(self.ok()[field].as_str().unwrap()).unwrap()
    }

    /// Status, code and message of the one envelope; anything else in its place fails.
    pub fn error(&self) -> (u16, String, String) {
        assert_eq!(self.header("content-type"), "application/json", "{} {}", self.status, self.text());
        let value = self.value();
        let word = |name: &str| value["error"][name].as_str().unwrap_or_else(|| panic!("{value}")).to_owned();
        assert_eq!(value.as_object().unwrap().len(), 1, "nothing stands beside the error: {value}");
        (self.status, word("code"), word("message"))
    }

    /// The same without the message.
    pub fn refused(&self) -> (u16, String) {
        let (status, code, message) = self.error();
        assert!(!message.is_empty());
        (status, code)
    }
}

impl Lines {
    /// The next line without its end; `None` after the last.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.held.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.held.drain(..=end).collect();
                return Some(String::from_utf8(line[..end].to_vec()).unwrap());
            }
            let frame = self.place.within("the next line of a stream", self.body.frame()).await?;
            if let Some(data) = frame.ok()?.data_ref() {
                self.held.extend_from_slice(data);
            }
        }
    }

    /// Everything until the stream ends.
    pub async fn rest(&mut self) -> String {
        let mut rest = String::new();
        while let Some(line) = self.next().await {
            rest.push_str(&line);
        }
        rest
    }

    /// The next line as JSON.
    pub async fn value(&mut self) -> Value {
        let line = self.next().await.expect("the stream has ended");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// The next server-sent event: its id and its data.
    pub async fn event(&mut self) -> (Option<String>, Value) {
        let (mut id, mut data) = (None, None);
        loop {
            let line = self.next().await.expect("the stream has ended");
            match line.split_once(": ") {
                Some(("id", text)) => id = Some(text.to_owned()),
                Some(("data", text)) => data = Some(serde_json::from_str(text).unwrap()),
                _ if line.is_empty() => {
                    if let Some(data) = data {
                        return (id, data);
                    }
                }
                _ => {}
            }
        }
    }
}
