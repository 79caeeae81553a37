//! What Codex CLI keeps in its home.

use std::path::PathBuf;

use super::House;

/// Where the key is found; the provider in the seeded configuration names it.
pub const KEY_VARIABLE: &str = "COOP_TESTS_MODEL_KEY";

/// Looks like a key, opens nothing.
pub const API_KEY: &str = "sk-coop-tests-0123456789abcdef";

/// The model that Codex CLI 0.166.0 has when nobody chooses one, so that it offers no newer one.
pub const MODEL: &str = "gpt-6-sol";

impl House {
    /// Where it keeps everything.
    pub fn config(&self) -> PathBuf {
        self.home().join(".codex")
    }

    /// The logs of all conversations.
    pub fn logs(&self) -> Vec<PathBuf> {
        let mut dirs = vec![self.config().join("sessions")];
        let mut logs = Vec::new();
        while let Some(dir) = dirs.pop() {
            for path in std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()) {
                if path.is_dir() { dirs.push(path) } else { logs.push(path) }
            }
        }
        logs
    }

    /// A configuration with a provider of our own, which needs no login. The agent writes into it later, so that a house that
    /// was lived in only learns the new address.
    pub fn seed(&self, trusted: bool, logged_in: bool, model_name: &str, model: &str) {
        let path = self.config().join("config.toml");
        let address = format!("base_url = \"{model}/v1\"");
        if let Ok(config) = std::fs::read_to_string(&path) {
            let line = |line: &str| if line.starts_with("base_url = ") { address.clone() } else { line.to_owned() };
            let lines: Vec<String> = config.lines().map(line).collect();
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
            return;
        }
        let workspace = self.workspace();
        let provider = if logged_in { "model_provider = \"tests\"" } else { "" };
        let trust = match trusted {
            true => format!("[projects.\"{}\"]\ntrust_level = \"trusted\"", workspace.display()),
            false => String::new(),
        };
        let config = format!(
            r#"
model = "{model_name}"
{provider}
check_for_update_on_startup = false
approval_policy = "on-request"
sandbox_mode = "workspace-write"

[model_providers.tests]
name = "Tests"
{address}
env_key = "{KEY_VARIABLE}"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

{trust}
"#
        );
        std::fs::create_dir_all(self.config()).unwrap();
        std::fs::write(&path, config).unwrap();
        if !trusted {
            // It does not ask about a directory that holds nothing of its own and is no repository.
            std::fs::create_dir_all(workspace.join(".codex")).unwrap();
        }
    }
}
