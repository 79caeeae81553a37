//! Small files that are whole or not there: what a crash leaves behind can always be read.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Puts a file in place at once, readable by the user only. One that was there before stays until then.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    let written = (|| {
        let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(content)?;
        // Without it, a machine that stops may keep the name and lose the content.
        file.sync_all()?;
        fs::rename(&new, path)
    })();
    if written.is_err() {
        // Where the disk is full, it would be in the way.
        let _ = fs::remove_file(&new);
    }
    written
}

/// Reads a file that is not larger than this.
pub fn read_bounded(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(io::Error::other(format!("it is larger than {bytes_max} bytes")));
    }
    Ok(bytes)
}

/// Removes a file; one that is not there is as good.
pub fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::config::Scratch;

    #[test]
    fn a_file_is_replaced_at_once_and_is_the_users_alone() {
        let scratch = Scratch::fresh();
        let path = scratch.path("session.json");
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(read_bounded(&path, 3).unwrap(), b"two");
        assert!(read_bounded(&path, 2).unwrap_err().to_string().contains("larger"));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(scratch.path("")).unwrap().count(), 1);
        remove_if_there(&path).unwrap();
        remove_if_there(&path).unwrap();
    }
}
