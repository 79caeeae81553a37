//! There is one daemon for each user: the one that holds the lock, for as long as it lives.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use crate::boxes::{DAEMON_LOCK, DAEMON_SOCKET};
use crate::config::check_socket_path;
use crate::serve;

/// The right to be the daemon. The kernel gives it back when the process ends, however that comes.
#[derive(Debug)]
pub struct Seat {
    dir: PathBuf,
    _lock: Flock<File>,
}

impl Seat {
    /// Takes the seat; `None` if somebody sits there.
    pub fn take(dir: &Path) -> anyhow::Result<Option<Self>> {
        check_socket_path(&dir.join(DAEMON_SOCKET))?;
        let path = dir.join(DAEMON_LOCK);
        let failed = || format!("the daemon's lock {} could not be taken", path.display());
        loop {
            let file = File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
            let lock = match Flock::lock(file.with_context(failed)?, FlockArg::LockExclusiveNonblock) {
                Ok(lock) => lock,
                Err((_, Errno::EWOULDBLOCK)) => return Ok(None),
                Err((_, error)) => return Err(error).with_context(failed),
            };
            // Somebody may have removed the file meanwhile; whoever makes it anew would have a lock of its own.
            if is_at(&lock, &path) {
                write_pid(&lock).with_context(failed)?;
                return Ok(Some(Self { dir: dir.to_owned(), _lock: lock }));
            }
        }
    }

    /// The socket, put in the place of what a killed daemon left behind.
    pub fn listen(&self) -> Result<serve::Listener, serve::BindError> {
        serve::bind_unix_over(&self.socket())
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn socket(&self) -> PathBuf {
        self.dir.join(DAEMON_SOCKET)
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let same = |own: &std::fs::Metadata, found: std::fs::Metadata| (own.dev(), own.ino()) == (found.dev(), found.ino());
    file.metadata().is_ok_and(|own| path.metadata().is_ok_and(|found| same(&own, found)))
}

/// For people who wonder; nobody relies on it.
fn write_pid(mut file: &File) -> io::Result<()> {
    file.set_len(0)?;
    writeln!(file, "{}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Scratch;

    #[test]
    fn one_sits_and_the_seat_is_free_when_it_goes() {
        let scratch = Scratch::fresh();
        let dir = scratch.path("");
        let seat = Seat::take(&dir).unwrap().unwrap();
        assert!(Seat::take(&dir).unwrap().is_none());
        let pid = std::fs::read_to_string(dir.join(DAEMON_LOCK)).unwrap();
        assert_eq!(pid, format!("{}\n", std::process::id()));
        drop(seat);
        assert!(Seat::take(&dir).unwrap().is_some());
    }

    #[test]
    fn a_path_that_is_too_long_for_a_socket_is_told_with_the_way_out() {
        let scratch = Scratch::fresh();
        let told = Seat::take(&scratch.path(&"x".repeat(100))).unwrap_err().to_string();
        assert!(told.contains("107 bytes") && told.contains("XDG_RUNTIME_DIR"), "{told}");
    }
}
