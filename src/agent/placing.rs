//! Files of coop's own that an agent finds where it looks for them; they stay there.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::fence;

/// Writes them, unless they are there already. One that a link stands in the way of is told, and not written.
pub fn place_all(files: &[(PathBuf, Vec<u8>)]) -> io::Result<()> {
    for (path, contents) in files {
        if !fence::is_straight(path) {
            tracing::warn!(path = %path.display(), "a link is in the way, and the file is not written: coop sees less");
            continue;
        }
        place(path, contents).map_err(|error| {
            io::Error::new(error.kind(), format!("{} could not be written: {error}", path.display()))
        })?;
    }
    Ok(())
}

fn place(path: &Path, contents: &[u8]) -> io::Result<()> {
    if holds(path, contents) {
        return Ok(());
    }
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    // Another coop may write the same file at this moment; each of them gives it whole.
    let mut new = path.as_os_str().to_owned();
    new.push(format!(".{}", std::process::id()));
    std::fs::write(&new, contents)?;
    std::fs::rename(&new, path)
}

/// Whether a file is there with just this in it. A box may have put anything under that name: a FIFO, or a file without end.
fn holds(path: &Path, contents: &[u8]) -> bool {
    let mut found = Vec::new();
    let bytes_max = contents.len() as u64 + 1;
    let read = fence::open(path).and_then(|file| file.take(bytes_max).read_to_end(&mut found));
    read.is_ok() && found == contents
}
