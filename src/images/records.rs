//! What the store writes down: which reference means which image, and what an unpacked image is.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::config::ImageConfig;
use super::digest::Digest;
use super::error::{Context, ImageError};
use super::layout::read_small;

/// Records have some hundred bytes; a configuration with many variables some kilobytes.
const RECORD_BYTES_MAX: u64 = 16 << 20;

/// What a reference meant when it was pulled last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) reference: String,
    pub(super) image: Digest,
    /// The blobs that it was made of and that are kept, so that the next version fetches only what is new.
    pub(super) blobs: Vec<Digest>,
    pub(super) pulled_at_ms: u64,
    /// For files: what they looked like, to see when they are others.
    pub(super) seen: Option<Seen>,
}

/// By which a file is known to be the same as before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seen {
    inode: u64,
    size: u64,
    changed_s: i64,
    changed_ns: i64,
}

impl Seen {
    pub(super) fn of(path: &Path) -> Option<Self> {
        let found = path.metadata().ok()?;
        Some(Self { inode: found.ino(), size: found.size(), changed_s: found.ctime(), changed_ns: found.ctime_nsec() })
    }
}

/// What an unpacked image is; its presence says that the directory beside it is whole.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct About {
    pub(super) config: ImageConfig,
    pub(super) size_bytes: u64,
    pub(super) notes: Vec<String>,
}

/// What is written there, if it can be read.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&read_small(path, RECORD_BYTES_MAX).ok()?).ok()
}

/// Writes it so that it is there whole or not at all.
pub(super) fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), ImageError> {
    let temporary = path.with_extension("new");
    let text = serde_json::to_vec_pretty(value).map_err(std::io::Error::other).context("write", path)?;
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(&text)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| std::fs::rename(&temporary, path));
    if renamed.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    renamed.context("write", path)
}
