//! The service itself, on a free port and in a thread of its own.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Method, Response, Uri};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};

use super::reply;
use super::request::{Kind, Request, ToolResult};
use super::script::{Script, Turn};
use crate::LIMIT;

/// A model that does what its script says; it goes when it is dropped.
pub struct Model {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// Ends the service by being dropped.
    _running: oneshot::Sender<()>,
}

struct Shared {
    turns: Mutex<Turns>,
    requests: Mutex<Vec<Request>>,
    /// How many requests there were.
    count: watch::Sender<usize>,
}

#[derive(Default)]
struct Turns {
    own: VecDeque<Turn>,
    helpers: Vec<(String, VecDeque<Turn>)>,
}

impl Model {
    pub fn start(script: Script) -> Self {
        let turns = Mutex::new(Turns { own: script.turns, helpers: script.helpers });
        let shared = Arc::new(Shared { turns, requests: Mutex::default(), count: watch::Sender::new(0) });
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(answer).layer(DefaultBodyLimit::disable()).with_state(shared.clone());
        let (running, mut ended) = oneshot::channel::<()>();
        // A thread of its own, so that a test which blocks does not make the model wait.
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    served = async { axum::serve(listener, router).await } => served.unwrap(),
                    _ = &mut ended => {}
                }
            });
        });
        Self { address, shared, _running: running }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Forgets what is left of the script and goes on with this one.
    pub fn plays(&self, script: Script) {
        *self.shared.turns.lock().unwrap() = Turns { own: script.turns, helpers: script.helpers };
    }

    /// Every request of these kinds, oldest first.
    pub fn requests(&self, kind: Kind) -> Vec<Request> {
        let requests = self.shared.requests.lock().unwrap();
        requests.iter().filter(|request| request.kind == kind).cloned().collect()
    }

    /// The last request of the conversation.
    pub fn last(&self) -> Request {
        self.requests(Kind::Turn).pop().expect("a request of the conversation")
    }

    /// All that the user said, each once, in the order in which it came.
    pub fn heard(&self) -> Vec<String> {
        let mut heard = Vec::new();
        let mut before: Vec<String> = Vec::new();
        for request in self.requests(Kind::Turn) {
            let said = request.said();
            // Each request repeats the conversation; what lies beyond the common beginning is new.
            let known = said.iter().zip(&before).take_while(|(now, then)| now == then).count();
            heard.extend_from_slice(&said[known..]);
            before = said;
        }
        heard
    }

    /// All that tools gave back, each once.
    pub fn results(&self) -> Vec<ToolResult> {
        let mut results: Vec<ToolResult> = Vec::new();
        for result in self.requests(Kind::Turn).iter().flat_map(Request::results) {
            if !results.iter().any(|known| known.id == result.id) {
                results.push(result);
            }
        }
        results
    }

    /// Waits until something is true of what the model got.
    pub async fn until(&self, what: &str, mut met: impl FnMut(&Self) -> bool) {
        let mut count = self.shared.count.subscribe();
        let waited = tokio::time::timeout(LIMIT, count.wait_for(|_| met(self))).await;
        assert!(waited.is_ok(), "the model never got {what}");
    }

    /// What came, for a failing test.
    pub fn summary(&self) -> String {
        let requests = self.shared.requests.lock().unwrap();
        requests.iter().map(Request::summary).collect::<Vec<_>>().join("\n")
    }
}

/// Which conversation a request belongs to.
fn kind_of(request: &Request, helpers: &[(String, VecDeque<Turn>)]) -> Kind {
    let texts = request.texts();
    let last = texts.iter().rev().find(|(role, _)| role == "user").map_or("", |(_, text)| text);
    // The words with which Claude Code 2.1.197 asks for a summary.
    if last.contains("CRITICAL: Respond with TEXT ONLY") || last.contains("summary of the conversation") {
        return Kind::Summary;
    }
    if request.body["tools"].as_array().is_none_or(Vec::is_empty) {
        return Kind::Side;
    }
    let first = request.said();
    let task = first.first().map_or("", String::as_str);
    if helpers.iter().any(|(prompt, _)| task == prompt) { Kind::Helper } else { Kind::Turn }
}

impl Shared {
    /// Keeps the request and says which turn answers it.
    fn take(&self, body: Value, credential: Option<String>) -> Turn {
        let mut request = Request { kind: Kind::Turn, body, credential };
        let mut turns = self.turns.lock().unwrap();
        request.kind = kind_of(&request, &turns.helpers);
        let turn = match request.kind {
            Kind::Turn => turns.own.pop_front(),
            Kind::Helper => {
                let task = request.said().swap_remove(0);
                turns.helpers.iter_mut().find(|(prompt, _)| *prompt == task).and_then(|(_, turns)| turns.pop_front())
            }
            Kind::Summary => only("<analysis>All.</analysis><summary>SUMMARY OF ALL BEFORE</summary>"),
            Kind::Side => only("{\"title\":\"A test\",\"isNewTopic\":false}"),
        };
        drop(turns);
        self.requests.lock().unwrap().push(request);
        self.count.send_modify(|count| *count += 1);
        turn.or_else(|| only(Script::NOTHING_LEFT)).unwrap()
    }
}

fn only(text: &str) -> Option<Turn> {
    Script::new().text(text).turns.pop_front()
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    match (method, uri.path()) {
        (Method::HEAD, _) => Response::default(),
        (Method::POST, "/v1/messages") => {
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            let credential = headers.get("x-api-key").or_else(|| headers.get("authorization"));
            let credential = credential.and_then(|value| value.to_str().ok()).map(str::to_owned);
            let turn = shared.take(body.clone(), credential);
            reply::give(turn, &body).await
        }
        (Method::POST, "/v1/messages/count_tokens") => reply::plain(200, &[], &json!({"input_tokens": 100})),
        (Method::GET, "/v1/models") => {
            reply::plain(200, &[], &json!({"data": [], "has_more": false, "first_id": null, "last_id": null}))
        }
        (_, path) => {
            let error = json!({"type": "not_found_error", "message": format!("nothing is served at {path}")});
            reply::plain(404, &[], &json!({"type": "error", "error": error}))
        }
    }
}
