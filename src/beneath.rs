//! Paths that the kernel keeps inside a directory (`openat2`), whoever renames something on the way.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, mkdirat, openat, openat2, renameat, unlinkat};
use rustix::io::Errno;

/// How often a path is tried again. Each try is new luck, also beside a compiler that renames all the time.
const TRIES_MAX: u32 = 1000;

/// Opens such a path. While anybody on the machine renames or mounts something, the kernel cannot be sure of a `..` (links
/// have them too) and says EAGAIN: that is a reason to look again, and none to fail.
pub fn settled<T, E: Copy + Into<io::Error>>(mut open: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    for _ in 0..TRIES_MAX {
        match open() {
            Err(error) if is_race(error) => std::thread::yield_now(),
            settled => return settled,
        }
    }
    open()
}

/// A directory beneath one in which a box writes, made step by step where it is not there: a link on the way is not
/// followed, and what is moved away meanwhile is not looked for anew.
pub fn directory(base: &Path, relative: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = settled(|| openat2(CWD, base, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS))?;
    for step in relative.components() {
        let Component::Normal(name) = step else { return Err(io::ErrorKind::InvalidInput.into()) };
        match mkdirat(&at, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        at = openat(&at, name, flags, Mode::empty())?;
    }
    Ok(at)
}

/// Puts a file into such a directory, whole or not at all. It is written as `new`, a name that nobody guesses: what is
/// there already, as a link, would lead elsewhere.
pub fn put(directory: &OwnedFd, name: &OsStr, new: &OsStr, mode: Mode, contents: &[u8]) -> io::Result<()> {
    let fresh = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = openat(directory, new, fresh, mode)?;
    let written = File::from(file).write_all(contents);
    let put = written.and_then(|()| Ok(renameat(directory.as_fd(), new, directory.as_fd(), name)?));
    if put.is_err() {
        let _ = unlinkat(directory, new, AtFlags::empty());
    }
    put
}

fn is_race(error: impl Into<io::Error>) -> bool {
    matches!(error.into().kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::config::Scratch;

    #[test]
    fn directories_are_made_where_they_are_named_and_never_where_a_link_leads() {
        let scratch = Scratch::fresh();
        let (base, home) = (scratch.path("persist"), scratch.path("home"));
        fs::create_dir(&base).unwrap();
        fs::create_dir(&home).unwrap();
        directory(&base, Path::new("x/y/z")).unwrap();
        directory(&base, Path::new("x/y/z")).unwrap();
        assert!(base.join("x/y/z").is_dir());
        symlink(&home, base.join("x/link")).unwrap();
        directory(&base, Path::new("x/link/.ssh")).unwrap_err();
        directory(&base, Path::new("../home/.ssh")).unwrap_err();
        directory(&base.join("x/link"), Path::new(".ssh")).unwrap_err();
        assert!(!home.join(".ssh").exists());
    }

    #[test]
    fn a_file_takes_the_place_of_a_link_and_is_never_written_through_one() {
        let scratch = Scratch::fresh();
        let (secret, home) = (scratch.file("secret", "hush"), scratch.path("home"));
        fs::create_dir(&home).unwrap();
        symlink(&secret, home.join("a")).unwrap();
        symlink(&secret, home.join("guessed")).unwrap();
        let at = directory(&home, Path::new("")).unwrap();
        let mode = Mode::from_raw_mode(0o644);
        put(&at, OsStr::new("a"), OsStr::new("guessed"), mode, b"ours").unwrap_err();
        put(&at, OsStr::new("a"), OsStr::new("a.1"), mode, b"ours").unwrap();
        assert_eq!(fs::read_to_string(home.join("a")).unwrap(), "ours");
        assert!(home.join("a").symlink_metadata().unwrap().is_file());
        fs::create_dir_all(home.join("b/c")).unwrap();
        put(&at, OsStr::new("b"), OsStr::new("b.1"), mode, b"ours").unwrap_err();
        assert!(!home.join("b.1").exists(), "nothing is left of what could not be put");
        assert_eq!(fs::read_to_string(&secret).unwrap(), "hush");
    }

    #[test]
    fn only_a_race_is_tried_again_and_not_for_ever() {
        use nix::errno::Errno;

        let mut answers = [Err(Errno::EAGAIN), Err(Errno::EINTR), Ok("there")].into_iter();
        assert_eq!(settled(|| answers.next().unwrap()), Ok("there"));
        let mut answers = [Err(Errno::ENOENT), Ok("there")].into_iter();
        assert_eq!(settled(|| answers.next().unwrap()), Err(Errno::ENOENT));
        assert_eq!(settled(|| Err::<(), _>(Errno::EAGAIN)), Err(Errno::EAGAIN));
    }
}
