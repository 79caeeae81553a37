//! The process that serves one box: starts it, so that it outlives us, finds it again, and ends it.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use super::environment::passed_on;
use super::log;
use super::raw::detach;
use crate::child::{Born, Stat};
use crate::client::{Client, Credentials, Target, connect};
use crate::proto::v1::{SendSignalRequest, ShutdownRequest};

/// The program that is started; still ours after an upgrade has replaced the file.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// How long a sidecar may take until it listens. Agents are asked for their version before, on a machine that may be busy.
const LISTENS_WITHIN: Duration = Duration::from_secs(60);

/// The longest line that announces it.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// How long a sidecar may take to leave: it gives its program 10 s, and its connections 2.
const LEAVES_WITHIN: Duration = Duration::from_secs(15);
/// The same when there is to be no grace, and after SIGKILL.
const LEAVES_NOW_WITHIN: Duration = Duration::from_secs(5);

/// How long a sidecar that may hang is asked to leave.
const HEARS_WITHIN: Duration = Duration::from_secs(2);

/// Between two looks at a process that leaves.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// How a sidecar is started.
#[derive(Debug)]
pub struct Start<'a> {
    pub args: &'a [OsString],
    /// Variables beside those that are passed on.
    pub env: Vec<(OsString, OsString)>,
    pub socket: &'a Path,
    pub log: PathBuf,
}

/// A sidecar that listens.
#[derive(Clone, Copy, Debug)]
pub struct Live {
    pub pid: Option<u32>,
    born: Option<Born>,
}

/// Starts a sidecar and waits until it listens; `Err` is the reason why it does not. What comes back is to be waited for.
pub async fn start(start: Start<'_>) -> Result<Child, String> {
    let log_file = log::open(&start.log).map_err(|error| format!("{}: {error}", start.log.display()))?;
    let from = log_file.metadata().map_or(0, |found| found.len());
    let mut command = std::process::Command::new(OWN_PROGRAM);
    command.arg0("coop").arg("--socket").arg(start.socket).args(start.args);
    command.env_clear().envs(passed_on()).envs(start.env).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log_file);
    detach(&mut command);
    let mut child = Command::from(command).spawn().map_err(|error| format!("coop could not be started: {error}"))?;
    let listens = timeout(LISTENS_WITHIN, listening(&mut child)).await;
    let why = match listens {
        Ok(Ok(())) => return Ok(child),
        Ok(Err(status)) => {
            log::reason(&start.log, from).unwrap_or_else(|| format!("its session ended at once ({status})"))
        }
        Err(_) => {
            format!("its session does not listen within {} s; see {}", LISTENS_WITHIN.as_secs(), start.log.display())
        }
    };
    // It is still our child, so that the id is its own. Its guardian ends what it has started.
    let _ = child.kill().await;
    Err(why)
}

/// Reads the one line on stdout; a sidecar that ends without it tells how.
async fn listening(child: &mut Child) -> Result<(), String> {
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        let _ = BufReader::new(stdout.take(LINE_BYTES_MAX)).read_line(&mut line).await;
    }
    if line.contains("\"listening\"") {
        return Ok(());
    }
    Err(match child.wait().await {
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    })
}

/// Who listens on a socket, if anybody does.
pub async fn probe(socket: &Path) -> Option<Live> {
    match UnixStream::connect(socket).await {
        Ok(stream) => {
            let pid = stream.peer_cred().ok().and_then(|peer| peer.pid()).filter(|pid| *pid > 0);
            let born = pid.and_then(Stat::of).map(|stat| stat.born);
            Some(Live { pid: pid.and_then(|pid| u32::try_from(pid).ok()), born })
        }
        // Its queue of callers is full, so it lives.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Some(Live { pid: None, born: None }),
        Err(_) => None,
    }
}

/// Ends the sidecar behind a socket, if there is one. `Err` is one that cannot be ended.
pub async fn stop(socket: &Path, now: bool) -> Result<(), u32> {
    let Some(live) = probe(socket).await else { return Ok(()) };
    let _ = timeout(HEARS_WITHIN, ask_to_leave(socket, now)).await;
    let grace = if now { LEAVES_NOW_WITHIN } else { LEAVES_WITHIN };
    if live.has_left(socket, grace).await {
        return Ok(());
    }
    if let Some(pid) = live.pid.filter(|_| live.is_there()) {
        tracing::warn!(pid, "a session did not leave when it was asked to, and is killed");
        let _ = kill(Pid::from_raw(pid.cast_signed()), Signal::SIGKILL);
    }
    if live.has_left(socket, LEAVES_NOW_WITHIN).await { Ok(()) } else { Err(live.pid.unwrap_or_default()) }
}

async fn ask_to_leave(socket: &Path, now: bool) {
    let client = connect(Target::Socket(socket.to_owned()), Credentials::default()).await;
    let Ok(client) = client else { return };
    if now {
        kill_program(&client).await;
    }
    if let Err(error) = client.calls().shutdown(ShutdownRequest {}).await {
        tracing::info!(socket = %socket.display(), %error, "a session could not be asked to leave");
    }
}

async fn kill_program(client: &Client) {
    // A program that has ended is what is wanted.
    let _ = client.calls().send_signal(SendSignalRequest { signal: "KILL".to_owned() }).await;
}

impl Live {
    /// Whether the very process that listened is still there; its id alone may be another's by now.
    fn is_there(&self) -> bool {
        let found = self.pid.and_then(|pid| Stat::of(pid.cast_signed()));
        found.is_some_and(|stat| stat.alive && Some(stat.born) == self.born)
    }

    async fn has_left(&self, socket: &Path, within: Duration) -> bool {
        let deadline = Instant::now() + within;
        while self.is_there() || (self.born.is_none() && probe(socket).await.is_some()) {
            if Instant::now() >= deadline {
                return false;
            }
            sleep(BETWEEN_LOOKS).await;
        }
        true
    }
}
