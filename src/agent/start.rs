//! What a driver is given to plan an agent's start, and what it answers. Pure: files are named, not written.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::version::Version;
use crate::config::Groom;

/// Programs that start others: what stands behind their names is theirs, not the agent's.
const LAUNCHERS: [&str; 26] = [
    "ash", "bash", "bun", "bunx", "csh", "dash", "docker", "doas", "env", "fish", "ksh", "nice", "node", "nohup",
    "npm", "npx", "pnpm", "podman", "sh", "ssh", "stdbuf", "sudo", "tcsh", "timeout", "yarn", "zsh",
];

/// Reads a file that the user's command names, relative to where the child starts.
pub type Reading<'a> = &'a dyn Fn(&Path) -> io::Result<String>;

/// The child's environment.
#[derive(Clone, Copy)]
pub struct Variables<'a>(pub &'a dyn Fn(&str) -> Option<OsString>);

impl fmt::Debug for Variables<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Variables")
    }
}

/// What is known before the start.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The user's command; never empty.
    pub argv: &'a [OsString],
    /// Whether the operator said which agent this is, rather than the program's name.
    pub named: bool,
    pub groom: Groom,
    /// `--agent-config`; its `settings` and `mcp` are used here.
    pub agent_config: Option<&'a Value>,
    pub version: Option<Version>,
    /// Coop's own program.
    pub coop: &'a Path,
    /// The directory of this run.
    pub run_dir: &'a Path,
    /// A new UUID, used when the user chooses no conversation.
    pub session_id: &'a str,
    /// The conversation to go on with.
    pub resume: Option<&'a str>,
    /// Whether there was a child before: what the user's command says of a conversation was for that one.
    pub again: bool,
    /// Where the agent keeps its files.
    pub config_dir: Option<&'a Path>,
    pub variables: Variables<'a>,
}

/// How to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub argv: Vec<OsString>,
    /// What is added to the child's environment.
    pub env: Vec<(&'static str, OsString)>,
    /// Files to write into the directory of this run, for the user's eyes only.
    pub files: Vec<(&'static str, Vec<u8>)>,
    /// Files to write elsewhere, where the agent looks for them; they stay.
    pub placed: Vec<(PathBuf, Vec<u8>)>,
    /// The conversation that this will be, where it is known.
    pub session_id: Option<String>,
    /// Whether the agent's hooks will call.
    pub hooks: bool,
    /// What will not work, and why; for the log.
    pub warnings: Vec<String>,
}

impl Plan {
    /// The user's command as it is.
    pub fn plain(argv: &[OsString]) -> Self {
        Self {
            argv: argv.to_vec(),
            env: Vec::new(),
            files: Vec::new(),
            placed: Vec::new(),
            session_id: None,
            hooks: false,
            warnings: Vec::new(),
        }
    }

    pub fn warn(mut self, warning: impl Into<String>) -> Self {
        self.warnings.push(warning.into());
        self
    }
}

/// Settings that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSettings {
    #[error("{place} must be a JSON {wanted}, but is {found}")]
    Shape { place: String, wanted: &'static str, found: String },
    #[error("the path of coop's own program is not text: {0:?}")]
    Program(std::path::PathBuf),
}

impl Given<'_> {
    /// A part of `--agent-config`, unless it is missing or null.
    pub fn config(&self, key: &str) -> Option<&Value> {
        self.agent_config.and_then(|config| config.get(key)).filter(|value| !value.is_null())
    }

    /// The program in front of the agent, if it is not the agent that is started.
    pub fn launcher(&self, names: &[&str]) -> Option<String> {
        let program = self.argv.first().map(Path::new)?.file_name().unwrap_or_default();
        let name = program.to_string_lossy();
        let taken_for = self.named && !LAUNCHERS.contains(&name.as_ref());
        (!names.contains(&name.as_ref()) && !taken_for).then(|| name.into_owned())
    }
}

/// The value as an object, or what is wrong with it.
pub fn object(place: &str, value: &Value) -> Result<Map<String, Value>, BadSettings> {
    value.as_object().cloned().ok_or_else(|| shape(place.to_owned(), "object", value))
}

/// The value is not what is wanted at this place.
pub fn shape(place: String, wanted: &'static str, found: &Value) -> BadSettings {
    BadSettings::Shape { place, wanted, found: found.to_string().chars().take(40).collect() }
}
