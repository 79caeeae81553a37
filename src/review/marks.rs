//! The marks by which overlayfs, mounted with `userxattr`, says what is hidden of the layer below.

use std::ffi::OsStr;

use rustix::{fs::XattrFlags, io::Errno};

use super::{
    change::{Entry, EntryKind},
    error::ReviewError,
    tree::OpenDir,
};

/// The name of an open directory in itself.
const ITSELF: &str = ".";

const OPAQUE: &str = "user.overlay.opaque";
const WHITEOUT: &str = "user.overlay.whiteout";
/// "This directory's lower part is elsewhere" and "this file's content is in the lower layer". The kernel refuses
/// both together with `userxattr`; whoever takes them for plain entries would lose content.
const FOREIGN: [&str; 2] = ["user.overlay.redirect", "user.overlay.metacopy"];

/// Whether an entry of the upper layer says that what is below it was deleted.
///
/// Mounted in a user namespace the kernel writes a character device 0/0. The other form, an empty file with an
/// attribute, is for overlays inside overlays. A box cannot set either mark: the overlay hides its own attributes.
pub(super) fn is_whiteout(dir: &OpenDir<'_>, name: &OsStr, entry: &Entry) -> Result<bool, ReviewError> {
    Ok(entry.whiteout || entry.is_file() && entry.size == 0 && get(dir, name, WHITEOUT)?.is_some())
}

/// Whether a directory of the upper layer hides everything below it. `x` only says that marked files are inside.
pub(super) fn is_opaque(dir: &OpenDir<'_>) -> Result<bool, ReviewError> {
    Ok(get(dir, OsStr::new(ITSELF), OPAQUE)?.as_deref() == Some(b"y"))
}

pub(super) fn set_opaque(dir: &OpenDir<'_>) -> Result<(), ReviewError> {
    let itself = OsStr::new(ITSELF);
    rustix::fs::lsetxattr(dir.path_of(itself), OPAQUE, b"y", XattrFlags::empty())
        .map_err(ReviewError::io("mark", dir.full(itself)))
}

pub(super) fn clear_opaque(dir: &OpenDir<'_>) -> Result<(), ReviewError> {
    let itself = OsStr::new(ITSELF);
    match rustix::fs::lremovexattr(dir.path_of(itself), OPAQUE) {
        Ok(()) | Err(Errno::NODATA | Errno::NOTSUP) => Ok(()),
        Err(error) => Err(ReviewError::io("unmark", dir.full(itself))(error)),
    }
}

/// Refuses what was written by an overlay with other options than coop's.
pub(super) fn check_foreign(dir: &OpenDir<'_>, name: &OsStr, entry: &Entry) -> Result<(), ReviewError> {
    if !matches!(entry.kind, EntryKind::File | EntryKind::Directory) {
        return Ok(());
    }
    for mark in FOREIGN {
        if get(dir, name, mark)?.is_some() {
            return Err(ReviewError::ForeignMark { path: dir.full(name), mark });
        }
    }
    Ok(())
}

/// An attribute's first byte, which is all that any mark says.
fn get(dir: &OpenDir<'_>, name: &OsStr, mark: &str) -> Result<Option<Vec<u8>>, ReviewError> {
    let mut value = [0; 256];
    match rustix::fs::lgetxattr(dir.path_of(name), mark, &mut value[..]) {
        Ok(length) => Ok(Some(value[..length.min(1)].to_vec())),
        // Its value is longer than any mark that means something.
        Err(Errno::RANGE) => Ok(Some(Vec::new())),
        // An entry that nobody may read has no readable marks either; a directory like that cannot be listed.
        Err(Errno::NODATA | Errno::NOTSUP | Errno::NOENT | Errno::ACCESS | Errno::PERM) => Ok(None),
        Err(error) => Err(ReviewError::io("read the marks of", dir.full(name))(error)),
    }
}
