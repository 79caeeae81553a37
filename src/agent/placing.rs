//! Files of coop's own that an agent finds where it looks for them; they stay there.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::fence;

/// Writes them, unless they are there already, through no link and nowhere else.
pub fn place_all(files: &[(PathBuf, Vec<u8>)]) -> io::Result<()> {
    for (path, contents) in files.iter().filter(|(path, contents)| !holds(path, contents)) {
        fence::place(path, contents).map_err(|error| {
            let told = format!("{} could not be written, so that there are no hooks: {error}", path.display());
            io::Error::new(error.kind(), told)
        })?;
    }
    Ok(())
}

/// Whether a file is there with just this in it. A box may have put anything under that name: a FIFO, or a file without end.
fn holds(path: &Path, contents: &[u8]) -> bool {
    let mut found = Vec::new();
    let bytes_max = contents.len() as u64 + 1;
    let read = fence::open(path).and_then(|file| file.take(bytes_max).read_to_end(&mut found));
    read.is_ok() && found == contents
}
