//! How a test wants its agent to be started.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::{Agent, House, WIDE};
use crate::model::Script;

/// What is done to a house before an agent moves in.
type Preparation<A> = Box<dyn FnOnce(&House<A>) + Send>;

pub struct Options<A: Agent> {
    /// The choices that only this agent has.
    pub agent: A,
    pub script: Script,
    /// What is started in the place of the agent's own program.
    pub program: Option<PathBuf>,
    pub house: Option<Arc<House<A>>>,
    pub size: (u16, u16),
    /// Whether coop is told which agent it is.
    pub known: bool,
    /// Further flags for coop.
    pub flags: Vec<String>,
    /// Further words for the agent.
    pub words: Vec<String>,
    pub variables: Vec<(String, String)>,
    pub agent_config: Option<Value>,
    /// Whether it runs in a tmux of its own, and coop serves it there.
    pub in_tmux: bool,
    /// Whether it runs in a box that reaches its model and nothing else.
    pub boxed: bool,
    /// Prepares the house before anything is started.
    pub prepare: Option<Preparation<A>>,
}

impl<A: Agent> From<Script> for Options<A> {
    fn from(script: Script) -> Self {
        Self {
            agent: A::default(),
            script,
            program: None,
            house: None,
            size: WIDE,
            known: true,
            flags: Vec::new(),
            words: Vec::new(),
            variables: Vec::new(),
            agent_config: None,
            in_tmux: false,
            boxed: false,
            prepare: None,
        }
    }
}

impl<A: Agent> Options<A> {
    pub fn new() -> Self {
        Script::new().into()
    }

    pub fn script(script: Script) -> Self {
        script.into()
    }

    pub fn size(mut self, size: (u16, u16)) -> Self {
        self.size = size;
        self
    }

    /// Starts this, which starts the agent.
    pub fn program(mut self, program: PathBuf) -> Self {
        self.program = Some(program);
        self
    }

    /// Lives where another session lived.
    pub fn house(mut self, house: &Arc<House<A>>) -> Self {
        self.house = Some(house.clone());
        self
    }

    /// Without coop's knowledge of the agent.
    pub fn plain(mut self) -> Self {
        self.known = false;
        A::UNDRIVEN.iter().fold(self, |options, word| options.word(word))
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

    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn agent_config(mut self, config: Value) -> Self {
        self.agent_config = Some(config);
        self
    }

    /// Started by somebody else, in a tmux.
    pub fn in_tmux(mut self) -> Self {
        self.in_tmux = true;
        self
    }

    /// In a box that reaches its model and nothing else.
    pub fn boxed(mut self) -> Self {
        self.boxed = true;
        self
    }

    pub fn prepare(mut self, prepare: impl FnOnce(&House<A>) + Send + 'static) -> Self {
        self.prepare = Some(Box::new(prepare));
        self
    }
}
