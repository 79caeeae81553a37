//! Why an image could not be had, said so that one knows what to do.

use std::io;
use std::path::{Path, PathBuf};

use nix::libc;

use super::digest::Digest;
use super::reference::BadReference;
use super::tarball::TarError;

/// Why an image could not be found, pulled, unpacked or removed.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    #[error(transparent)]
    Reference(#[from] BadReference),
    #[error("there is no image {0}: `coop image ls` has those that are here, `coop image pull` fetches others")]
    Unknown(String),
    #[error("{0} is in use: stop and remove its boxes first")]
    InUse(String),
    #[error("images are being pulled or set up just now: try again when that is done")]
    Busy,
    #[error("{0}: it is no image that coop can use: {1}")]
    NotAnImage(String, String),
    #[error("{image} is not made for {wanted}; it is there for {}", if .offered.is_empty() { "nothing" } else { .offered.as_str() })]
    Platform { image: String, wanted: String, offered: String },
    #[error("{what} was tampered with or damaged on its way: {found} came instead of {expected}; it was removed")]
    Tampered { what: String, expected: Digest, found: String },
    #[error("layer {layer} is refused: {why}")]
    Layer { layer: String, why: TarError },
    #[error("{registry} does not let us read {repository}: {why}")]
    Unauthorized { registry: String, repository: String, why: String },
    #[error("{registry} has no {what}")]
    NotFound { registry: String, what: String },
    #[error("{registry}: {what}: {why}")]
    Registry { registry: String, what: String, why: String },
    #[error("no space left for {}: free some, `coop image rm` and `coop rm` help", .0.display())]
    DiskFull(PathBuf),
    #[error("{} is on a read-only file system: choose another place with COOP_HOME", .0.display())]
    ReadOnly(PathBuf),
    #[error("cannot {what} {}: {source}", .path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error("the kernel has no openat2, which keeps layers inside their directory: Linux 5.6 or newer is needed")]
    OldKernel,
    #[error("it was cancelled")]
    Cancelled,
}

impl ImageError {
    /// An error of the file system, with those a user can do something about told apart.
    pub fn io(what: &'static str, path: &Path, source: io::Error) -> Self {
        match source.raw_os_error() {
            Some(libc::ENOSPC | libc::EDQUOT) => Self::DiskFull(path.to_owned()),
            Some(libc::EROFS) => Self::ReadOnly(path.to_owned()),
            _ => Self::Io { what, path: path.to_owned(), source },
        }
    }
}

/// Names what was done to which path when it fails.
pub(super) trait Context<T> {
    fn context(self, what: &'static str, path: &Path) -> Result<T, ImageError>;
}

impl<T> Context<T> for io::Result<T> {
    fn context(self, what: &'static str, path: &Path) -> Result<T, ImageError> {
        self.map_err(|source| ImageError::io(what, path, source))
    }
}

impl<T> Context<T> for nix::Result<T> {
    fn context(self, what: &'static str, path: &Path) -> Result<T, ImageError> {
        self.map_err(|errno| ImageError::io(what, path, errno.into()))
    }
}
