//! What git's index says, without what it remembers of the files on this disk; and what that tells of their content.
//!
//! `git status` writes the index anew whenever it has looked at a file again. Nobody changed anything then, and it
//! shall be no conflict.

use std::{
    collections::HashMap,
    ffi::OsStr,
    io::Read,
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::MetadataExt,
    },
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use super::{change::Entry, tree::Tree};

/// The index of a project with half a million files has about so many bytes; a larger one is only compared as a file.
const INDEX_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Times, device, inode, owner and size of the file; its mode is among them.
const STAT_BYTES: usize = 40;
const MODE: std::ops::Range<usize> = 24..28;
/// The mode of an entry that is a commit of another repository, 160000.
const OTHER_REPOSITORY: [u8; 4] = 0o160_000_u32.to_be_bytes();
const OBJECT_ID_BYTES: usize = 20;
const DIGITS: &[u8; 16] = b"0123456789abcdef";
/// A bit of the flags that says that there are more flags.
const EXTENDED: u8 = 0x40;

/// A digest of names, modes, object ids and flags; `None` for what is no index that we know how to read.
pub(super) fn meaning(tree: &Tree, path: &Path) -> Option<String> {
    if path.file_name()? != "index" || path.parent()?.file_name()? != ".git" {
        return None;
    }
    digest(&read(tree, path)?.0)
}

/// The bytes of an index, and when it was written.
fn read(tree: &Tree, path: &Path) -> Option<(Vec<u8>, (i64, i64))> {
    let file = tree.file(path).ok()?;
    let written = file.metadata().ok()?;
    let mut bytes = Vec::new();
    file.take(INDEX_BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= INDEX_BYTES_MAX).then_some((bytes, (written.mtime(), written.mtime_nsec())))
}

fn digest(bytes: &[u8]) -> Option<String> {
    let mut digest = Sha256::new();
    each(bytes, |line| {
        for part in [&line.stat[MODE], line.object, line.flags, line.shortened, line.name] {
            digest.update(part);
        }
    })?;
    Some(format!("{:x}", digest.finalize()))
}

/// What the content of files is, as far as indexes know it, without a look at the files.
#[derive(Default)]
pub(super) struct Objects(HashMap<Vec<u8>, Seen>);

/// A file as git last saw it.
struct Seen {
    stat: [u8; STAT_BYTES],
    object: [u8; OBJECT_ID_BYTES],
}

impl Objects {
    /// Reads the index of the repository in a directory, if there is one.
    pub(super) fn learn(&mut self, tree: &Tree, inside: &Path) {
        let Some((bytes, written)) = read(tree, &inside.join(".git/index")) else { return };
        let all = each_named(&bytes, |line, name| {
            let (Ok(stat), Ok(object)) = (line.stat.try_into(), line.object.try_into()) else { return };
            let seen = Seen { stat, object };
            // What was written no earlier than the index may have been written once more in the same moment.
            if seen.modified() < written {
                self.0.insert(inside.join(OsStr::from_bytes(name)).into_os_string().into_vec(), seen);
            }
        });
        // What is no index to its end may have been understood wrongly from its start.
        if all.is_none() {
            self.0.retain(|path, _| !Path::new(OsStr::from_bytes(path)).starts_with(inside));
        }
    }

    /// Git's name for the content of a file, if the file is still as git saw it.
    pub(super) fn of(&self, path: &Path, entry: &Entry) -> Option<String> {
        let seen = self.0.get(path.as_os_str().as_bytes())?;
        if !entry.is_file() || !seen.is(entry) {
            return None;
        }
        let digits = seen.object.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        Some(digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect())
    }
}

impl Seen {
    /// The numbers are changed and written (seconds, nanoseconds), device, inode, mode, user, group, size.
    fn number(&self, nth: usize) -> u32 {
        let mut rest = &self.stat[4 * nth..];
        number(&mut rest).unwrap_or_default()
    }

    fn modified(&self) -> (i64, i64) {
        (self.number(2).into(), self.number(3).into())
    }

    // The index has room for the lower half of each.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn is(&self, entry: &Entry) -> bool {
        let (changed, modified) = (entry.changed, entry.modified);
        let now = [changed.0 as u32, changed.1, modified.0 as u32, modified.1, entry.inode as u32, entry.size as u32];
        let then = [0, 1, 2, 3, 5, 9].map(|nth| self.number(nth));
        now == then
    }
}

/// Of these paths of a project, those at or below which its git keeps something.
pub fn tracked<'a>(project: &Path, paths: &[&'a Path]) -> Vec<&'a Path> {
    let index = Tree::open(project).ok().and_then(|tree| read(&tree, Path::new(".git/index")));
    let mut found = Vec::new();
    if let Some((bytes, _)) = index.filter(|_| !paths.is_empty()) {
        each_named(&bytes, |_, name| {
            let name = Path::new(OsStr::from_bytes(name));
            found.extend(paths.iter().copied().filter(|path| name.starts_with(path)));
        });
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Where the index of the repository in this directory says that others are.
pub fn gitlinks(git: &Path) -> Vec<PathBuf> {
    let index = Tree::open(git).ok().and_then(|tree| read(&tree, Path::new("index")));
    let mut found = Vec::new();
    if let Some((bytes, _)) = index {
        each_named(&bytes, |line, name| {
            if line.stat[MODE] == OTHER_REPOSITORY {
                found.push(PathBuf::from(OsStr::from_bytes(name)));
            }
        });
    }
    found
}

/// Shows every entry with its whole name.
fn each_named<'a>(bytes: &'a [u8], mut show: impl FnMut(&Tracked<'a>, &[u8])) -> Option<()> {
    let mut name = Vec::new();
    each(bytes, |line| {
        // In the fourth version a name says how much of the end of the one before it goes.
        let kept = if line.shortened.is_empty() { 0 } else { name.len().saturating_sub(varint(line.shortened)) };
        name.truncate(kept);
        name.extend_from_slice(line.name.strip_suffix(b"\0").unwrap_or(line.name));
        show(line, &name);
    })
}

/// One entry of an index.
struct Tracked<'a> {
    stat: &'a [u8],
    object: &'a [u8],
    flags: &'a [u8],
    /// In the fourth version, how much of the name before goes.
    shortened: &'a [u8],
    /// With the zero byte that ends it.
    name: &'a [u8],
}

/// Shows every entry; `None` if something is not as we know it.
fn each<'a>(bytes: &'a [u8], mut show: impl FnMut(&Tracked<'a>)) -> Option<()> {
    let mut rest = bytes.strip_prefix(b"DIRC")?;
    let version = number(&mut rest)?;
    let count = number(&mut rest)?;
    // In the fourth version names are shortened and not padded.
    if !(2..=4).contains(&version) {
        return None;
    }
    for _ in 0..count {
        let start = rest.len();
        let stat = take(&mut rest, STAT_BYTES)?;
        let object = take(&mut rest, OBJECT_ID_BYTES)?;
        let is_extended = rest.first()? & EXTENDED != 0;
        let flags = take(&mut rest, if is_extended { 4 } else { 2 })?;
        let mut shortened: &[u8] = &[];
        if version == 4 {
            let length = rest.iter().position(|byte| byte & 0x80 == 0)? + 1;
            shortened = take(&mut rest, length)?;
        }
        let length = rest.iter().position(|byte| *byte == 0)? + 1;
        let name = take(&mut rest, length)?;
        if version < 4 {
            let used = start - rest.len();
            take(&mut rest, used.next_multiple_of(8) - used)?;
        }
        show(&Tracked { stat, object, flags, shortened, name });
    }
    Some(())
}

/// A number as git packs it: seven bits in each byte, and one more for each further byte.
fn varint(bytes: &[u8]) -> usize {
    bytes.iter().enumerate().fold(0_usize, |value, (nth, byte)| {
        let before = if nth == 0 { 0 } else { value.saturating_add(1) };
        before.saturating_mul(128) | usize::from(byte & 0x7f)
    })
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(take(rest, 4)?.try_into().ok()?))
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    rest.split_off(..count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_index_has_no_meaning() {
        for bytes in [
            &b""[..],
            b"DIRC",
            b"DIRC\0\0\0\x02\0\0\0\x01",
            b"DIRC\0\0\0\x09\0\0\0\0",
            b"DIRC\0\0\0\x04\xff\xff\xff\xff",
        ] {
            assert_eq!(digest(bytes), None);
        }
        assert!(digest(b"DIRC\0\0\0\x02\0\0\0\0").is_some());
    }
}
