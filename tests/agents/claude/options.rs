//! How a test wants its Claude Code to be started.

use super::house::API_KEY;
use super::{House, Options};
use crate::model::{Dialect, Messages};
use crate::session::Agent;

/// With what the agent proves who pays.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// A key that the user has approved before.
    Key,
    /// A key that the agent sees for the first time.
    UnknownKey,
    /// A subscription.
    Subscription,
}

pub struct ClaudeCode {
    trusted: bool,
    credential: Credential,
}

impl Default for ClaudeCode {
    fn default() -> Self {
        Self { trusted: true, credential: Credential::Key }
    }
}

impl Agent for ClaudeCode {
    const NAME: &str = "claude";
    const DIALECT: &dyn Dialect = &Messages;

    fn seed(&self, house: &House, _model: &str) {
        house.seed(self.trusted, self.credential != Credential::UnknownKey);
    }

    fn variables(&self, _house: &House, model: &str) -> Vec<(&'static str, String)> {
        let on = || "1".to_owned();
        vec![
            ("ANTHROPIC_BASE_URL", model.to_owned()),
            ("DISABLE_AUTOUPDATER", on()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", on()),
            // Without it the bypass mode is refused to root, as whom containers run.
            ("IS_SANDBOX", on()),
            ("CLAUDE_CODE_MAX_RETRIES", "0".to_owned()),
            match self.credential {
                Credential::Subscription => ("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-tests".to_owned()),
                _ => ("ANTHROPIC_API_KEY", API_KEY.to_owned()),
            },
        ]
    }
}

impl Options {
    /// In plan mode from the beginning.
    pub fn planning(self) -> Self {
        self.word("--permission-mode").word("plan")
    }

    /// In a directory that the user has not trusted yet.
    pub fn untrusted(mut self) -> Self {
        self.agent.trusted = false;
        self
    }

    pub fn credential(mut self, credential: Credential) -> Self {
        self.agent.credential = credential;
        self
    }
}
