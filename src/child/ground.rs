//! Where children are started: on the machine itself, or in an enclosure that somebody else has built.

use std::{fmt, fs::File, future::Future, os::fd::OwnedFd, pin::Pin, sync::Arc};

use nix::{
    fcntl::{FcntlArg, OFlag, fcntl},
    unistd::Pid,
};

use tokio::net::unix::pipe;

use super::{
    Child, Exit, Guardian, Input, Launch, Output, Piped, Process, SpawnError, Tty, failure::other, spawn::spawn_piped,
    spawn_watched,
};

/// Something that starts programs inside itself, on terminals of its own.
pub trait Enclosure: fmt::Debug + Send + Sync {
    /// Starts a program there, on a terminal. Blocks until it runs or is known not to.
    fn start(&self, launch: &Launch) -> Result<Enclosed<OwnedFd>, SpawnError>;

    /// The same without a terminal.
    fn start_piped(&self, launch: &Launch) -> Result<Enclosed<Pipes>, SpawnError>;
}

/// A program that runs in an enclosure.
pub struct Enclosed<Line> {
    /// Its process id as this machine sees it; it leads a session and a group of its own.
    pub pid: u32,
    /// The controlling side of its terminal, or our ends of its pipes.
    pub line: Line,
    /// How it will have ended.
    pub exit: Pin<Box<dyn Future<Output = Exit> + Send>>,
}

/// Our ends of what a program reads, prints and complains through.
pub struct Pipes {
    pub stdin: OwnedFd,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
}

/// Where children are started.
#[derive(Clone, Debug, Default)]
pub struct Ground {
    /// Ends what a killed coop leaves behind. What is enclosed needs none: it ends with its enclosure.
    pub guardian: Option<Guardian>,
    enclosure: Option<Arc<dyn Enclosure>>,
}

impl Ground {
    /// The machine itself.
    pub fn host(guardian: Guardian) -> Self {
        Self { guardian: Some(guardian), enclosure: None }
    }

    pub fn within(enclosure: Arc<dyn Enclosure>) -> Self {
        Self { guardian: None, enclosure: Some(enclosure) }
    }
}

/// Starts a child there.
pub fn spawn_on(launch: &Launch, ground: &Ground) -> Result<Child, SpawnError> {
    let Some(enclosure) = &ground.enclosure else { return spawn_watched(launch, ground.guardian.as_ref()) };
    let Enclosed { pid, line: terminal, exit } = enclosure.start(launch)?;
    let half = || -> std::io::Result<File> {
        fcntl(&terminal, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok(terminal.try_clone()?.into())
    };
    let output = half().and_then(Output::new).map_err(SpawnError::Pty)?;
    let input = half().and_then(Input::new).map_err(SpawnError::Pty)?;
    let process = Process::enclosed(exit, Pid::from_raw(pid.cast_signed()));
    Ok(Child { pid, output, input, tty: Tty::new(terminal), process })
}

/// Starts a child there without a terminal.
pub fn spawn_piped_on(launch: &Launch, ground: &Ground) -> Result<Piped, SpawnError> {
    let Some(enclosure) = &ground.enclosure else { return spawn_piped(launch, ground.guardian.as_ref()) };
    let Enclosed { pid, line: Pipes { stdin, stdout, stderr }, exit } = enclosure.start_piped(launch)?;
    let process = Process::enclosed(exit, Pid::from_raw(pid.cast_signed()));
    let ends = || -> std::io::Result<_> {
        let stdin = pipe::Sender::from_owned_fd(stdin)?;
        Ok((stdin, pipe::Receiver::from_owned_fd(stdout)?, pipe::Receiver::from_owned_fd(stderr)?))
    };
    let program = launch.argv.first().cloned().unwrap_or_default();
    let (stdin, stdout, stderr) = ends().map_err(|error| other(&program, error))?;
    Ok(Piped { pid, stdin, stdout, stderr, process })
}
