//! Which paths a box's layer speaks of: there the box has something of its own, everywhere else it sees the project.

use std::{
    collections::HashSet,
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
};

use super::{
    error::ReviewError,
    marks,
    tree::{OpenDir, Tree, absent},
};

#[derive(Debug, Default)]
pub(super) struct Touched {
    /// Directories that let the project's shine through, except for what they name.
    merged: HashSet<PathBuf>,
    /// Entries that hide whatever the project has there and below.
    hiding: HashSet<PathBuf>,
}

impl Touched {
    pub(super) fn by(upper: &Tree) -> Result<Self, ReviewError> {
        let mut touched = Self::default();
        let mut dirs = vec![PathBuf::new()];
        while let Some(inside) = dirs.pop() {
            let dir = match enter(upper, &inside) {
                Ok(dir) => dir,
                Err(error) if absent(&error) => continue,
                // What nobody can look into may hide anything.
                Err(error) if error.is(io::ErrorKind::PermissionDenied) => {
                    touched.hiding.insert(inside);
                    continue;
                }
                Err(error) => return Err(error),
            };
            if marks::is_opaque(&dir)? {
                touched.hiding.insert(inside);
                continue;
            }
            for name in dir.names()? {
                let path = inside.join(&name);
                match dir.look(&name)? {
                    Some(entry) if entry.is_dir() => {
                        touched.merged.insert(path.clone());
                        dirs.push(path);
                    }
                    // A file, a link, or the mark of something deleted.
                    _ => drop(touched.hiding.insert(path)),
                }
            }
        }
        Ok(touched)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.merged.is_empty() && self.hiding.is_empty()
    }

    /// Whether the box has something at just this path.
    pub(super) fn names(&self, path: &Path) -> bool {
        self.merged.contains(path) || self.hiding.contains(path)
    }

    /// Whether nothing of the project is seen at a path and below it.
    pub(super) fn hides(&self, path: &Path) -> bool {
        self.hiding.contains(path)
    }

    /// Whether the box has something at a path or hides it by something above.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.merged.contains(path) || path.ancestors().any(|above| self.hiding.contains(above))
    }
}

/// To list a directory and to look at what is in it are two permissions.
fn enter<'t>(upper: &'t Tree, inside: &Path) -> Result<OpenDir<'t>, ReviewError> {
    let dir = upper.dir(inside)?;
    dir.look(OsStr::new("."))?;
    Ok(dir)
}
