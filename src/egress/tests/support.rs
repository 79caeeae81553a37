//! A world for tests: names that lead where a test says, and a far side that it plays itself.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::egress::denial::{Denial, Denials};
use crate::egress::dial::Dialer;
use crate::egress::outside::Outside;
use crate::egress::policy::Policy;
use crate::egress::proxy::{Limits, serve_within};
use crate::egress::{AllowList, RULES_MAX};

/// An address in the world.
pub const PUBLIC: &str = "203.0.113.1";

/// After this long a test says what it waits for, instead of hanging.
const PATIENCE: Duration = Duration::from_mins(1);

pub async fn soon<T>(what: &str, waiting: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("waited in vain for {what}"))
}

/// The far side of every dial.
pub struct Far(TcpListener);

impl Far {
    pub async fn listen() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    pub async fn accept(&self) -> Line {
        Line(soon("a connection to the far side", self.0.accept()).await.unwrap().0)
    }

    pub fn at(&self) -> SocketAddr {
        self.0.local_addr().unwrap()
    }
}

/// How an address takes a dial.
#[derive(Clone, Copy)]
enum Manner {
    Refuses,
    Silent,
}

/// What the machine believes of the world.
#[derive(Default)]
pub struct World {
    names: HashMap<String, Vec<IpAddr>>,
    manners: HashMap<IpAddr, Manner>,
    own: Vec<IpAddr>,
    far: Option<SocketAddr>,
    lookups: Mutex<Vec<String>>,
    dialled: Mutex<Vec<String>>,
}

impl World {
    /// Every dial ends at `far`, whatever its address.
    pub fn around(far: &Far) -> Self {
        Self { far: Some(far.at()), ..Self::default() }
    }

    pub fn name(mut self, name: &str, addresses: &[&str]) -> Self {
        self.names.insert(name.to_owned(), addresses.iter().map(|address| address.parse().unwrap()).collect());
        self
    }

    pub fn refuses(mut self, address: &str) -> Self {
        self.manners.insert(address.parse().unwrap(), Manner::Refuses);
        self
    }

    pub fn silent(mut self, address: &str) -> Self {
        self.manners.insert(address.parse().unwrap(), Manner::Silent);
        self
    }

    pub fn own(mut self, address: &str) -> Self {
        self.own.push(address.parse().unwrap());
        self
    }

    pub fn lookups(&self) -> Vec<String> {
        self.lookups.lock().unwrap().clone()
    }

    pub fn dialled(&self) -> Vec<String> {
        self.dialled.lock().unwrap().clone()
    }
}

impl Outside for World {
    fn resolve(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let found = self.names.get(&name).cloned();
        self.lookups.lock().unwrap().push(name);
        Box::pin(async move { found.ok_or_else(|| io::Error::other("no such name")) })
    }

    fn own(&self) -> Vec<IpAddr> {
        self.own.clone()
    }

    fn connect(&self, to: SocketAddr) -> BoxFuture<'static, io::Result<TcpStream>> {
        self.dialled.lock().unwrap().push(to.to_string());
        let (far, manner) = (self.far.unwrap(), self.manners.get(&to.ip()).copied());
        Box::pin(async move {
            match manner {
                None => TcpStream::connect(far).await,
                Some(Manner::Refuses) => Err(io::ErrorKind::ConnectionRefused.into()),
                Some(Manner::Silent) => std::future::pending().await,
            }
        })
    }
}

/// A running proxy, gone with its value.
pub struct Proxy {
    pub world: Arc<World>,
    pub denials: mpsc::Receiver<Denial>,
    at: SocketAddr,
    cancel: DropGuard,
}

impl Proxy {
    pub async fn start(allow: &[&str], world: World) -> Self {
        Self::within(Limits::default(), allow, world).await
    }

    pub async fn within(limits: Limits, allow: &[&str], world: World) -> Self {
        let entries: Vec<String> = allow.iter().map(ToString::to_string).collect();
        let policy = Policy { allow: AllowList::parse(&entries).unwrap() };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (at, world) = (listener.local_addr().unwrap(), Arc::new(world));
        let (sender, denials) = mpsc::channel(RULES_MAX);
        let dialer =
            Dialer { policy, outside: world.clone(), denials: Denials::new(sender), dial_within: limits.dial_within };
        let cancel = CancellationToken::new();
        tokio::spawn(serve_within(listener, dialer, limits, cancel.clone()));
        Self { world, denials, at, cancel: cancel.drop_guard() }
    }

    pub async fn connect(&self) -> Line {
        Line(TcpStream::connect(self.at).await.unwrap())
    }

    /// A connection on which `text` was sent.
    pub async fn say(&self, text: &str) -> Line {
        let mut line = self.connect().await;
        line.send(text).await;
        line
    }

    /// An open tunnel: the program's end and the far one.
    pub async fn tunnel(&self, far: &Far, to: &str) -> (Line, Line) {
        let mut near = self.say(&connect(to)).await;
        assert_eq!(near.head().await, "HTTP/1.1 200 OK\r\n\r\n");
        (near, far.accept().await)
    }

    /// The refusal that was told last.
    pub async fn denial(&mut self) -> Denial {
        soon("a denial", self.denials.recv()).await.unwrap()
    }

    pub fn stop(self) {
        drop(self.cancel);
    }
}

/// A request for a tunnel.
pub fn connect(to: &str) -> String {
    format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n")
}

/// One end of a connection.
pub struct Line(pub TcpStream);

impl Line {
    pub async fn send(&mut self, text: &str) {
        soon("room to send", self.0.write_all(text.as_bytes())).await.unwrap();
    }

    /// Ends this direction.
    pub async fn end(&mut self) {
        self.0.shutdown().await.unwrap();
    }

    /// Ends both with a reset.
    pub fn reset(self) {
        self.0.set_zero_linger().unwrap();
    }

    /// Everything up to and with the empty line.
    pub async fn head(&mut self) -> String {
        let head = self.head_or_end().await;
        assert!(head.ends_with("\r\n\r\n"), "it ended after {head:?}");
        head
    }

    /// The same from one who may leave before; byte by byte, so that nothing after it is lost.
    pub async fn head_or_end(&mut self) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match soon("a head", self.0.read_u8()).await {
                Ok(byte) => head.push(byte),
                Err(_) => break,
            }
        }
        String::from_utf8(head).unwrap()
    }

    pub async fn exactly(&mut self, count: usize) -> String {
        let mut bytes = vec![0; count];
        soon("bytes", self.0.read_exact(&mut bytes)).await.unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// Everything up to the end, which must be a proper one.
    pub async fn rest(&mut self) -> String {
        self.ending().await.unwrap()
    }

    /// Everything up to the end, of whatever kind.
    pub async fn ending(&mut self) -> io::Result<String> {
        let mut bytes = Vec::new();
        soon("the end", self.0.read_to_end(&mut bytes)).await?;
        Ok(String::from_utf8(bytes).unwrap())
    }

    /// What is answered up to the end of whatever kind. Its own direction is ended with the first answer: before, that
    /// would mean that it has given up.
    pub async fn until_quiet(mut self) -> String {
        let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
        loop {
            match soon("an answer", self.0.read(&mut chunk)).await {
                Ok(0) | Err(_) => return String::from_utf8(bytes).unwrap(),
                Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            }
            let _ = self.0.shutdown().await;
        }
    }

    /// A whole answer whose head tells its length.
    pub async fn answer(&mut self) -> (String, String) {
        let head = self.head().await;
        let lower = head.to_ascii_lowercase();
        let length = lower.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next()).expect(&head);
        let body = self.exactly(length.parse().unwrap()).await;
        (head, body)
    }
}
