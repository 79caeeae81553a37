//! Layers become one root file system: each is applied in order, below one directory, and checked against the digests
//! that the image's configuration names.
//!
//! All files come to belong to the user who unpacks them. Inside of a box that user is whoever the box's uid map says,
//! root by default, which is what nearly every file of an image belongs to.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use nix::unistd::syncfs;

use super::decompress::Layer;
use super::digest::Digest;
use super::error::{Context, ImageError};
use super::limits::Limits;
use super::progress::{Phase, REPORT_STEP_BYTES, Report};
use super::root::{Names, Refusal, Root};
use super::tarball::{Entries, Entry, Kind, TarError};
use super::whiteout::{self, Fresh, Meaning};

/// Notes beyond this many are counted only.
const NOTES_MAX: usize = 20;

/// A layer to unpack.
#[derive(Clone, Debug)]
pub struct LayerFile {
    pub path: PathBuf,
    /// What the file must hash to; unknown for those of a `docker save`, where `diff_id` says all.
    pub digest: Option<Digest>,
    /// What the tar in it must hash to.
    pub diff_id: Digest,
    pub size: u64,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unpacked {
    /// Bytes of all tars.
    pub bytes: u64,
    /// What was left out, in words.
    pub notes: Vec<String>,
    notes_more: u64,
}

impl Unpacked {
    fn note(&mut self, text: impl FnOnce() -> String) {
        if self.notes.len() < NOTES_MAX {
            self.notes.push(text());
        } else {
            self.notes_more += 1;
        }
    }

    fn finish(mut self) -> Self {
        if self.notes_more > 0 {
            self.notes.push(format!("and {} more", self.notes_more));
        }
        self
    }
}

/// Unpacks all layers, lowest first, into a directory that exists and is empty. When this fails, what is in it is
/// worth nothing.
pub fn unpack(
    layers: &[LayerFile],
    into: &Path,
    limits: &Limits,
    cancelled: &AtomicBool,
    report: &Report,
) -> Result<Unpacked, ImageError> {
    let mut work = Work {
        root: Root::open(into)?,
        limits,
        cancelled,
        report,
        entries_left: limits.entries_max,
        bytes_left: limits.bytes_max,
        unpacked: Unpacked::default(),
    };
    // Whatever the umask is; a layer may say otherwise.
    work.root.set_own_mode(0o755)?;
    for layer in layers {
        let name = layer.digest.as_ref().unwrap_or(&layer.diff_id);
        work.layer(layer, &name.to_string()).map_err(|refusal| match refusal {
            Refusal::Other(error) => error,
            Refusal::Tar(TarError::Read(source)) if source.raw_os_error().is_some() => {
                ImageError::io("read", &layer.path, source)
            }
            Refusal::Tar(why) => damaged(layer).unwrap_or_else(|| ImageError::Layer { layer: name.to_string(), why }),
        })?;
    }
    // Once the directory has its name nobody looks again whether all of it reached the disk.
    let directory = std::fs::File::open(into).context("open", into)?;
    syncfs(&directory).context("write to", into)?;
    Ok(work.unpacked.finish())
}

struct Work<'a> {
    root: Root,
    limits: &'a Limits,
    cancelled: &'a AtomicBool,
    report: &'a Report,
    entries_left: u64,
    bytes_left: u64,
    unpacked: Unpacked,
}

impl Work<'_> {
    fn layer(&mut self, layer: &LayerFile, name: &str) -> Result<(), Refusal> {
        let tell = |done| self.report.tell(Phase::Unpacking, name, done, layer.size);
        tell(0);
        let mut stream = Layer::open(&layer.path, self.limits, self.bytes_left)?;
        let meter = stream.meter();
        let mut told = 0;
        let mut entries = Entries::new(&mut stream, self.limits, self.entries_left);
        let mut fresh = Fresh::default();
        while let Some(entry) = entries.next_entry()? {
            if self.cancelled.load(Ordering::Relaxed) {
                return Err(ImageError::Cancelled.into());
            }
            self.apply(&entry, &mut entries, &mut fresh)?;
            if meter.bytes() >= told + REPORT_STEP_BYTES {
                told = meter.bytes();
                self.report.tell(Phase::Unpacking, name, told.min(layer.size), layer.size);
            }
        }
        self.entries_left = entries.entries_left();
        entries.drain()?;
        let (file, tar, bytes) = stream.finish()?;
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
        self.unpacked.bytes += bytes;
        check(&layer.path, layer.digest.as_ref(), &file)?;
        check(&layer.path, Some(&layer.diff_id), &tar)?;
        self.report.tell(Phase::Unpacking, name, layer.size, layer.size);
        Ok(())
    }

    fn apply(&mut self, entry: &Entry, data: &mut impl std::io::Read, fresh: &mut Fresh) -> Result<(), Refusal> {
        let path = &entry.path[..];
        self.check_attributes(entry)?;
        let names = Names::parse(path, self.limits)?;
        let Some((parents, name)) = names.split() else {
            return match entry.kind {
                Kind::Directory => Ok(self.root.set_own_mode(entry.mode)?),
                _ => Err(TarError::entry(path, "would take the place of the root").into()),
            };
        };
        if parents.iter().any(|parent| whiteout::is_whiteout(parent)) {
            return Err(TarError::entry(path, "lies below a whiteout").into());
        }
        match whiteout::meaning(name, path)? {
            Meaning::Nothing => return Ok(()),
            Meaning::Gone(gone) => {
                let Some(parent) = self.root.parent_if_there(parents, path)? else { return Ok(()) };
                return fresh.white_out(&mut self.root, &parent, gone, path);
            }
            Meaning::AllGone => {
                let Some(parent) = self.root.parent_if_there(parents, path)? else { return Ok(()) };
                return fresh.white_out_all(&mut self.root, &parent, path);
            }
            Meaning::Itself => {}
        }
        if let Kind::Special(what) = entry.kind {
            let shown = String::from_utf8_lossy(path).into_owned();
            self.unpacked.note(|| format!("{shown:?} is a {what} and was left out"));
            return Ok(());
        }
        let parent = self.root.parent(parents, path)?;
        match &entry.kind {
            Kind::Directory => self.root.put_directory(&parent, name, entry.mode, path)?,
            Kind::File => self.root.put_file(&parent, name, (entry.mode, entry.mtime), path, data)?,
            Kind::Symlink(target) => self.root.put_symlink(&parent, name, (target, entry.mtime), path)?,
            Kind::Hardlink(target) => {
                let target = Names::parse(target, self.limits)?;
                self.root.put_hardlink(&parent, name, &target, path)?;
            }
            Kind::Special(_) => {}
        }
        fresh.add(&self.root, &parent, name)
    }

    /// No attribute is written: those of the system cannot be by an ordinary user, others are hardly used. Those of
    /// overlayfs would tell it lies about the layers below it.
    fn check_attributes(&mut self, entry: &Entry) -> Result<(), TarError> {
        let overlay = |name: &[u8]| name.starts_with(b"user.overlay.") || name.starts_with(b"trusted.overlay.");
        if entry.attributes.iter().any(|name| overlay(name)) {
            return Err(TarError::entry(&entry.path, "has attributes that are overlayfs' own"));
        }
        Ok(())
    }
}

/// What cannot be read may be a stranger's doing or the disk's; the digest tells.
fn damaged(layer: &LayerFile) -> Option<ImageError> {
    let found = Digest::of_file(&layer.path).ok()?;
    match check(&layer.path, layer.digest.as_ref(), &found) {
        Err(Refusal::Other(error)) => Some(error),
        _ => None,
    }
}

/// A layer that is not what its name says is removed by whoever fetched it.
fn check(path: &Path, expected: Option<&Digest>, found: &Digest) -> Result<(), Refusal> {
    match expected {
        Some(expected) if expected != found => Err(ImageError::Tampered {
            what: format!("layer {}", path.display()),
            expected: expected.clone(),
            found: found.to_string(),
        }
        .into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "unpack_tests.rs"]
mod tests;
