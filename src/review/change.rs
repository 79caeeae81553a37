//! One difference between the project and what the box made of it.

use std::path::PathBuf;

use rustix::fs::{FileType, Stat};

/// What happened to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Added,
    /// Another content, perhaps another mode too.
    Modified,
    Deleted,
    /// A file became a directory, a directory a link, and so on.
    TypeChanged,
    /// The same content with other permissions.
    ModeChanged,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Directory,
    Symlink,
    Fifo,
    Socket,
    Device,
}

/// An entry as one side has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub kind: EntryKind,
    /// Permission bits. Without set-user-id and set-group-id for files: these are never carried out of a box.
    pub mode: u32,
    /// In bytes; for a symlink, of its target's name.
    pub size: u64,
    /// Seconds and nanoseconds.
    pub(super) modified: (i64, u32),
    /// When its content, mode or owner last changed: nobody can set that back.
    pub(super) changed: (i64, u32),
    pub(super) inode: u64,
    pub(super) owner: (u32, u32),
    /// A character device 0/0, by which overlayfs says "deleted".
    pub(super) whiteout: bool,
}

impl Entry {
    // The fields of `Stat` have other widths on other architectures.
    #[allow(clippy::cast_sign_loss, clippy::useless_conversion, clippy::cast_possible_truncation)]
    pub(super) fn of(stat: &Stat) -> Self {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Directory,
            FileType::Symlink => EntryKind::Symlink,
            FileType::Fifo => EntryKind::Fifo,
            FileType::Socket => EntryKind::Socket,
            _ => EntryKind::Device,
        };
        let bits = if kind == EntryKind::Directory { 0o7777 } else { 0o777 };
        Self {
            kind,
            mode: stat.st_mode & bits,
            size: stat.st_size as u64,
            modified: (stat.st_mtime.into(), stat.st_mtime_nsec as u32),
            changed: (stat.st_ctime.into(), stat.st_ctime_nsec as u32),
            inode: stat.st_ino,
            owner: (stat.st_uid, stat.st_gid),
            whiteout: FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && stat.st_rdev == 0,
        }
    }

    pub fn is_dir(&self) -> bool {
        self.kind == EntryKind::Directory
    }

    pub fn is_symlink(&self) -> bool {
        self.kind == EntryKind::Symlink
    }

    pub(super) fn is_file(&self) -> bool {
        self.kind == EntryKind::File
    }
}

/// One difference between the project and what the box made of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Relative to the workspace.
    pub path: PathBuf,
    pub kind: Kind,
    /// As the project has it; `None` if it was added.
    pub old: Option<Entry>,
    /// As the box has it; `None` if it was deleted.
    pub new: Option<Entry>,
}

impl Change {
    /// Whether it is a directory, or was one if it is gone.
    pub fn is_dir(&self) -> bool {
        self.new.as_ref().or(self.old.as_ref()).is_some_and(Entry::is_dir)
    }

    pub(super) fn was_dir(&self) -> bool {
        self.old.as_ref().is_some_and(Entry::is_dir)
    }

    /// Whether a directory appears where none was.
    pub(super) fn makes_dir(&self) -> bool {
        !self.was_dir() && self.new.as_ref().is_some_and(Entry::is_dir)
    }
}
