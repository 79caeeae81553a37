//! Why something could not be borrowed, with what there is instead.

use std::time::Duration;

/// Why something could not be borrowed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CannotBorrow {
    #[error("{program} is not installed: there is no such program on PATH")]
    NoProgram { program: &'static str },
    #[error("there is no {what}{}", listed(.there))]
    NotFound { what: String, there: Vec<String> },
    #[error("{what} is not one but several: name one of them{}", listed(.there))]
    Ambiguous { what: String, there: Vec<String> },
    #[error("{what} may not be used by you ({why}): run coop as the user whose session it is")]
    Denied { what: String, why: String },
    #[error("{what} has ended: there is nothing to serve")]
    Ended { what: String },
    #[error("{program} did not answer within {} s", .within.as_secs())]
    Silent { program: &'static str, within: Duration },
    #[error("{program}: {reason}")]
    Failed { program: &'static str, reason: String },
}

fn listed(there: &[String]) -> String {
    match there {
        [] => String::new(),
        there => format!("; there are: {}", there.join(", ")),
    }
}

impl CannotBorrow {
    /// Whether what was asked for is not there, rather than out of reach.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::NotFound { .. } | Self::Ended { .. })
    }
}
