//! Carries one change into the project, so that it is there whole or not at all.

use std::{
    collections::hash_map::DefaultHasher,
    ffi::{OsStr, OsString},
    fs::File,
    hash::{Hash, Hasher},
    io,
    os::fd::OwnedFd,
    path::Path,
};

use rustix::{
    fs::{AtFlags, FileType, Gid, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT, Uid},
    io::Errno,
};

use super::{
    change::{Change, Entry, EntryKind},
    error::ReviewError,
    plan::{Act, Step},
    tree::{OpenDir, Tree, name, parent},
};

pub(super) struct Hand<'a> {
    pub(super) upper: &'a Tree,
    pub(super) lower: &'a Tree,
}

impl Hand<'_> {
    pub(super) fn carry(&self, step: &Step) -> Result<(), ReviewError> {
        let Step { act, change } = step;
        match (act, &change.new) {
            (Act::SetMode, Some(new)) if new.is_dir() => {
                self.lower.settle_later(&change.path, new.mode);
                Ok(())
            }
            (Act::SetMode, Some(new)) => self.lower.chmod(&change.path, new.mode),
            (Act::MakeDirectory, Some(new)) => self.make_directory(change, new),
            (Act::Put | Act::PutOverDirectory, Some(new)) => self.put(change, new),
            (Act::Delete, _) | (_, None) => self.delete(change),
        }
    }

    /// Its own mode comes when all is in it: it might forbid to write there.
    fn make_directory(&self, change: &Change, new: &Entry) -> Result<(), ReviewError> {
        let (dir, unfinished) = self.clean_place(change)?;
        let made = rustix::fs::mkdirat(&dir.fd, &unfinished, Mode::RWXU);
        made.map_err(ReviewError::io("make", self.lower.full(&change.path)))?;
        self.move_in(change, &dir, &unfinished)?;
        self.lower.settle_later(&change.path, new.mode);
        Ok(())
    }

    fn put(&self, change: &Change, new: &Entry) -> Result<(), ReviewError> {
        let (dir, unfinished) = self.clean_place(change)?;
        let made = match new.kind {
            EntryKind::Symlink => self.make_link(change, &dir.fd, &unfinished),
            EntryKind::Fifo => self.make_pipe(change, new, &dir.fd, &unfinished),
            _ => self.copy(change, new, &dir.fd, &unfinished),
        };
        let done = made.and_then(|()| self.move_in(change, &dir, &unfinished));
        if done.is_err() {
            let _ = rustix::fs::unlinkat(&dir.fd, &unfinished, AtFlags::empty());
        }
        done
    }

    fn copy(&self, change: &Change, new: &Entry, dir: &OwnedFd, unfinished: &OsStr) -> Result<(), ReviewError> {
        let mut source = self.upper.file(&change.path)?;
        let failed = || ReviewError::io("write", self.lower.full(&change.path));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = rustix::fs::openat(dir, unfinished, flags, Mode::RUSR | Mode::WUSR).map_err(failed())?;
        let mut made = File::from(made);
        io::copy(&mut source, &mut made).map_err(ReviewError::io("write", self.lower.full(&change.path)))?;
        if let Some(old) = change.old.as_ref().filter(|old| old.is_file()) {
            // A file keeps its owner where that is allowed, as it would if it were written in place.
            let (user, group) = (Uid::from_raw(old.owner.0), Gid::from_raw(old.owner.1));
            let _ = rustix::fs::fchown(&made, Some(user), Some(group));
        }
        rustix::fs::fchmod(&made, Mode::from_raw_mode(new.mode)).map_err(failed())?;
        rustix::fs::futimens(&made, &times(new)).map_err(failed())
    }

    fn make_link(&self, change: &Change, dir: &OwnedFd, unfinished: &OsStr) -> Result<(), ReviewError> {
        let target = self.upper.link_target(&change.path)?;
        rustix::fs::symlinkat(target, dir, unfinished).map_err(ReviewError::io("link", self.lower.full(&change.path)))
    }

    fn make_pipe(&self, change: &Change, new: &Entry, dir: &OwnedFd, unfinished: &OsStr) -> Result<(), ReviewError> {
        let mode = Mode::from_raw_mode(new.mode);
        let made = rustix::fs::mknodat(dir, unfinished, FileType::Fifo, mode, 0)
            // The umask took its part of the mode.
            .and_then(|()| rustix::fs::chmodat(dir, unfinished, mode, AtFlags::empty()));
        made.map_err(ReviewError::io("make", self.lower.full(&change.path)))
    }

    fn delete(&self, change: &Change) -> Result<(), ReviewError> {
        let dir = self.lower.dir(parent(&change.path))?;
        let flags = if change.was_dir() { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        match rustix::fs::unlinkat(&dir.fd, name(&change.path), flags) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(ReviewError::io("delete", self.lower.full(&change.path))(error)),
        }
    }

    /// The directory in which an entry is made, and a name there that is free. It is the same name each time, so
    /// what an interrupted run left behind does not stay.
    fn clean_place(&self, change: &Change) -> Result<(OpenDir<'_>, OsString), ReviewError> {
        let dir = self.lower.dir(parent(&change.path))?;
        let unfinished = unfinished_name(&change.path);
        for flags in [AtFlags::empty(), AtFlags::REMOVEDIR] {
            let _ = rustix::fs::unlinkat(&dir.fd, &unfinished, flags);
        }
        Ok((dir, unfinished))
    }

    /// Only what becomes or was a directory cannot be replaced in one step.
    fn move_in(&self, change: &Change, dir: &OpenDir<'_>, unfinished: &OsStr) -> Result<(), ReviewError> {
        let failed = || ReviewError::io("replace", self.lower.full(&change.path));
        let name = name(&change.path);
        if change.was_dir() {
            rustix::fs::unlinkat(&dir.fd, name, AtFlags::REMOVEDIR).map_err(failed())?;
        } else if change.makes_dir() && change.old.is_some() {
            rustix::fs::unlinkat(&dir.fd, name, AtFlags::empty()).map_err(failed())?;
        }
        rustix::fs::renameat(&dir.fd, unfinished, &dir.fd, name).map_err(failed())
    }
}

/// A name for an entry that is being made; 16 digits of the path make it its own.
fn unfinished_name(path: &Path) -> OsString {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    format!(".coop-apply-{:016x}", hasher.finish()).into()
}

fn times(entry: &Entry) -> Timestamps {
    let (seconds, nanoseconds) = entry.modified;
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec { tv_sec: seconds, tv_nsec: nanoseconds.into() },
    }
}
