//! Why a sandbox or a program in it could not be started, said so that one knows what to do.

use std::{ffi::OsString, io, path::PathBuf};

use nix::{errno::Errno, libc};
use serde::{Deserialize, Serialize};

use super::wire::{Failure, RunFailure};

/// Why there is no sandbox.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("cannot make box {name:?}: {detail}{}{}", because(*.errno), way_out(*.step, *.errno))]
    Step { name: String, step: Step, detail: String, errno: Option<i32> },
    #[error("cannot make box {name:?}: {problem}")]
    BadSpec { name: String, problem: String },
    #[error("cannot make box {name:?}: cannot start {program:?}: {source}")]
    Helper { name: String, program: PathBuf, source: io::Error },
    #[error("cannot make box {name:?}: cannot map its users: {problem}")]
    IdMap { name: String, problem: String },
    #[error("cannot make box {name:?}: {what}: {source}")]
    Handshake { name: String, what: &'static str, source: io::Error },
    #[error("cannot make box {name:?}: its first process ended without a word")]
    Silent { name: String },
}

/// The part of the setup that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    Namespaces,
    Root,
    Proc,
    Devices,
    Mount,
    Network,
    Confine,
}

impl SandboxError {
    pub(super) fn of(name: &str, failure: Failure) -> Self {
        Self::Step { name: name.to_owned(), step: failure.step, detail: failure.detail, errno: failure.errno }
    }
}

fn because(errno: Option<i32>) -> String {
    errno.map(|errno| format!(": {}", Errno::from_raw(errno).desc())).unwrap_or_default()
}

/// What can be done about it, where that is known.
fn way_out(step: Step, errno: Option<i32>) -> &'static str {
    match (step, errno) {
        (Step::Namespaces, Some(libc::EPERM | libc::EACCES)) => {
            " (this system forbids user namespaces: see `coop doctor`; often `sysctl kernel.unprivileged_userns_clone=1` or, on Ubuntu, an AppArmor profile for coop)"
        }
        (Step::Namespaces, Some(libc::ENOSPC | libc::EUSERS)) => {
            " (no further namespace is allowed: raise `sysctl user.max_user_namespaces`)"
        }
        (Step::Root, Some(libc::EPERM | libc::EACCES)) => {
            " (namespaces can be made but give no rights: on Ubuntu an AppArmor profile for coop, or `sysctl kernel.apparmor_restrict_unprivileged_userns=0`)"
        }
        (Step::Proc, Some(libc::EPERM)) => {
            " (parts of this machine's /proc are covered, as in a container: start that with an unmasked /proc)"
        }
        (Step::Mount | Step::Root, Some(libc::ENOSYS)) => " (coop's boxes need Linux 5.12 or later)",
        (Step::Mount, Some(libc::EROFS)) => " (its parent is read-only in the box: choose another place)",
        _ => "",
    }
}

/// Why a program did not start in a box.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("cannot run anything: the command is empty")]
    NothingToRun,
    #[error("cannot run {program:?} in the box: no such program{}", if is_path(.program) { "" } else { " on its PATH" })]
    NotFound { program: OsString },
    #[error("cannot run {program:?} in the box: {reason}")]
    NotExecutable { program: OsString, reason: String },
    #[error("cannot start in {path:?} in the box: {}", Errno::from_raw(*.errno).desc())]
    BadDirectory { path: PathBuf, errno: i32 },
    #[error("cannot open a terminal in the box: {}", Errno::from_raw(*.errno).desc())]
    Terminal { errno: i32 },
    #[error("cannot start a process in the box: {} (is its limit of processes reached?)", Errno::from_raw(*.errno).desc())]
    Fork { errno: i32 },
    #[error("cannot set the limit on {what}: {}", Errno::from_raw(*.errno).desc())]
    Limit { what: String, errno: i32 },
    #[error("the box runs as many programs as it can watch; end one first")]
    TooMany,
    #[error("a zero byte is in {what:?}, which the system can not pass on")]
    ZeroByte { what: OsString },
    #[error("the box is gone")]
    BoxGone,
    #[error("cannot talk to the box: {0}")]
    Talk(#[from] io::Error),
}

impl RunError {
    pub(super) fn of(failure: RunFailure, program: &OsString, cwd: &std::path::Path) -> Self {
        let program = program.clone();
        match failure {
            RunFailure::Terminal { errno } => Self::Terminal { errno },
            RunFailure::Directory { errno } => Self::BadDirectory { path: cwd.to_owned(), errno },
            RunFailure::Exec { errno: libc::ENOENT, found: true } => Self::NotExecutable {
                program,
                reason: "the interpreter that it names (its #! line or loader) does not exist".into(),
            },
            RunFailure::Exec { errno: libc::ENOENT | libc::ENOTDIR, .. } => Self::NotFound { program },
            RunFailure::Exec { errno: libc::EACCES, .. } => {
                Self::NotExecutable { program, reason: "permission denied (is it executable?)".into() }
            }
            RunFailure::Exec { errno: libc::ENOEXEC, .. } => {
                Self::NotExecutable { program, reason: "it is no program for this machine".into() }
            }
            RunFailure::Exec { errno, .. } => {
                Self::NotExecutable { program, reason: Errno::from_raw(errno).desc().into() }
            }
            RunFailure::Fork { errno } => Self::Fork { errno },
            RunFailure::Limit { what, errno } => Self::Limit { what, errno },
            RunFailure::TooMany => Self::TooMany,
            RunFailure::Connect { errno } => Self::Talk(io::Error::from_raw_os_error(errno)),
        }
    }

    /// The code a shell would end with: 127 if there is no such program, 126 if it can not be run.
    pub fn shell_code(&self) -> u8 {
        match self {
            Self::NotFound { .. } => 127,
            _ => 126,
        }
    }
}

fn is_path(program: &OsString) -> bool {
    program.as_encoded_bytes().contains(&b'/')
}
