//! The bytes of a file, read once and within bounds: what is judged, hashed and obeyed is the same.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::file::BoxFile;
use super::mistake::{Mistake, Mistakes};
use super::origin::Whose;
use super::parse::parse;
use super::shown::shown;
use super::trust::hash;

/// What is written by hand stays far below; more is the wrong file.
pub const FILE_BYTES_MAX: usize = 256 * 1024;

/// A file as it was when it was read.
#[derive(Clone, Debug)]
pub struct Source {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    pub whose: Whose,
}

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{}: {why}", shown(&path.to_string_lossy()))]
    Unreadable { path: PathBuf, why: String },
    #[error(transparent)]
    Wrong(#[from] Mistakes),
}

/// Reads a file; `None` if there is none.
pub fn read(path: &Path, whose: Whose) -> Result<Option<Source>, FileError> {
    let unreadable = |why: String| FileError::Unreadable { path: path.to_owned(), why };
    match read_bytes(path, whose) {
        Ok(bytes) => Ok(Some(Source { path: path.to_owned(), bytes, whose })),
        Err(Refusal::Io(error)) if error.kind() == io::ErrorKind::NotFound && is_absent(path) => Ok(None),
        Err(Refusal::Io(error)) => Err(unreadable(format!("cannot be read: {error}"))),
        Err(Refusal::Kind(why)) => Err(unreadable(why)),
    }
}

enum Refusal {
    Io(io::Error),
    Kind(String),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A link into nowhere is not the same as nothing.
fn is_absent(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn read_bytes(path: &Path, whose: Whose) -> Result<Vec<u8>, Refusal> {
    // A link of a repository can lead anywhere, and relative paths would begin at two places; users link their own.
    if whose == Whose::Project && path.symlink_metadata()?.is_symlink() {
        return Err(Refusal::Kind("is a symbolic link: put the file itself there".to_owned()));
    }
    let follow = if whose == Whose::Project { nix::libc::O_NOFOLLOW } else { 0 };
    // A pipe or a device must not make us wait.
    let file = File::options().read(true).custom_flags(follow | nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY).open(path);
    let file = match file {
        // A socket cannot be opened at all.
        Err(error) if error.raw_os_error() == Some(nix::libc::ENXIO) => return Err(not_a_file()),
        other => other?,
    };
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(Refusal::Kind("is a directory: put a file of that name there, or rename it".to_owned()));
    }
    if !about.is_file() {
        return Err(not_a_file());
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > FILE_BYTES_MAX {
        let limit = FILE_BYTES_MAX / 1024;
        return Err(Refusal::Kind(format!("is larger than {limit} KiB, which no description of a box is")));
    }
    Ok(bytes)
}

fn not_a_file() -> Refusal {
    Refusal::Kind("is no ordinary file".to_owned())
}

impl Source {
    /// What it says.
    pub fn parse(&self) -> Result<BoxFile, Mistakes> {
        parse(&self.path, self.text()?, self.whose)
    }

    /// By which it is known again.
    pub fn sha256(&self) -> String {
        hash(&self.bytes)
    }

    fn text(&self) -> Result<&str, Mistakes> {
        let wrong = |at: usize, why: &str| {
            let before = &self.bytes[..at];
            let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
            Mistakes { path: self.path.clone(), list: vec![Mistake::bare(line, column, why)], more: 0 }
        };
        if self.bytes.starts_with(b"\xff\xfe") || self.bytes.starts_with(b"\xfe\xff") {
            return Err(wrong(0, "this is UTF-16: save it as UTF-8"));
        }
        if let Some(at) = self.bytes.iter().position(|byte| *byte == 0) {
            return Err(wrong(at, "this is no text: there is a NUL byte"));
        }
        std::str::from_utf8(&self.bytes)
            .map_err(|error| wrong(error.valid_up_to(), "this is not UTF-8: save it as UTF-8"))
    }
}
