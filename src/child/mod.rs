//! A process on a pseudo-terminal: how it is started, read, written, resized, signalled and ended. Or on three pipes,
//! where a script runs it.
//!
//! ```text
//! spawn ──> Child { output, input, tty, process }
//!             output   what it prints           output.rs
//!             input    what it is typed         input.rs
//!             tty      its window and echo      tty.rs
//!             process  its group and its end    process.rs, ending.rs, guardian.rs
//! ```
//! The halves know nothing of each other, so that a child which stops reading never keeps us from reading it.
//! The terminal is hung up when `output`, `input` and every clone of `tty` are dropped.

use std::{ffi::OsString, path::PathBuf};

use tokio::net::unix::pipe;

mod ending;
mod exit;
mod failure;
#[cfg(target_os = "linux")]
mod first;
mod ground;
mod guardian;
mod input;
mod kin;
mod open_files;
mod output;
mod process;
mod pty;
mod raw;
mod signals;
mod size;
mod spawn;
mod stat;
mod tty;

pub use ending::{HANGUP_GRACE, Supervised};
pub use exit::Exit;
pub use failure::SpawnError;
#[cfg(target_os = "linux")]
pub use first::run_first;
pub use ground::{Enclosed, Enclosure, Ground, Pipes, spawn_on, spawn_piped_on};
pub use guardian::{Guardian, run_guardian};
pub use input::Input;
pub use nix::sys::signal::Signal;
pub use open_files::raise_open_files_limit;
pub use output::Output;
pub use process::{
    Group, Process,
    SignalError::{self, Gone},
};
pub use signals::{UnknownSignal, parse_signal};
pub use size::{BadSize, SIDE_MAX, Size};
pub use spawn::{spawn, spawn_watched};
pub use stat::{Born, Stat};
pub use tty::{Tty, window_of};

/// What to run and where.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program and its arguments; no shell looks at them.
    pub argv: Vec<OsString>,
    /// Where it starts; our own directory if `None`.
    pub cwd: Option<PathBuf>,
    /// Variables to set, after the removals. `TERM` and its like are the caller's to choose.
    pub env: Vec<(OsString, OsString)>,
    /// Variables of our own that the child must not see.
    pub env_remove: Vec<OsString>,
    /// Nothing of our own environment is handed on: `env` is all there is.
    pub bare: bool,
    /// The window it finds when it starts.
    pub size: Size,
}

impl Launch {
    /// A variable as the child will see it.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        let set = self.env.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let is_ours = !self.bare && !self.env_remove.iter().any(|removed| removed == name);
        set.or_else(|| std::env::var_os(name).filter(|_| is_ours))
    }
}

/// A started child, in parts that can be given to different owners.
#[derive(Debug)]
pub struct Child {
    /// Its process id, also the id of its group and of its session. For showing; signals go through [`Group`].
    pub pid: u32,
    pub output: Output,
    pub input: Input,
    pub tty: Tty,
    pub process: Process,
}

/// A started child without a terminal.
#[derive(Debug)]
pub struct Piped {
    /// Its process id, also the id of its group and of its session.
    pub pid: u32,
    /// What it reads; dropped, that ends.
    pub stdin: pipe::Sender,
    pub stdout: pipe::Receiver,
    pub stderr: pipe::Receiver,
    pub process: Process,
}

#[cfg(test)]
mod support;
