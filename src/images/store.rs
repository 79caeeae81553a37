//! The images of a user: what is there, where it lies, and what may go.
//!
//! ```text
//! images/<config digest>/rootfs, image.json    an unpacked image; there whole or not at all
//! images/<config digest>.unpacking             one in the making; worth nothing without its maker
//! images/blobs/sha256/<hex>[.partial]          layers as they came
//! images/refs/<hex>.json                       what a reference means
//! images/locks/                                store: pulls share it, whoever removes has it alone
//! ```

use std::collections::HashSet;
use std::fs::DirBuilder;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::blob::Blobs;
use super::config::ImageConfig;
use super::digest::Digest;
use super::error::{Context, ImageError};
use super::limits::Limits;
use super::lock::{Lock, Sharing, lock, try_lock};
use super::manifest::Platform;
use super::records::{self, About, Record, Seen};
use super::reference::Reference;
use super::registry::Patience;
use super::trees;

/// A download that nobody resumed for this long is not waited for.
const PARTIAL_AGE_MAX: Duration = Duration::from_secs(24 * 3600);

/// How long a lock may stay with nobody: a process that is just being started holds all files of its maker until it has become
/// the program that was asked for.
const LET_GO_WITHIN: Duration = Duration::from_millis(500);
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// An image that is ready to be a box's root.
#[derive(Clone, Debug)]
pub struct Image {
    /// The full reference that it goes by.
    pub reference: String,
    /// What it is: the digest of its configuration, or of its place for a `dir:`.
    pub id: Digest,
    pub rootfs: PathBuf,
    pub config: ImageConfig,
    /// What its layers unpack to; unknown (0) for a `dir:`.
    pub size_bytes: u64,
    /// Milliseconds since 1970.
    pub pulled_at_ms: u64,
    /// What was left out of it, in words.
    pub notes: Vec<String>,
}

/// For as long as somebody has it, no image goes.
#[derive(Debug)]
pub struct Held(#[expect(dead_code, reason = "it is held, not looked at")] Lock);

/// What a clean-up brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freed {
    pub images: u64,
    pub blobs: u64,
    pub bytes: u64,
}

#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    pub(super) blobs: Blobs,
    pub limits: Limits,
    pub platform: Platform,
    pub patience: Patience,
}

impl Store {
    /// Opens `COOP_HOME/images`, makes it if need be, and sweeps away what an interrupted pull left.
    pub fn open(root: &Path) -> Result<Self, ImageError> {
        for dir in [root.to_owned(), root.join("blobs/sha256"), root.join("refs"), root.join("locks")] {
            DirBuilder::new().recursive(true).mode(0o700).create(&dir).context("make", &dir)?;
        }
        let store = Self {
            root: root.to_owned(),
            blobs: Blobs::new(root.join("blobs/sha256"), root.join("locks")),
            limits: Limits::default(),
            platform: Platform::here(),
            patience: Patience::default(),
        };
        // If somebody pulls just now, whatever lies around may be theirs. It is swept another time.
        match try_lock(&store.lock_path("store"), Sharing::Alone) {
            Ok(Some(_alone)) => store.sweep()?,
            // What is there can still be used.
            Ok(None) | Err(ImageError::ReadOnly(_)) => {}
            Err(error) => return Err(error),
        }
        Ok(store)
    }

    pub(super) fn lock_path(&self, name: &str) -> PathBuf {
        self.root.join("locks").join(name)
    }

    pub(super) fn image_dir(&self, id: &Digest) -> PathBuf {
        self.root.join(id.hex())
    }

    /// Where something is made before it gets its name. Swept when its maker is gone.
    pub(super) fn making(&self, name: &str) -> PathBuf {
        self.root.join(format!("{name}.unpacking"))
    }

    fn record_path(&self, reference: &str) -> PathBuf {
        self.root.join("refs").join(format!("{}.json", Digest::of(reference.as_bytes()).hex()))
    }

    fn sweep(&self) -> Result<(), ImageError> {
        for path in list(&self.root)? {
            let swept = path.extension().is_some_and(|it| it == "unpacking" || it == "removing");
            if swept {
                trees::remove(&path).context("remove", &path)?;
            }
        }
        Ok(())
    }

    /// The image that a reference means, if it is there. One of a file that has changed since is not. `host` is none.
    pub fn find(&self, reference: &Reference) -> Result<Option<Image>, ImageError> {
        match reference {
            Reference::Host => Ok(None),
            Reference::Directory(dir) => directory(reference, dir).map(Some),
            _ => {
                let record = self.record(&reference.to_string());
                let unchanged = |record: &Record| record.seen == seen(reference);
                Ok(record.filter(unchanged).and_then(|record| self.image(&record)))
            }
        }
    }

    pub(super) fn record(&self, reference: &str) -> Option<Record> {
        records::read::<Record>(&self.record_path(reference)).filter(|record| record.reference == reference)
    }

    pub(super) fn image(&self, record: &Record) -> Option<Image> {
        let dir = self.image_dir(&record.image);
        let about: About = records::read(&dir.join("image.json"))?;
        Some(Image {
            reference: record.reference.clone(),
            id: record.image.clone(),
            rootfs: dir.join("rootfs"),
            config: about.config,
            size_bytes: about.size_bytes,
            pulled_at_ms: record.pulled_at_ms,
            notes: about.notes,
        })
    }

    /// Writes down that the reference means this image now.
    pub(super) fn keep(&self, reference: &Reference, image: &Digest, blobs: Vec<Digest>) -> Result<Image, ImageError> {
        let reference_text = reference.to_string();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let record = Record {
            image: image.clone(),
            blobs,
            pulled_at_ms: now.as_millis().try_into().unwrap_or(u64::MAX),
            seen: seen(reference),
            reference: reference_text.clone(),
        };
        records::write(&self.record_path(&reference_text), &record)?;
        self.image(&record).ok_or(ImageError::Unknown(reference_text))
    }

    fn all_records(&self) -> Result<Vec<Record>, ImageError> {
        let paths = list(&self.root.join("refs"))?;
        let records = paths.iter().filter(|path| path.extension().is_some_and(|it| it == "json"));
        Ok(records.filter_map(|path| records::read(path)).collect())
    }

    /// All images, by reference.
    pub fn list(&self) -> Result<Vec<Image>, ImageError> {
        let mut images: Vec<_> = self.all_records()?.iter().filter_map(|record| self.image(record)).collect();
        images.sort_by(|a, b| a.reference.cmp(&b.reference));
        Ok(images)
    }

    /// The bytes that all images take on the disk.
    pub fn disk_bytes(&self) -> u64 {
        trees::size(&self.root)
    }

    /// Keeps every image, also one that no box stands on yet, until the lock is dropped.
    pub async fn hold(&self) -> Result<Held, ImageError> {
        Ok(Held(lock(&self.lock_path("store"), Sharing::Shared).await?))
    }

    fn alone(&self) -> Result<Lock, ImageError> {
        let given_up = Instant::now() + LET_GO_WITHIN;
        loop {
            match try_lock(&self.lock_path("store"), Sharing::Alone)? {
                Some(lock) => return Ok(lock),
                None if Instant::now() >= given_up => return Err(ImageError::Busy),
                None => std::thread::sleep(BETWEEN_TRIES),
            }
        }
    }

    /// Forgets a reference, and removes its image if no other reference means it. Refused if a box uses it then.
    pub fn remove(&self, reference: &Reference, in_use: &HashSet<Digest>) -> Result<Freed, ImageError> {
        let _alone = self.alone()?;
        let text = reference.to_string();
        let record = self.record(&text).ok_or_else(|| ImageError::Unknown(text.clone()))?;
        let others = self.all_records()?.iter().filter(|other| other.image == record.image).count() > 1;
        if !others && in_use.contains(&record.image) {
            return Err(ImageError::InUse(text));
        }
        let path = self.record_path(&text);
        std::fs::remove_file(&path).context("remove", &path)?;
        let mut freed = Freed::default();
        if !others {
            self.remove_image(&record.image, &mut freed)?;
        }
        let kept = self.all_records()?.into_iter().flat_map(|record| record.blobs).collect::<HashSet<_>>();
        for blob in record.blobs.iter().filter(|blob| !kept.contains(*blob)) {
            remove_blob(&self.blobs.path(blob), &mut freed)?;
        }
        Ok(freed)
    }

    /// Takes its name away first: an image that is half removed must not be taken for one.
    fn remove_image(&self, id: &Digest, freed: &mut Freed) -> Result<(), ImageError> {
        let dir = self.image_dir(id);
        if !dir.exists() {
            return Ok(());
        }
        let bytes = trees::size(&dir);
        let removing = dir.with_extension("removing");
        std::fs::rename(&dir, &removing).context("remove", &dir)?;
        trees::remove(&removing).context("remove", &removing)?;
        freed.images += 1;
        freed.bytes += bytes;
        Ok(())
    }

    /// Removes images that neither a reference nor a box means, and blobs that belong to no image.
    pub fn gc(&self, in_use: &HashSet<Digest>) -> Result<Freed, ImageError> {
        let _alone = self.alone()?;
        self.sweep()?;
        let records = self.all_records()?;
        let meant: HashSet<_> = records.iter().map(|record| &record.image).chain(in_use).collect();
        let mut freed = Freed::default();
        for path in list(&self.root)? {
            let id = path.file_name().and_then(|name| name.to_str()).and_then(Digest::from_hex);
            if let Some(id) = id.filter(|id| !meant.contains(id)) {
                self.remove_image(&id, &mut freed)?;
            }
        }
        let kept: HashSet<_> = records.iter().flat_map(|record| &record.blobs).map(Digest::hex).collect();
        for path in list(&self.root.join("blobs/sha256"))? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let goes = if name.ends_with(".partial") { is_older(&path, PARTIAL_AGE_MAX) } else { !kept.contains(name) };
            if goes {
                remove_blob(&path, &mut freed)?;
            }
        }
        // Nobody waits for these: whoever does has a share of the lock that we have alone.
        for path in list(&self.root.join("locks"))?.iter().filter(|path| !path.ends_with("store")) {
            let _ = std::fs::remove_file(path);
        }
        Ok(freed)
    }
}

fn list(dir: &Path) -> Result<Vec<PathBuf>, ImageError> {
    let entries = std::fs::read_dir(dir).context("list", dir)?;
    entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>().context("list", dir)
}

fn remove_blob(path: &Path, freed: &mut Freed) -> Result<(), ImageError> {
    let bytes = path.metadata().map_or(0, |found| found.blocks() * 512);
    match std::fs::remove_file(path) {
        Ok(()) => {
            freed.blobs += 1;
            freed.bytes += bytes;
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(ImageError::io("remove", path, error)),
    }
}

fn is_older(path: &Path, age: Duration) -> bool {
    let modified = path.metadata().and_then(|found| found.modified());
    modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|elapsed| elapsed > age))
}

/// The file that a local reference stands and falls with.
fn seen(reference: &Reference) -> Option<Seen> {
    match reference {
        Reference::Archive(file) => Seen::of(file),
        Reference::Layout { dir, .. } => Seen::of(&dir.join("index.json")),
        _ => None,
    }
}

/// A root file system that is used where it lies. It is known by its place; what is in it is its owner's business.
fn directory(reference: &Reference, dir: &Path) -> Result<Image, ImageError> {
    let found = dir.metadata().context("use", dir)?;
    if !found.is_dir() {
        return Err(ImageError::NotAnImage(reference.to_string(), "it is not a directory".into()));
    }
    let rootfs = dir.canonicalize().context("use", dir)?;
    let mut place = rootfs.as_os_str().as_bytes().to_vec();
    place.extend(format!("\0{}:{}", found.dev(), found.ino()).as_bytes());
    Ok(Image {
        reference: reference.to_string(),
        id: Digest::of(&place),
        rootfs,
        config: ImageConfig::default(),
        size_bytes: 0,
        pulled_at_ms: 0,
        notes: Vec::new(),
    })
}
