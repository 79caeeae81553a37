//! Why something could not be done with a box: what, with which, and the way out.

use std::io;
use std::path::PathBuf;

use super::name::{BadName, Name};
use super::prepare::PrepareError;
use super::record::RecordError;
use crate::config::Mistake;
use crate::review::ReviewError;

#[derive(Debug, thiserror::Error)]
pub enum BoxError {
    #[error(transparent)]
    BadName(#[from] BadName),
    #[error("there is no box {0}: `coop ls` has those that there are")]
    NoSuchBox(Name),
    #[error("box {name} is that of {}: choose another name, or remove it with `coop rm {name}`", workspace.display())]
    Taken { name: Name, workspace: PathBuf },
    #[error("box {0} is running: stop it first with `coop stop {0}`, or use `coop rm --force {0}`")]
    Running(Name),
    #[error("box {0} is running, and what it changes can only be moved when it stands still: `coop stop {0}` first")]
    Moving(Name),
    #[error(
        "box {0} has changes that were not applied: look at them with `coop diff {0}`, or lose them with `coop rm --force {0}`"
    )]
    Unapplied(Name),
    #[error(
        "box {0} has changes that were not applied, and would lose them without its overlay: `coop apply {0}` or \
         `coop discard {0}` first"
    )]
    Unseen(Name),
    #[error(
        "box {0} stands on another image, other setup commands or other users, and what was written there does not fit: \
         `coop rm {0}` first, or choose another name"
    )]
    OtherGround(Name),
    #[error(
        "the workspace of box {name} is no overlay: what its agent changes is in {} already (git diff shows it); \
         workspace.mode = \"overlay\" makes changes wait",
        workspace.display()
    )]
    NoOverlay { name: Name, workspace: PathBuf },
    #[error(transparent)]
    Review(#[from] ReviewError),
    #[error(transparent)]
    Unprepared(#[from] PrepareError),
    /// Its socket cannot be where it would be.
    #[error(transparent)]
    Unplaced(#[from] Mistake),
    #[error("box {name} was not started: {why}")]
    NotStarted { name: Name, why: String },
    /// The same for one that has just been made.
    #[error("box {name} was not started, and stays as it is until `coop rm {name}`: {why}")]
    NeverStarted { name: Name, why: String },
    #[error("the session of box {name} (process {pid}) does not end, not even by SIGKILL")]
    Undying { name: Name, pid: u32 },
    #[error("what runs in box {name} (process {pid}) does not end, not even by SIGKILL: a disk may not answer")]
    Unended { name: Name, pid: u32 },
    /// Nobody has asked for its end yet.
    #[error(
        "box {name} has lost its session, and what runs in it (process {pid}) has not ended yet: try again, or end it \
         with `coop stop {name}`"
    )]
    Lingering { name: Name, pid: u32 },
    #[error("{0}; `coop rm --force` removes the box")]
    Record(#[from] RecordError),
    #[error("{} could not be {done}: {error}", path.display())]
    File { path: PathBuf, done: &'static str, error: io::Error },
    #[error("the daemon leaves, and this was given up: what was fetched stays, so try again")]
    Leaving,
    #[error("the daemon failed: {0}; see its daemon.log")]
    Broken(String),
}

impl BoxError {
    /// For `map_err`: a file or directory, and what could not be done with it.
    pub fn file(path: impl Into<PathBuf>, done: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::File { path, done, error }
    }
}
