//! A keep-alive HTTP connection that asks one thing after the other.

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// One connection to a server.
pub struct Http {
    sender: SendRequest<Full<Bytes>>,
    address: String,
}

impl Http {
    /// Connects to `http://ADDRESS`.
    pub async fn connect(url: &str) -> Result<Self> {
        let address = url.trim_start_matches("http://").to_owned();
        let stream = TcpStream::connect(&address).await.with_context(|| format!("no connection to {address}"))?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(async move {
            // The server's end shows in the next request.
            let _ = connection.await;
        });
        Ok(Self { sender, address })
    }

    pub async fn get(&mut self, path: &str) -> Result<Bytes> {
        self.call("GET", path, Bytes::new()).await
    }

    pub async fn post(&mut self, path: &str, body: &Value) -> Result<Value> {
        let answer = self.call("POST", path, body.to_string().into()).await?;
        serde_json::from_slice(&answer).with_context(|| format!("POST {path} answered no JSON"))
    }

    pub async fn get_json(&mut self, path: &str) -> Result<Value> {
        let answer = self.get(path).await?;
        serde_json::from_slice(&answer).with_context(|| format!("GET {path} answered no JSON"))
    }

    async fn call(&mut self, verb: &str, path: &str, body: Bytes) -> Result<Bytes> {
        let request = Request::builder().method(verb).uri(path).header("host", &self.address).body(Full::new(body))?;
        self.sender.ready().await?;
        let answer = self.sender.send_request(request).await.with_context(|| format!("{verb} {path}"))?;
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        if !status.is_success() {
            bail!("{verb} {path} answered {status}: {}", String::from_utf8_lossy(&body));
        }
        Ok(body)
    }
}
