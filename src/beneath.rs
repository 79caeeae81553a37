//! Paths that the kernel keeps inside a directory (`openat2`), whoever renames something on the way.

use std::io;

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

fn is_race(error: impl Into<io::Error>) -> bool {
    matches!(error.into().kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use nix::errno::Errno;

    use super::*;

    #[test]
    fn only_a_race_is_tried_again_and_not_for_ever() {
        let mut answers = [Err(Errno::EAGAIN), Err(Errno::EINTR), Ok("there")].into_iter();
        assert_eq!(settled(|| answers.next().unwrap()), Ok("there"));
        let mut answers = [Err(Errno::ENOENT), Ok("there")].into_iter();
        assert_eq!(settled(|| answers.next().unwrap()), Err(Errno::ENOENT));
        assert_eq!(settled(|| Err::<(), _>(Errno::EAGAIN)), Err(Errno::EAGAIN));
    }
}
