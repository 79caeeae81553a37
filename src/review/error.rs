//! Why a review could not be done, said so that one knows what to do.

use std::{
    fmt::{self, Display},
    io,
    path::{Path, PathBuf},
};

/// How many paths an error's text names; the error itself has all of them.
const NAMED_MAX: usize = 20;

/// Why changes could not be told, applied or discarded.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    #[error("cannot {doing} {path:?}: {source}")]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("{path:?} is no path inside the workspace: give it relative to the workspace, without `..`")]
    NotInside { path: PathBuf },
    #[error("nothing changed at {}: `coop diff` lists what did", Named(.0))]
    NothingThere(Vec<PathBuf>),
    #[error(
        "changed in the box and, since it started from them, in the project: {}. Nothing was applied. Look at both, then \
         apply other paths by name, discard these, or overwrite them with --force",
        Named(.0)
    )]
    Conflicts(Vec<PathBuf>),
    #[error("{path:?} changed in the project while changes were being applied")]
    ChangedMeanwhile { path: PathBuf },
    #[error(
        "stopped at {failed:?}: {why}. Applied: {}. Not applied: {}. What was applied is complete; apply again to \
         finish once the cause is gone",
        Named(.applied),
        Named(.left)
    )]
    Stopped {
        /// What is in the project now.
        applied: Vec<PathBuf>,
        /// The entry at which it stopped.
        failed: PathBuf,
        why: Box<ReviewError>,
        /// What is not in the project; it has these as they were.
        left: Vec<PathBuf>,
    },
    #[error("more than {max} entries in {path:?}: discard generated directories by name, then look again")]
    TooMany { path: PathBuf, max: usize },
    #[error(
        "{path:?} carries the overlay mark {mark:?}, which no mount of coop makes: all changes can only be discarded together"
    )]
    ForeignMark { path: PathBuf, mark: &'static str },
    #[error(
        "no record of how the project was when the box started from it ({path:?} is missing), so conflicts cannot be seen: \
         look at `coop diff`, then apply with --force"
    )]
    NoBaseline { path: PathBuf },
    #[error("{path:?}, line {line}: not a record of the project ({reason}); apply with --force to go on without it")]
    BadBaseline { path: PathBuf, line: usize, reason: String },
    #[error("{path:?} is being applied or discarded by somebody else right now")]
    Busy { path: PathBuf },
    #[error("{path:?} is inside {above:?}, which is no directory in the box any more: discard {above:?} instead")]
    InsideReplaced { path: PathBuf, above: PathBuf },
    #[error("cannot look into {}, so what changed there would be lost: apply other paths by name", Named(.0))]
    Unreadable(Vec<PathBuf>),
    #[error("cannot write the diff: {0}")]
    Output(#[source] io::Error),
}

impl ReviewError {
    /// For `map_err`: what was being done, to which path.
    pub(super) fn io<E: Into<io::Error>>(doing: &'static str, path: impl AsRef<Path>) -> impl FnOnce(E) -> Self {
        move |source| Self::Io { doing, path: path.as_ref().to_owned(), source: source.into() }
    }

    pub(super) fn is(&self, kind: io::ErrorKind) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == kind)
    }
}

/// Paths as an error names them: quoted, the first few, then how many more.
struct Named<'a>(&'a [PathBuf]);

impl Display for Named<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return out.write_str("nothing");
        }
        for (nth, path) in self.0.iter().take(NAMED_MAX).enumerate() {
            if nth > 0 {
                out.write_str(", ")?;
            }
            write!(out, "{path:?}")?;
        }
        match self.0.len().saturating_sub(NAMED_MAX) {
            0 => Ok(()),
            more => write!(out, " and {more} more"),
        }
    }
}
