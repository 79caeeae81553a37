//! Where an agent lives: its home with what earlier runs would have left there, and a workspace.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::Scratch;

/// Looks like a key, opens nothing.
pub const API_KEY: &str = "sk-ant-api03-coop-tests-0123456789abcdef";

/// Claude Code remembers a key by its end.
const KEY_TAIL_CHARS: usize = 20;

/// Goes when the last session in it does.
pub struct House {
    scratch: Scratch,
}

impl House {
    pub fn new() -> Self {
        let house = Self { scratch: Scratch::new() };
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

    /// Resolved, because Claude Code names projects by their resolved path.
    pub fn workspace(&self) -> PathBuf {
        let path = self.scratch.path("work");
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

    /// Where Claude Code keeps everything.
    pub fn config(&self) -> PathBuf {
        self.home().join(".claude")
    }

    /// The logs of all conversations in the workspace.
    pub fn logs(&self) -> Vec<PathBuf> {
        let projects = std::fs::read_dir(self.config().join("projects")).into_iter().flatten().flatten();
        let files = projects.flat_map(|project| std::fs::read_dir(project.path()).into_iter().flatten().flatten());
        files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect()
    }

    /// The value of PATH with coop in it.
    pub fn path_variable(&self) -> String {
        format!("{}:{}", self.scratch.path("bin").display(), std::env::var("PATH").unwrap())
    }

    /// What a user's earlier answers left behind, so that the first thing to be seen is the input box.
    pub fn seed(&self, trusted: bool, key_approved: bool) {
        let path = self.home().join(".claude.json");
        if path.exists() {
            return;
        }
        let tail = &API_KEY[API_KEY.len() - KEY_TAIL_CHARS..];
        let approved: &[&str] = if key_approved { &[tail] } else { &[] };
        let mut seed = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "customApiKeyResponses": {"approved": approved, "rejected": []},
        });
        if trusted {
            seed["projects"] = json!({self.workspace().to_str().unwrap(): {"hasTrustDialogAccepted": true}});
        }
        write_json(&path, &seed);
    }
}

pub fn write_json(path: &Path, value: &Value) {
    std::fs::write(path, value.to_string()).unwrap();
}
