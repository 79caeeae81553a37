//! The messages between a starter and its PID 1, one type for each direction and step.
//!
//! ```text
//! starter                         box-init, then PID 1
//!   Begin { spec }           ──▶
//!                            ◀──  Hello               the kernel says who sent it: the pid
//!                            ◀──  Stranger + users    for root's boxes, sent by the helper; see `stranger.rs`
//!   Go (ids are mapped)      ──▶                       + what a stranger sees of the configuration
//!                            ◀──  Ground + directory, namespaces   for each mount with something to watch; see `covers.rs`
//!                            ◀──  Ready { warnings } + proxy listener, or Failed
//!   Request::Run  + 2 ends   ──▶
//!                  first end ◀──  Here + line         terminal or pipes, sent by the new process itself; then end of file: it runs,
//!                                                     or Failed
//!                 second end ◀──  Exited              end of file without it: the box is gone
//!   Request::Dial + 1 end    ──▶
//!                            ◀──  Dialled + socket, or Failed
//!
//! warden                          box-cover
//!   CoverAgain + those three ──▶
//!                            ◀──  Covered
//! ```

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::PathBuf,
};

use serde::{Deserialize, Serialize};

use super::{
    covers,
    error::Step,
    spec::{Run, Spec},
};

/// What the starter says before there is a box.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    Begin(Box<Spec>),
    /// Beside it come these directories, as a stranger sees them.
    Go {
        shown: Vec<PathBuf>,
    },
}

/// What is answered.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Report {
    Hello,
    Stranger,
    Ground,
    Ready { warnings: Vec<String> },
    Failed(Failure),
}

/// What the starter asks of PID 1.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// `pipes`: three of them in the place of a terminal, whose ends come back as stdin, stdout, stderr.
    Run {
        program: Program,
        pipes: bool,
    },
    Dial {
        port: u16,
    },
}

/// What is to be covered again in a box that stands.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CoverAgain {
    pub(super) covers: Vec<covers::Cover>,
}

/// For each of them, why it could not be.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Covered {
    pub(super) failures: Vec<Option<String>>,
}

/// What becomes of a program, on the channels of its own.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Word {
    Here { inner_pid: u32 },
    Dialled,
    Failed(RunFailure),
    Exited { code: i32 },
    Killed { signal: i32 },
}

/// A step of the setup that did not work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Failure {
    pub(super) step: Step,
    /// What exactly was tried.
    pub(super) detail: String,
    pub(super) errno: Option<i32>,
}

/// Why a program could not be started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum RunFailure {
    Terminal {
        errno: i32,
    },
    Directory {
        errno: i32,
    },
    /// `found` tells a missing interpreter from a missing program.
    Exec {
        errno: i32,
        found: bool,
    },
    Fork {
        errno: i32,
    },
    Limit {
        what: String,
        errno: i32,
    },
    TooMany,
    Connect {
        errno: i32,
    },
}

/// A [`Run`] that survives JSON whatever its bytes are.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Program {
    pub(super) argv: Vec<Bytes>,
    pub(super) cwd: Bytes,
    pub(super) env: Vec<(Bytes, Bytes)>,
    pub(super) size: Option<(u16, u16)>,
}

/// Text where it is text, numbers where it is not.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Bytes {
    Text(String),
    Raw(Vec<u8>),
}

impl Bytes {
    pub(super) fn into_os(self) -> OsString {
        match self {
            Self::Text(text) => text.into(),
            Self::Raw(bytes) => OsString::from_vec(bytes),
        }
    }
}

impl<T: AsRef<OsStr> + ?Sized> From<&T> for Bytes {
    fn from(text: &T) -> Self {
        let text = text.as_ref();
        text.to_str().map_or_else(|| Self::Raw(text.as_bytes().to_vec()), |text| Self::Text(text.to_owned()))
    }
}

impl From<&Run> for Program {
    fn from(run: &Run) -> Self {
        Self {
            argv: run.argv.iter().map(Bytes::from).collect(),
            cwd: Bytes::from(&run.cwd),
            env: run.env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            size: run.size,
        }
    }
}

impl From<Program> for Run {
    fn from(program: Program) -> Self {
        Self {
            argv: program.argv.into_iter().map(Bytes::into_os).collect(),
            cwd: PathBuf::from(program.cwd.into_os()),
            env: program.env.into_iter().map(|(name, value)| (name.into_os(), value.into_os())).collect(),
            size: program.size,
        }
    }
}
