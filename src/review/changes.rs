//! What a box changed: its upper layer, walked beside the project.

use std::{
    collections::HashSet,
    ffi::{OsStr, OsString},
    io::{self, Read},
    path::{Path, PathBuf},
};

use super::{
    change::{Change, Entry, EntryKind, Kind},
    error::ReviewError,
    git::{self, GitSummary},
    marks,
    select::Selection,
    tree::{ENTRIES_MAX, OpenDir, Tree, absent},
};

/// Two files are compared in pieces of this size.
const COMPARED_BYTES: usize = 64 * 1024;

/// What of the changes is told.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether each change inside `.git` is told like any other, not summed up in one line for a repository.
    pub include_git: bool,
    /// Only these paths. Nothing else is looked at.
    pub only: Selection,
    /// More than so many are an error: all of them are held at once.
    pub changes_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { include_git: false, only: Selection::All, changes_max: ENTRIES_MAX }
    }
}

/// What a box changed. Nothing is read of the files before `write_diff`.
pub struct Changes {
    /// Sorted by path; a directory stands before what is in it.
    pub list: Vec<Change>,
    /// Repositories whose `.git` changed; empty with `include_git`.
    pub git: Vec<GitSummary>,
    /// What could not be looked into: directories that their owner locked while the box runs, those of somebody
    /// else, and those of the project on which something else is mounted.
    pub unreadable: Vec<PathBuf>,
    pub(super) upper: Tree,
    pub(super) lower: Tree,
}

impl Changes {
    pub(super) fn between(lower: Tree, upper: Tree, options: &Options) -> Result<Self, ReviewError> {
        let Walked { mut list, unreadable } = walk(&lower, &upper, options)?;
        list.retain(|change| options.only.has(&change.path));
        let git = if options.include_git { Vec::new() } else { git::sum_up(&mut list) };
        Ok(Self { list, git, unreadable, upper, lower })
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && self.git.is_empty()
    }
}

/// What was asked for, and the directories above it that changed too; each change inside `.git` for itself.
pub(super) struct Walked {
    pub(super) list: Vec<Change>,
    pub(super) unreadable: Vec<PathBuf>,
}

/// Looks at both trees. Those that were opened unlocking are to be settled, also after an error.
pub(super) fn walk(lower: &Tree, upper: &Tree, options: &Options) -> Result<Walked, ReviewError> {
    let mut walk = Walk { upper, lower, options, found: Vec::new(), meant: 0, unreadable: Vec::new() };
    walk.everything()?;
    let Walk { found: mut list, mut unreadable, .. } = walk;
    list.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    unreadable.sort_unstable();
    Ok(Walked { list, unreadable })
}

struct Walk<'a> {
    upper: &'a Tree,
    lower: &'a Tree,
    options: &'a Options,
    found: Vec<Change>,
    /// How many of them were asked for.
    meant: usize,
    unreadable: Vec<PathBuf>,
}

/// A directory of the upper layer that is still to be walked.
struct Place {
    inside: PathBuf,
    /// Whether the project has a directory there to compare it with.
    beside: bool,
    /// Whether what the upper layer does not have shines through from the project.
    merged: bool,
}

impl Walk<'_> {
    fn everything(&mut self) -> Result<(), ReviewError> {
        let mut places = vec![Place { inside: PathBuf::new(), beside: true, merged: true }];
        while let Some(place) = places.pop() {
            self.place(place, &mut places)?;
        }
        Ok(())
    }

    fn place(&mut self, place: Place, places: &mut Vec<Place>) -> Result<(), ReviewError> {
        let Some(upper) = self.enter(self.upper, &place.inside)? else { return Ok(()) };
        let lower = if place.beside { self.enter(self.lower, &place.inside)? } else { None };
        let merged = place.merged && !marks::is_opaque(&upper)?;
        let names = self.names(&upper, &place.inside)?;
        if let Some(lower) = lower.as_ref().filter(|_| !merged) {
            self.hidden(lower, &upper, &names, &place.inside)?;
        }
        for name in names {
            let inside = place.inside.join(&name);
            // Gone since the directory was read: the box runs on.
            let Some(new) = upper.look(&name)? else { continue };
            let old = lower.as_ref().map(|lower| lower.look(&name)).transpose()?.flatten();
            let old = old.filter(|old| !old.whiteout);
            if marks::is_whiteout(&upper, &name, &new)? {
                if let Some(old) = old {
                    self.deleted(inside, old)?;
                }
                continue;
            }
            marks::check_foreign(&upper, &name, &new)?;
            if new.is_dir() {
                let beside = old.as_ref().is_some_and(Entry::is_dir);
                places.push(Place { inside: inside.clone(), beside, merged });
            }
            self.compare(inside, old, new)?;
        }
        Ok(())
    }

    /// What an opaque directory hides and does not have itself.
    fn hidden(
        &mut self,
        lower: &OpenDir<'_>,
        upper: &OpenDir<'_>,
        shown: &[OsString],
        inside: &Path,
    ) -> Result<(), ReviewError> {
        let shown: HashSet<&OsString> = shown.iter().collect();
        for name in self.names(lower, inside)? {
            // A name that was asked for may be in neither.
            if shown.contains(&name) && upper.look(&name)?.is_some() {
                continue;
            }
            if let Some(old) = lower.look(&name)?.filter(|old| !old.whiteout) {
                self.deleted(inside.join(name), old)?;
            }
        }
        Ok(())
    }

    fn compare(&mut self, path: PathBuf, old: Option<Entry>, new: Entry) -> Result<(), ReviewError> {
        let Some(before) = &old else {
            return self.found(Change { path, kind: Kind::Added, old, new: Some(new) });
        };
        if before.kind != new.kind {
            if before.is_dir() {
                self.deleted_inside(path.clone())?;
            }
            return self.found(Change { path, kind: Kind::TypeChanged, old, new: Some(new) });
        }
        let kind = if !self.same_content(&path, before, &new)? {
            Kind::Modified
        } else if before.mode != new.mode && new.kind != EntryKind::Symlink {
            Kind::ModeChanged
        } else {
            return Ok(());
        };
        self.found(Change { path, kind, old, new: Some(new) })
    }

    /// A file that was only opened for writing is copied up all the same, so nothing but its content tells.
    fn same_content(&mut self, path: &Path, old: &Entry, new: &Entry) -> Result<bool, ReviewError> {
        match new.kind {
            EntryKind::Directory | EntryKind::Fifo | EntryKind::Socket | EntryKind::Device => Ok(true),
            EntryKind::Symlink => match (self.lower.link_target(path), self.upper.link_target(path)) {
                (Ok(before), Ok(now)) => Ok(before == now),
                (Err(error), _) | (_, Err(error)) if !absent(&error) => Err(error),
                _ => Ok(false),
            },
            EntryKind::File if old.size != new.size => Ok(false),
            EntryKind::File => match (self.lower.file(path), self.upper.file(path)) {
                (Ok(before), Ok(now)) => same_bytes(before, now).map_err(ReviewError::io("compare", path)),
                (Err(error), _) | (_, Err(error)) if error.is(io::ErrorKind::PermissionDenied) => {
                    // Neither can be read. The copy keeps the time, and writing changes it.
                    Ok(old.modified == new.modified)
                }
                (Err(error), _) | (_, Err(error)) if !absent(&error) => Err(error),
                _ => Ok(false),
            },
        }
    }

    fn deleted(&mut self, path: PathBuf, old: Entry) -> Result<(), ReviewError> {
        if old.is_dir() {
            self.deleted_inside(path.clone())?;
        }
        self.found(Change { path, kind: Kind::Deleted, old: Some(old), new: None })
    }

    /// Everything that the project has in a directory which is none in the box.
    fn deleted_inside(&mut self, top: PathBuf) -> Result<(), ReviewError> {
        let mut dirs = vec![top];
        while let Some(inside) = dirs.pop() {
            let Some(dir) = self.enter(self.lower, &inside)? else { continue };
            for name in self.names(&dir, &inside)? {
                let Some(old) = dir.look(&name)? else { continue };
                let path = inside.join(name);
                if old.is_dir() {
                    dirs.push(path.clone());
                }
                self.found(Change { path, kind: Kind::Deleted, old: Some(old), new: None })?;
            }
        }
        Ok(())
    }

    /// What is looked at in a directory: all of it, or what leads to something that was asked for, there or not.
    fn names(&self, dir: &OpenDir<'_>, inside: &Path) -> Result<Vec<OsString>, ReviewError> {
        match self.options.only.steps(inside) {
            Some(steps) => Ok(steps.into_iter().map(OsStr::to_owned).collect()),
            None => dir.names(),
        }
    }

    /// Opens a directory; `None` if it is gone, or if nobody may look into it, which is told.
    fn enter<'t>(&mut self, tree: &'t Tree, inside: &Path) -> Result<Option<OpenDir<'t>>, ReviewError> {
        // To list a directory and to look at what is in it are two permissions.
        match tree.dir(inside).and_then(|dir| dir.look(OsStr::new(".")).map(|_| dir)) {
            Ok(dir) => Ok(Some(dir)),
            Err(error) if absent(&error) => Ok(None),
            Err(error) if error.is(io::ErrorKind::PermissionDenied) || error.is(io::ErrorKind::CrossesDevices) => {
                self.unreadable.push(inside.to_owned());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn found(&mut self, change: Change) -> Result<(), ReviewError> {
        // Directories above what was asked for are few.
        self.meant += usize::from(self.options.only.has(&change.path));
        if self.meant > self.options.changes_max {
            return Err(ReviewError::TooMany { path: self.upper.full(Path::new("")), max: self.options.changes_max });
        }
        self.found.push(change);
        Ok(())
    }
}

fn same_bytes(mut one: impl Read, mut other: impl Read) -> io::Result<bool> {
    let (mut left, mut right) = (vec![0; COMPARED_BYTES], vec![0; COMPARED_BYTES]);
    loop {
        let (had, has) = (fill(&mut one, &mut left)?, fill(&mut other, &mut right)?);
        if left[..had] != right[..has] {
            return Ok(false);
        }
        if had < COMPARED_BYTES {
            return Ok(true);
        }
    }
}

/// Reads until the buffer is full or the file ends.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
