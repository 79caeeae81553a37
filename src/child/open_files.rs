//! How many files coop may have open: as many as the system allows, while its child sees the limit it would
//! have seen without coop.

use std::{io, sync::OnceLock};

use nix::{
    libc::rlim_t,
    sys::resource::{Resource, getrlimit, setrlimit},
};

/// A soft and a hard limit on open files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) soft: rlim_t,
    pub(super) hard: rlim_t,
}

/// What was in force before the limit was raised.
static BEFORE: OnceLock<Limits> = OnceLock::new();

/// Raises our own soft limit to the hard one: every connection takes a descriptor, and the usual 1024 are few.
/// Children get the old limit back, since programs that use `select` break above 1024. Calling it again does
/// nothing.
pub fn raise_open_files_limit() -> io::Result<()> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    let before = BEFORE.get_or_init(|| Limits { soft, hard });
    if before.soft < before.hard {
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
    }
    Ok(())
}

/// The limits a child gets, if ours were raised.
pub(super) fn before_raise() -> Option<Limits> {
    BEFORE.get().copied()
}

#[cfg(test)]
mod tests {
    use super::super::support::{printed, sh};
    use super::*;

    #[tokio::test]
    async fn a_raised_limit_is_not_passed_on() {
        let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        let usual = hard.min(1024) - 1;
        setrlimit(Resource::RLIMIT_NOFILE, usual, hard).unwrap();
        raise_open_files_limit().unwrap();
        raise_open_files_limit().unwrap();
        assert_eq!(getrlimit(Resource::RLIMIT_NOFILE).unwrap(), (hard, hard));
        assert_eq!(printed(&sh("ulimit -Sn")).await, format!("{usual}\n"));
    }
}
