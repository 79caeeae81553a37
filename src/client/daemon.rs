//! The daemon of this user: found, started where there is none, and replaced where it is older than we are.

use std::future::Future;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};
use tonic::transport::Channel;
use tonic::{Response, Status};

use super::connect::{ANSWER_BYTES_MAX, ANSWER_WITHIN, channel_at};
use super::{Failure, Target, check_private};
use crate::boxes::{DAEMON_SOCKET, Home, detach, passed_on};
use crate::config;
use crate::proto::v1::boxes_client::BoxesClient;
use crate::proto::v1::{GetInfoRequest, GetInfoResponse, ShutdownDaemonRequest};

/// How long a daemon may take to answer after it was started, and an older one to leave before: it finishes what it does.
const THERE_WITHIN: Duration = Duration::from_secs(30);

/// Between two looks whether it answers.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// The longest complaint that is told of a daemon that could not start.
const COMPLAINT_BYTES_MAX: u64 = 4 * 1024;

/// Whether a daemon is started if there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    IfNeeded,
    Never,
}

/// A connection to the daemon.
#[derive(Clone, Debug)]
pub struct Boxes {
    calls: BoxesClient<Channel>,
    target: Target,
    /// What it said of itself when it was reached.
    pub info: GetInfoResponse,
}

/// Why one attempt did not reach it.
enum Missed {
    /// Nobody is there, or on the way out.
    Absent,
    /// Somebody is, and it is no use to try again.
    Failed(Failure),
}

/// Reaches the daemon of this user.
pub async fn reach(start: Start) -> Result<Boxes, Failure> {
    let dir = config::runtime_dir();
    // Whoever could listen there would be told everything.
    check_private(&dir)?;
    let socket = dir.join(DAEMON_SOCKET);
    config::check_socket_path(&socket).map_err(|mistake| Failure::Choice(mistake.to_string()))?;
    let deadline = Instant::now() + THERE_WITHIN;
    let mut starter = Starter::default();
    loop {
        match attempt(&socket).await {
            Ok(boxes) if start == Start::IfNeeded && is_newer(own_version(), &boxes.info.version) => {
                // It leaves, its sessions stay. What it answers does not matter: it may be gone already.
                let _ = boxes.calls().shutdown_daemon(ShutdownDaemonRequest {}).await;
                starter = Starter::default();
            }
            Ok(boxes) if start == Start::IfNeeded && !boxes.is_of_this_home() => {
                if boxes.info.boxes > 0 {
                    return Err(boxes.other_home());
                }
                // Nobody needs it any more but who is about to leave.
                let _ = boxes.calls().shutdown_daemon(ShutdownDaemonRequest {}).await;
                starter = Starter::default();
            }
            Ok(boxes) => return Ok(boxes),
            Err(Missed::Failed(failure)) => return Err(failure),
            Err(Missed::Absent) if start == Start::Never => return Err(Failure::NoDaemon { socket }),
            Err(Missed::Absent) => starter.see_to_it().await?,
        }
        if Instant::now() >= deadline {
            return Err(Failure::Silent { target: socket.display().to_string(), within: THERE_WITHIN });
        }
        sleep(BETWEEN_LOOKS).await;
    }
}

/// Connects, and hears who is there: a connection alone may be to somebody who is about to leave.
async fn attempt(socket: &Path) -> Result<Boxes, Missed> {
    let target = Target::Socket(socket.to_owned());
    if let Err(error) = UnixStream::connect(socket).await {
        return Err(match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Missed::Absent,
            // Its queue is full: many have come at once.
            io::ErrorKind::WouldBlock => Missed::Absent,
            _ => Missed::Failed(Failure::unreachable(&target, &error)),
        });
    }
    let Ok(channel) = channel_at(socket.to_owned()).await else { return Err(Missed::Absent) };
    let mut calls = BoxesClient::new(channel).max_decoding_message_size(ANSWER_BYTES_MAX);
    match timeout(ANSWER_WITHIN, calls.get_info(GetInfoRequest {})).await {
        Ok(Ok(info)) => Ok(Boxes { calls, target, info: info.into_inner() }),
        // It broke off, or says that it is about to.
        Ok(Err(status)) if is_broken_off(&status) => Err(Missed::Absent),
        Ok(Err(status)) => Err(Missed::Failed(Failure::of_status(&target, false, &status))),
        Err(_) => Err(Missed::Failed(Failure::Silent { target: target.to_string(), within: ANSWER_WITHIN })),
    }
}

/// Only what went wrong on this side of the wire has a source.
fn is_broken_off(status: &Status) -> bool {
    std::error::Error::source(status).is_some() || status.code() == tonic::Code::Unavailable
}

/// The daemon that we have started, if we have.
#[derive(Default)]
struct Starter(Option<Child>);

impl Starter {
    /// Starts one, unless ours is still on its way. One that left without a complaint has found another there; that one may
    /// be just leaving, so that it is tried again.
    async fn see_to_it(&mut self) -> Result<(), Failure> {
        let Some(child) = &mut self.0 else {
            self.0 = Some(spawn()?);
            return Ok(());
        };
        let ended = child.try_wait().map_err(|error| not_started(&error))?;
        match ended {
            None => Ok(()),
            Some(status) if status.success() => {
                self.0 = None;
                Ok(())
            }
            Some(status) => {
                let mut said = String::new();
                if let Some(stderr) = child.stderr.take() {
                    let _ = stderr.take(COMPLAINT_BYTES_MAX).read_to_string(&mut said).await;
                }
                let complaint = said.lines().rev().find_map(|line| line.strip_prefix("coop: "));
                Err(complaint.map_or_else(|| not_started(status), not_started))
            }
        }
    }
}

fn not_started(why: impl std::fmt::Display) -> Failure {
    Failure::Choice(format!("the daemon could not be started: {why}"))
}

fn spawn() -> Result<Child, Failure> {
    // Made here, so that what is wrong with it is told here.
    Home::open().map_err(not_started)?;
    config::private_runtime_dir().map_err(not_started)?;
    let mut command = std::process::Command::new("/proc/self/exe");
    command.arg0("coop").args(["daemon", "run"]).env_clear().envs(passed_on()).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    detach(&mut command);
    Command::from(command).spawn().map_err(not_started)
}

fn own_version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Whether one version comes after another. What cannot be read is taken for the same.
fn is_newer(own: &str, other: &str) -> bool {
    let numbers = |text: &str| -> Option<Vec<u64>> {
        let release = text.split(['-', '+']).next()?;
        release.split('.').map(|part| part.parse().ok()).collect()
    };
    matches!((numbers(own), numbers(other)), (Some(own), Some(other)) if own > other)
}

impl Boxes {
    /// The calls themselves; cheap to make.
    pub fn calls(&self) -> BoxesClient<Channel> {
        self.calls.clone()
    }

    /// Whether it keeps boxes where our own COOP_HOME says.
    pub fn is_of_this_home(&self) -> bool {
        let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let told = Path::new(&self.info.home);
        // Where neither says anything, they do not disagree.
        self.info.home.is_empty() || config::coop_home().is_none_or(|own| whole(&own) == whole(told))
    }

    fn other_home(&self) -> Failure {
        let (own, other) = (config::coop_home().unwrap_or_default(), &self.info.home);
        Failure::Choice(format!(
            "the daemon that runs keeps boxes in {other}, and COOP_HOME says {}: end it with `coop daemon stop`, or give \
             this COOP_HOME an XDG_RUNTIME_DIR of its own",
            own.display()
        ))
    }

    /// Where the daemon listens.
    pub fn socket(&self) -> PathBuf {
        match &self.target {
            Target::Socket(path) => path.clone(),
            Target::Url(_) => PathBuf::new(),
        }
    }

    /// The answer to a call that answers at once.
    pub async fn answer<T>(&self, call: impl Future<Output = Result<Response<T>, Status>>) -> Result<T, Failure> {
        self.answer_after(Duration::ZERO, call).await
    }

    /// The answer to a call that may take so long: starting and stopping takes its time.
    pub async fn answer_after<T>(
        &self,
        wait: Duration,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, Failure> {
        match timeout(wait + ANSWER_WITHIN, call).await {
            Ok(answer) => answer.map(Response::into_inner).map_err(|status| self.failure(&status)),
            Err(_) => Err(Failure::Silent { target: self.target.to_string(), within: wait + ANSWER_WITHIN }),
        }
    }

    /// A refusal in words.
    pub fn failure(&self, status: &Status) -> Failure {
        Failure::of_status(&self.target, false, status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(is_newer("0.10.0", "0.9.9"));
        assert!(is_newer("1.0.0", "0.99.0-beta"));
        for (own, other) in [("0.1.0", "0.1.0"), ("0.1.0", "0.2.0"), ("0.1.0", ""), ("x", "0.1.0"), ("0.1.0", "next")] {
            assert!(!is_newer(own, other), "{own} {other}");
        }
    }
}
