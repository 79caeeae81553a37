//! Where an agent lives: a home of its own and a workspace.

use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Agent;
use crate::support::Scratch;

/// Goes when the last session in it does.
pub struct House<A> {
    scratch: Scratch,
    workspace: &'static str,
    inhabitant: PhantomData<A>,
}

impl<A: Agent> House<A> {
    pub fn new() -> Self {
        Self::with_workspace("work")
    }

    /// With a workspace elsewhere in it, such as `home/shop`, which agents show as `~/shop`.
    pub fn with_workspace(workspace: &'static str) -> Self {
        let house = Self { scratch: Scratch::new(), workspace, inhabitant: PhantomData };
        for room in [house.home(), house.workspace(), house.scratch.path("bin")] {
            std::fs::create_dir_all(room).unwrap();
        }
        // The agent's own commands find coop by its name.
        std::os::unix::fs::symlink(crate::support::binary(), house.scratch.path("bin/coop")).unwrap();
        house
    }

    pub fn home(&self) -> PathBuf {
        self.scratch.path("home")
    }

    /// Resolved, because agents name projects by their resolved path.
    pub fn workspace(&self) -> PathBuf {
        let path = self.scratch.path(self.workspace);
        path.canonicalize().unwrap_or(path)
    }

    /// A place in the workspace.
    pub fn at(&self, name: &str) -> PathBuf {
        self.workspace().join(name)
    }

    /// A place beside home and workspace.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.scratch.path(name)
    }

    /// The value of PATH with coop in it.
    pub fn path_variable(&self) -> String {
        format!("{}:{}", self.scratch.path("bin").display(), std::env::var("PATH").unwrap())
    }
}

pub fn write_json(path: &Path, value: &Value) {
    std::fs::write(path, value.to_string()).unwrap();
}
