//! What a box did to its workspace, reviewed before it touches the project.
//!
//! With `workspace.mode = "overlay"` a box works on an overlay of the project: it sees the project's files, and what it
//! writes lands in a layer of its own.
//!
//! ```text
//!  upper (the box's layer) ┐              ┌─ write_diff   what git diff would print
//!                          ├─▶ Changes ───┼─ apply        upper ─▶ project, refused where the project changed
//!  lower (the project) ────┘              └─ discard      upper ─▶ gone
//! ```
//! Both trees are walked through handles that no link leads out of (`tree.rs`). The project is written by `put.rs`
//! only, the upper layer by `clear.rs` and `sweep.rs` only.
//!
//! Not carried over: owners, extended attributes, set-user-id bits, and that two names are one file.

mod apply;
mod baseline;
mod binary;
mod change;
mod changes;
mod clear;
mod discard;
mod error;
mod git;
mod hunks;
mod index;
mod marks;
mod object;
mod plan;
mod put;
mod quote;
mod select;
mod sweep;
#[cfg(test)]
mod tests;
mod text;
mod touched;
mod tree;

use std::{os::fd::OwnedFd, path::PathBuf};

use rustix::{
    fs::{FlockOperation, Mode, OFlags},
    io::Errno,
};

pub use apply::{ApplyOptions, Report};
pub use baseline::Baseline;
pub use change::{Change, Entry, EntryKind, Kind};
pub use changes::{Changes, Options};
pub use error::ReviewError;
pub use git::GitSummary;
pub use index::{gitlinks, tracked};
pub use plan::{Why, Withheld};
pub use select::Selection;
pub use text::{SHOWN_BYTES_MAX, Style};
pub use tree::ENTRIES_MAX as CHANGES_MAX;

/// The two layers of a workspace. All calls block; the largest read whole trees.
#[derive(Clone, Debug)]
pub struct Overlay {
    /// The project.
    pub lower: PathBuf,
    /// What the box wrote. Beside it a directory is made while something is discarded.
    pub upper: PathBuf,
}

impl Overlay {
    /// What differs. The box may be running: only reading is done.
    pub fn changes(&self, options: &Options) -> Result<Changes, ReviewError> {
        let (lower, upper) = (tree::Tree::open(&self.lower)?, tree::Tree::open(&self.upper)?);
        let changes = Changes::between(lower, upper, options)?;
        let all = changes.list.iter().map(|change| &*change.path).chain(changes.git.iter().map(|git| &*git.path));
        match options.only.unmet(all) {
            unmet if unmet.is_empty() => Ok(changes),
            unmet => Err(ReviewError::NothingThere(unmet)),
        }
    }

    /// Carries changes into the project. The box must be stopped.
    pub fn apply(&self, selection: &Selection, options: &ApplyOptions) -> Result<Report, ReviewError> {
        apply::apply(self, selection, options)
    }

    /// Takes note of how the project is by now, for all that the box has not changed. The box must be stopped.
    pub fn renew(&self, baseline: &Baseline) -> Result<(), ReviewError> {
        let _lock = self.lock()?;
        baseline.renew(self)
    }

    /// Forgets changes. The box must be stopped.
    pub fn discard(&self, selection: &Selection) -> Result<(), ReviewError> {
        discard::discard(self, selection)
    }

    /// One at a time; the lock is gone with its owner, however that ends.
    fn lock(&self) -> Result<Lock, ReviewError> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(&self.upper, flags, Mode::empty()).map_err(ReviewError::io("open", &self.upper))?;
        match rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Lock(fd)),
            Err(Errno::WOULDBLOCK) => Err(ReviewError::Busy { path: self.upper.clone() }),
            Err(error) => Err(ReviewError::io("lock", &self.upper)(error)),
        }
    }
}

/// Held while a layer is worked on.
struct Lock(OwnedFd);

impl Drop for Lock {
    /// Said, not left to the closing: a process that is being started elsewhere holds copies of all descriptors until
    /// it runs its program.
    fn drop(&mut self) {
        let _ = rustix::fs::flock(&self.0, FlockOperation::Unlock);
    }
}
