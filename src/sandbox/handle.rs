//! A box that stands: programs are started in it, ports are reached, its end is told.

use std::{
    io,
    net::{TcpListener, TcpStream},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    thread::JoinHandle,
    time::Duration,
};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
};
use rustix::process::{Signal, WaitId, WaitIdOptions, pidfd_send_signal, waitid};
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use super::{
    RunError,
    cgroup::Group,
    channel::{Channel, Received},
    ending::Ending,
    spec::Run,
    wire::{Program, Request, RunFailure, Word},
};

/// How long a program may take to become itself. It reads its first page from a disk that may sleep.
const RUN_PATIENCE: Duration = Duration::from_secs(60);
/// How long a connection inside the box may take. It never leaves the machine.
const DIAL_PATIENCE: Duration = Duration::from_secs(5);

/// The stack of a thread that makes three system calls.
const WATCHING_BYTES: usize = 64 * 1024;
/// How long the end of a box is waited for.
const END_PATIENCE: Duration = Duration::from_secs(5);

/// A box that stands. Dropped, it ends with everything inside.
#[derive(Debug)]
pub struct Sandbox {
    control: Channel,
    pid: u32,
    pidfd: OwnedFd,
    warnings: Vec<String>,
    listener: Option<OwnedFd>,
    gone: watch::Receiver<bool>,
    /// The thread that waits for its end.
    watching: Option<JoinHandle<()>>,
}

/// Ends a box from elsewhere than where it is held.
#[derive(Debug)]
pub struct Killer(OwnedFd);

impl Killer {
    /// Ends it with everything inside, if it still stands.
    pub fn kill(&self) {
        let _ = pidfd_send_signal(&self.0, Signal::KILL);
    }
}

/// What a box is made of while it is built.
pub(super) struct Parts {
    pub(super) control: Channel,
    pub(super) pid: u32,
    pub(super) pidfd: OwnedFd,
    pub(super) group: Option<Group>,
}

/// A program that was started in a box.
#[derive(Debug)]
pub struct Started {
    /// Its process id as the machine sees it; also its process group and its session.
    pub pid: u32,
    /// Its process id inside.
    pub inner_pid: u32,
    /// The controlling side of its terminal, or the end of the pipe with both of its outputs.
    pub terminal: OwnedFd,
    /// How it will have ended.
    pub exit: Ending,
}

/// A program that was started in a box without a terminal.
#[derive(Debug)]
pub struct Piped {
    /// Its process id as the machine sees it; also its process group and its session.
    pub pid: u32,
    /// Our ends of its pipes.
    pub stdin: OwnedFd,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
    /// How it will have ended.
    pub exit: Ending,
}

/// A program that runs, with the ends that it sent out.
struct Begun {
    pid: u32,
    inner_pid: u32,
    line: Vec<OwnedFd>,
    exit: Ending,
}

impl Sandbox {
    pub(super) fn watch(parts: Parts) -> io::Result<Self> {
        let Parts { control, pid, pidfd, group } = parts;
        let (tell, gone) = watch::channel(false);
        let watched = pidfd.try_clone()?;
        // A thread, since a box may be held where no runtime is, and somebody must reap PID 1 after a drop too.
        let thread = std::thread::Builder::new().name("box-end".into()).stack_size(WATCHING_BYTES);
        let watching = thread.spawn(move || {
            reap(watched.as_fd());
            drop(group);
            let _ = tell.send(true);
        })?;
        Ok(Self { control, pid, pidfd, warnings: Vec::new(), listener: None, gone, watching: Some(watching) })
    }

    /// What PID 1 says while it builds.
    pub(super) fn hear<T: DeserializeOwned>(&self) -> io::Result<Option<Received<T>>> {
        self.control.receive()
    }

    /// The same box, now that it stands.
    pub(super) fn standing(self, warnings: Vec<String>, listener: Option<OwnedFd>) -> Self {
        let mut sandbox = self;
        (sandbox.warnings, sandbox.listener) = (warnings, listener);
        sandbox
    }

    /// Starts a program, and returns when it runs or when it is known why it does not. Blocks.
    pub fn run(&self, run: &Run) -> Result<Started, RunError> {
        let Begun { pid, inner_pid, line, exit } = self.begin(run, false)?;
        let [terminal] = <[OwnedFd; 1]>::try_from(line).map_err(|_| RunError::BoxGone)?;
        Ok(Started { pid, inner_pid, terminal, exit })
    }

    /// The same with a pipe for each of its three streams, whatever size a terminal would have. Blocks.
    pub fn run_piped(&self, run: &Run) -> Result<Piped, RunError> {
        let Begun { pid, line, exit, .. } = self.begin(run, true)?;
        let [stdin, stdout, stderr] = <[OwnedFd; 3]>::try_from(line).map_err(|_| RunError::BoxGone)?;
        Ok(Piped { pid, stdin, stdout, stderr, exit })
    }

    fn begin(&self, run: &Run, pipes: bool) -> Result<Begun, RunError> {
        let program = run.argv.first().ok_or(RunError::NothingToRun)?;
        check(run)?;
        let (beginning, theirs) = Channel::pair()?;
        let (exit, exit_theirs) = Channel::pair()?;
        beginning.set_timeout(RUN_PATIENCE)?;
        let request = Request::Run { program: Program::from(run), pipes };
        self.ask(&request, &[theirs.as_fd(), exit_theirs.as_fd()])?;
        drop((theirs, exit_theirs));
        let refused = |failure: RunFailure| RunError::of(failure, program, &run.cwd);

        let first = beginning.receive::<Word>()?.ok_or_else(|| self.unanswered())?;
        let inner_pid = match first.message {
            Word::Here { inner_pid } => inner_pid,
            Word::Failed(failure) => return Err(refused(failure)),
            _ => return Err(RunError::BoxGone),
        };
        let pid = first.sender.ok_or(RunError::BoxGone)?;
        // Nothing more is said by a program that runs: its end of this channel went with our code.
        if let Some(word) = beginning.receive::<Word>()?
            && let Word::Failed(failure) = word.message
        {
            return Err(refused(failure));
        }
        Ok(Begun { pid, inner_pid, line: first.descriptors, exit: Ending::new(exit) })
    }

    /// What was asked for and is not enforced on this machine.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The listener inside a filtered box at which its programs look for a proxy.
    pub fn proxy_listener(&self) -> Option<TcpListener> {
        self.listener.as_ref()?.try_clone().ok().map(TcpListener::from)
    }

    /// Connects to a port of 127.0.0.1 inside the box. Blocks.
    pub fn dial(&self, port: u16) -> io::Result<TcpStream> {
        let gone = || io::Error::new(io::ErrorKind::NotConnected, "the box is gone");
        let (answer, theirs) = Channel::pair()?;
        answer.set_timeout(DIAL_PATIENCE)?;
        self.ask(&Request::Dial { port }, &[theirs.as_fd()]).map_err(|_| gone())?;
        drop(theirs);
        let received = answer.receive::<Word>()?.ok_or_else(gone)?;
        match received.message {
            Word::Dialled => connected(received.descriptors.into_iter().next().ok_or_else(gone)?),
            Word::Failed(RunFailure::Connect { errno }) => Err(io::Error::from_raw_os_error(errno)),
            _ => Err(gone()),
        }
    }

    /// Its first process, as the machine sees it. For showing.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    pub fn killer(&self) -> io::Result<Killer> {
        self.pidfd.try_clone().map(Killer)
    }

    /// Resolves when the box is gone, with everything that ran inside.
    pub async fn gone(&self) {
        // An error means that the watching thread is gone, which it is only after the box.
        let _ = self.gone.clone().wait_for(|gone| *gone).await;
    }

    /// Ends the box and returns when nothing is left of it, not even for the machine's own PID 1 to bury. Blocks, but
    /// not for long: a disk that does not answer can hold a process for ever. Whether it has ended.
    pub fn end(mut self) -> bool {
        let has_ended = self.ends();
        if has_ended && let Some(watching) = self.watching.take() {
            // It takes the remains and leaves.
            let _ = watching.join();
        }
        has_ended
    }

    /// The same for a box that others hold too: ends it, and tells whether nothing runs inside any more. Blocks as long.
    pub fn ends(&self) -> bool {
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
        ended_within(self.pidfd.as_fd(), END_PATIENCE)
    }

    /// Why a request has no answer: the box is gone, or it could take nothing of it.
    fn unanswered(&self) -> RunError {
        let mut control = [PollFd::new(self.control.as_fd(), PollFlags::empty())];
        // Its end of this socket is closed before what waits in it is.
        match poll(&mut control, PollTimeout::ZERO) {
            Ok(0) => RunError::TooMany,
            _ => RunError::BoxGone,
        }
    }

    fn ask(&self, request: &Request, with: &[BorrowedFd<'_>]) -> Result<(), RunError> {
        self.control.send(request, with).map_err(|error| match error.raw_os_error().map(Errno::from_raw) {
            Some(Errno::EPIPE | Errno::ECONNRESET | Errno::ENOTCONN) => RunError::BoxGone,
            _ => RunError::Talk(error),
        })
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // The end of the control socket would do as well; this does not need PID 1 to be awake.
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
    }
}

/// The system ends words with a zero byte, so that they can not contain one.
fn check(run: &Run) -> Result<(), RunError> {
    let variables = run.env.iter().flat_map(|(name, value)| [name.as_os_str(), value.as_os_str()]);
    let words = run.argv.iter().map(AsRef::as_ref).chain(variables).chain([run.cwd.as_os_str()]);
    for word in words {
        if word.as_encoded_bytes().contains(&0) {
            return Err(RunError::ZeroByte { what: word.to_owned() });
        }
    }
    Ok(())
}

/// Waits until a process has ended, and takes its remains if it is a child of ours.
fn reap(pidfd: BorrowedFd<'_>) {
    ended(pidfd, PollTimeout::NONE);
    let _ = waitid(WaitId::PidFd(pidfd), WaitIdOptions::EXITED);
}

/// The same, but no longer than this.
pub(super) fn reap_within(pidfd: BorrowedFd<'_>, patience: Duration) {
    if ended_within(pidfd, patience) {
        let _ = waitid(WaitId::PidFd(pidfd), WaitIdOptions::EXITED);
    }
}

/// Waits for the end of a process, and tells whether it came. The first process of a box ends after all others in it.
pub fn ended_within(pidfd: BorrowedFd<'_>, patience: Duration) -> bool {
    ended(pidfd, PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX))
}

fn ended(pidfd: BorrowedFd<'_>, patience: PollTimeout) -> bool {
    let mut watched = [PollFd::new(pidfd, PollFlags::POLLIN)];
    loop {
        match poll(&mut watched, patience) {
            Err(Errno::EINTR) => {}
            other => return other == Ok(1),
        }
    }
}

/// Waits until a connection that was begun in the box is made, so that PID 1 never has to.
fn connected(socket: OwnedFd) -> io::Result<TcpStream> {
    let stream = TcpStream::from(socket);
    let patience = PollTimeout::try_from(DIAL_PATIENCE).unwrap_or(PollTimeout::MAX);
    let mut watched = [PollFd::new(stream.as_fd(), PollFlags::POLLOUT)];
    if poll(&mut watched, patience)? == 0 {
        return Err(io::ErrorKind::TimedOut.into());
    }
    if let Some(error) = stream.take_error()? {
        return Err(error);
    }
    stream.set_nonblocking(false)?;
    Ok(stream)
}
