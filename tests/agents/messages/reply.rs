//! One answer on the wire: server-sent events as the Messages API streams them.

use std::convert::Infallible;
use std::io::{Error, ErrorKind};
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Body;
use axum::http::Response;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::script::{Answer, Block, End, Piece, Tokens, Turn};

/// Events that may wait for a slow reader.
const EVENTS_MAX: usize = 64;

/// Characters of text and of tool input in one event, so that several come for one block.
const CHUNK_CHARS: usize = 40;

/// A number that no other message or tool call of this run has.
fn number() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    COUNT.fetch_add(1, Ordering::Relaxed)
}

/// A JSON answer.
pub(super) fn plain(status: u16, headers: &[(String, String)], body: &Value) -> Response<Body> {
    let mut response = Response::builder().status(status).header("content-type", "application/json");
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response.body(Body::from(body.to_string())).unwrap()
}

/// What this turn answers to a request of this kind.
pub(super) async fn give(turn: Turn, body: &Value) -> Response<Body> {
    if let Some(gate) = &turn.hold {
        gate.pass().await;
    }
    match turn.answer {
        Answer::Refused { status, headers, error } => plain(
            status,
            &headers,
            &json!({"type": "error", "error": error, "request_id": format!("req_{}", number())}),
        ),
        Answer::Message { blocks, end } => {
            let message = Message { model: body["model"].clone(), usage: turn.usage, plan_path: plan_path(body), end };
            match body["stream"] == true {
                true => message.streamed(blocks),
                false => message.whole(blocks).await,
            }
        }
    }
}

struct Message {
    model: Value,
    usage: Tokens,
    plan_path: Option<String>,
    end: End,
}

/// Where the agent told the model to write its plan.
fn plan_path(body: &Value) -> Option<String> {
    let text = body["messages"].to_string();
    let paths = regex::Regex::new(r#"/[^\\\s"`]+/plans/[^\\\s"`]+\.md"#).unwrap();
    paths.find_iter(&text).last().map(|path| path.as_str().to_owned())
}

impl Message {
    fn stop_reason(&self, blocks: &[Block]) -> &'static str {
        let tools = blocks.iter().any(|block| !matches!(block, Block::Text(_)));
        match self.end {
            End::Reason(reason) => reason,
            _ if tools => "tool_use",
            _ => "end_turn",
        }
    }

    fn usage(&self, output: u64) -> Value {
        let Tokens { input, cache_read, cache_write, .. } = self.usage;
        json!({
            "input_tokens": input,
            "output_tokens": output,
            "cache_read_input_tokens": cache_read,
            "cache_creation_input_tokens": cache_write,
        })
    }

    fn head(&self, content: Value, stop_reason: Value, output: u64) -> Value {
        json!({
            "id": format!("msg_{:016}", number()), "type": "message", "role": "assistant", "model": self.model,
            "content": content, "stop_reason": stop_reason, "stop_sequence": null, "usage": self.usage(output),
        })
    }

    /// Name and input of a tool call.
    fn call(&self, block: &Block) -> (String, Value) {
        match block {
            Block::Tool { name, input } => (name.clone(), input.clone()),
            Block::PlanFile(plan) => {
                let path = self.plan_path.clone().unwrap_or_else(|| "/nowhere/plans/unknown.md".to_owned());
                ("Write".to_owned(), json!({"file_path": path, "content": plan}))
            }
            Block::Text(_) => unreachable!("text is no tool call"),
        }
    }

    async fn whole(self, blocks: Vec<Block>) -> Response<Body> {
        let mut content = Vec::new();
        for block in &blocks {
            content.push(match block {
                Block::Text(pieces) => {
                    let mut text = String::new();
                    for piece in pieces {
                        match piece {
                            Piece::Words(words) => text.push_str(words),
                            Piece::Pause(gate) => gate.pass().await,
                        }
                    }
                    json!({"type": "text", "text": text})
                }
                call => {
                    let (name, input) = self.call(call);
                    json!({"type": "tool_use", "id": format!("toolu_{:016}", number()), "name": name, "input": input})
                }
            });
        }
        let message = self.head(json!(content), json!(self.stop_reason(&blocks)), self.usage.output);
        plain(200, &[], &message)
    }

    fn streamed(self, blocks: Vec<Block>) -> Response<Body> {
        let (events, stream) = mpsc::channel(EVENTS_MAX);
        tokio::spawn(async move {
            let closed = events.clone();
            tokio::select! {
                _ = self.stream(blocks, &events) => {}
                // The agent has hung up, perhaps while a gate is shut.
                () = closed.closed() => {}
            }
        });
        Response::builder()
            .header("content-type", "text/event-stream")
            .header("cache-control", "no-cache")
            .body(Body::from_stream(ReceiverStream::new(stream)))
            .unwrap()
    }

    async fn stream(self, blocks: Vec<Block>, events: &Events) -> Option<Infallible> {
        let stop_reason = self.stop_reason(&blocks);
        if let End::HungUp = self.end {
            let _ = events.send(Err(Error::from(ErrorKind::ConnectionReset))).await;
            return None;
        }
        send(events, json!({"type": "message_start", "message": self.head(json!([]), Value::Null, 1)})).await?;
        for (index, block) in blocks.iter().enumerate() {
            let delta = |delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
            let start = |block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
            match block {
                Block::Text(pieces) => {
                    send(events, start(json!({"type": "text", "text": ""}))).await?;
                    for piece in pieces {
                        match piece {
                            Piece::Pause(gate) => gate.pass().await,
                            Piece::Words(words) => {
                                for text in chunks(words) {
                                    send(events, delta(json!({"type": "text_delta", "text": text}))).await?;
                                }
                            }
                        }
                    }
                }
                call => {
                    let (name, input) = self.call(call);
                    let id = format!("toolu_{:016}", number());
                    send(events, start(json!({"type": "tool_use", "id": id, "name": name, "input": {}}))).await?;
                    for text in chunks(&input.to_string()) {
                        send(events, delta(json!({"type": "input_json_delta", "partial_json": text}))).await?;
                    }
                }
            }
            send(events, json!({"type": "content_block_stop", "index": index})).await?;
        }
        match &self.end {
            End::Dropped => {
                // The words before must be on the wire: wait until the server has taken them all.
                drop(events.reserve_many(EVENTS_MAX).await.ok()?);
                let _ = events.send(Err(Error::from(ErrorKind::ConnectionReset))).await;
            }
            End::Error(error) => send(events, json!({"type": "error", "error": error})).await?,
            End::Usual | End::Reason(_) | End::HungUp => {
                let stopped = json!({"stop_reason": stop_reason, "stop_sequence": null});
                let usage = self.usage(self.usage.output);
                send(events, json!({"type": "message_delta", "delta": stopped, "usage": usage})).await?;
                send(events, json!({"type": "message_stop"})).await?;
            }
        }
        None
    }
}

type Events = mpsc::Sender<Result<Bytes, Error>>;

/// `None` when nobody reads any more.
async fn send(events: &Events, event: Value) -> Option<()> {
    let line = format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.send(Ok(line.into())).await.ok()
}

fn chunks(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(CHUNK_CHARS).map(|chunk| chunk.iter().collect()).collect()
}
