//! A directory tree that is never left: every path is resolved beneath its root, without following a symlink.
//!
//! The box may write in one of the two trees at any moment, so a path that was a directory a moment ago can be a
//! link by now. The kernel refuses such a path (`openat2`), whoever wins the race.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::ffi::{OsStrExt, OsStringExt},
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, CWD, Dir, Mode, OFlags, ResolveFlags},
    io::Errno,
};

use super::{change::Entry, error::ReviewError};
use crate::beneath::settled;

/// The most entries that are read of one directory, and the most changes of one review: memory has an end, and
/// nobody reads a longer list. An unpacked `node_modules` is some 60 000.
pub const ENTRIES_MAX: usize = 1_000_000;

/// Reading, writing and searching by the owner: what one needs to work inside a directory.
const OWNER_ALL: u32 = 0o700;

pub(super) struct Tree {
    path: PathBuf,
    root: OwnedFd,
    /// Whether directories and files that their owner locked may be unlocked for a while.
    unlock: bool,
    /// The modes to give back to directories that were unlocked, and to those made here.
    modes: RefCell<BTreeMap<PathBuf, u32>>,
}

impl Tree {
    /// For reading only.
    pub(super) fn open(path: &Path) -> Result<Self, ReviewError> {
        Self::open_with(path, false)
    }

    /// Directories without permissions for their owner are unlocked on the way, until `settle_modes`.
    pub(super) fn open_unlocking(path: &Path) -> Result<Self, ReviewError> {
        Self::open_with(path, true)
    }

    fn open_with(path: &Path, unlock: bool) -> Result<Self, ReviewError> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let root = rustix::fs::open(path, flags, Mode::empty()).map_err(ReviewError::io("open", path))?;
        Ok(Self { path: path.to_owned(), root, unlock, modes: RefCell::default() })
    }

    pub(super) fn root(&self) -> &OwnedFd {
        &self.root
    }

    /// The whole path of something inside, for messages.
    pub(super) fn full(&self, inside: &Path) -> PathBuf {
        self.path.join(inside)
    }

    /// The entry itself, not what a link points to.
    pub(super) fn look(&self, inside: &Path) -> Result<Option<Entry>, ReviewError> {
        match self.dir(parent(inside)) {
            Ok(dir) => dir.look(name(inside)),
            Err(error) if absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn dir(&self, inside: &Path) -> Result<OpenDir<'_>, ReviewError> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY;
        let fd = match self.resolve(inside, flags) {
            Err(Errno::ACCESS) if self.unlock => {
                self.unlock_down_to(inside)?;
                self.resolve(inside, flags)
            }
            other => other,
        };
        let fd = fd.map_err(ReviewError::io("open", self.full(inside)))?;
        if self.unlock {
            self.unlock_one(inside, &fd)?;
        }
        Ok(OpenDir { tree: self, fd, inside: inside.to_owned() })
    }

    /// A regular file to read. Anything else is refused without waiting for it, as opening a pipe would.
    pub(super) fn file(&self, inside: &Path) -> Result<File, ReviewError> {
        let open = || self.resolve(inside, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY);
        let fd = match open() {
            Err(Errno::ACCESS) if self.unlock => {
                self.unlock_down_to(parent(inside))?;
                let handle = self.handle(inside)?;
                let mode = stat(&handle, || self.full(inside))?.st_mode & 0o7777;
                set_mode(&handle, mode | 0o400).map_err(ReviewError::io("unlock", self.full(inside)))?;
                let opened = open();
                set_mode(&handle, mode).map_err(ReviewError::io("lock", self.full(inside)))?;
                opened
            }
            other => other,
        };
        let fd = fd.map_err(ReviewError::io("read", self.full(inside)))?;
        if !Entry::of(&stat(&fd, || self.full(inside))?).is_file() {
            let reason = io::Error::new(io::ErrorKind::InvalidData, "it is no regular file any more");
            return Err(ReviewError::io("read", self.full(inside))(reason));
        }
        Ok(File::from(fd))
    }

    pub(super) fn link_target(&self, inside: &Path) -> Result<OsString, ReviewError> {
        let dir = self.dir(parent(inside))?;
        let target = rustix::fs::readlinkat(&dir.fd, name(inside), Vec::new());
        let target = target.map_err(ReviewError::io("read the link", self.full(inside)))?;
        Ok(OsString::from_vec(target.into_bytes()))
    }

    /// Changes the permissions of an entry that is no link.
    pub(super) fn chmod(&self, inside: &Path, mode: u32) -> Result<(), ReviewError> {
        self.dir(parent(inside))?;
        set_mode(&self.handle(inside)?, mode).map_err(ReviewError::io("change the mode of", self.full(inside)))
    }

    /// The mode that a directory gets when all is done inside it.
    pub(super) fn settle_later(&self, inside: &Path, mode: u32) {
        self.modes.borrow_mut().insert(inside.to_owned(), mode);
    }

    /// Gives directories the modes they shall have, the deepest first. Says which could not get theirs.
    pub(super) fn settle_modes(&self) -> Result<(), (PathBuf, ReviewError)> {
        let modes = std::mem::take(&mut *self.modes.borrow_mut());
        let mut failed = None;
        for (inside, mode) in modes.into_iter().rev() {
            let result = match self.resolve(&inside, OFlags::PATH | OFlags::DIRECTORY) {
                // Gone, or replaced by something that is no directory.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(()),
                Err(error) => Err(error),
                Ok(fd) => set_mode(&fd, mode),
            };
            if let Err(error) = result {
                let error = ReviewError::io("change the mode of", self.full(&inside))(error);
                failed.get_or_insert((inside, error));
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn unlock_down_to(&self, inside: &Path) -> Result<(), ReviewError> {
        let mut way: Vec<&Path> = inside.ancestors().collect();
        way.reverse();
        for dir in way {
            let fd = self.handle(dir)?;
            self.unlock_one(dir, &fd)?;
        }
        Ok(())
    }

    /// Root needs no permissions, and nobody may change those of others.
    fn unlock_one(&self, inside: &Path, fd: &OwnedFd) -> Result<(), ReviewError> {
        let user = nix::unistd::geteuid();
        if user.is_root() {
            return Ok(());
        }
        let stat = stat(fd, || self.full(inside))?;
        let entry = Entry::of(&stat);
        if !entry.is_dir() || entry.mode & OWNER_ALL == OWNER_ALL || stat.st_uid != user.as_raw() {
            return Ok(());
        }
        self.modes.borrow_mut().entry(inside.to_owned()).or_insert(entry.mode);
        set_mode(fd, entry.mode | OWNER_ALL).map_err(ReviewError::io("unlock", self.full(inside)))
    }

    /// A handle on an entry that needs no permission on it.
    fn handle(&self, inside: &Path) -> Result<OwnedFd, ReviewError> {
        self.resolve(inside, OFlags::PATH).map_err(ReviewError::io("open", self.full(inside)))
    }

    fn resolve(&self, inside: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        // What is mounted inside the project is not part of what the box saw, hence NO_XDEV.
        let within =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV;
        let path = if inside.as_os_str().is_empty() { Path::new(".") } else { inside };
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        settled(|| rustix::fs::openat2(&self.root, path, flags, Mode::empty(), within))
    }
}

/// An open directory of a tree.
pub(super) struct OpenDir<'a> {
    tree: &'a Tree,
    pub(super) fd: OwnedFd,
    inside: PathBuf,
}

impl OpenDir<'_> {
    pub(super) fn names(&self) -> Result<Vec<OsString>, ReviewError> {
        let names = self.first_names(ENTRIES_MAX + 1)?;
        if names.len() > ENTRIES_MAX {
            return Err(ReviewError::TooMany { path: self.tree.full(&self.inside), max: ENTRIES_MAX });
        }
        Ok(names)
    }

    /// So many names, whichever come first.
    pub(super) fn first_names(&self, max: usize) -> Result<Vec<OsString>, ReviewError> {
        let failed = || ReviewError::io("list", self.tree.full(&self.inside));
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.fd).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsStr::from_bytes(name).to_owned());
            }
            if names.len() == max {
                break;
            }
        }
        Ok(names)
    }

    pub(super) fn look(&self, name: &OsStr) -> Result<Option<Entry>, ReviewError> {
        let inside = self.inside.join(name);
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(ReviewError::io("look at", self.tree.full(&inside))(error)),
            Ok(stat) => {
                let mut entry = Entry::of(&stat);
                if let Some(mode) = self.tree.modes.borrow().get(&inside) {
                    entry.mode = *mode;
                }
                Ok(Some(entry))
            }
        }
    }

    /// A path to an entry for calls that take no directory handle. It cannot leave this directory.
    pub(super) fn path_of(&self, name: &OsStr) -> PathBuf {
        by_handle(&self.fd).join(name)
    }

    pub(super) fn full(&self, name: &OsStr) -> PathBuf {
        self.tree.full(&self.inside.join(name))
    }
}

/// The directory that holds an entry; the root for those at the top.
pub(super) fn parent(inside: &Path) -> &Path {
    inside.parent().unwrap_or(Path::new(""))
}

/// The last part of a path; the root has the name `.`.
pub(super) fn name(inside: &Path) -> &OsStr {
    inside.file_name().unwrap_or(OsStr::new("."))
}

/// Whether an error says that there is no such entry, or that it became something else meanwhile.
pub(super) fn absent(error: &ReviewError) -> bool {
    let ReviewError::Io { source, .. } = error else { return false };
    let errno = Errno::from_io_error(source);
    let gone = matches!(errno, Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::INVAL | Errno::NXIO));
    gone || source.kind() == io::ErrorKind::InvalidData
}

/// Changes a mode through a handle that may be `O_PATH`, for which there is no `fchmod`.
pub(super) fn set_mode(fd: &OwnedFd, mode: u32) -> Result<(), Errno> {
    rustix::fs::chmodat(CWD, by_handle(fd), Mode::from_raw_mode(mode), AtFlags::empty())
}

fn by_handle(fd: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()))
}

fn stat(fd: &impl AsFd, path: impl FnOnce() -> PathBuf) -> Result<rustix::fs::Stat, ReviewError> {
    rustix::fs::fstat(fd).map_err(|error| ReviewError::io("look at", path())(error))
}
