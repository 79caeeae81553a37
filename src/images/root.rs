//! The one directory that layers may write to. Every name is resolved by the kernel with that directory as its root,
//! so that no link, however made, leads out of it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, OpenHow, ResolveFlag, openat, openat2};
use nix::sys::stat::{FileStat, Mode, SFlag, UtimensatFlags, fchmod, fstat, fstatat, futimens, mkdirat, utimensat};
use nix::sys::time::TimeSpec;
use nix::unistd::{linkat, symlinkat};

use super::error::{Context, ImageError};
use super::limits::Limits;
use super::tarball::TarError;
use super::trees;
use crate::beneath::settled;

/// Bits of a mode that are kept: permissions and the sticky bit. Set-user-id and set-group-id are not: the files
/// belong to whoever unpacks them, and nobody shall become that user by running one.
const MODE_KEPT: u32 = 0o1777;

/// What every directory gets, so that its owner can fill it now and remove it later.
const DIRECTORY_MODE: u32 = 0o700;

/// The longest name that Linux file systems take.
const NAME_LEN_MAX: usize = 255;

const COPY_BYTES: usize = 128 << 10;

/// A layer is refused, or the disk does not do what it should.
#[derive(Debug)]
pub(super) enum Refusal {
    Tar(TarError),
    Other(ImageError),
}

impl From<TarError> for Refusal {
    fn from(error: TarError) -> Self {
        Self::Tar(error)
    }
}

impl From<ImageError> for Refusal {
    fn from(error: ImageError) -> Self {
        Self::Other(error)
    }
}

/// The parts of a path below the root. Empty for the root itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Names<'a>(Vec<&'a OsStr>);

impl<'a> Names<'a> {
    /// A path is taken as below the root, whether it begins with a slash or not; `..` has no honest use.
    pub(super) fn parse(path: &'a [u8], limits: &Limits) -> Result<Self, TarError> {
        if path.len() > limits.path_len_max {
            return Err(TarError::entry(path, "has a path that is too long"));
        }
        let mut names = Vec::new();
        for name in path.split(|byte| *byte == b'/') {
            match name {
                b"" | b"." => {}
                b".." => return Err(TarError::entry(path, "leads out of the image by `..`")),
                name if name.len() > NAME_LEN_MAX => return Err(TarError::entry(path, "has a name that is too long")),
                name => names.push(OsStr::from_bytes(name)),
            }
        }
        Ok(Self(names))
    }

    /// The directory's part and the last name; `None` for the root.
    pub(super) fn split(&self) -> Option<(&[&'a OsStr], &'a OsStr)> {
        self.0.split_last().map(|(last, parents)| (parents, *last))
    }
}

pub(super) struct Root {
    dir: OwnedFd,
    inode: u64,
    /// Where it is, for errors.
    path: PathBuf,
    /// The directory used last, since entries come directory by directory. Thrown away whenever something is removed,
    /// for only then can a path come to mean another directory.
    last: Option<(PathBuf, Rc<Parent>)>,
}

/// A directory that something is put into, and the number that the file system knows it by.
pub(super) struct Parent {
    pub(super) fd: OwnedFd,
    pub(super) inode: u64,
}

impl Root {
    pub(super) fn open(path: &Path) -> Result<Self, ImageError> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let dir = nix::fcntl::open(path, flags, Mode::empty()).context("open", path)?;
        let inode = fstat(&dir).context("look at", path)?.st_ino;
        Ok(Self { dir, inode, path: path.to_owned(), last: None })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The directory of these names, made where it is missing.
    pub(super) fn parent(&mut self, names: &[&OsStr], entry: &[u8]) -> Result<Rc<Parent>, Refusal> {
        let path: PathBuf = names.iter().collect();
        if let Some((known, parent)) = &self.last
            && *known == path
        {
            return Ok(parent.clone());
        }
        let fd = match self.resolve(&path) {
            Ok(fd) => fd,
            Err(Errno::ENOENT) => self.make_all(names, entry)?,
            Err(errno) => return Err(self.refuse(errno, entry)),
        };
        let parent = Rc::new(self.hand_out(fd)?);
        self.last = Some((path, parent.clone()));
        Ok(parent)
    }

    /// The directory of these names if there is one.
    pub(super) fn parent_if_there(&self, names: &[&OsStr], entry: &[u8]) -> Result<Option<Parent>, Refusal> {
        match self.resolve(&names.iter().collect::<PathBuf>()) {
            Ok(fd) => self.hand_out(fd).map(Some),
            Err(Errno::ENOENT | Errno::ENOTDIR) => Ok(None),
            Err(errno) => Err(self.refuse(errno, entry)),
        }
    }

    fn hand_out(&self, fd: OwnedFd) -> Result<Parent, Refusal> {
        let inode = fstat(&fd).context("look at", &self.path)?.st_ino;
        Ok(Parent { fd, inode })
    }

    fn resolve(&self, path: &Path) -> nix::Result<OwnedFd> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let how = OpenHow::new()
            .flags(OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC)
            .resolve(ResolveFlag::RESOLVE_IN_ROOT | ResolveFlag::RESOLVE_NO_MAGICLINKS);
        settled(|| openat2(&self.dir, path, how))
    }

    /// Makes the directories that no entry of their own made before.
    fn make_all(&self, names: &[&OsStr], entry: &[u8]) -> Result<OwnedFd, Refusal> {
        let mut at = self.resolve(Path::new("")).map_err(|errno| self.refuse(errno, entry))?;
        let mut path = PathBuf::new();
        for name in names {
            path.push(name);
            at = match self.resolve(&path) {
                Ok(fd) => fd,
                Err(Errno::ENOENT) => {
                    match mkdirat(&at, *name, Mode::from_bits_truncate(0o755)) {
                        // There is something and yet nothing: a link that leads nowhere.
                        Err(Errno::EEXIST) => return Err(TarError::entry(entry, "lies behind a broken link").into()),
                        other => other.map_err(|errno| self.refuse(errno, entry))?,
                    }
                    let made = self.resolve(&path).map_err(|errno| self.refuse(errno, entry))?;
                    // Whatever the umask is.
                    fchmod(&made, Mode::from_bits_truncate(0o755)).context("make a directory in", &self.path)?;
                    made
                }
                Err(errno) => return Err(self.refuse(errno, entry)),
            };
        }
        Ok(at)
    }

    fn refuse(&self, errno: Errno, entry: &[u8]) -> Refusal {
        match errno {
            Errno::ENOSYS => ImageError::OldKernel.into(),
            Errno::ENOTDIR => TarError::entry(entry, "lies below something that is no directory").into(),
            Errno::ELOOP => TarError::entry(entry, "lies behind links that go in a circle").into(),
            Errno::ENAMETOOLONG => TarError::entry(entry, "has a path that is too long").into(),
            Errno::EXDEV => TarError::entry(entry, "leads out of the image").into(),
            errno => ImageError::io("write to", &self.path, errno.into()).into(),
        }
    }

    /// Makes something that must not exist before; what is there is removed first.
    fn anew<T>(
        &mut self,
        parent: &Parent,
        name: &OsStr,
        entry: &[u8],
        make: impl Fn() -> nix::Result<T>,
    ) -> Result<T, Refusal> {
        match make() {
            Err(Errno::EEXIST) => {
                self.remove(parent, name)?;
                make().map_err(|errno| self.refuse(errno, entry))
            }
            result => result.map_err(|errno| self.refuse(errno, entry)),
        }
    }

    pub(super) fn put_directory(
        &mut self,
        parent: &Parent,
        name: &OsStr,
        mode: u32,
        entry: &[u8],
    ) -> Result<(), Refusal> {
        let there = stat_of(parent, name).is_some_and(|stat| is_directory(&stat));
        if !there {
            self.anew(parent, name, entry, || mkdirat(&parent.fd, name, Mode::from_bits_truncate(DIRECTORY_MODE)))?;
        }
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let made = openat(&parent.fd, name, flags, Mode::empty()).map_err(|errno| self.refuse(errno, entry))?;
        Ok(self.set_directory_mode(&made, mode)?)
    }

    /// The mode of the root itself, which is an entry in many layers.
    pub(super) fn set_own_mode(&self, mode: u32) -> Result<(), ImageError> {
        self.set_directory_mode(&self.dir, mode)
    }

    fn set_directory_mode(&self, directory: &OwnedFd, mode: u32) -> Result<(), ImageError> {
        let mode = Mode::from_bits_truncate(mode & MODE_KEPT | DIRECTORY_MODE);
        fchmod(directory, mode).context("set the mode in", &self.path)
    }

    /// Makes a file with all that the reader gives.
    pub(super) fn put_file(
        &mut self,
        parent: &Parent,
        name: &OsStr,
        (mode, mtime): (u32, (i64, i64)),
        entry: &[u8],
        data: &mut impl Read,
    ) -> Result<(), Refusal> {
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let make = || openat(&parent.fd, name, flags, Mode::from_bits_truncate(0o600));
        let mut file = File::from(self.anew(parent, name, entry, make)?);
        let mut buffer = [0; COPY_BYTES];
        loop {
            // Told apart: what fails here is the layer, there the disk.
            let n = match data.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(TarError::from(error).into()),
            };
            file.write_all(&buffer[..n]).context("write to", &self.path)?;
        }
        fchmod(&file, Mode::from_bits_truncate(mode & MODE_KEPT)).context("set the mode in", &self.path)?;
        let time = TimeSpec::new(mtime.0, mtime.1);
        // A date that the file system cannot keep is no reason to refuse an image.
        let _ = futimens(&file, &time, &time);
        Ok(())
    }

    /// A link may say whatever it likes: it is followed by the box only, whose root this is.
    pub(super) fn put_symlink(
        &mut self,
        parent: &Parent,
        name: &OsStr,
        (target, mtime): (&[u8], (i64, i64)),
        entry: &[u8],
    ) -> Result<(), Refusal> {
        self.anew(parent, name, entry, || symlinkat(OsStr::from_bytes(target), &parent.fd, name))?;
        let time = TimeSpec::new(mtime.0, mtime.1);
        let _ = utimensat(&parent.fd, name, &time, &time, UtimensatFlags::NoFollowSymlink);
        Ok(())
    }

    /// A second name for something in the image; the last part of `target` is never followed.
    pub(super) fn put_hardlink(
        &mut self,
        parent: &Parent,
        name: &OsStr,
        target: &Names<'_>,
        entry: &[u8],
    ) -> Result<(), Refusal> {
        let missing = || TarError::entry(entry, "is a hard link to something that is not there");
        let (parents, last) = target.split().ok_or_else(|| TarError::entry(entry, "is a hard link to a directory"))?;
        let from = self.parent_if_there(parents, entry)?.ok_or_else(missing)?;
        let stat = stat_of(&from, last).ok_or_else(missing)?;
        if is_directory(&stat) {
            return Err(TarError::entry(entry, "is a hard link to a directory").into());
        }
        if stat_of(parent, name).is_some_and(|there| there.st_ino == stat.st_ino && there.st_dev == stat.st_dev) {
            return Ok(());
        }
        self.anew(parent, name, entry, || linkat(&from.fd, last, &parent.fd, name, AtFlags::empty()))
    }

    /// Removes whatever has this name, with all below it.
    pub(super) fn remove(&mut self, parent: &Parent, name: &OsStr) -> Result<(), Refusal> {
        self.last = None;
        trees::remove_at(&parent.fd, name).context("remove something in", &self.path)?;
        Ok(())
    }

    /// The directory that has this one in it; none for the root.
    pub(super) fn above(&self, directory: &Parent) -> Result<Option<Parent>, Refusal> {
        if directory.inode == self.inode {
            return Ok(None);
        }
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let above = openat(&directory.fd, "..", flags, Mode::empty()).context("open something in", &self.path)?;
        self.hand_out(above).map(Some)
    }

    /// A directory right below another, not through a link.
    pub(super) fn child(&self, parent: &Parent, name: &OsStr) -> Result<Parent, Refusal> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        self.hand_out(openat(&parent.fd, name, flags, Mode::empty()).context("open something in", &self.path)?)
    }
}

/// What has this name, without following it.
pub(super) fn stat_of(parent: &Parent, name: &OsStr) -> Option<FileStat> {
    fstatat(&parent.fd, name, AtFlags::AT_SYMLINK_NOFOLLOW).ok()
}

pub(super) fn is_directory(stat: &FileStat) -> bool {
    SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT == SFlag::S_IFDIR
}
