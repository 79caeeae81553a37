//! The private socket on which the hooks of one session call.

use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use subtle::ConstantTimeEq;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use super::hook_call::{BadPayload, Call, Given, HookAnswer, HookCall, parse};
use super::hook_wire::{self as wire, BODY_BYTES_MAX, Kind, PREFIX_BYTES, Question};

/// Hooks that wait for their answers at once. An agent with many subagents has some tens of open dialogs.
const HOOKS_AT_ONCE_MAX: usize = 256;

/// Payloads that are read and parsed at once, together. Others wait their turn.
const READING_KIB_MAX: usize = 128 * 1024;

/// A hook has its payload before it calls, and sends it in one go.
const QUESTION_WITHIN: Duration = Duration::from_secs(10);

/// A hook that waits for its answer takes it at once.
const TAKE_WITHIN: Duration = Duration::from_secs(10);

/// It prints it at once, too; whoever asked waits for a word about that for 5 s.
const PRINT_WITHIN: Duration = Duration::from_secs(4);

/// How long to wait when the system has no descriptors left.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// Larger payloads are parsed on a thread of their own, where they keep nobody waiting.
const PARSE_HERE_BYTES_MAX: usize = 256 * 1024;

/// The socket. Its name goes, and whoever waits at it is let go, when it is dropped.
#[derive(Debug)]
pub struct HookSocket {
    path: PathBuf,
    _accepting: AbortOnDropHandle<()>,
}

/// What all connections share.
struct Hall {
    token: String,
    calls: mpsc::Sender<HookCall>,
    places: Arc<Semaphore>,
    reading: Semaphore,
    question_within: Duration,
}

impl HookSocket {
    /// Listens at a path in a directory of our own, for callers of our own user who know the token. Must be called
    /// inside a tokio runtime.
    pub fn bind(path: PathBuf, token: String, calls: mpsc::Sender<HookCall>) -> io::Result<Self> {
        Self::bind_within(path, token, calls, QUESTION_WITHIN)
    }

    fn bind_within(
        path: PathBuf,
        token: String,
        calls: mpsc::Sender<HookCall>,
        question_within: Duration,
    ) -> io::Result<Self> {
        remove_abandoned(&path)?;
        let listener = UnixListener::bind(&path)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        let hall = Hall {
            token,
            calls,
            places: Arc::new(Semaphore::new(HOOKS_AT_ONCE_MAX)),
            reading: Semaphore::new(READING_KIB_MAX),
            question_within,
        };
        let accepting = AbortOnDropHandle::new(tokio::spawn(accept(listener, Arc::new(hall))));
        Ok(Self { path, _accepting: accepting })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for HookSocket {
    fn drop(&mut self) {
        // It may have been removed already; that is what is wanted.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Removes what a dead process left; one that is served stays, and binding fails.
fn remove_abandoned(path: &Path) -> io::Result<()> {
    let is_socket = path.symlink_metadata().is_ok_and(|found| found.file_type().is_socket());
    if is_socket && StdUnixStream::connect(path).is_err_and(|e| e.kind() == io::ErrorKind::ConnectionRefused) {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

async fn accept(listener: UnixListener, hall: Arc<Hall>) {
    // They end with this task.
    let mut guests = JoinSet::new();
    loop {
        let Ok(place) = hall.places.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let hall = hall.clone();
                guests.spawn(async move {
                    let _place = place;
                    if let Err(error) = attend(stream, &hall).await {
                        tracing::warn!(%error, "a hook's call was not understood");
                    }
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a hook's call could not be accepted");
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
        }
        while guests.try_join_next().is_some() {}
    }
}

/// Takes one question to whoever answers it, and brings the answer.
async fn attend(mut stream: UnixStream, hall: &Hall) -> io::Result<()> {
    check_user(&stream)?;
    let Some((question, body)) = listen(&mut stream, hall).await? else { return Ok(()) };
    if !bool::from(question.token.as_bytes().ct_eq(hall.token.as_bytes())) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "wrong token"));
    }
    let (answer, verdict) = HookAnswer::pair();
    let call = HookCall { call: understand(question.kind, body).await, answer };
    if hall.calls.send(call).await.is_err() {
        // Nobody listens any more: the session ends.
        return Ok(());
    }
    if let Some(given) = until_answered(&mut stream, verdict).await {
        give(&mut stream, given).await;
    }
    Ok(())
}

/// Brings an answer, and tells whether it was printed. A hook may be ended while it is on the way.
async fn give(stream: &mut UnixStream, Given { answer, printed }: Given) {
    let give = async {
        stream.write_all(&answer.head()?).await?;
        stream.write_all(&answer.body).await?;
        match &printed {
            Some(_) => Ok(stream.read_u8().await? == wire::PRINTED),
            None => Ok(false),
        }
    };
    let within = if printed.is_some() { PRINT_WITHIN } else { TAKE_WITHIN };
    let given: Result<io::Result<bool>, _> = tokio::time::timeout(within, give).await;
    // One that has not left and says nothing may still print it.
    if let (Ok(given), Some(printed)) = (given, printed) {
        let _ = printed.send(given.unwrap_or(false));
    }
}

fn check_user(stream: &UnixStream) -> io::Result<()> {
    let (peer, own) = (stream.peer_cred()?.uid(), nix::unistd::geteuid().as_raw());
    if peer == own || peer == 0 {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("it came from the user with id {peer}")))
}

/// The whole question, in time; `None` if the caller left without a word.
async fn listen(stream: &mut UnixStream, hall: &Hall) -> io::Result<Option<(Question, Vec<u8>)>> {
    let read = async {
        let mut prefix = [0; PREFIX_BYTES];
        if stream.read(&mut prefix[..1]).await? == 0 {
            return Ok(None);
        }
        stream.read_exact(&mut prefix[1..]).await?;
        let mut header = vec![0; wire::header_bytes(prefix)?];
        stream.read_exact(&mut header).await?;
        let bytes = wire::body_bytes(stream.read_u64().await?.to_be_bytes())?;
        let body = read_body(stream, bytes, &hall.reading).await?;
        Ok(Some((wire::parse_header(&header)?, body)))
    };
    let late = || io::Error::new(io::ErrorKind::TimedOut, "it did not come to its end in time");
    tokio::time::timeout(hall.question_within, read).await.unwrap_or_else(|_| Err(late()))
}

/// Memory grows with what really comes, whatever length is announced.
async fn read_body(stream: impl AsyncRead + Unpin, bytes: usize, reading: &Semaphore) -> io::Result<Vec<u8>> {
    let share = u32::try_from(bytes.div_ceil(1024)).map_err(io::Error::other)?;
    let _share = reading.acquire_many(share).await.map_err(io::Error::other)?;
    let mut body = Vec::new();
    stream.take(bytes as u64).read_to_end(&mut body).await?;
    if body.len() < bytes { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(body) }
}

async fn understand(kind: Kind, body: Vec<u8>) -> Call {
    match kind {
        Kind::Event { event, truncated: true } => {
            Call::Event { event, payload: Err(BadPayload::TooLarge { bytes_max: BODY_BYTES_MAX }) }
        }
        Kind::Event { event, truncated: false } => Call::Event { event, payload: parse_aside(body).await },
        Kind::ResolveStop => Call::ResolveStop { signal: parse_aside(body).await },
    }
}

async fn parse_aside(body: Vec<u8>) -> Result<serde_json::Value, BadPayload> {
    if body.len() <= PARSE_HERE_BYTES_MAX {
        return parse(&body);
    }
    let parsed = tokio::task::spawn_blocking(move || parse(&body)).await;
    parsed.unwrap_or_else(|error| Err(BadPayload::NotJson { why: error.to_string(), excerpt: String::new() }))
}

/// The answer, unless it is given up or the hook leaves before.
async fn until_answered(stream: &mut UnixStream, verdict: oneshot::Receiver<Given>) -> Option<Given> {
    tokio::select! {
        verdict = verdict => verdict.ok(),
        () = leaves(stream) => None,
    }
}

/// Hooks say nothing after their question; the end of what they say is their own end.
async fn leaves(stream: &mut UnixStream) {
    let mut more = [0; 64];
    while let Ok(1..) = stream.read(&mut more).await {}
}

#[cfg(test)]
mod tests;
