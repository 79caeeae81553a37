//! Fetches one blob into a file, from where the last attempt ended, and lets nothing in that is not what its name says.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::header::CONTENT_RANGE;

use super::digest::{Digest, Hash};
use super::error::{Context, ImageError};
use super::lock::{Sharing, lock};
use super::progress::{Phase, REPORT_STEP_BYTES, Report};
use super::registry::{Failure, Registry, content_length};

/// Where blobs lie, by their digest.
#[derive(Clone, Debug)]
pub(super) struct Blobs {
    dir: PathBuf,
    locks: PathBuf,
}

impl Blobs {
    pub(super) fn new(dir: PathBuf, locks: PathBuf) -> Self {
        Self { dir, locks }
    }

    pub(super) fn path(&self, digest: &Digest) -> PathBuf {
        self.dir.join(digest.hex())
    }

    fn partial(&self, digest: &Digest) -> PathBuf {
        self.dir.join(format!("{}.partial", digest.hex()))
    }

    /// The blob's file, fetched if it is not there. Only one fetches a blob at a time; others wait and share it.
    pub(super) async fn fetch(
        &self,
        registry: &Registry,
        digest: &Digest,
        size: u64,
        report: &Report,
    ) -> Result<PathBuf, ImageError> {
        let path = self.path(digest);
        let tell = |done| report.tell(Phase::Pulling, &digest.to_string(), done, size);
        tell(0);
        let _lock = lock(&self.locks.join(format!("blob-{}", digest.hex())), Sharing::Alone).await?;
        if !path.metadata().is_ok_and(|found| found.len() == size) {
            let partial = Partial { path: self.partial(digest), digest, size };
            partial.complete(registry, &tell).await?;
            std::fs::rename(&partial.path, &path).context("keep", &path)?;
        }
        tell(size);
        Ok(path)
    }
}

struct Partial<'a> {
    path: PathBuf,
    digest: &'a Digest,
    size: u64,
}

/// A file that grows, and the digest of what it has.
struct Growing {
    file: std::fs::File,
    hash: Hash,
    bytes: u64,
    /// Whether some of it was there before.
    resumed: bool,
}

impl Partial<'_> {
    /// Fetches what is missing and checks the whole.
    async fn complete(&self, registry: &Registry, tell: &impl Fn(u64)) -> Result<(), ImageError> {
        let what = format!("blob {}", self.digest);
        let mut failed = 0;
        let mut started_over = false;
        loop {
            let mut growing = self.open().await?;
            let before = growing.bytes;
            match self.grow(registry, &mut growing, tell).await {
                Ok(()) => {}
                Err(Failure::Final(error)) => {
                    // What did not fit the disk is room that others need.
                    if matches!(error, ImageError::DiskFull(_) | ImageError::Tampered { .. }) {
                        let _ = std::fs::remove_file(&self.path);
                    }
                    return Err(error);
                }
                Err(Failure::Passing(why)) => {
                    failed = if growing.bytes > before { 1 } else { failed + 1 };
                    if failed >= registry.patience.attempts_max {
                        return Err(registry.error(what, why));
                    }
                    tracing::debug!(blob = %self.digest, bytes = growing.bytes, %why, "a download broke off and is resumed");
                    registry.pause(failed).await;
                    continue;
                }
            }
            let found = growing.hash.finish();
            if found == *self.digest {
                let file = growing.file;
                let synced = tokio::task::spawn_blocking(move || file.sync_data()).await;
                return synced.unwrap_or_else(|error| Err(io::Error::other(error))).context("write", &self.path);
            }
            std::fs::remove_file(&self.path).context("remove", &self.path)?;
            // What was there before may have suffered from a crash; what came whole in one go did not.
            if !growing.resumed || started_over {
                return Err(ImageError::Tampered { what, expected: self.digest.clone(), found: found.to_string() });
            }
            started_over = true;
        }
    }

    /// Opens what is there, and hashes it.
    async fn open(&self) -> Result<Growing, ImageError> {
        let (path, size) = (self.path.clone(), self.size);
        let opened = tokio::task::spawn_blocking(move || open(&path, size)).await;
        opened.unwrap_or_else(|error| Err(io::Error::other(error))).context("open", &self.path)
    }

    async fn grow(&self, registry: &Registry, growing: &mut Growing, tell: &impl Fn(u64)) -> Result<(), Failure> {
        if growing.bytes == self.size {
            return Ok(());
        }
        let from = (growing.bytes > 0).then_some(growing.bytes);
        let answer = registry.get("blobs", &self.digest.to_string(), from).await?;
        let goes_on = answer.status() == StatusCode::PARTIAL_CONTENT
            && answer.headers().get(CONTENT_RANGE).and_then(|it| it.to_str().ok()).and_then(first_byte) == from;
        if from.is_some() && !goes_on {
            // It cannot go on from there, or does not care to: from the beginning.
            growing.restart().context("empty", &self.path)?;
            if answer.status() == StatusCode::RANGE_NOT_SATISFIABLE {
                return Err(Failure::Passing("it has less than was there already".into()));
            }
        }
        if let Some(length) = content_length(&answer)
            && growing.bytes + length != self.size
        {
            return Err(self.wrong_size(growing.bytes + length).into());
        }
        let mut body = answer.into_body();
        let mut told = growing.bytes;
        while growing.bytes < self.size {
            let frame = match tokio::time::timeout(registry.patience.stall, body.frame()).await {
                Err(_) => return Err(Failure::Passing("it stopped in the middle".into())),
                Ok(None) => return Err(Failure::Passing("it ended in the middle".into())),
                Ok(Some(Err(error))) => return Err(Failure::Passing(format!("it broke off: {error}"))),
                Ok(Some(Ok(frame))) => frame,
            };
            let Some(data) = frame.data_ref() else { continue };
            if growing.bytes + data.len() as u64 > self.size {
                return Err(self.wrong_size(growing.bytes + data.len() as u64).into());
            }
            growing.add(data).context("write", &self.path)?;
            if growing.bytes >= told + REPORT_STEP_BYTES {
                told = growing.bytes;
                tell(told);
            }
        }
        Ok(())
    }

    fn wrong_size(&self, bytes: u64) -> ImageError {
        let found = format!("something of {bytes} bytes instead of {}", self.size);
        ImageError::Tampered { what: format!("blob {}", self.digest), expected: self.digest.clone(), found }
    }
}

fn open(path: &Path, size: u64) -> io::Result<Growing> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(nix::libc::O_NOFOLLOW);
    let mut file = options.open(path)?;
    if file.metadata()?.size() > size {
        file.set_len(0)?;
    }
    let mut hash = Hash::default();
    let mut bytes = 0;
    let mut buffer = vec![0; 128 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            n => {
                hash.update(&buffer[..n]);
                bytes += n as u64;
            }
        }
    }
    Ok(Growing { file, hash, bytes, resumed: bytes > 0 })
}

impl Growing {
    fn add(&mut self, data: &[u8]) -> io::Result<()> {
        // Into the page cache: some microseconds, which a hop to another thread would cost too.
        self.file.write_all(data)?;
        self.hash.update(data);
        self.bytes += data.len() as u64;
        Ok(())
    }

    fn restart(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        io::Seek::seek(&mut self.file, io::SeekFrom::Start(0))?;
        *self = Self { file: self.file.try_clone()?, hash: Hash::default(), bytes: 0, resumed: false };
        Ok(())
    }
}

/// The first byte of `bytes 100-199/200`.
fn first_byte(range: &str) -> Option<u64> {
    range.strip_prefix("bytes ")?.split_once('-')?.0.parse().ok()
}
