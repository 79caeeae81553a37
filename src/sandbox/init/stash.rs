//! Small files that live in memory, and the nothing that covers what is hidden.

use std::{
    cell::{Cell, OnceCell},
    io::{self, Write},
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

use rustix::fs::{Mode, OFlags, openat};

use super::{
    super::{error::Step, wire::Failure},
    failure::At,
    mounts::{is_directory, tmpfs},
    tree::{Tree, attach, attach_at_root, copy, restrict},
};

/// Room for a few small files.
const STASH_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Where such files are made.
pub(super) struct Stash {
    /// A directory in memory, on a mount that has a place: the kernel copies only from such.
    room: OwnedFd,
    count: Cell<u32>,
    /// What has covered a file and a directory. It is copied for each further one.
    no_file: OnceCell<OwnedFd>,
    no_directory: OnceCell<OwnedFd>,
}

impl Stash {
    /// In a directory of a root in memory, on which something will be mounted: from then on nobody sees into it.
    pub(super) fn below(tree: &Tree, path: &Path) -> Result<Self, Failure> {
        tree.directory(path).map(Self::of).at(Step::Root, || format!("cannot open {}", path.display()))
    }

    /// On a mount that goes with the old root, while what was copied from it stays.
    pub(super) fn apart() -> Result<Self, Failure> {
        let make = || -> io::Result<OwnedFd> {
            let room = tmpfs(0o700, Some(STASH_BYTES_MAX))?;
            attach_at_root(&room)?;
            Ok(room)
        };
        make().map(Self::of).at(Step::Root, || "cannot mount a tmpfs".into())
    }

    fn of(room: OwnedFd) -> Self {
        Self { room, count: Cell::new(0), no_file: OnceCell::new(), no_directory: OnceCell::new() }
    }

    /// A detached mount of a file with this content.
    pub(super) fn file(&self, content: &[u8], mode: u32) -> io::Result<OwnedFd> {
        let name = self.count.get().to_string();
        self.count.set(self.count.get() + 1);
        let fresh = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let mut file = std::fs::File::from(openat(&self.room, &name, fresh, Mode::from_raw_mode(mode))?);
        file.write_all(content)?;
        copy(&self.room, Path::new(&name))
    }

    /// Puts nothing, read-only, over a file or a directory.
    pub(super) fn cover(&self, place: &OwnedFd) -> io::Result<()> {
        let directory = is_directory(place)?;
        let before = if directory { &self.no_directory } else { &self.no_file };
        if let Some(nothing) = before.get() {
            return attach(&copy(nothing.as_fd(), Path::new(""))?, place);
        }
        let nothing = if directory { tmpfs(0o555, Some(0))? } else { self.file(b"", 0o444)? };
        restrict(&nothing, true, false)?;
        attach(&nothing, place)?;
        let _ = before.set(nothing);
        Ok(())
    }
}
