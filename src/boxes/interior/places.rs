//! Where the parts of a box lie.

use std::path::{Path, PathBuf};

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
    /// Those of a box that does not run: without what only a session has.
    pub fn at_rest(dir: &Path, coop_home: &Path) -> Self {
        let (volumes, builds) = (coop_home.join("volumes"), coop_home.join("builds"));
        Self { dir: dir.to_owned(), volumes, builds, hooks: PathBuf::new(), coop: PathBuf::new() }
    }

    /// The directory, which no box writes, that something of the box or a volume lies in; none for what is the user's.
    pub fn own(&self, path: &Path) -> Option<&Path> {
        if path.starts_with(&self.volumes) {
            self.volumes.parent()
        } else {
            Some(&*self.dir).filter(|own| path.starts_with(own))
        }
    }

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
