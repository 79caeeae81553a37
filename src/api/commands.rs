//! Commands beside the session's program, without a terminal: what they read, print and complain of are three streams
//! of bytes, as in a script.

use std::future::pending;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::error::{ApiError, Code};
use super::service::Service;
use super::side_terminals::Side;
use crate::child::{self, Exit, Piped};
use crate::proto::v1::run_command_request::Event as Asked;
use crate::proto::v1::run_command_response::Event as Told;
use crate::proto::v1::{self, RunCommandRequest, RunCommandResponse};

/// Each has six descriptors and a few buffers.
const COMMANDS_MAX: usize = 64;

/// How long a caller may take to say which command.
const START_WITHIN: Duration = Duration::from_secs(10);

/// What is read at once: as much as a pipe holds.
const CHUNK_BYTES: usize = 64 * 1024;

/// Messages between the command and the network.
const WAITING_MAX: usize = 4;

/// How long after its end, and after its last output, a command's pipes may stay open: somebody whom it left behind could
/// hold them for ever.
const DRAIN_QUIET: Duration = Duration::from_millis(500);

/// Nobody has terminals to offer, so that programs do not paint. Those who know better say so.
const TERM: (&str, &str) = ("TERM", "dumb");

/// Those that run.
pub struct Commands {
    /// None where the session's program is not ours: a command beside it would run elsewhere.
    side: Option<Arc<Side>>,
    places: Semaphore,
    running: TaskTracker,
    closing: CancellationToken,
}

/// What a caller is told; an error ends it.
pub type Telling = mpsc::Receiver<Result<RunCommandResponse, ApiError>>;

impl Commands {
    pub fn new(side: Option<Arc<Side>>) -> Self {
        let (running, closing) = (TaskTracker::new(), CancellationToken::new());
        Self { side, places: Semaphore::new(COMMANDS_MAX), running, closing }
    }

    /// Ends all of them, and returns when nothing is left of them.
    pub async fn close_all(&self) {
        self.closing.cancel();
        self.running.close();
        self.running.wait().await;
    }
}

/// Runs one command until it has ended or its caller has left.
pub fn run_command<S>(service: Arc<Service>, incoming: S) -> Telling
where
    S: Stream<Item = Result<RunCommandRequest, ApiError>> + Send + Unpin + 'static,
{
    let (tell, told) = mpsc::channel(WAITING_MAX);
    let running = service.commands.running.clone();
    running.spawn(async move {
        if let Err(error) = (Call { service: &service, tell: &tell }).serve(incoming).await {
            // The last word; whether it is heard changes nothing.
            let _ = tell.send(Err(error)).await;
        }
    });
    told
}

struct Call<'a> {
    service: &'a Service,
    tell: &'a mpsc::Sender<Result<RunCommandResponse, ApiError>>,
}

impl Call<'_> {
    async fn serve<S>(&self, mut incoming: S) -> Result<(), ApiError>
    where
        S: Stream<Item = Result<RunCommandRequest, ApiError>> + Send + Unpin,
    {
        let commands = &self.service.commands;
        let start = first(&mut incoming).await?;
        self.service.session.touch();
        let Some(side) = &commands.side else {
            let message = "the terminal is borrowed, and coop cannot run anything beside it";
            return Err(ApiError::new(Code::Borrowed, message));
        };
        let _place = commands.places.try_acquire().map_err(|_| {
            ApiError::new(Code::NotReady, format!("{COMMANDS_MAX} commands run already: wait for one to end"))
        })?;
        let mut launch = side.launch(&start.command, &start.cwd, &start.env)?;
        if !start.env.contains_key(TERM.0) {
            launch.env.push((TERM.0.into(), TERM.1.into()));
        }
        // A box may have to be made for it first.
        let ground = side.ground.clone();
        let spawned = tokio::task::spawn_blocking(move || child::spawn_piped_on(&launch, &ground)).await;
        let spawned = spawned.map_err(|error| ApiError::new(Code::Internal, error.to_string()))?;
        let Piped { pid, stdin, stdout, stderr, process } =
            spawned.map_err(|error| ApiError::bad_request(error.to_string()))?;

        let end = commands.closing.child_token();
        let mut supervised = process.supervise(side.ground.guardian.clone(), end.clone());
        let over = CancellationToken::new();
        let ended = async {
            let exit = (&mut supervised.exit).await;
            over.cancel();
            exit
        };
        let feed = async {
            feed(self.service, stdin, incoming).await;
            pending::<()>().await;
        };
        let work = async {
            self.say(Told::Started(v1::CommandStarted { pid })).await;
            let (exit, (), ()) = tokio::join!(
                ended,
                self.tell_all(stdout, &over, Told::Stdout),
                self.tell_all(stderr, &over, Told::Stderr)
            );
            exit
        };
        let exit = tokio::select! {
            exit = work => exit.ok(),
            () = feed => None,
            () = self.tell.closed() => None,
            () = commands.closing.cancelled() => None,
        };
        if let Some(exit) = exit {
            self.say(Told::Ended(told(exit))).await;
        }
        end.cancel();
        // It has failed only if a task has, and then there is nothing to wait for.
        let _ = supervised.cleared.await;
        Ok(())
    }

    /// Tells what comes out of a pipe, no faster than it is taken.
    async fn tell_all(&self, mut from: pipe::Receiver, over: &CancellationToken, event: fn(Bytes) -> Told) {
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let quiet = async {
                over.cancelled().await;
                tokio::time::sleep(DRAIN_QUIET).await;
            };
            let read = tokio::select! {
                biased;
                read = from.read(&mut chunk) => read.unwrap_or(0),
                () = quiet => 0,
            };
            if read == 0 {
                return;
            }
            self.service.session.touch();
            self.say(event(Bytes::copy_from_slice(&chunk[..read]))).await;
        }
    }

    /// Who has left needs to be told nothing; that is seen elsewhere.
    async fn say(&self, event: Told) {
        let _ = self.tell.send(Ok(RunCommandResponse { event: Some(event) })).await;
    }
}

async fn first<S>(incoming: &mut S) -> Result<v1::CommandStart, ApiError>
where
    S: Stream<Item = Result<RunCommandRequest, ApiError>> + Unpin,
{
    let first = tokio::time::timeout(START_WITHIN, incoming.next()).await;
    match first.ok().flatten().transpose()?.and_then(|message| message.event) {
        Some(Asked::Start(start)) if !start.command.is_empty() => Ok(start),
        _ => Err(ApiError::bad_request("the first message must be start, with the command")),
    }
}

/// Passes on what the command is to read, then the end. One that reads no more is no failure: `head` does that.
async fn feed<S>(service: &Service, mut stdin: pipe::Sender, mut incoming: S)
where
    S: Stream<Item = Result<RunCommandRequest, ApiError>> + Unpin,
{
    while let Some(Ok(message)) = incoming.next().await {
        service.session.touch();
        let Some(Asked::Stdin(bytes)) = message.event else { continue };
        if let Err(error) = stdin.write_all(&bytes).await {
            if error.kind() != io::ErrorKind::BrokenPipe {
                tracing::warn!(%error, "a command could not be given what it was to read");
            }
            return;
        }
    }
}

fn told(exit: Exit) -> v1::CommandEnded {
    match exit {
        Exit::Code(code) => v1::CommandEnded { code: Some(code), signal: None },
        Exit::Signal(number) => v1::CommandEnded { code: None, signal: Some(number) },
    }
}
