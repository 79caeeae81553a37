//! How a test wants its Gemini CLI to be started.

use serde_json::{Value, json};

use super::house::{API_KEY, MODEL};
use super::{House, Options};
use crate::model::{Dialect, Generate};
use crate::session::Agent;

pub struct GeminiCli {
    trusted: bool,
    key_chosen: bool,
    /// Section, name and value.
    settings: Vec<(&'static str, &'static str, Value)>,
}

impl Default for GeminiCli {
    fn default() -> Self {
        Self { trusted: true, key_chosen: true, settings: Vec::new() }
    }
}

impl Agent for GeminiCli {
    const NAME: &str = "gemini";
    const DIALECT: &dyn Dialect = &Generate;

    fn seed(&self, house: &House, _model: &str) {
        house.seed(self.trusted, self.key_chosen, &self.settings);
    }

    fn variables(&self, _house: &House, model: &str) -> Vec<(&'static str, String)> {
        vec![
            ("GEMINI_API_KEY", API_KEY.to_owned()),
            ("GOOGLE_GEMINI_BASE_URL", model.to_owned()),
            ("GEMINI_MODEL", MODEL.to_owned()),
            ("NO_BROWSER", "true".to_owned()),
            // Without it a warning takes a row.
            ("COLORTERM", "truecolor".to_owned()),
        ]
    }
}

impl Options {
    /// In plan mode from the beginning.
    pub fn planning(self) -> Self {
        self.word("--approval-mode").word("plan")
    }

    /// In a directory that the user has not trusted yet.
    pub fn untrusted(mut self) -> Self {
        self.agent.trusted = false;
        self
    }

    /// Before the user has chosen how to log in.
    pub fn undecided(mut self) -> Self {
        self.agent.key_chosen = false;
        self
    }

    pub fn setting(mut self, section: &'static str, name: &'static str, value: Value) -> Self {
        self.agent.settings.push((section, name, value));
        self
    }

    /// Gives up after this many attempts and says why; else it asks for ever and says little. One attempt is no attempt: it
    /// asks without a pause then.
    pub fn gives_up_after(self, attempts: u32) -> Self {
        self.setting("general", "maxAttempts", json!(attempts)).setting("ui", "errorVerbosity", json!("full"))
    }
}
