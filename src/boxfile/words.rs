//! Settings that choose between a few words.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A setting with a fixed set of words. They are listed from the narrowest to the widest where that has a meaning.
pub trait Word: Copy + PartialEq + 'static {
    /// Every choice, in the order in which it is told to people.
    const ALL: &'static [Self];

    fn word(self) -> &'static str;

    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|known| known.word() == word)
    }

    /// `"rw", "ro" or "overlay"`
    fn choices() -> String {
        let mut words: Vec<String> = Self::ALL.iter().map(|known| format!("\"{}\"", known.word())).collect();
        let last = words.pop().unwrap_or_default();
        if words.is_empty() { last } else { format!("{} or {last}", words.join(", ")) }
    }
}

macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $choice:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$what])* #[serde(rename = $word)] $choice,)+ }

        impl Word for $name {
            const ALL: &'static [Self] = &[$(Self::$choice,)+];

            fn word(self) -> &'static str {
                match self { $(Self::$choice => $word,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

words! {
    /// The program that a box is made for.
    Agent {
        Claude = "claude",
        Codex = "codex",
        Gemini = "gemini",
        /// Something that coop only shows.
        #[default]
        Unknown = "unknown",
    }
}

words! {
    /// What the box may do to the project. A later one may do more.
    WorkspaceMode {
        /// Read it.
        ReadOnly = "ro",
        /// Change a copy of it, which is reviewed before it touches the project.
        Overlay = "overlay",
        /// Change it.
        #[default]
        ReadWrite = "rw",
    }
}

words! {
    /// What the box may reach. A later one reaches more.
    NetworkMode {
        None = "none",
        /// What the allow-list names.
        #[default]
        Filtered = "filtered",
        /// All that the user can, this machine's own services included.
        Host = "host",
    }
}

words! {
    /// What happens when the agent ends.
    Restart {
        #[default]
        No = "no",
        OnFailure = "on-failure",
        Always = "always",
    }
}

words! {
    /// Whose size counts when terminals are attached.
    AttachSize {
        /// That of the terminal which came, was resized or typed last.
        #[default]
        Latest = "latest",
        /// As many columns and rows as all of them have.
        Smallest = "smallest",
        /// The session's own.
        Fixed = "fixed",
    }
}

words! {
    /// What the box gets of the user's own login to the agent's service. A later one gets more.
    Login {
        #[default]
        None = "none",
        /// A copy, made when the box is.
        Copy = "copy",
        /// The files themselves: what the agent renews inside is renewed outside.
        Share = "share",
    }
}

words! {
    /// Who the user is inside.
    UidMap {
        /// Who they are outside.
        #[default]
        Same = "same",
        /// root, of the box only.
        Root = "root",
        /// root, and the subordinate ids of /etc/subuid for all others.
        Range = "range",
    }
}

words! {
    /// What may be done with a mount.
    Access {
        ReadOnly = "ro",
        #[default]
        ReadWrite = "rw",
    }
}

impl Agent {
    /// What the program's name says; a path before it does not matter.
    pub fn of_program(program: &str) -> Self {
        match program.rsplit('/').next() {
            Some("claude") => Self::Claude,
            Some("codex") => Self::Codex,
            Some("gemini") => Self::Gemini,
            _ => Self::Unknown,
        }
    }

    /// The program to run when the file names none.
    pub fn program(self) -> Option<&'static str> {
        (self != Self::Unknown).then(|| self.word())
    }

    /// Without these the agent could neither log in nor think, so that a filtered box always reaches them.
    pub fn hosts(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &["api.anthropic.com", "platform.claude.com", "claude.ai"],
            Self::Codex => &["api.openai.com", "auth.openai.com", "chatgpt.com"],
            Self::Gemini => &[
                "generativelanguage.googleapis.com",
                "cloudcode-pa.googleapis.com",
                "oauth2.googleapis.com",
                "accounts.google.com",
            ],
            Self::Unknown => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_as_it_is_written() {
        for mode in WorkspaceMode::ALL {
            assert_eq!(WorkspaceMode::from_word(mode.word()), Some(*mode));
        }
        assert_eq!(NetworkMode::from_word("Host"), None);
        assert_eq!(NetworkMode::choices(), r#""none", "filtered" or "host""#);
    }

    #[test]
    fn what_is_listed_later_may_do_more() {
        assert!(NetworkMode::None < NetworkMode::Filtered && NetworkMode::Filtered < NetworkMode::Host);
        assert!(WorkspaceMode::ReadOnly < WorkspaceMode::Overlay && WorkspaceMode::Overlay < WorkspaceMode::ReadWrite);
        assert!(Login::None < Login::Copy && Login::Copy < Login::Share);
    }

    #[test]
    fn the_programs_name_tells_the_agent() {
        assert_eq!(Agent::of_program("/usr/local/bin/codex"), Agent::Codex);
        assert_eq!(Agent::of_program("claude"), Agent::Claude);
        for other in ["", "/", "bash", "claude-helper", "/opt/claude/run"] {
            assert_eq!(Agent::of_program(other), Agent::Unknown, "{other}");
        }
    }
}
