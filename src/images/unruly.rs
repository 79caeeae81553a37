//! A registry for tests, on loopback, that can misbehave in every way that a line or a stranger can.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::digest::Digest;
use super::samples::Sample;

/// How the next request for a blob is answered.
#[derive(Clone, Debug)]
pub(super) enum Mood {
    Good,
    /// So many bytes of the body, and then nothing more: the connection is closed.
    Cut(usize),
    /// The same, but the connection stays open.
    Stall(usize),
    /// As long as it should be, with one byte changed.
    Tamper,
    /// All of it, whatever was asked for.
    IgnoreRange,
    /// Says that it is this much longer.
    Longer(usize),
    /// Sends more without having said how much.
    Endless,
    Status(u16),
    /// Points elsewhere.
    Redirect(String),
}

/// A request as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) path: String,
    pub(super) range: Option<String>,
    pub(super) authorization: Option<String>,
}

#[derive(Default)]
struct State {
    blobs: HashMap<String, Vec<u8>>,
    manifests: HashMap<String, Vec<u8>>,
    moods: HashMap<String, VecDeque<Mood>>,
    asked: Vec<Asked>,
    /// What `Authorization` must be, and what is asked for otherwise.
    wants: Option<(String, String)>,
    /// What is given for this `Authorization` at /token.
    token: Option<(Option<String>, String)>,
}

pub(super) struct Unruly {
    pub(super) address: String,
    state: Arc<Mutex<State>>,
    task: tokio::task::JoinHandle<()>,
    served: watch::Receiver<u64>,
}

impl Drop for Unruly {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Unruly {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let state = Arc::new(Mutex::new(State::default()));
        let (count, served) = watch::channel(0);
        let shared = state.clone();
        let task = tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                let (state, count) = (shared.clone(), count.clone());
                tokio::spawn(async move { answer(stream, &state, &count).await });
            }
        });
        Self { address, state, task, served }
    }

    pub(super) async fn with(sample: &Sample) -> Self {
        let registry = Self::start().await;
        registry.put("name", "latest", sample);
        registry
    }

    pub(super) fn put(&self, repository: &str, tag: &str, sample: &Sample) {
        self.put_blobs(sample);
        self.put_manifest(repository, tag, &sample.manifest);
        self.put_manifest(repository, &Digest::of(&sample.manifest).to_string(), &sample.manifest);
    }

    pub(super) fn put_blobs(&self, sample: &Sample) {
        self.state.lock().unwrap().blobs.extend(sample.blobs());
    }

    pub(super) fn put_manifest(&self, repository: &str, name: &str, manifest: &[u8]) {
        let path = format!("/v2/{repository}/manifests/{name}");
        self.state.lock().unwrap().manifests.insert(path, manifest.to_vec());
    }

    /// The moods of the next requests for a blob.
    pub(super) fn moods(&self, blob: &[u8], moods: &[Mood]) {
        self.state.lock().unwrap().moods.insert(Digest::of(blob).to_string(), moods.iter().cloned().collect());
    }

    pub(super) fn wants(&self, authorization: &str, challenge: &str) {
        self.state.lock().unwrap().wants = Some((authorization.to_owned(), challenge.to_owned()));
    }

    pub(super) fn gives_token(&self, login: Option<&str>, token: &str) {
        self.state.lock().unwrap().token = Some((login.map(str::to_owned), token.to_owned()));
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        self.state.lock().unwrap().asked.clone()
    }

    /// The ranges that a blob was asked for, one for each request.
    pub(super) fn ranges(&self, blob: &[u8]) -> Vec<Option<String>> {
        let digest = Digest::of(blob).to_string();
        self.asked().into_iter().filter(|asked| asked.path.ends_with(&digest)).map(|asked| asked.range).collect()
    }

    /// Waits until a body has been sent as far as its mood allows, for the n-th time.
    pub(super) async fn served(&mut self, times: u64) {
        self.served.wait_for(|count| *count >= times).await.unwrap();
    }
}

async fn answer(mut stream: TcpStream, state: &Mutex<State>, count: &watch::Sender<u64>) {
    let Some(head) = read_head(&mut stream).await else { return };
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let header = |name: &str| {
        head.lines()
            .filter_map(|line| line.split_once(": "))
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.to_owned())
    };
    let asked = Asked { path: path.clone(), range: header("range"), authorization: header("authorization") };
    let reply = state.lock().unwrap().reply(&asked);
    let _ = stream.write_all(reply.head.as_bytes()).await;
    let _ = stream.write_all(&reply.body).await;
    let _ = stream.flush().await;
    if reply.is_blob {
        count.send_modify(|count| *count += 1);
    }
    if reply.stays_open {
        // Until the other side has had enough.
        let _ = stream.read(&mut [0; 1]).await;
    }
}

async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}

struct Reply {
    head: String,
    body: Vec<u8>,
    is_blob: bool,
    stays_open: bool,
}

impl Reply {
    fn new(status: u16, headers: &str, length: Option<usize>, body: Vec<u8>) -> Self {
        let length = length.map(|length| format!("Content-Length: {length}\r\n")).unwrap_or_default();
        let head = format!("HTTP/1.1 {status} x\r\nConnection: close\r\n{headers}{length}\r\n");
        Self { head, body, is_blob: false, stays_open: false }
    }

    fn plain(status: u16, headers: &str, body: &[u8]) -> Self {
        Self::new(status, headers, Some(body.len()), body.to_vec())
    }
}

impl State {
    fn reply(&mut self, asked: &Asked) -> Reply {
        self.asked.push(asked.clone());
        if asked.path.starts_with("/token") {
            return match &self.token {
                Some((login, token)) if *login == asked.authorization => {
                    Reply::plain(200, "", format!(r#"{{"token":"{token}"}}"#).as_bytes())
                }
                _ => Reply::plain(401, "", br#"{"errors":[{"message":"wrong password"}]}"#),
            };
        }
        if let Some((wanted, challenge)) = &self.wants
            && asked.authorization.as_ref() != Some(wanted)
        {
            return Reply::plain(401, &format!("WWW-Authenticate: {challenge}\r\n"), b"");
        }
        if let Some(manifest) = self.manifests.get(&asked.path) {
            return Reply::plain(200, "Content-Type: application/vnd.oci.image.manifest.v1+json\r\n", manifest);
        }
        let digest = asked.path.rsplit('/').next().unwrap_or_default();
        match self.blobs.get(digest).cloned() {
            Some(data) => {
                let mood = self.moods.get_mut(digest).and_then(VecDeque::pop_front).unwrap_or(Mood::Good);
                Reply { is_blob: true, ..blob(data, asked.range.as_deref(), mood) }
            }
            None => Reply::plain(404, "", br#"{"errors":[{"message":"unknown"}]}"#),
        }
    }
}

fn blob(mut data: Vec<u8>, range: Option<&str>, mood: Mood) -> Reply {
    let whole = data.len();
    let from = range.and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    let from = from.filter(|_| !matches!(mood, Mood::IgnoreRange));
    if from.is_some_and(|from| from >= whole) {
        return Reply::plain(416, "", b"");
    }
    if matches!(mood, Mood::Tamper) {
        data[whole - 1] ^= 1;
    }
    let data = data.split_off(from.unwrap_or(0));
    let (status, headers) = match from {
        Some(from) => (206, format!("Content-Range: bytes {from}-{}/{whole}\r\n", whole - 1)),
        None => (200, String::new()),
    };
    let length = data.len();
    match mood {
        Mood::Good | Mood::Tamper | Mood::IgnoreRange => Reply::new(status, &headers, Some(length), data),
        Mood::Cut(bytes) => Reply::new(status, &headers, Some(length), data[..bytes.min(length)].to_vec()),
        Mood::Stall(bytes) => {
            let reply = Reply::new(status, &headers, Some(length), data[..bytes.min(length)].to_vec());
            Reply { stays_open: true, ..reply }
        }
        Mood::Longer(bytes) => Reply::new(status, &headers, Some(length + bytes), [data, vec![0; bytes]].concat()),
        Mood::Endless => Reply::new(status, &headers, None, [data, vec![0; 1 << 20]].concat()),
        Mood::Status(status) => Reply::plain(status, "", br#"{"errors":[{"message":"not now"}]}"#),
        Mood::Redirect(to) => Reply::plain(307, &format!("Location: {to}\r\n"), b""),
    }
}
