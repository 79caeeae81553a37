//! How the project was when a box began to differ from it, so that later changes on both sides can be told apart.
//!
//! It is taken when the box is made, and again at each of its starts for all that its layer does not speak of.
//!
//! One JSON line for each entry; a later line for the same path counts. Only what `stat` says is kept: cheap to
//! take for a hundred thousand files, and enough to see that somebody wrote. Of files that git tracks its index adds
//! what the content was, so that a file which was written and is the same again is no conflict.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::{FileExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    Overlay,
    change::{Entry, EntryKind},
    error::ReviewError,
    index::{self, Objects},
    object,
    touched::Touched,
    tree::{Tree, absent},
};

/// A path has at most 4096 bytes, each of which takes at most six characters of JSON.
const LINE_BYTES_MAX: u64 = 32 * 1024;

/// The record of one project, in a file of its own.
#[derive(Clone, Debug)]
pub struct Baseline {
    file: PathBuf,
}

/// A name as JSON can hold it: text, or bytes if it is none.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Name {
    Text(String),
    Bytes(Vec<u8>),
}

/// With a stamp of its own when it is read, with somebody else's when it is written.
#[derive(Serialize, Deserialize)]
struct Line<S> {
    path: Name,
    /// `None` if there is nothing at that path any more.
    was: Option<S>,
}

/// What `stat` said of an entry.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Stamp {
    kind: StampKind,
    size: u64,
    modified: (i64, u32),
    inode: u64,
    /// Of git's index, what it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    meaning: Option<String>,
    /// Git's name for the content, where the index knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    object: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StampKind {
    File,
    Directory,
    Symlink,
    Other,
}

impl Stamp {
    fn of(tree: &Tree, path: &Path, entry: &Entry) -> Self {
        let kind = match entry.kind {
            EntryKind::File => StampKind::File,
            EntryKind::Directory => StampKind::Directory,
            EntryKind::Symlink => StampKind::Symlink,
            EntryKind::Fifo | EntryKind::Socket | EntryKind::Device => StampKind::Other,
        };
        let meaning = if entry.is_file() { index::meaning(tree, path) } else { None };
        Self { kind, size: entry.size, modified: entry.modified, inode: entry.inode, meaning, object: None }
    }

    /// Directories change with what is in them, which has stamps of its own.
    fn agrees(&self, other: &Self) -> bool {
        let looks = |stamp: &Self| (stamp.kind, stamp.size, stamp.modified, stamp.inode);
        let same_meaning = self.meaning == other.meaning;
        same_meaning && (self.meaning.is_some() || looks(self) == looks(other))
            || self.kind == StampKind::Directory && other.kind == StampKind::Directory
    }

    /// Whether a file that looks different has the content that it had, as far as that is known.
    fn has_content_of(&self, lower: &Tree, path: &Path, now: &Entry) -> bool {
        let Some(object) = &self.object else { return false };
        let could = self.kind == StampKind::File && now.is_file() && self.size == now.size;
        could && lower.file(path).is_ok_and(|file| object::name_of_file(file).is_ok_and(|name| name == *object))
    }
}

/// The stamps of a few paths; all others were not there.
#[derive(Debug, Default)]
pub(super) struct Stamps(BTreeMap<PathBuf, Stamp>);

impl Stamps {
    /// Whether an entry is as it was.
    pub(super) fn agree(&self, lower: &Tree, path: &Path, now: Option<&Entry>) -> bool {
        match (self.0.get(path), now) {
            (None, None) => true,
            (Some(was), Some(now)) => was.agrees(&Stamp::of(lower, path, now)) || was.has_content_of(lower, path, now),
            _ => false,
        }
    }
}

impl Baseline {
    /// The record in this file, whether it is there yet or not.
    pub fn at(file: impl Into<PathBuf>) -> Self {
        Self { file: file.into() }
    }

    /// Records how a project is now. The record appears whole or not at all.
    pub fn take(lower: &Path, file: impl Into<PathBuf>) -> Result<Self, ReviewError> {
        let file = file.into();
        let lower = Tree::open(lower)?;
        write_beside(&file, |unfinished| write_all(&lower, &Touched::default(), &BTreeMap::new(), unfinished))?;
        Ok(Self { file })
    }

    /// Records how the project is now wherever the box has nothing of its own. Where it has, the record stays: that is
    /// what the box began with, and what came to the project since is a conflict.
    pub(super) fn renew(&self, overlay: &Overlay) -> Result<(), ReviewError> {
        let touched = Touched::by(&Tree::open(&overlay.upper)?)?;
        let kept = match (!touched.is_empty()).then(|| self.read(|path| touched.has(path))) {
            None => BTreeMap::new(),
            // Nothing is known of what the box began with, and a record must not look as if it were.
            Some(Err(ReviewError::NoBaseline { .. })) => return Ok(()),
            Some(read) => read?,
        };
        let lower = Tree::open(&overlay.lower)?;
        write_beside(&self.file, |unfinished| {
            write_all(&lower, &touched, &kept, unfinished)?;
            // The old one goes only when the new one would outlive the machine.
            let written = File::open(unfinished).and_then(|file| file.sync_data());
            written.map_err(ReviewError::io("write", unfinished))
        })
    }

    /// What it says of some paths.
    pub(super) fn stamps(&self, wanted: &BTreeSet<&Path>) -> Result<Stamps, ReviewError> {
        self.read(|path| wanted.contains(path)).map(Stamps)
    }

    fn read(&self, is_wanted: impl Fn(&Path) -> bool) -> Result<BTreeMap<PathBuf, Stamp>, ReviewError> {
        let failed = || ReviewError::io("read", &self.file);
        let file = match File::open(&self.file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ReviewError::NoBaseline { path: self.file.clone() });
            }
            other => other.map_err(failed())?,
        };
        let mut reader = BufReader::new(file);
        let mut stamps = BTreeMap::new();
        let mut text = Vec::new();
        for line in 1.. {
            text.clear();
            reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut text).map_err(failed())?;
            // The last line has no newline if whoever added it was interrupted; what it said is then unknown.
            if text.is_empty() || text.last() != Some(&b'\n') && (text.len() as u64) < LINE_BYTES_MAX {
                break;
            }
            let parsed: Line<Stamp> = serde_json::from_slice(&text).map_err(|error| {
                let reason = error.to_string();
                ReviewError::BadBaseline { path: self.file.clone(), line, reason }
            })?;
            let path = parsed.path.into_path();
            if !is_wanted(&path) {
                continue;
            }
            match parsed.was {
                Some(stamp) => stamps.insert(path, stamp),
                None => stamps.remove(&path),
            };
        }
        Ok(stamps)
    }

    /// Opens it for news of what is applied. Without a record none is kept.
    pub(super) fn renewal(&self) -> Result<Option<Renewal>, ReviewError> {
        let opened = OpenOptions::new().read(true).append(true).open(&self.file);
        match opened.and_then(|file| end_with_a_whole_line(&file).map(|()| file)) {
            Ok(file) => Ok(Some(Renewal { path: self.file.clone(), file })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ReviewError::io("write", &self.file)(error)),
        }
    }
}

/// Keeps a record up to date while entries are applied: those changes of the project are no stranger's.
pub(super) struct Renewal {
    path: PathBuf,
    file: File,
}

impl Renewal {
    pub(super) fn note(&mut self, lower: &Tree, path: &Path) -> Result<(), ReviewError> {
        let now = lower.look(path)?.map(|now| Stamp::of(lower, path, &now));
        let mut line = Vec::new();
        let written = write_line(&mut line, path, now.as_ref()).and_then(|()| self.file.write_all(&line));
        written.map_err(ReviewError::io("write", &self.path))
    }
}

/// Cuts off a last line that was interrupted, which the next would be added to otherwise.
fn end_with_a_whole_line(file: &File) -> io::Result<()> {
    let length = file.metadata()?.len();
    let start = length.saturating_sub(LINE_BYTES_MAX);
    let mut tail = vec![0; usize::try_from(length - start).unwrap_or_default()];
    file.read_exact_at(&mut tail, start)?;
    match tail.iter().rposition(|byte| *byte == b'\n') {
        Some(last) if last + 1 < tail.len() => file.set_len(start + last as u64 + 1),
        None if start == 0 => file.set_len(0),
        _ => Ok(()),
    }
}

/// Has a file written beside another, which it then replaces.
fn write_beside(file: &Path, write: impl FnOnce(&Path) -> Result<(), ReviewError>) -> Result<(), ReviewError> {
    let mut unfinished = file.to_owned().into_os_string();
    unfinished.push(".new");
    let unfinished = PathBuf::from(unfinished);
    let result = write(&unfinished);
    let result = result.and_then(|()| std::fs::rename(&unfinished, file).map_err(ReviewError::io("write", file)));
    if result.is_err() {
        let _ = std::fs::remove_file(&unfinished);
    }
    result
}

/// Writes what is kept of an older record, and of the project what the box's layer does not touch.
fn write_all(lower: &Tree, touched: &Touched, kept: &BTreeMap<PathBuf, Stamp>, file: &Path) -> Result<(), ReviewError> {
    let failed = || ReviewError::io("write", file);
    let created = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(file);
    let mut out = BufWriter::new(created.map_err(failed())?);
    for (path, stamp) in kept {
        write_line(&mut out, path, Some(stamp)).map_err(failed())?;
    }
    let mut objects = Objects::default();
    let mut dirs = vec![PathBuf::new()];
    while let Some(inside) = dirs.pop() {
        if touched.hides(&inside) {
            continue;
        }
        let listed = lower.dir(&inside).and_then(|dir| dir.names().map(|names| (dir, names)));
        let (dir, names) = match listed {
            Ok(listed) => listed,
            // What cannot be read now is unknown, and so a conflict later; what is mounted there no box sees.
            Err(error) if absent(&error) || error.is(io::ErrorKind::PermissionDenied) => continue,
            Err(error) if error.is(io::ErrorKind::CrossesDevices) => continue,
            Err(error) => return Err(error),
        };
        if names.iter().any(|name| name == ".git") {
            objects.learn(lower, &inside);
        }
        for name in names {
            let path = inside.join(&name);
            let Some(entry) = dir.look(&name)? else { continue };
            if !touched.names(&path) {
                let stamp = Stamp { object: objects.of(&path, &entry), ..Stamp::of(lower, &path, &entry) };
                write_line(&mut out, &path, Some(&stamp)).map_err(failed())?;
            }
            if entry.is_dir() {
                dirs.push(path);
            }
        }
    }
    out.flush().map_err(failed())
}

fn write_line(out: &mut impl Write, path: &Path, was: Option<&Stamp>) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &Line { path: Name::of(path), was })?;
    out.write_all(b"\n")
}

impl Name {
    fn of(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(path.as_os_str().as_bytes().to_vec()),
        }
    }

    fn into_path(self) -> PathBuf {
        match self {
            Self::Text(text) => text.into(),
            Self::Bytes(bytes) => OsString::from_vec(bytes).into(),
        }
    }
}
