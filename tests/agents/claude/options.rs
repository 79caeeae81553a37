//! How a test wants its Claude Code to be started.

use std::sync::Arc;

use serde_json::Value;

use super::house::House;
use crate::messages::Script;

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

/// What is done to a house before an agent moves in.
type Preparation = Box<dyn FnOnce(&House) + Send>;

pub struct Options {
    pub script: Script,
    pub house: Option<Arc<House>>,
    pub cols: u16,
    pub rows: u16,
    /// Further flags for coop.
    pub flags: Vec<String>,
    /// Further words for claude.
    pub words: Vec<String>,
    pub variables: Vec<(String, String)>,
    pub agent_config: Option<Value>,
    pub trusted: bool,
    pub credential: Credential,
    /// Prepares the house before anything is started.
    pub prepare: Option<Preparation>,
}

impl From<Script> for Options {
    fn from(script: Script) -> Self {
        Self {
            script,
            house: None,
            cols: 200,
            rows: 50,
            flags: Vec::new(),
            words: Vec::new(),
            variables: Vec::new(),
            agent_config: None,
            trusted: true,
            credential: Credential::Key,
            prepare: None,
        }
    }
}

impl Options {
    pub fn new() -> Self {
        Script::new().into()
    }

    pub fn script(script: Script) -> Self {
        script.into()
    }

    pub fn size(mut self, (cols, rows): (u16, u16)) -> Self {
        (self.cols, self.rows) = (cols, rows);
        self
    }

    /// Lives where another session lived.
    pub fn house(mut self, house: &Arc<House>) -> Self {
        self.house = Some(house.clone());
        self
    }

    pub fn flag(mut self, flag: &str, value: &str) -> Self {
        self.flags.extend([flag.to_owned(), value.to_owned()]);
        self
    }

    pub fn groom(self, way: &str) -> Self {
        self.flag("--groom", way)
    }

    pub fn word(mut self, word: &str) -> Self {
        self.words.push(word.to_owned());
        self
    }

    /// In plan mode from the beginning.
    pub fn planning(self) -> Self {
        self.word("--permission-mode").word("plan")
    }

    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn agent_config(mut self, config: Value) -> Self {
        self.agent_config = Some(config);
        self
    }

    /// In a directory that the user has not trusted yet.
    pub fn untrusted(mut self) -> Self {
        self.trusted = false;
        self
    }

    pub fn credential(mut self, credential: Credential) -> Self {
        self.credential = credential;
        self
    }

    pub fn prepare(mut self, prepare: impl FnOnce(&House) + Send + 'static) -> Self {
        self.prepare = Some(Box::new(prepare));
        self
    }
}
