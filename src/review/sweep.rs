//! Removing trees that somebody else made: locked, of any depth, of any size.
//!
//! A tree is first renamed out of the layer, which is one step, and taken apart where nobody looks. Directories are
//! moved to the top as they are met, so a tree of a hundred thousand levels needs neither stack nor open files.

use std::{
    ffi::{OsStr, OsString},
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Dir, Mode, OFlags},
    io::Errno,
};

use super::{error::ReviewError, tree::set_mode};

/// Entries of one directory that are handled at a time.
pub(super) const BATCH_ENTRIES: usize = 4096;

/// A directory beside the upper layer in which trees are taken apart.
pub(super) struct Bin {
    path: PathBuf,
    fd: OwnedFd,
    /// The next free name in it.
    next: u64,
}

impl Bin {
    /// Opens it, and empties it of what an interrupted run left.
    pub(super) fn beside(upper: &Path) -> Result<Self, ReviewError> {
        let mut hidden = OsString::from(".");
        hidden.push(upper.file_name().unwrap_or(OsStr::new("upper")));
        hidden.push(".discarded");
        let path = upper.with_file_name(hidden);
        match rustix::fs::mkdir(&path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(ReviewError::io("make", &path)(error)),
        }
        let fd = open_dir(rustix::fs::CWD, &path).map_err(ReviewError::io("open", &path))?;
        let mut bin = Self { path, fd, next: 0 };
        bin.empty()?;
        Ok(bin)
    }

    /// Takes an entry away from where it is.
    pub(super) fn take(&mut self, dir: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
        // Whoever moves a directory writes into it (its `..`), and so needs the permission.
        unlock(dir, name)?;
        loop {
            let free = self.next.to_string();
            self.next += 1;
            let flags = rustix::fs::RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(dir, name, &self.fd, free, flags) {
                Err(Errno::EXIST) => {}
                other => return other,
            }
        }
    }

    /// Removes everything in it, and itself.
    pub(super) fn dispose(mut self) -> Result<(), ReviewError> {
        self.empty()?;
        rustix::fs::rmdir(&self.path).map_err(ReviewError::io("remove", &self.path))
    }

    fn empty(&mut self) -> Result<(), ReviewError> {
        loop {
            let names = self.names(&self.fd)?;
            if names.is_empty() {
                return Ok(());
            }
            for name in names {
                self.remove(&name)?;
            }
        }
    }

    fn remove(&mut self, name: &OsStr) -> Result<(), ReviewError> {
        let failed = || ReviewError::io("remove", self.path.join(name));
        if unlink(&self.fd, name).map_err(failed())? {
            return Ok(());
        }
        unlock(&self.fd, name).map_err(failed())?;
        let dir = open_dir(&self.fd, Path::new(name)).map_err(failed())?;
        loop {
            let names = self.names(&dir)?;
            if names.is_empty() {
                break;
            }
            for inner in names {
                let failed = || ReviewError::io("remove", self.path.join(name).join(&inner));
                if !unlink(&dir, &inner).map_err(failed())? {
                    let moved = self.take(&dir, &inner);
                    moved.map_err(ReviewError::io("remove", self.path.join(name).join(&inner)))?;
                }
            }
        }
        rustix::fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR)
            .map_err(ReviewError::io("remove", self.path.join(name)))
    }

    fn names(&self, dir: &OwnedFd) -> Result<Vec<OsString>, ReviewError> {
        let failed = || ReviewError::io("list", &self.path);
        let mut names = Vec::new();
        for entry in Dir::read_from(dir).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsStr::from_bytes(name).to_owned());
            }
            if names.len() == BATCH_ENTRIES {
                break;
            }
        }
        Ok(names)
    }
}

/// Removes what is no directory; says whether it did.
fn unlink(dir: &OwnedFd, name: &OsStr) -> Result<bool, Errno> {
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Gives the owner all permissions on a directory.
fn unlock(dir: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(dir, name, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&handle)?;
    let is_dir = rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Directory;
    if is_dir && stat.st_mode & 0o700 != 0o700 { set_mode(&handle, 0o700) } else { Ok(()) }
}

fn open_dir(dir: impl AsFd, name: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(dir, name, flags, Mode::empty())
}
