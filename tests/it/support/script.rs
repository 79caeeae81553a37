//! Programs that tests run inside.

/// A shell that runs a script.
pub fn sh(script: &str) -> [&str; 3] {
    ["sh", "-c", script]
}

/// A bash that runs a script and reads nobody's configuration.
pub fn bash(script: &str) -> [&str; 4] {
    ["bash", "--norc", "-c", script]
}
