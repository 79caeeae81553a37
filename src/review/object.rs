//! Git's name for a content: the SHA-1 of a short heading and the bytes.

use std::{fs::File, io};

use sha1::{Digest, Sha1};

/// Git's name for no content at all; an empty file has another.
pub(super) const NOTHING: &str = "0000000000000000000000000000000000000000";

pub(super) fn name_of(bytes: &[u8]) -> String {
    let digest = headed(bytes.len() as u64).chain_update(bytes).finalize();
    format!("{digest:x}")
}

/// Of a file that grows meanwhile it is no content's name.
pub(super) fn name_of_file(file: File) -> io::Result<String> {
    let mut digest = headed(file.metadata()?.len());
    io::copy(&mut &file, &mut digest)?;
    Ok(format!("{:x}", digest.finalize()))
}

fn headed(length: u64) -> Sha1 {
    Sha1::new().chain_update(format!("blob {length}\0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_gits() {
        assert_eq!(name_of(b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(name_of(b"hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
    }
}
