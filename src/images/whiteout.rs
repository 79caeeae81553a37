//! Names in a layer that stand for removals of what lower layers have.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use super::error::Context;
use super::root::{Parent, Refusal, Root, is_directory, stat_of};
use super::tarball::TarError;
use super::trees;

const PREFIX: &[u8] = b".wh.";

/// In its directory nothing of lower layers remains.
const OPAQUE: &[u8] = b".wh..wh..opq";

/// Book-keeping of a file system of old that ended up in layers.
const IGNORED_PREFIX: &[u8] = b".wh..wh.";

/// What a name in a layer means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning<'a> {
    Itself,
    /// This name of lower layers goes.
    Gone(&'a OsStr),
    /// All names of lower layers go.
    AllGone,
    Nothing,
}

/// What the last name of an entry's path means.
pub(super) fn meaning<'a>(name: &'a OsStr, entry: &[u8]) -> Result<Meaning<'a>, TarError> {
    let bytes = name.as_bytes();
    match bytes.strip_prefix(PREFIX) {
        None => Ok(Meaning::Itself),
        _ if bytes == OPAQUE => Ok(Meaning::AllGone),
        _ if bytes.starts_with(IGNORED_PREFIX) => Ok(Meaning::Nothing),
        Some(b"" | b"." | b"..") => Err(TarError::entry(entry, "is a whiteout of nothing that can be removed")),
        Some(gone) => Ok(Meaning::Gone(OsStr::from_bytes(gone))),
    }
}

/// Whether a name can only be a whiteout, and thus no directory that has entries.
pub(super) fn is_whiteout(name: &OsStr) -> bool {
    name.as_bytes().starts_with(PREFIX)
}

/// How deep a layer may have put new things into a directory that it empties. Real layers stay far below.
const DEPTH_MAX: u32 = 256;

/// What the present layer has put where: whiteouts leave that alone, whichever comes first.
#[derive(Default)]
pub(super) struct Fresh {
    /// By directory and name.
    put: HashSet<(u64, OsString)>,
    /// Directories with something new in or below them.
    touched: HashSet<u64>,
}

impl Fresh {
    pub(super) fn add(&mut self, root: &Root, parent: &Parent, name: &OsStr) -> Result<(), Refusal> {
        self.put.insert((parent.inode, name.to_owned()));
        let mut at = None;
        while self.touched.insert(at.as_ref().unwrap_or(parent).inode) {
            match root.above(at.as_ref().unwrap_or(parent))? {
                Some(above) => at = Some(above),
                None => break,
            }
        }
        Ok(())
    }

    /// Removes a name of lower layers.
    pub(super) fn white_out(
        &self,
        root: &mut Root,
        parent: &Parent,
        name: &OsStr,
        entry: &[u8],
    ) -> Result<(), Refusal> {
        self.clear(root, parent, name, (entry, 0))
    }

    /// Removes all that lower layers put into a directory.
    pub(super) fn white_out_all(&self, root: &mut Root, directory: &Parent, entry: &[u8]) -> Result<(), Refusal> {
        self.clear_all(root, directory, (entry, 0))
    }

    fn clear(&self, root: &mut Root, parent: &Parent, name: &OsStr, at: (&[u8], u32)) -> Result<(), Refusal> {
        let Some(stat) = stat_of(parent, name) else { return Ok(()) };
        let directory = is_directory(&stat);
        let new = self.put.contains(&(parent.inode, name.to_owned()));
        let has_new = directory && self.touched.contains(&stat.st_ino);
        if !new && !has_new {
            return root.remove(parent, name);
        }
        if directory {
            let child = root.child(parent, name)?;
            return self.clear_all(root, &child, at);
        }
        Ok(())
    }

    fn clear_all(&self, root: &mut Root, directory: &Parent, (entry, depth): (&[u8], u32)) -> Result<(), Refusal> {
        if depth > DEPTH_MAX {
            return Err(TarError::entry(entry, "empties a directory that the same layer filled too deep").into());
        }
        for name in trees::names_in(directory.fd.as_fd()).context("list", root.path())? {
            self.clear(root, directory, OsStr::from_bytes(name.to_bytes()), (entry, depth + 1))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Result<Meaning<'_>, TarError> {
        meaning(OsStr::new(name), name.as_bytes())
    }

    #[test]
    fn a_whiteout_names_something_of_its_own_directory_and_nothing_else() {
        assert_eq!(of("x").unwrap(), Meaning::Itself);
        assert_eq!(of(".whx").unwrap(), Meaning::Itself);
        assert_eq!(of(".wh.x").unwrap(), Meaning::Gone(OsStr::new("x")));
        assert_eq!(of(".wh..x").unwrap(), Meaning::Gone(OsStr::new(".x")));
        assert_eq!(of(".wh..wh..opq").unwrap(), Meaning::AllGone);
        assert_eq!(of(".wh..wh.plnk").unwrap(), Meaning::Nothing);
        for bad in [".wh.", ".wh..", ".wh..."] {
            assert!(of(bad).is_err(), "{bad}");
        }
    }
}
