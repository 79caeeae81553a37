//! session.json: what a box was made from, so that it can be made again. And what stands beside it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::asked::Asked;
use super::files::{read_bounded, remove_if_there, write_whole};
use super::name::Name;
use crate::boxfile::BoxPlan;

/// The format that is written; a later one is not guessed at.
const VERSION: u32 = 1;

/// The largest record that is read; most of it would be variables.
const RECORD_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The longest reason of a failed start that is kept.
const ERROR_BYTES_MAX: usize = 16 * 1024;

const FILE: &str = "session.json";
/// There while the box should run: a sidecar that is gone although it is there has been lost. It holds where that listens.
const WANTED: &str = "wanted";
/// No socket has a longer path.
const SOCKET_BYTES_MAX: u64 = 4096;
/// What the last attempt to start failed with.
const ERROR: &str = "error";

/// Everything about a box that outlives its processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub version: u32,
    pub name: Name,
    pub created_at_ms: u64,
    pub plan: BoxPlan,
    /// Variables with their values; the file is the user's alone.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    #[serde(default)]
    pub image: Option<ImageRecord>,
    /// The caller's PATH, by which programs are found that are installed in somebody's home.
    #[serde(default)]
    pub path: Option<String>,
    /// The setup that the box stands on, by its key.
    #[serde(default)]
    pub setup_build: Option<String>,
    /// What its caller asked for beside the files; an older coop did not keep it.
    #[serde(default)]
    pub asked: Option<Asked>,
    /// The coop.toml that it was made from, as it was.
    #[serde(default)]
    pub file_sha256: Option<String>,
}

/// The image as it was when the box was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageRecord {
    pub reference: String,
    pub digest: String,
    pub rootfs: PathBuf,
    /// Variables that the image sets, as `NAME=value`.
    #[serde(default)]
    pub env: Vec<String>,
    /// What the image runs by itself.
    #[serde(default)]
    pub argv: Vec<String>,
    /// Whom the image would run it as.
    #[serde(default)]
    pub user: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("{} cannot be read: {why}", path.display())]
    Unreadable { path: PathBuf, why: String },
    #[error("{} was written by a newer coop (format {version}): use that one", path.display())]
    Newer { path: PathBuf, version: u32 },
}

impl Record {
    pub fn new(name: Name, created_at_ms: u64, plan: BoxPlan, env: BTreeMap<String, String>) -> Self {
        Self {
            version: VERSION,
            name,
            created_at_ms,
            plan,
            env,
            image: None,
            path: None,
            setup_build: None,
            asked: None,
            file_sha256: None,
        }
    }

    /// The record in a box's directory.
    pub fn read(dir: &Path) -> Result<Self, RecordError> {
        #[derive(Deserialize)]
        struct Format {
            version: u32,
        }
        let path = dir.join(FILE);
        let unreadable = |why: String| RecordError::Unreadable { path: path.clone(), why };
        let bytes = read_bounded(&path, RECORD_BYTES_MAX).map_err(|error| unreadable(error.to_string()))?;
        let Format { version } = serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))?;
        if version > VERSION {
            return Err(RecordError::Newer { path, version });
        }
        serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))
    }

    pub fn write(&self, dir: &Path) -> io::Result<()> {
        let json = serde_json::to_vec_pretty(self)?;
        write_whole(&dir.join(FILE), &json)
    }

    /// Where it is in a box's directory.
    pub fn path(dir: &Path) -> PathBuf {
        dir.join(FILE)
    }
}

/// Whether the box should run.
pub fn is_wanted(dir: &Path) -> bool {
    dir.join(WANTED).exists()
}

/// Where the session of a box that should run was told to listen. The daemon of another runtime directory may have started
/// it: one login has a directory of its own, and what runs without one has another. An older coop did not write it down.
pub fn wanted_at(dir: &Path) -> Option<PathBuf> {
    let bytes = read_bounded(&dir.join(WANTED), SOCKET_BYTES_MAX).ok()?;
    Some(PathBuf::from(OsString::from_vec(bytes))).filter(|path| path.is_absolute())
}

/// The box should run, and its session listen there; or stand still.
pub fn set_wanted(dir: &Path, at: Option<&Path>) -> io::Result<()> {
    match at {
        // Where the disk is full, there is still room for an empty file, as an older coop made it.
        Some(socket) => write_whole(&dir.join(WANTED), socket.as_os_str().as_bytes())
            .or_else(|_| write_whole(&dir.join(WANTED), b"")),
        None => remove_if_there(&dir.join(WANTED)),
    }
}

/// What the last attempt to start failed with.
pub fn last_error(dir: &Path) -> Option<String> {
    let bytes = read_bounded(&dir.join(ERROR), ERROR_BYTES_MAX as u64).ok()?;
    String::from_utf8(bytes).ok().filter(|text| !text.is_empty())
}

/// Keeps the reason, or that there is none. It is told to the caller anyway, so that a full disk does not matter here.
pub fn set_last_error(dir: &Path, error: Option<&str>) {
    let kept = match error {
        Some(error) => write_whole(&dir.join(ERROR), &error.as_bytes()[..error.floor_char_boundary(ERROR_BYTES_MAX)]),
        None => remove_if_there(&dir.join(ERROR)),
    };
    if let Err(error) = kept {
        tracing::warn!(dir = %dir.display(), %error, "why the box did not start could not be kept");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Scratch;

    fn record() -> Record {
        Record::new(Name::parse("a").unwrap(), 7, BoxPlan::default(), [("K".to_owned(), "v".to_owned())].into())
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let scratch = Scratch::fresh();
        record().write(&scratch.path("")).unwrap();
        assert_eq!(Record::read(&scratch.path("")).unwrap(), record());
    }

    #[test]
    fn what_is_broken_or_newer_is_named() {
        let scratch = Scratch::fresh();
        let told = || Record::read(&scratch.path("")).unwrap_err().to_string();
        assert!(told().contains("session.json cannot be read"), "{}", told());
        scratch.file(FILE, "{\"version\":1,\"name\":\"a");
        assert!(told().contains("session.json cannot be read"), "{}", told());
        scratch.file(FILE, "{\"version\":99,\"other\":true}");
        assert!(told().contains("newer coop (format 99)"), "{}", told());
        scratch.file(FILE, "{\"version\":1,\"name\":\"../a\",\"created_at_ms\":1,\"plan\":{}}");
        assert!(told().contains("no name for a box"), "{}", told());
    }

    #[test]
    fn marks_beside_it_come_and_go() {
        let scratch = Scratch::fresh();
        let dir = scratch.path("");
        assert!(!is_wanted(&dir));
        let socket = Path::new("/run/user/7/coop/box-a.sock");
        set_wanted(&dir, Some(socket)).unwrap();
        assert!(is_wanted(&dir));
        assert_eq!(wanted_at(&dir).as_deref(), Some(socket));
        scratch.file(WANTED, "");
        assert!(is_wanted(&dir) && wanted_at(&dir).is_none(), "as an older coop wrote it");
        set_wanted(&dir, None).unwrap();
        set_wanted(&dir, None).unwrap();
        assert!(!is_wanted(&dir) && wanted_at(&dir).is_none());
        set_last_error(&dir, Some("no"));
        assert_eq!(last_error(&dir).as_deref(), Some("no"));
        set_last_error(&dir, None);
        assert_eq!(last_error(&dir), None);
    }
}
