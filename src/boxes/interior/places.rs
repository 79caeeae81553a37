//! Where the parts of a box lie.

use std::io;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;

/// The directory of one box, and what is in it.
#[derive(Clone, Debug)]
pub struct Places {
    /// `sessions/NAME`.
    pub dir: PathBuf,
    /// Where volumes are kept.
    pub volumes: PathBuf,
    /// Where what setup commands made is kept.
    pub builds: PathBuf,
    /// A directory for the sockets by which those inside reach their session.
    pub hooks: PathBuf,
    /// coop itself.
    pub coop: PathBuf,
}

impl Places {
    /// The box's own HOME.
    pub fn home(&self) -> PathBuf {
        self.dir.join("home")
    }

    /// What coop gives to the agent: settings that point to its hooks. The box reads it and cannot change it.
    pub fn run(&self) -> PathBuf {
        self.dir.join("run")
    }

    /// Where programs inside make the few calls that are theirs to make.
    pub fn inside(&self) -> PathBuf {
        self.hooks.join("coop.sock")
    }

    /// What outlives the box's HOME; all of it, for a path without a step.
    pub fn persist(&self, relative: &Path) -> PathBuf {
        let all = self.dir.join("persist");
        if relative.as_os_str().is_empty() { all } else { all.join(relative) }
    }

    /// What is written over an image.
    pub fn image_layer(&self) -> (PathBuf, PathBuf) {
        (self.dir.join("upper"), self.dir.join("work"))
    }

    /// What is written over the workspace.
    pub fn workspace_layer(&self) -> (PathBuf, PathBuf) {
        (self.dir.join("ws-upper"), self.dir.join("ws-work"))
    }

    pub fn setup(&self, key: &str) -> PathBuf {
        self.builds.join(key).join("upper")
    }

    pub fn volume(&self, name: &str) -> PathBuf {
        self.volumes.join(name)
    }
}

/// Makes directories beneath one in which a box writes, step by step: a link on the way is not followed.
pub fn make_beneath(base: &Path, relative: &Path) -> io::Result<()> {
    let directory = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = openat(CWD, base, directory, Mode::empty())?;
    for step in relative.components() {
        let Component::Normal(name) = step else { return Err(io::ErrorKind::InvalidInput.into()) };
        match mkdirat(&at, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        at = openat(&at, name, directory, Mode::empty())?;
    }
    Ok(())
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
        make_beneath(&base, Path::new("x/y/z")).unwrap();
        make_beneath(&base, Path::new("x/y/z")).unwrap();
        assert!(base.join("x/y/z").is_dir());
        symlink(&home, base.join("x/link")).unwrap();
        make_beneath(&base, Path::new("x/link/.ssh")).unwrap_err();
        make_beneath(&base, Path::new("../home/.ssh")).unwrap_err();
        assert!(!home.join(".ssh").exists());
    }
}
