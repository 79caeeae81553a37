//! Takes entries out of the upper layer so that the project shines through again, there and nowhere else.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, FileType, Mode},
    io::Errno,
};

use super::{
    change::Entry,
    error::ReviewError,
    marks,
    sweep::Bin,
    tree::{OpenDir, Tree, absent, name, parent},
};

/// The upper layer while entries are taken out of it.
pub(super) struct Clearing<'a> {
    pub(super) upper: &'a Tree,
    pub(super) lower: &'a Tree,
    pub(super) bin: &'a mut Bin,
    /// Directories that may have nothing to say any more.
    touched: BTreeSet<PathBuf>,
}

/// What is above an entry in the upper layer.
enum Above {
    /// Directories that hide nothing of it any more.
    Open,
    /// Nothing: the project shines through already.
    Nothing,
    /// A file or link where the project has a directory.
    Replaced(PathBuf),
}

impl<'a> Clearing<'a> {
    pub(super) fn new(upper: &'a Tree, lower: &'a Tree, bin: &'a mut Bin) -> Self {
        Self { upper, lower, bin, touched: BTreeSet::new() }
    }

    /// Forgets everything that the box did at a path and below it.
    pub(super) fn forget(&mut self, path: &Path) -> Result<(), ReviewError> {
        match self.open_above(path)? {
            Above::Open => self.take(path),
            Above::Nothing => Ok(()),
            Above::Replaced(above) => Err(ReviewError::InsideReplaced { path: path.to_owned(), above }),
        }
    }

    /// Forgets one entry that the project has now. What is inside a directory stays.
    pub(super) fn forget_applied(&mut self, path: &Path) -> Result<(), ReviewError> {
        // What was deleted with a directory above stays so: that directory is deleted still, for the box.
        if self.is_deleted_above(path)? {
            return Ok(());
        }
        let Above::Open = self.open_above(path)? else { return Ok(()) };
        match self.upper.look(path)? {
            None => Ok(()),
            Some(entry) if entry.is_dir() => {
                self.touched.insert(path.to_owned());
                self.stop_hiding(path)
            }
            Some(_) => self.take(path),
        }
    }

    /// Removes directories that are empty and as the project has them.
    pub(super) fn prune(&mut self) -> Result<(), ReviewError> {
        for path in std::mem::take(&mut self.touched).iter().rev() {
            let same = match (self.upper.look(path)?, self.lower.look(path)?) {
                (Some(upper), Some(lower)) => upper.is_dir() && lower.is_dir() && upper.mode == lower.mode,
                _ => false,
            };
            if !same || marks::is_opaque(&self.upper.dir(path)?)? {
                continue;
            }
            let dir = self.upper.dir(parent(path))?;
            match rustix::fs::unlinkat(&dir.fd, name(path), AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOTEMPTY | Errno::EXIST) => {}
                Err(error) => return Err(ReviewError::io("remove", self.upper.full(path))(error)),
            }
        }
        Ok(())
    }

    fn take(&mut self, path: &Path) -> Result<(), ReviewError> {
        let dir = self.upper.dir(parent(path))?;
        match self.bin.take(&dir.fd, name(path)) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(ReviewError::io("discard", self.upper.full(path))(error)),
        }
    }

    /// Whether a directory above an entry is deleted as a whole: by a mark of its own, or with all that a directory made
    /// anew had in it.
    fn is_deleted_above(&self, path: &Path) -> Result<bool, ReviewError> {
        let mut is_hidden = false;
        for above in above(path) {
            let dir = self.upper.dir(parent(above))?;
            match dir.look(name(above))? {
                Some(entry) if marks::is_whiteout(&dir, name(above), &entry)? => return Ok(true),
                Some(entry) if entry.is_dir() => is_hidden |= marks::is_opaque(&self.upper.dir(above)?)?,
                Some(_) => return Ok(false),
                None => return Ok(is_hidden),
            }
        }
        Ok(false)
    }

    /// Makes every directory above an entry one that hides only what it names.
    fn open_above(&mut self, path: &Path) -> Result<Above, ReviewError> {
        for above in above(path) {
            let dir = self.upper.dir(parent(above))?;
            let Some(entry) = dir.look(name(above))? else { return Ok(Above::Nothing) };
            if marks::is_whiteout(&dir, name(above), &entry)? {
                self.open_whiteout(&dir, above)?;
            } else if !entry.is_dir() {
                return Ok(Above::Replaced(above.to_owned()));
            }
            self.touched.insert(above.to_owned());
            self.stop_hiding(above)?;
        }
        Ok(Above::Open)
    }

    /// "Deleted" becomes a directory in which everything is deleted: opaque, until `stop_hiding` names each entry.
    fn open_whiteout(&mut self, dir: &OpenDir<'_>, path: &Path) -> Result<(), ReviewError> {
        let failed = || ReviewError::io("open", self.upper.full(path));
        let mode = self.lower.look(path)?.filter(Entry::is_dir).map_or(0o755, |lower| lower.mode);
        rustix::fs::unlinkat(&dir.fd, name(path), AtFlags::empty()).map_err(failed())?;
        rustix::fs::mkdirat(&dir.fd, name(path), Mode::RWXU).map_err(failed())?;
        marks::set_opaque(&self.upper.dir(path)?)?;
        self.upper.chmod(path, mode)
    }

    /// An opaque directory becomes one that hides by name what it hid as a whole. The mark goes last, so that an
    /// interruption shows nothing that was hidden.
    fn stop_hiding(&mut self, path: &Path) -> Result<(), ReviewError> {
        let dir = self.upper.dir(path)?;
        if !marks::is_opaque(&dir)? {
            return Ok(());
        }
        let below = match self.lower.dir(path) {
            Ok(lower) => lower.names()?,
            Err(error) if absent(&error) => Vec::new(),
            Err(error) => return Err(error),
        };
        for hidden in below {
            match dir.look(&hidden)? {
                None => whiteout(&dir, &hidden)?,
                // It was hidden with the directory above; now it must do so itself.
                Some(entry) if entry.is_dir() => marks::set_opaque(&self.upper.dir(&path.join(&hidden))?)?,
                Some(_) => {}
            }
        }
        marks::clear_opaque(&dir)
    }
}

/// The directories above an entry, the topmost first.
fn above(path: &Path) -> Vec<&Path> {
    let mut way: Vec<&Path> = path.ancestors().skip(1).filter(|dir| !dir.as_os_str().is_empty()).collect();
    way.reverse();
    way
}

fn whiteout(dir: &OpenDir<'_>, name: &OsStr) -> Result<(), ReviewError> {
    rustix::fs::mknodat(&dir.fd, name, FileType::CharacterDevice, Mode::empty(), 0)
        .map_err(ReviewError::io("mark as deleted", dir.full(name)))
}
