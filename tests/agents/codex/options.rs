//! How a test wants its Codex CLI to be started.

use super::house::{API_KEY, KEY_VARIABLE, MODEL};
use super::{House, Options};
use crate::model::{Dialect, Responses};
use crate::session::Agent;

pub struct CodexCli {
    trusted: bool,
    logged_in: bool,
    model: &'static str,
}

impl Default for CodexCli {
    fn default() -> Self {
        Self { trusted: true, logged_in: true, model: MODEL }
    }
}

impl Agent for CodexCli {
    const NAME: &str = "codex";
    const DIALECT: &dyn Dialect = &Responses;
    // Alone it starts a daemon that outlives it, and runs in there.
    const UNDRIVEN: &[&str] = &["--no-daemon"];

    fn seed(&self, house: &House, model: &str) {
        house.seed(self.trusted, self.logged_in, self.model, model);
    }

    fn variables(&self, _house: &House, _model: &str) -> Vec<(&'static str, String)> {
        vec![(KEY_VARIABLE, API_KEY.to_owned())]
    }
}

impl Options {
    /// In a directory that the user has not trusted yet.
    pub fn untrusted(mut self) -> Self {
        self.agent.trusted = false;
        self
    }

    /// Before anybody has logged in.
    pub fn logged_out(mut self) -> Self {
        self.agent.logged_in = false;
        self
    }

    pub fn model(mut self, model: &'static str) -> Self {
        self.agent.model = model;
        self
    }

    /// Not one word is added by coop; without a shared server, which would outlive the test.
    pub fn untouched(self) -> Self {
        self.groom("pristine").word("--no-daemon")
    }

    /// May ask questions without planning, too.
    pub fn asking(self) -> Self {
        self.word("--enable").word("default_mode_request_user_input")
    }
}
