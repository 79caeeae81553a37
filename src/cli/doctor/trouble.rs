//! Why a check failed, and what the screen showed then.

use crate::client::Failure;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trouble {
    /// What was waited for, and what was there instead.
    pub detail: String,
    /// The last rows of the agent's screen.
    pub screen: Vec<String>,
}

impl Trouble {
    pub fn new(detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), screen: Vec::new() }
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::new(failure.to_string())
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        Self::new(error.to_string())
    }
}
