//! Flags that choose between a few words.

use std::ffi::OsStr;
use std::fmt;
use std::io::IsTerminal;
use std::path::Path;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::session::{RestartPolicy, SizePolicy};

/// The kind of program inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Agent {
    Claude,
    Codex,
    Gemini,
    #[default]
    Unknown,
}

/// How coop's own log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// One JSON object for each line.
    Json,
    /// For people.
    Text,
}

/// What coop may answer by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Groom {
    /// Harmless dialogs of the agent's start.
    #[default]
    Auto,
    /// Nothing.
    Manual,
    /// Nothing, and the agent's configuration stays untouched.
    Pristine,
}

impl ValueEnum for RestartPolicy {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::No, Self::OnFailure, Self::Always]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::No => PossibleValue::new("no").help("Only when somebody asks for it"),
            Self::OnFailure => PossibleValue::new("on-failure").help("When it ended by a signal, or not with 0"),
            Self::Always => PossibleValue::new("always").help("However it ended"),
        })
    }
}

impl ValueEnum for SizePolicy {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Latest, Self::Smallest, Self::Fixed]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Latest => PossibleValue::new("latest").help("That of the terminal which was used last"),
            Self::Smallest => PossibleValue::new("smallest").help("What all of them can show"),
            Self::Fixed => PossibleValue::new("fixed").help("--cols and --rows, whatever they are"),
        })
    }
}

impl Agent {
    /// What the program's name says; a path before it does not matter.
    pub fn of_program(program: &OsStr) -> Self {
        match Path::new(program).file_name().and_then(OsStr::to_str) {
            Some("claude") => Self::Claude,
            Some("codex") => Self::Codex,
            Some("gemini") => Self::Gemini,
            _ => Self::Unknown,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl LogFormat {
    /// Programs collect JSON; whoever sits at a terminal reads text.
    pub fn for_stderr() -> Self {
        if std::io::stderr().is_terminal() { Self::Text } else { Self::Json }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_name_tells_the_agent() {
        let agent = |program: &str| Agent::of_program(OsStr::new(program));
        assert_eq!(agent("claude"), Agent::Claude);
        assert_eq!(agent("/usr/local/bin/codex"), Agent::Codex);
        assert_eq!(agent("./gemini"), Agent::Gemini);
        for other in ["bash", "claude-helper", "/opt/claude/run", "Claude", "", "/", ".."] {
            assert_eq!(agent(other), Agent::Unknown, "{other}");
        }
    }
}
