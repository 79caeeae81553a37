//! What Claude Code keeps in its home.

use std::path::PathBuf;

use serde_json::json;

use super::House;
use crate::session::write_json;

/// Looks like a key, opens nothing.
pub const API_KEY: &str = "sk-ant-api03-coop-tests-0123456789abcdef";

/// Claude Code remembers a key by its end.
const KEY_TAIL_CHARS: usize = 20;

impl House {
    /// Where it keeps everything.
    pub fn config(&self) -> PathBuf {
        self.home().join(".claude")
    }

    /// The logs of all conversations in the workspace.
    pub fn logs(&self) -> Vec<PathBuf> {
        let projects = std::fs::read_dir(self.config().join("projects")).into_iter().flatten().flatten();
        let files = projects.flat_map(|project| std::fs::read_dir(project.path()).into_iter().flatten().flatten());
        files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect()
    }

    /// What a user's earlier answers left behind.
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
