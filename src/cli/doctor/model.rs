//! A model of the doctor's own: a tiny service on loopback that says "ok", and asks for a command when it is told to. Which
//! API it speaks is the subject's.

use std::collections::HashSet;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{Method, Response, Uri};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::subjects::{Dialect, Kind};

/// In a message, what follows it on the same line is a command that the model then asks for, once.
pub const RUN: &str = "please run: ";

/// A conversation with all tools described has some 100 kB.
const REQUEST_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Serves until it is dropped.
pub struct Model {
    url: String,
    shared: Arc<Shared>,
    serving: JoinHandle<()>,
}

struct Shared {
    dialect: &'static Dialect,
    /// Whether answers may go out; until then an agent works.
    open: watch::Sender<bool>,
    heard: Mutex<Heard>,
}

#[derive(Default)]
struct Heard {
    /// Commands that were asked for.
    asked: HashSet<String>,
    /// The whole of the last request.
    last: String,
}

/// What the model says.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    Ok,
    /// Asks to run this command, in a call of this name.
    Run {
        command: String,
        id: String,
    },
}

impl Model {
    pub async fn start(dialect: &'static Dialect) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let shared = Arc::new(Shared { dialect, open: watch::Sender::new(true), heard: Mutex::default() });
        let limit = DefaultBodyLimit::max(REQUEST_BYTES_MAX);
        let router = Router::new().fallback(answer).layer(limit).with_state(shared.clone());
        let serving = tokio::spawn(async move {
            // It never ends by itself.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { url, shared, serving })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Lets requests wait.
    pub fn hold(&self) {
        self.shared.open.send_replace(false);
    }

    /// Answers what waits, and all that comes.
    pub fn go_on(&self) {
        self.shared.open.send_replace(true);
    }

    /// Whether the conversation holds these words.
    pub fn has_heard(&self, words: &str) -> bool {
        self.shared.heard.lock().unwrap_or_else(PoisonError::into_inner).last.contains(words)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Heard {
    /// What to say to a request of the conversation.
    fn reply(&mut self, dialect: &Dialect, request: &Value) -> Reply {
        self.last = (dialect.conversation)(request).to_string();
        match wish(&(dialect.last_texts)(request)).filter(|command| self.asked.insert(command.clone())) {
            Some(command) => {
                let id = command.bytes().map(|byte| format!("{byte:02x}")).collect();
                Reply::Run { command, id }
            }
            None => Reply::Ok,
        }
    }
}

/// The command that the user's last message names.
fn wish(texts: &[&str]) -> Option<String> {
    let (_, command) = texts.iter().rev().find_map(|text| text.rsplit_once(RUN))?;
    command.lines().next().map(|line| line.trim().to_owned())
}

async fn answer(State(shared): State<Arc<Shared>>, method: Method, uri: Uri, body: Bytes) -> Response<Body> {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let dialect = shared.dialect;
    match (dialect.kind)(&method, uri.path(), &request) {
        Kind::Known(response) => response,
        Kind::Aside => (dialect.answer)(&request, &Reply::Ok),
        Kind::Turn => {
            let reply = shared.heard.lock().unwrap_or_else(PoisonError::into_inner).reply(dialect, &request);
            // An error means that the doctor has gone, and this with it.
            let _ = shared.open.subscribe().wait_for(|open| *open).await;
            (dialect.answer)(&request, &reply)
        }
        Kind::Strange => {
            let error = json!({"type": "not_found_error", "message": format!("nothing is served at {}", uri.path())});
            whole(404, &json!({"type": "error", "error": error}))
        }
    }
}

/// One answer in one piece.
pub fn whole(status: u16, body: &Value) -> Response<Body> {
    response(status, "application/json", body.to_string())
}

fn response(status: u16, content_type: &str, body: String) -> Response<Body> {
    let built = Response::builder().status(status).header("content-type", content_type).body(Body::from(body));
    built.unwrap_or_default()
}

/// A stream of events, each with its type where it has one.
pub fn events(events: &[Value]) -> Response<Body> {
    let line = |event: &Value| match event["type"].as_str() {
        Some(kind) => format!("event: {kind}\ndata: {event}\n\n"),
        None => format!("data: {event}\n\n"),
    };
    response(200, "text/event-stream", events.iter().map(line).collect())
}

#[cfg(test)]
mod tests {
    use super::super::subjects::Known;
    use super::*;

    const RUN_A: &str = "please run: touch a";

    /// The user's words in each API, with something that an agent adds before them.
    fn told(known: Known, words: &str) -> Value {
        let parts = json!([{"type": "text", "text": "<reminder>"}, {"type": "text", "text": words}]);
        match known {
            Known::Claude => json!({"messages": [{"role": "user", "content": parts}]}),
            Known::Codex => json!({"input": [{"type": "message", "role": "user", "content": parts}]}),
            Known::Gemini => json!({"contents": [{"role": "user", "parts": parts}]}),
        }
    }

    #[test]
    fn a_command_is_asked_for_once_and_all_else_is_ok() {
        for known in [Known::Claude, Known::Codex, Known::Gemini] {
            let (mut heard, dialect) = (Heard::default(), &known.subject().dialect);
            assert_eq!(heard.reply(dialect, &told(known, "hello")), Reply::Ok);
            let reply = heard.reply(dialect, &told(known, RUN_A));
            assert!(matches!(reply, Reply::Run { command, .. } if command == "touch a"), "{known:?}");
            assert_eq!(heard.reply(dialect, &told(known, RUN_A)), Reply::Ok);
            assert!(heard.last.contains(RUN_A), "what was said is remembered");
            assert_eq!(heard.reply(dialect, &json!(null)), Reply::Ok);
        }
    }

    #[test]
    fn only_the_users_words_count() {
        let mut heard = Heard::default();
        let result = json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": RUN_A}]);
        let request = json!({"messages": [{"role": "user", "content": result}]});
        assert_eq!(heard.reply(&Known::Claude.subject().dialect, &request), Reply::Ok);
    }
}
