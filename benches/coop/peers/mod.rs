//! Others that do the same work on the same machine in the same rounds.

pub mod raw;
pub mod screen;
pub mod tmux;

use std::path::PathBuf;

/// Where a program is, if it is installed.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file())
}
