//! Which files of repositories the user has said yes to: by path and by every byte.
//!
//! `COOP_HOME/trust.json`, for the user alone. It is written beside and renamed, under a lock, so that two commands at
//! a time lose nothing and a crash leaves the old one. A broken one is never overwritten: it is the user's word.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::demands::Demand;
use super::shown::shown;

/// Thousands of projects.
const TRUST_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The form of the file; a newer one is not guessed at.
const VERSION: u32 = 1;

/// Where the user's yes is kept.
#[derive(Clone, Debug)]
pub struct Trust {
    dir: PathBuf,
}

/// Whether a file may have what it asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It asks for nothing, or the user said yes to exactly this.
    Trusted,
    Needs(Needs),
}

/// What stands between a file and its box, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needs {
    pub path: PathBuf,
    pub demands: Vec<Demand>,
    /// Whether there was a yes to other bytes. Those are not kept, so that nobody knows what changed.
    pub changed: bool,
}

impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = shown(&self.path.to_string_lossy());
        let changed = if self.changed { "has changed since you trusted it, and " } else { "" };
        writeln!(f, "{path} {changed}asks for more than a box gets by itself:")?;
        for Demand { key, what, line } in &self.demands {
            writeln!(f, "  line {line}: it {what} ({key})")?;
        }
        write!(f, "Read it, then say `coop trust` if it may.")
    }
}

/// One yes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// SHA-256 of the file's bytes, in hex.
    pub sha256: String,
    /// When, in seconds since 1970.
    pub granted_at: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("{}: {source}", shown(&path.to_string_lossy()))]
    Io { path: PathBuf, source: io::Error },
    #[error("{}: cannot be understood: {why}; mend it, or remove it and trust anew", shown(&path.to_string_lossy()))]
    Broken { path: PathBuf, why: String },
    #[error("{}: its path is not UTF-8, so that it cannot be remembered; rename it", shown(&path.to_string_lossy()))]
    NotUtf8 { path: PathBuf },
}

#[derive(Default, Serialize, Deserialize)]
struct Kept {
    version: u32,
    files: BTreeMap<String, Grant>,
}

impl Trust {
    /// Kept in this directory, which is made when something is granted.
    pub fn new(coop_home: &Path) -> Self {
        Self { dir: coop_home.to_owned() }
    }

    /// Judges a file by the bytes that were read, not by what is on the disk by now.
    pub fn check(&self, path: &Path, bytes: &[u8], demands: Vec<Demand>) -> Result<Verdict, TrustError> {
        // Who asks for nothing is not kept waiting by a broken file.
        if demands.is_empty() {
            return Ok(Verdict::Trusted);
        }
        let known = self.read()?.files.remove(&key(path)?);
        match known {
            Some(grant) if grant.sha256 == hash(bytes) => Ok(Verdict::Trusted),
            known => Ok(Verdict::Needs(Needs { path: path.to_owned(), demands, changed: known.is_some() })),
        }
    }

    /// Says yes to exactly these bytes at this path.
    pub fn grant(&self, path: &Path, bytes: &[u8]) -> Result<(), TrustError> {
        let key = key(path)?;
        let granted_at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let grant = Grant { sha256: hash(bytes), granted_at };
        self.change(|files| {
            files.insert(key, grant);
            true
        })?;
        Ok(())
    }

    /// Takes a yes back; whether there was one.
    pub fn revoke(&self, path: &Path) -> Result<bool, TrustError> {
        let key = key(path)?;
        self.change(|files| files.remove(&key).is_some())
    }

    /// Every yes, by path.
    pub fn list(&self) -> Result<Vec<(PathBuf, Grant)>, TrustError> {
        Ok(self.read()?.files.into_iter().map(|(path, grant)| (path.into(), grant)).collect())
    }

    fn path(&self) -> PathBuf {
        self.dir.join("trust.json")
    }

    fn read(&self) -> Result<Kept, TrustError> {
        let path = self.path();
        let broken = |why: String| TrustError::Broken { path: path.clone(), why };
        let mut bytes = Vec::new();
        match File::options().read(true).custom_flags(nix::libc::O_NONBLOCK).open(&path) {
            Ok(file) => file.take(TRUST_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed(&path))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Kept::default()),
            Err(error) => return Err(failed(&path)(error)),
        };
        if bytes.len() as u64 > TRUST_BYTES_MAX {
            return Err(broken(format!("it is larger than {} MiB", TRUST_BYTES_MAX >> 20)));
        }
        let kept: Kept = serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))?;
        if kept.version > VERSION {
            return Err(broken(format!("it is of version {}, from a newer coop", kept.version)));
        }
        Ok(kept)
    }

    /// Changes the file under the lock, if there is a change.
    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, Grant>) -> bool) -> Result<bool, TrustError> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.dir).map_err(failed(&self.dir))?;
        let _lock = self.lock()?;
        let mut kept = self.read()?;
        if !change(&mut kept.files) {
            return Ok(false);
        }
        kept.version = VERSION;
        self.write(&kept)?;
        Ok(true)
    }

    /// Beside the file, because the file itself is replaced. Others hold it for milliseconds.
    fn lock(&self) -> Result<Flock<File>, TrustError> {
        let path = self.dir.join("trust.lock");
        let options = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = options.map_err(failed(&path))?;
        Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, errno)| failed(&path)(errno.into()))
    }

    fn write(&self, kept: &Kept) -> Result<(), TrustError> {
        let (path, new) = (self.path(), self.dir.join("trust.json.new"));
        let text = serde_json::to_vec_pretty(kept).map_err(|error| failed(&path)(error.into()))?;
        // One that a crash has left may have other rights.
        let _ = std::fs::remove_file(&new);
        let written = || {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
            file.write_all(&text)?;
            file.sync_all()?;
            std::fs::rename(&new, &path)
        };
        written().map_err(failed(&path))
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> TrustError {
    let path = path.to_owned();
    move |source| TrustError::Io { path: path.clone(), source }
}

/// The file's one path: its directory without links.
fn key(path: &Path) -> Result<String, TrustError> {
    let real = path.parent().and_then(|dir| dir.canonicalize().ok()).zip(path.file_name());
    let path = real.map_or_else(|| path.to_owned(), |(dir, name)| dir.join(name));
    path.to_str().map(str::to_owned).ok_or(TrustError::NotUtf8 { path })
}

pub(super) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
