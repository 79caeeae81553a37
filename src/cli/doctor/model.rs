//! A model of the doctor's own: a tiny Messages API on loopback that says "ok", and asks for a command when it is told to.

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
enum Reply {
    Ok,
    Bash(String),
}

impl Model {
    pub async fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let shared = Arc::new(Shared { open: watch::Sender::new(true), heard: Mutex::default() });
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
    fn reply(&mut self, request: &Value) -> Reply {
        self.last = request["messages"].to_string();
        match wish(request).filter(|command| self.asked.insert(command.clone())) {
            Some(command) => Reply::Bash(command),
            None => Reply::Ok,
        }
    }
}

/// The command that the user's last message names.
fn wish(request: &Value) -> Option<String> {
    let message = request["messages"].as_array()?.iter().rfind(|message| message["role"] == "user")?;
    let texts: Vec<&str> = match &message["content"] {
        Value::String(text) => vec![text],
        content => content.as_array()?.iter().filter_map(|block| block["text"].as_str()).collect(),
    };
    let (_, command) = texts.iter().rev().find_map(|text| text.rsplit_once(RUN))?;
    command.lines().next().map(|line| line.trim().to_owned())
}

async fn answer(State(shared): State<Arc<Shared>>, method: Method, uri: Uri, body: Bytes) -> Response<Body> {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    match (method, uri.path()) {
        (Method::HEAD, _) => Response::default(),
        // A small request beside the conversation has no tools: it asks for a title.
        (Method::POST, "/v1/messages") if request["tools"].as_array().is_none_or(Vec::is_empty) => {
            message(&request, &Reply::Ok)
        }
        (Method::POST, "/v1/messages") => {
            let reply = shared.heard.lock().unwrap_or_else(PoisonError::into_inner).reply(&request);
            // An error means that the doctor has gone, and this with it.
            let _ = shared.open.subscribe().wait_for(|open| *open).await;
            message(&request, &reply)
        }
        (Method::POST, "/v1/messages/count_tokens") => whole(200, &json!({"input_tokens": 100})),
        (_, path) => {
            let error = json!({"type": "not_found_error", "message": format!("nothing is served at {path}")});
            whole(404, &json!({"type": "error", "error": error}))
        }
    }
}

fn whole(status: u16, body: &Value) -> Response<Body> {
    response(status, "application/json", body.to_string())
}

fn response(status: u16, content_type: &str, body: String) -> Response<Body> {
    let built = Response::builder().status(status).header("content-type", content_type).body(Body::from(body));
    built.unwrap_or_default()
}

/// The reply as the Messages API gives it, streamed or whole.
fn message(request: &Value, reply: &Reply) -> Response<Body> {
    let (block, delta, reason) = match reply {
        Reply::Ok => {
            let delta = json!({"type": "text_delta", "text": "ok"});
            (json!({"type": "text", "text": "ok"}), delta, "end_turn")
        }
        Reply::Bash(command) => {
            let input = json!({"command": command, "description": "What coop doctor asked for"});
            let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
            let id = format!("toolu_{}", command.bytes().map(|byte| format!("{byte:02x}")).collect::<String>());
            (json!({"type": "tool_use", "id": id, "name": "Bash", "input": input}), delta, "tool_use")
        }
    };
    let usage = json!({"input_tokens": 10, "output_tokens": 2});
    let mut head = json!({
        "id": "msg_coop_doctor", "type": "message", "role": "assistant", "model": request["model"],
        "content": [block], "stop_reason": reason, "stop_sequence": null, "usage": usage,
    });
    if request["stream"] != true {
        return whole(200, &head);
    }
    let mut begun = head["content"][0].take();
    begun[if reason == "tool_use" { "input" } else { "text" }] =
        if reason == "tool_use" { json!({}) } else { json!("") };
    head["content"] = json!([]);
    head["stop_reason"] = Value::Null;
    let events = [
        json!({"type": "message_start", "message": head}),
        json!({"type": "content_block_start", "index": 0, "content_block": begun}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": usage}),
        json!({"type": "message_stop"}),
    ];
    let line = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    response(200, "text/event-stream", events.iter().map(line).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(content: Value) -> Value {
        json!({"messages": [{"role": "user", "content": content}]})
    }

    #[test]
    fn a_command_is_asked_for_once_and_all_else_is_ok() {
        let mut heard = Heard::default();
        let asks = told(
            json!([{"type": "text", "text": "<system-reminder>"}, {"type": "text", "text": "please run: touch a"}]),
        );
        assert_eq!(heard.reply(&told(json!("hello"))), Reply::Ok);
        assert_eq!(heard.reply(&asks), Reply::Bash("touch a".to_owned()));
        assert_eq!(heard.reply(&asks), Reply::Ok);
        let result = json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": "please run: touch b"}]);
        assert_eq!(heard.reply(&told(result)), Reply::Ok, "only the user's words count");
        assert_eq!(heard.reply(&json!(null)), Reply::Ok);
    }
}
