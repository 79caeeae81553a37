//! Bytes on their way to the agent: what all dialects do alike.

use std::io::{Error, ErrorKind};
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Body;
use axum::http::Response;
use bytes::Bytes;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::Gate;
use super::turn::{Block, Piece};

/// Frames that may wait for a slow reader.
const FRAMES_MAX: usize = 64;

/// Characters of text and of tool input in one event, so that several come for one block.
const CHUNK_CHARS: usize = 40;

/// An answer that comes bit by bit.
pub struct Speech {
    pub content_type: &'static str,
    pub frames: Vec<Frame>,
}

pub enum Frame {
    Bytes(String),
    /// Goes on when the gate is open.
    Pause(Gate),
    /// The connection breaks.
    Broken,
}

impl Speech {
    pub fn events(frames: Vec<Frame>) -> Self {
        Self { content_type: "text/event-stream", frames }
    }

    /// One JSON value after all pauses of these blocks.
    pub fn whole(blocks: &[Block], value: &Value) -> Self {
        let pieces = blocks.iter().flat_map(|block| match block {
            Block::Text(pieces) => pieces.as_slice(),
            Block::Tool { .. } => &[],
        });
        let pauses = pieces.filter_map(|piece| match piece {
            Piece::Pause(gate) => Some(Frame::Pause(gate.clone())),
            Piece::Words(_) => None,
        });
        let frames = pauses.chain([Frame::Bytes(value.to_string())]).collect();
        Self { content_type: "application/json", frames }
    }

    pub fn response(self) -> Response<Body> {
        if let [Frame::Broken] = self.frames[..] {
            // Not even the head of the answer gets onto the wire.
            return Response::new(Body::from_stream(tokio_stream::once(Err::<Bytes, _>(broken()))));
        }
        let (sender, stream) = mpsc::channel(FRAMES_MAX);
        tokio::spawn(async move {
            let closed = sender.clone();
            tokio::select! {
                _ = send(self.frames, &sender) => {}
                // The agent has hung up, perhaps while a gate is shut.
                () = closed.closed() => {}
            }
        });
        Response::builder()
            .header("content-type", self.content_type)
            .header("cache-control", "no-cache")
            .body(Body::from_stream(ReceiverStream::new(stream)))
            .unwrap()
    }
}

/// `None` when nobody reads any more.
async fn send(frames: Vec<Frame>, sender: &mpsc::Sender<Result<Bytes, Error>>) -> Option<()> {
    for frame in frames {
        match frame {
            Frame::Bytes(bytes) => sender.send(Ok(bytes.into())).await.ok()?,
            Frame::Pause(gate) => gate.pass().await,
            Frame::Broken => {
                // What came before must be on the wire: wait until the server has taken it all.
                drop(sender.reserve_many(FRAMES_MAX).await.ok()?);
                sender.send(Err(broken())).await.ok()?;
            }
        }
    }
    Some(())
}

fn broken() -> Error {
    Error::from(ErrorKind::ConnectionReset)
}

/// A server-sent event with its type before it.
pub fn event(value: &Value) -> Frame {
    Frame::Bytes(format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap()))
}

/// A JSON answer.
pub fn json(status: u16, headers: &[(String, String)], body: &Value) -> Response<Body> {
    let mut response = Response::builder().status(status).header("content-type", "application/json");
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response.body(Body::from(body.to_string())).unwrap()
}

/// A number that no other message or tool call of this run has.
pub fn number() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    COUNT.fetch_add(1, Ordering::Relaxed)
}

pub fn chunks(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(CHUNK_CHARS).map(|chunk| chunk.iter().collect()).collect()
}
