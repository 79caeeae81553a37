//! Where Claude Code keeps its files (2.1.197).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::agent::fence;
use crate::agent::resume::{entries, is_session_id};

/// The longest name that the rule for project directories gives without a hash; read in the binary.
const PROJECT_NAME_CHARS_MAX: usize = 200;

/// How a session's log ends.
const LOG_EXTENSION: &str = "jsonl";

/// The directory of settings, logs and status files: `CLAUDE_CONFIG_DIR`, else `.claude` in the home directory; `None`
/// when the environment names neither.
pub fn config_dir(env: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let named = |name| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("CLAUDE_CONFIG_DIR").or_else(|| Some(named("HOME")?.join(".claude")))
}

/// The directory that holds one directory for each workspace.
pub fn projects_dir(config_dir: &Path) -> PathBuf {
    config_dir.join("projects")
}

/// The directory that holds the logs of a workspace, whether or not it exists.
pub fn project_dir(config_dir: &Path, workspace: &Path) -> PathBuf {
    let real = workspace.canonicalize().unwrap_or_else(|_| workspace.to_path_buf());
    let name = project_name(&real.to_string_lossy());
    let dir = projects_dir(config_dir).join(&name);
    // Only a long name carries a hash; should another version count it otherwise, the rest of the name still finds it.
    if name.len() > PROJECT_NAME_CHARS_MAX && !fence::outside(&dir).is_dir() {
        let beginning = &name[..=PROJECT_NAME_CHARS_MAX];
        if let Some(found) = dir_beginning_with(&projects_dir(config_dir), beginning) {
            return found;
        }
    }
    dir
}

/// The log of a session that runs in a workspace. It does not exist before the first message.
pub fn log_path(config_dir: &Path, workspace: &Path, session_id: &str) -> PathBuf {
    project_dir(config_dir, workspace).join(log_name(session_id))
}

/// The file name of a session's log.
pub fn log_name(session_id: &str) -> String {
    format!("{session_id}.{LOG_EXTENSION}")
}

/// The session that a log belongs to by its name, when that is a session's.
pub fn session_of(log: &Path) -> Option<&str> {
    let stem = log.file_stem()?.to_str()?;
    (is_log(log) && is_session_id(stem)).then_some(stem)
}

/// The directory in which the helpers of a conversation have their logs, by the conversation's own.
pub fn helpers_dir(log: &Path) -> PathBuf {
    log.with_extension("").join("subagents")
}

/// Whether a file is a log by its name.
pub fn is_log(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == LOG_EXTENSION)
}

/// The directory in which running Claudes keep their status.
pub fn sessions_dir(config_dir: &Path) -> PathBuf {
    config_dir.join("sessions")
}

/// The file in which a running Claude keeps its status; gone when it exits.
pub fn status_path(config_dir: &Path, pid: u32) -> PathBuf {
    sessions_dir(config_dir).join(format!("{pid}.json"))
}

/// The name of a workspace's directory: everything but letters and digits becomes `-`, counted as JavaScript counts,
/// so that an emoji is two. A long one is cut and gets a hash of the path.
fn project_name(path: &str) -> String {
    let dash = |unit: u16| match char::from_u32(u32::from(unit)) {
        Some(c) if c.is_ascii_alphanumeric() => c,
        _ => '-',
    };
    let mut name: String = path.encode_utf16().map(dash).collect();
    if name.len() > PROJECT_NAME_CHARS_MAX {
        name.truncate(PROJECT_NAME_CHARS_MAX);
        name.push('-');
        name.push_str(&base36(path_hash(path).unsigned_abs()));
    }
    name
}

/// The well-known hash that multiplies by 31, over UTF-16.
fn path_hash(path: &str) -> i32 {
    path.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

fn dir_beginning_with(parent: &Path, beginning: &str) -> Option<PathBuf> {
    let is_meant = |dir: &PathBuf| dir.file_name().is_some_and(|name| name.to_string_lossy().starts_with(beginning));
    entries(parent).ok()?.into_iter().find(is_meant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Scratch;

    fn config(pairs: &[(&str, &str)]) -> Option<PathBuf> {
        config_dir(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value)))
    }

    #[test]
    fn the_config_directory_is_the_named_one_or_in_the_home_directory() {
        assert_eq!(config(&[("HOME", "/home/dev")]), Some("/home/dev/.claude".into()));
        assert_eq!(config(&[("HOME", "/home/dev"), ("CLAUDE_CONFIG_DIR", "/etc/c")]), Some("/etc/c".into()));
        assert_eq!(config(&[("HOME", "/home/dev"), ("CLAUDE_CONFIG_DIR", "")]), Some("/home/dev/.claude".into()));
        assert_eq!(config(&[]), None);
    }

    #[test]
    fn a_workspace_is_named_as_claude_names_it() {
        assert_eq!(project_name("/home/dev/my_app v1.2"), "-home-dev-my-app-v1-2");
        assert_eq!(project_name("/é😀"), "----");
    }

    /// The name that Claude Code 2.1.197 gave to this very path.
    #[test]
    fn a_long_name_ends_with_the_hash_that_claude_gives_it() {
        let path = format!("/tmp/project/{}end", "deep_é😀/".repeat(25));
        let name = project_name(&path);
        assert_eq!(name.len(), PROJECT_NAME_CHARS_MAX + 1 + "m40uce".len());
        assert!(name.starts_with("-tmp-project-deep-----deep-----") && name.ends_with("-m40uce"), "{name}");
    }

    #[test]
    fn a_long_name_with_another_hash_is_found_by_its_beginning() {
        let scratch = Scratch::fresh();
        let workspace = PathBuf::from(format!("/nowhere/{}", "x".repeat(300)));
        let by_rule = project_dir(&scratch.path(""), &workspace);
        let name = by_rule.file_name().unwrap().to_str().unwrap();
        let other = projects_dir(&scratch.path("")).join(format!("{}otherhash", &name[..=PROJECT_NAME_CHARS_MAX]));
        std::fs::create_dir_all(&other).unwrap();
        assert_eq!(project_dir(&scratch.path(""), &workspace), other);
    }

    #[test]
    fn a_link_to_a_workspace_leads_to_the_same_directory() {
        let scratch = Scratch::fresh();
        std::fs::create_dir(scratch.path("real")).unwrap();
        std::os::unix::fs::symlink(scratch.path("real"), scratch.path("link")).unwrap();
        let config = Path::new("/c");
        assert_eq!(project_dir(config, &scratch.path("link")), project_dir(config, &scratch.path("real")));
    }

    #[test]
    fn logs_and_status_files_have_their_names() {
        let id = "aa97109f-bda1-48eb-a8a0-f0fa577133e8";
        let log = log_path(Path::new("/c"), Path::new("/nowhere/ws"), id);
        assert_eq!(log, Path::new("/c/projects/-nowhere-ws/aa97109f-bda1-48eb-a8a0-f0fa577133e8.jsonl"));
        assert_eq!(session_of(&log), Some(id));
        assert_eq!(session_of(Path::new("/c/projects/-ws/agent-12.jsonl")), None);
        assert_eq!(status_path(Path::new("/c"), 42), Path::new("/c/sessions/42.json"));
    }
}
