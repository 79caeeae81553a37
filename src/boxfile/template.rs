//! What `coop init` writes: a coop.toml in which every key stands with its default and a line of why.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::discover::FILE_NAME;
use super::keys::{KEYS, SECTIONS};
use super::words::{Agent, Word};

/// The width of a comment.
const LINE_BYTES_MAX: usize = 100;

/// The file's text. Only the agent is said, if one was found; all else is commented out and as it is without it.
pub fn template(agent: Option<Agent>) -> String {
    let mut text = String::from("# A box for this project: run it with `coop up`.\n");
    text += "# A key behind a # shows what holds without it. Take the # away to change it.\n";
    for (section, about) in SECTIONS {
        text.push('\n');
        wrap(&mut text, about);
        let _ = writeln!(text, "[{section}]");
        for key in KEYS.iter().filter(|key| key.section == section) {
            // Writing to a string cannot fail.
            let value = if key.default.is_empty() { key.example } else { key.default };
            let example = if key.default == key.example || key.default.is_empty() { "" } else { key.example };
            wrap(&mut text, key.why);
            if !example.is_empty() {
                let _ = writeln!(text, "# Such as {example}");
            }
            let _ = match agent.filter(|_| (section, key.name) == ("box", "agent")) {
                Some(agent) => writeln!(text, "agent = \"{agent}\""),
                None if key.default.is_empty() => writeln!(text, "#{} = {value}  # an example", key.name),
                None => writeln!(text, "#{} = {value}", key.name),
            };
        }
    }
    text
}

/// A comment in lines that fit beside anything.
fn wrap(text: &mut String, sentence: &str) {
    let mut line = String::from("#");
    for word in sentence.split(' ') {
        if line.len() + 1 + word.len() > LINE_BYTES_MAX {
            text.push_str(&std::mem::replace(&mut line, String::from("#")));
            text.push('\n');
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}

/// The first agent that is installed here.
pub fn installed_agent(path: &std::ffi::OsStr) -> Option<Agent> {
    let is_here = |agent: &&Agent| {
        let program = agent.program()?;
        std::env::split_paths(path).any(|dir| dir.is_absolute() && is_executable(&dir.join(program))).then_some(())
    };
    Agent::ALL.iter().find(|agent| is_here(agent).is_some()).copied()
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[derive(Debug, thiserror::Error)]
pub enum InitError {
    #[error("{} is there already: change that, or remove it first", super::shown::shown(&.0.to_string_lossy()))]
    Exists(PathBuf),
    #[error("{}: {source}", super::shown::shown(&path.to_string_lossy()))]
    Io { path: PathBuf, source: io::Error },
}

/// Writes the template into a directory and never over anything.
pub fn init(dir: &Path, agent: Option<Agent>) -> Result<PathBuf, InitError> {
    let path = dir.join(FILE_NAME);
    let written = || {
        // Neither a file nor a link, not even one into nowhere, is written through.
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&path)?;
        file.write_all(template(agent).as_bytes())
    };
    match written() {
        Ok(()) => Ok(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(InitError::Exists(path)),
        Err(source) => Err(InitError::Io { path, source }),
    }
}
