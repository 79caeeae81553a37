//! Where a value was said, so that errors and explanations can point at it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// Who said it. A later one overrules an earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody: it is how coop does it.
    BuiltIn,
    /// The user's own config.toml.
    User(Spot),
    /// The project's coop.toml.
    Project(Spot),
    CommandLine,
}

/// A place in a file, counted from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    pub file: Arc<Path>,
    pub line: usize,
    /// In characters, as editors count.
    pub column: usize,
}

/// A value and where it was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said<T> {
    pub value: T,
    pub origin: Origin,
}

/// Whose file it is: a project's is somebody else's word until it is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    User,
    Project,
}

impl Origin {
    pub fn spot(&self) -> Option<&Spot> {
        match self {
            Self::User(spot) | Self::Project(spot) => Some(spot),
            Self::BuiltIn | Self::CommandLine => None,
        }
    }

    /// A higher one overrules a lower one.
    pub fn rank(&self) -> u8 {
        match self {
            Self::BuiltIn => 0,
            Self::User(_) => 1,
            Self::Project(_) => 2,
            Self::CommandLine => 3,
        }
    }

    /// The line in its file; 0 where there is none.
    pub fn line(&self) -> usize {
        self.spot().map_or(0, |spot| spot.line)
    }

    /// The directory that relative paths of a project's file begin at.
    pub fn project_dir(&self) -> Option<PathBuf> {
        match self {
            Self::Project(spot) => spot.file.parent().map(Path::to_owned),
            _ => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("default"),
            Self::CommandLine => f.write_str("command line"),
            Self::User(spot) | Self::Project(spot) => spot.fmt(f),
        }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", super::shown::shown(&self.file.to_string_lossy()), self.line, self.column)
    }
}

impl<T> Said<T> {
    pub fn built_in(value: T) -> Self {
        Self { value, origin: Origin::BuiltIn }
    }

    pub fn on_command_line(value: T) -> Self {
        Self { value, origin: Origin::CommandLine }
    }

    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Said<U> {
        Said { value: change(self.value), origin: self.origin }
    }
}

/// The bare value: who compares or prints settings as data does not care who said them.
impl<T: Serialize> Serialize for Said<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}
