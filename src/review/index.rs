//! What git's index says, without what it remembers of the files on this disk.
//!
//! `git status` writes the index anew whenever it has looked at a file again. Nobody changed anything then, and it
//! shall be no conflict.

use std::{io::Read, path::Path};

use sha2::{Digest, Sha256};

use super::tree::Tree;

/// The index of a project with half a million files has about so many bytes; a larger one is only compared as a file.
const INDEX_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Times, device, inode, owner and size of the file; its mode is among them.
const STAT_BYTES: usize = 40;
const MODE: std::ops::Range<usize> = 24..28;
const OBJECT_ID_BYTES: usize = 20;
/// A bit of the flags that says that there are more flags.
const EXTENDED: u8 = 0x40;

/// A digest of names, modes, object ids and flags; `None` for what is no index that we know how to read.
pub(super) fn meaning(tree: &Tree, path: &Path) -> Option<String> {
    if path.file_name()? != "index" || path.parent()?.file_name()? != ".git" {
        return None;
    }
    let mut bytes = Vec::new();
    tree.file(path).ok()?.take(INDEX_BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > INDEX_BYTES_MAX { None } else { digest(&bytes) }
}

fn digest(bytes: &[u8]) -> Option<String> {
    let mut rest = bytes.strip_prefix(b"DIRC")?;
    let version = number(&mut rest)?;
    let count = number(&mut rest)?;
    // In the fourth version names are shortened and not padded.
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut digest = Sha256::new();
    for _ in 0..count {
        let start = rest.len();
        digest.update(take(&mut rest, STAT_BYTES)?.get(MODE)?);
        digest.update(take(&mut rest, OBJECT_ID_BYTES)?);
        let flags = take(&mut rest, 2)?;
        digest.update(flags);
        if flags[0] & EXTENDED != 0 {
            digest.update(take(&mut rest, 2)?);
        }
        let mut shortened: &[u8] = &[];
        if version == 4 {
            let length = rest.iter().position(|byte| byte & 0x80 == 0)? + 1;
            shortened = take(&mut rest, length)?;
        }
        digest.update(shortened);
        let length = rest.iter().position(|byte| *byte == 0)? + 1;
        digest.update(take(&mut rest, length)?);
        if version < 4 {
            let used = start - rest.len();
            take(&mut rest, used.next_multiple_of(8) - used)?;
        }
    }
    Some(format!("{:x}", digest.finalize()))
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
