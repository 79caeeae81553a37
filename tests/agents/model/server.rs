//! The service itself, on a free port and in a thread of its own.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Method, Response, Uri};
use bytes::Bytes;
use serde_json::Value;
use tokio::sync::{oneshot, watch};

use super::dialect::{Dialect, Wanted};
use super::request::{Kind, Request, ToolResult};
use super::script::Script;
use super::turn::{Answer, Block, End, Message, Tokens, Turn};
use super::wire;
use crate::LIMIT;

/// The headers in which the APIs take a key.
const CREDENTIALS: [&str; 3] = ["x-api-key", "authorization", "x-goog-api-key"];

/// A model that does what its script says; it goes when it is dropped.
pub struct Model {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// Ends the service by being dropped.
    _running: oneshot::Sender<()>,
}

struct Shared {
    dialect: &'static dyn Dialect,
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
    pub fn start(dialect: &'static dyn Dialect, script: Script) -> Self {
        let turns = Mutex::new(Turns { own: script.turns, helpers: script.helpers });
        let shared = Arc::new(Shared { dialect, turns, requests: Mutex::default(), count: watch::Sender::new(0) });
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
            // Each request repeats the conversation, or what a summary left of its end; what lies beyond that is new.
            let common = said.iter().zip(&before).take_while(|(now, then)| now == then).count();
            let left =
                (0..=before.len()).find(|cut| said.starts_with(&before[*cut..])).map_or(0, |cut| before.len() - cut);
            heard.extend_from_slice(&said[common.max(left)..]);
            before = said;
        }
        heard
    }

    /// All that tools gave back, each once.
    pub fn results(&self) -> Vec<ToolResult> {
        let mut results: Vec<ToolResult> = Vec::new();
        for result in self.requests(Kind::Turn).into_iter().flat_map(|request| request.talk.results) {
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

impl Shared {
    /// Keeps the request and says which turn answers it.
    fn take(&self, kind: Kind, body: &Value, credential: Option<String>) -> Turn {
        let talk = self.dialect.read(body);
        let mut turns = self.turns.lock().unwrap();
        let task = talk.said.first().map_or("", String::as_str);
        let helper = turns.helpers.iter_mut().find(|(prompt, _)| kind == Kind::Turn && task == prompt);
        let (kind, turn) = match (kind, helper) {
            (_, Some((_, turns))) => (Kind::Helper, self.next(turns, body)),
            (Kind::Turn, None) => (kind, self.next(&mut turns.own, body)),
            (kind, None) => (kind, Some(said(self.dialect.aside(kind)))),
        };
        drop(turns);
        self.requests.lock().unwrap().push(Request { kind, credential, talk });
        self.count.send_modify(|count| *count += 1);
        turn.unwrap_or_else(|| said(Script::NOTHING_LEFT))
    }

    /// The next turn in the agent's own steps; those that it needs further come next.
    fn next(&self, turns: &mut VecDeque<Turn>, body: &Value) -> Option<Turn> {
        let mut turn = turns.pop_front()?;
        if let Answer::Does(intent) = turn.answer {
            let tokens = turn.tokens;
            let step = |blocks| Answer::Said { blocks, end: End::Usual };
            let mut steps = self.dialect.does(intent, body).into_iter().map(step);
            turn.answer = steps.next().expect("an intent has a step");
            for answer in steps.rev() {
                turns.push_front(Turn { hold: None, answer, tokens });
            }
        }
        Some(turn)
    }

    async fn give(&self, turn: Turn, body: &Value, streamed: bool) -> Response<Body> {
        if let Some(gate) = &turn.hold {
            gate.pass().await;
        }
        match turn.answer {
            Answer::Refused { status, headers, fault } => {
                wire::json(status, &headers, &self.dialect.refusal(status, &fault))
            }
            Answer::Said { blocks, end } => {
                let message = Message { blocks, end, tokens: turn.tokens };
                self.dialect.speech(&message, body, streamed).response()
            }
            Answer::Does(_) => unreachable!("an intent has become steps"),
        }
    }
}

fn said(text: &str) -> Turn {
    let answer = Answer::Said { blocks: vec![Block::said(text)], end: End::Usual };
    Turn { hold: None, answer, tokens: Tokens::default() }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    if method == Method::HEAD {
        return Response::default();
    }
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    match shared.dialect.wanted(&method, uri.path(), &body) {
        Wanted::Fact(status, fact) => wire::json(status, &[], &fact),
        Wanted::Words { kind, streamed } => {
            let credential = CREDENTIALS.iter().find_map(|name| headers.get(*name)?.to_str().ok());
            let turn = shared.take(kind, &body, credential.map(str::to_owned));
            shared.give(turn, &body, streamed).await
        }
    }
}
