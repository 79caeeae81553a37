//! Names of boxes: parts of paths and of addresses, so that few characters will do.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Names become parts of socket paths, which have little room.
const NAME_BYTES_MAX: usize = 40;

/// What a name may be, for errors.
pub const NAME_RULE: &str = "small letters, digits, '.', '_' and '-', beginning with a letter or digit, at most 40";

/// The name of a box.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no name for a box: use {NAME_RULE}")]
pub struct BadName(String);

impl Name {
    pub fn parse(text: &str) -> Result<Self, BadName> {
        let begins_well = text.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        let is_name = begins_well && text.len() <= NAME_BYTES_MAX && text.bytes().all(is_name_byte);
        // What is shown is bounded: the text comes from anywhere.
        if is_name { Ok(Self(text.to_owned())) } else { Err(BadName(text.chars().take(2 * NAME_BYTES_MAX).collect())) }
    }

    /// The name of an entry of the directory of boxes; what is being made or removed has a name that is none.
    pub fn of_entry(entry: &Path) -> Option<Self> {
        Self::parse(entry.file_name()?.to_str()?).ok()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte)
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Name {
    type Error = BadName;

    fn try_from(text: String) -> Result<Self, BadName> {
        Self::parse(&text)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_into_paths_and_addresses() {
        for good in ["a", "0", "my-app.v2_x", &"x".repeat(40)] {
            assert_eq!(Name::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", ".", "..", "-a", ".a", "A", "a/b", "a b", "é", "a\n", "a\0", &"x".repeat(41), &"x".repeat(9999)]
        {
            let told = Name::parse(bad).unwrap_err().to_string();
            assert!(told.contains(NAME_RULE) && told.len() < 400, "{told}");
        }
    }

    #[test]
    fn what_is_being_made_or_removed_is_no_box() {
        assert_eq!(Name::of_entry(Path::new("/x/.new-a-1")), None);
        assert_eq!(Name::of_entry(Path::new("/x/a")), Name::parse("a").ok());
        assert!(serde_json::from_str::<Name>("\"../a\"").is_err());
    }
}
