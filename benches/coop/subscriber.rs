//! One subscriber to the output, over gRPC or WebSocket, that knows what it has seen.

use std::borrow::Cow;

use anyhow::{Result, bail};
use coop::proto::v1::coop_client::CoopClient;
use coop::proto::v1::{OutputChunk, StreamOutputRequest};
use futures_util::StreamExt;
use serde::Deserialize;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};
use tonic::Streaming;

use crate::load::{Face, Seen};

/// A subscriber that is connected.
pub struct Subscriber {
    connection: Connection,
    /// The byte that comes next.
    next: u64,
    seen: Seen,
}

enum Connection {
    Grpc(Box<Streaming<OutputChunk>>),
    Websocket(Box<WebSocketStream<MaybeTlsStream<TcpStream>>>),
}

/// A piece of output, or of what is missing.
enum Piece {
    Output { offset: u64, bytes: u64 },
    Gap { from: u64, to: u64 },
}

pub async fn subscribe(url: &str, face: Face, from: u64) -> Result<Subscriber> {
    let connection = match face {
        Face::Grpc => {
            let mut client = CoopClient::connect(url.to_owned()).await?;
            let request = StreamOutputRequest { from_offset: Some(from) };
            Connection::Grpc(Box::new(client.stream_output(request).await?.into_inner()))
        }
        Face::Websocket => {
            let url = format!("{}/ws?mode=raw&from_offset={from}", url.replacen("http", "ws", 1));
            Connection::Websocket(Box::new(tokio_tungstenite::connect_async(url).await?.0))
        }
    };
    Ok(Subscriber { connection, next: from, seen: Seen::default() })
}

impl Subscriber {
    /// Reads until everything before `until` has been seen or was said to be missing.
    pub async fn read_until(mut self, until: u64) -> Result<Seen> {
        while self.next < until {
            match self.piece().await? {
                Some(Piece::Output { offset, bytes }) => {
                    self.seen.breaks += u64::from(offset != self.next);
                    self.seen.bytes += bytes;
                    self.seen.pieces += 1;
                    self.next = offset + bytes;
                }
                Some(Piece::Gap { from, to }) => {
                    self.seen.breaks += u64::from(from != self.next);
                    self.seen.gaps += 1;
                    self.seen.gap_bytes += to - from;
                    self.next = to;
                }
                None => {}
            }
        }
        Ok(self.seen)
    }

    async fn piece(&mut self) -> Result<Option<Piece>> {
        match &mut self.connection {
            Connection::Grpc(stream) => match stream.message().await? {
                Some(OutputChunk { gap: Some(gap), .. }) => Ok(Some(Piece::Gap {
                    from: gap.from_offset.unwrap_or_default(),
                    to: gap.to_offset.unwrap_or_default(),
                })),
                Some(chunk) => Ok(Some(Piece::Output { offset: chunk.offset, bytes: chunk.data.len() as u64 })),
                None => bail!("the stream ended"),
            },
            Connection::Websocket(socket) => match socket.next().await.transpose()? {
                Some(Message::Text(text)) => Ok(serde_json::from_str::<Event<'_>>(&text)?.piece()),
                Some(_) => Ok(None),
                None => bail!("the socket closed"),
            },
        }
    }
}

/// What matters of a message; the data itself is counted, not decoded.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(borrow, default)]
    data: Option<&'a str>,
    offset: Option<u64>,
    from_offset: Option<u64>,
    to_offset: Option<u64>,
}

impl Event<'_> {
    fn piece(&self) -> Option<Piece> {
        match &*self.event {
            "output" => {
                let base64 = self.data?;
                let padding = base64.bytes().rev().take_while(|byte| *byte == b'=').count();
                let bytes = base64.len() / 4 * 3 - padding;
                Some(Piece::Output { offset: self.offset?, bytes: bytes as u64 })
            }
            "gap" => Some(Piece::Gap { from: self.from_offset?, to: self.to_offset? }),
            _ => None,
        }
    }
}
