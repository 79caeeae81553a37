//! Where a coop is reached, and what to show when it does not do what it should.

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

use super::{Call, PATIENCE};

/// Lines of coop's log as they come.
#[derive(Clone, Default)]
pub struct Log(Arc<(Mutex<Vec<String>>, Condvar)>);

impl Log {
    pub fn push(&self, line: String) {
        self.0.0.lock().unwrap().push(line);
        self.0.1.notify_all();
    }

    pub fn text(&self) -> String {
        self.0.0.lock().unwrap().join("\n")
    }

    /// Blocks until a line holds this text, or patience ends.
    pub fn wait_for(&self, text: &str) -> bool {
        let begun = Instant::now();
        let lines = self.0.0.lock().unwrap();
        let missing = |lines: &mut Vec<String>| !lines.iter().any(|line| line.contains(text));
        let (_lines, waited) = self.0.1.wait_timeout_while(lines, PATIENCE, missing).unwrap();
        !(waited.timed_out() && begun.elapsed() >= PATIENCE)
    }
}

/// The address of one coop.
#[derive(Clone)]
pub enum Address {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// One coop as its callers see it. Cheap to clone.
#[derive(Clone)]
pub struct Place {
    pub address: Address,
    pub log: Log,
    /// Sent with every call.
    pub token: Option<String>,
}

/// A connection of either kind.
pub trait Wire: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Wire for T {}

impl Place {
    /// Whoever listens on this socket.
    pub fn unix(path: PathBuf) -> Self {
        Self { address: Address::Unix(path), log: Log::default(), token: None }
    }

    pub async fn connect(&self) -> Box<dyn Wire> {
        match &self.address {
            Address::Tcp(address) => Box::new(TcpStream::connect(address).await.unwrap()),
            Address::Unix(path) => Box::new(UnixStream::connect(path).await.unwrap()),
        }
    }

    /// What stands in the Host header.
    pub fn host(&self) -> String {
        match &self.address {
            Address::Tcp(address) => address.to_string(),
            Address::Unix(_) => "localhost".to_owned(),
        }
    }

    pub fn call(&self, verb: &str, path: &str) -> Call {
        Call::new(self.clone(), verb, path)
    }

    /// Waits for something that must happen; if it does not, the test fails with all there is to see.
    pub async fn within<T>(&self, what: &str, future: impl Future<Output = T>) -> T {
        match tokio::time::timeout(PATIENCE, future).await {
            Ok(value) => value,
            Err(_) => panic!("{what}: not within {PATIENCE:?}\n{}", self.sight().await),
        }
    }

    /// The screen and the log, for a failing test.
    pub async fn sight(&self) -> String {
        let looked = tokio::time::timeout(std::time::Duration::from_secs(2), async {
            let screen = self.call("GET", "/api/v1/screen").send_within().await.text();
            let status = self.call("GET", "/api/v1/status").send_within().await.text();
            format!("{screen}\n{status}")
        });
        let screen = looked.await.unwrap_or_else(|_| "(no answer)".to_owned());
        format!("--- screen and status\n{screen}\n--- log\n{}", self.log.text())
    }
}
