//! Opens a pseudo-terminal pair: a master for us, a slave that becomes the child's stdin, stdout and stderr.

use std::{
    fs::File,
    io,
    os::fd::{AsFd, OwnedFd},
};

use nix::{
    fcntl::OFlag,
    sys::termios::{InputFlags, SetArg, tcgetattr, tcsetattr},
};

use super::{Size, tty};

/// Both ends; neither is inherited by any process that is started meanwhile.
pub(super) struct Pair {
    /// Our end, which never blocks a thread.
    pub(super) master: OwnedFd,
    /// The child's end.
    pub(super) slave: OwnedFd,
}

/// Opens a pair whose window is set and whose line editing erases whole UTF-8 characters.
pub(super) fn open(size: Size) -> io::Result<Pair> {
    let pair = open_pair()?;
    let mut settings = tcgetattr(&pair.slave)?;
    settings.input_flags |= InputFlags::IUTF8;
    tcsetattr(&pair.slave, SetArg::TCSANOW, &settings)?;
    tty::set_size(pair.master.as_fd(), size)?;
    Ok(pair)
}

/// On Linux both ends are closed on exec from their first moment. A copy in some other child, started by another
/// thread between `openpty` and `fcntl`, would keep the terminal from ever hanging up.
#[cfg(target_os = "linux")]
fn open_pair() -> io::Result<Pair> {
    use std::{fs::OpenOptions, os::unix::fs::OpenOptionsExt};

    use nix::{
        libc,
        pty::{grantpt, posix_openpt, ptsname_r, unlockpt},
    };

    let master = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname_r(&master)?;
    let slave = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY).open(name)?;
    Ok(Pair { master: master.into(), slave: slave.into() })
}

#[cfg(not(target_os = "linux"))]
fn open_pair() -> io::Result<Pair> {
    use nix::{
        fcntl::{FcntlArg, FdFlag, fcntl},
        pty::{OpenptyResult, openpty},
    };

    let OpenptyResult { master, slave } = openpty(None, None)?;
    for end in [&master, &slave] {
        fcntl(end, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    }
    fcntl(&master, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok(Pair { master, slave })
}

impl Pair {
    /// A further descriptor of the master, closed on exec like the first.
    pub(super) fn master_file(&self) -> io::Result<File> {
        Ok(self.master.try_clone()?.into())
    }
}
