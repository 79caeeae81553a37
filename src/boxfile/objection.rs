//! What is wrong with settings that are fine by themselves, each with who said it.

use std::fmt;

use super::origin::Origin;

/// One setting that cannot be, and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    /// `workspace.path`
    pub key: &'static str,
    pub message: String,
    pub origin: Origin,
}

/// All of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Objections(pub Vec<Objection>);

impl fmt::Display for Objections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Objection { key, message, origin }) in self.0.iter().enumerate() {
            let between = if index == 0 { "" } else { "\n" };
            write!(f, "{between}{origin}: {key}: {message}")?;
        }
        Ok(())
    }
}
