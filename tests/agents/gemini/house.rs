//! What Gemini CLI keeps in its home.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::House;
use crate::session::write_json;

/// Looks like a key, opens nothing.
pub const API_KEY: &str = "coop-tests-0123456789abcdef";

pub const MODEL: &str = "gemini-2.5-flash";

impl House {
    /// Where it keeps everything.
    pub fn config(&self) -> PathBuf {
        self.home().join(".gemini")
    }

    /// The logs of all conversations in the workspace.
    pub fn logs(&self) -> Vec<PathBuf> {
        let logs = std::fs::read_dir(self.config().join("tmp/work/chats")).into_iter().flatten().flatten();
        logs.map(|log| log.path()).collect()
    }

    /// What a user's earlier answers left behind, and nothing that calls home. `more` are further settings, by section.
    pub fn seed(&self, trusted: bool, key_chosen: bool, more: &[(&str, &str, Value)]) {
        let path = self.config().join("settings.json");
        if path.exists() {
            return;
        }
        let mut settings = json!({
            "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
            "privacy": {"usageStatisticsEnabled": false},
            "telemetry": {"enabled": false},
        });
        if key_chosen {
            settings["security"] = json!({"auth": {"selectedType": "gemini-api-key"}});
        }
        for (section, name, value) in more {
            settings[*section][*name] = value.clone();
        }
        std::fs::create_dir_all(self.config()).unwrap();
        write_json(&path, &settings);
        if trusted {
            let folders = json!({self.workspace().to_str().unwrap(): "TRUST_FOLDER"});
            write_json(&self.config().join("trustedFolders.json"), &folders);
        }
    }
}
