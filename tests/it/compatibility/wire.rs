//! Requests byte for byte as callers write them, and answers read by their Content-Length alone.

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use crate::support::{Place, Wire};

/// A connection that a caller keeps.
pub struct Caller {
    place: Place,
    wire: BufReader<Box<dyn Wire>>,
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: String,
}

impl Caller {
    pub async fn to(place: &Place) -> Self {
        Self { place: place.clone(), wire: BufReader::new(place.connect().await) }
    }

    /// Sends these bytes and reads the answer; the connection stays open.
    pub async fn says(&mut self, request: &str) -> Reply {
        let place = self.place.clone();
        let line = request.lines().next().unwrap_or_default().to_owned();
        place.within(&line, self.exchange(request)).await
    }

    async fn exchange(&mut self, request: &str) -> Reply {
        self.wire.get_mut().write_all(request.as_bytes()).await.unwrap();
        let status = self.line().await;
        let status = status.strip_prefix("HTTP/1.1 ").and_then(|rest| rest[..3].parse().ok());
        let mut headers = Vec::new();
        loop {
            let line = self.line().await;
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let mut reply = Reply { status: status.expect("a status line"), headers, body: String::new() };
        assert_eq!(reply.header("transfer-encoding"), None, "{request}");
        let lengths: Vec<_> = reply.headers.iter().filter(|(name, _)| name == "content-length").collect();
        assert_eq!(lengths.len(), 1, "{request}: {reply:?}");
        let length: usize = lengths[0].1.parse().unwrap();
        if !request.starts_with("HEAD ") {
            let mut body = vec![0; length];
            self.wire.read_exact(&mut body).await.unwrap();
            reply.body = String::from_utf8(body).unwrap();
        }
        reply
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        self.wire.read_line(&mut line).await.unwrap();
        assert!(line.ends_with("\r\n"), "{line:?}");
        line.trim_end().to_owned()
    }
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The object of a success.
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()
    }
}

/// As Go's `net/http` asks.
pub fn go_get(path: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: Go-http-client/1.1\r\nAccept-Encoding: gzip\r\n\r\n"
    )
}

/// As Go's `net/http` posts JSON.
pub fn go_post(path: &str, body: &str) -> String {
    go_send("POST", path, body)
}

/// The same for what is put.
pub fn go_put(path: &str, body: &str) -> String {
    go_send("PUT", path, body)
}

fn go_send(verb: &str, path: &str, body: &str) -> String {
    format!(
        "{verb} {path} HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: Go-http-client/1.1\r\nContent-Length: {}\r\n\
         Content-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n{body}",
        body.len()
    )
}

/// As curl asks, or posts without a body.
pub fn curl(verb: &str, path: &str) -> String {
    format!("{verb} {path} HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n\r\n")
}

/// As `curl -d` posts, with the content type that it chooses by itself.
pub fn curl_data(path: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\nContent-Length: {}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\n\r\n{body}",
        body.len()
    )
}

/// As an orchestrator writes that speaks HTTP by hand.
pub fn bare_get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

/// The same with a body.
pub fn bare_post(path: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}
