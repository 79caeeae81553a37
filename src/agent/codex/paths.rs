//! Where Codex keeps its files (0.166.0): `sessions/YYYY/MM/DD/rollout-<time>-<conversation>.jsonl`.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;

use crate::agent::EpochMs;
use crate::agent::fence;
use crate::agent::resume::{entries, is_session_id};

/// How the log of a conversation begins, and how it ends.
const ROLLOUT: &str = "rollout-";
const LOG_EXTENSION: &str = "jsonl";

/// The first line of a log holds the model's instructions too; 20 KB were seen.
const FIRST_LINE_BYTES_MAX: u64 = 1024 * 1024;

/// A conversation's name.
const ID_CHARS: usize = 36;

/// The directory of settings and logs: `CODEX_HOME`, else `.codex` in the home directory; `None` when the environment
/// names neither.
pub fn config_dir(env: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let named = |name| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("CODEX_HOME").or_else(|| Some(named("HOME")?.join(".codex")))
}

pub fn sessions_dir(config_dir: &Path) -> PathBuf {
    config_dir.join("sessions")
}

/// The conversation that a file is the log of, by its name.
pub fn conversation_of(log: &Path) -> Option<&str> {
    let stem = log.file_stem()?.to_str()?.strip_prefix(ROLLOUT)?;
    let id = stem.get(stem.len().checked_sub(ID_CHARS)?..)?;
    (log.extension()? == LOG_EXTENSION && is_session_id(id)).then_some(id)
}

/// The log of a conversation. Names of days and files are in the order of time, and most look for a late one.
pub fn find_log(config_dir: &Path, conversation: &str) -> io::Result<Option<PathBuf>> {
    find(config_dir, |log| conversation_of(log) == Some(conversation))
}

/// The logs of the conversations that were held in a workspace.
pub fn logs_of(config_dir: &Path, workspace: &Path) -> io::Result<Vec<PathBuf>> {
    let real = real(workspace);
    let mut logs = Vec::new();
    find(config_dir, |log| {
        if conversation_of(log).is_some() && cwd_of(log).is_some_and(|cwd| cwd == workspace || cwd == real) {
            logs.push(log.to_owned());
        }
        false
    })?;
    Ok(logs)
}

/// A path with all links followed, where it exists.
pub fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Where a conversation was held, by the first line of its log.
pub fn cwd_of(log: &Path) -> Option<PathBuf> {
    let line = first_line(log)?;
    line["payload"]["cwd"].as_str().filter(|_| line["type"] == "session_meta").map(PathBuf::from)
}

fn first_line(log: &Path) -> Option<Value> {
    let mut line = String::new();
    BufReader::new(fence::open(log).ok()?.take(FIRST_LINE_BYTES_MAX)).read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

/// When a conversation began, by the first line of its log.
pub fn began(log: &Path) -> Option<EpochMs> {
    let line = first_line(log)?;
    EpochMs::from_iso8601(line["timestamp"].as_str().filter(|_| line["type"] == "session_meta")?)
}

/// The logs that were written to since a moment; of more than this many the oldest are left out.
pub fn written_since(config_dir: &Path, moment: SystemTime, count_max: usize) -> io::Result<Vec<PathBuf>> {
    let mut logs = Vec::new();
    find(config_dir, |log| {
        let written = fence::metadata(log).and_then(|metadata| metadata.modified());
        if conversation_of(log).is_some() && written.is_ok_and(|written| written >= moment) {
            logs.push(log.to_owned());
        }
        logs.len() == count_max
    })?;
    Ok(logs)
}

/// The first file, from the latest day on, that is meant.
fn find(config_dir: &Path, mut is_meant: impl FnMut(&Path) -> bool) -> io::Result<Option<PathBuf>> {
    for year in latest_first(&sessions_dir(config_dir))? {
        for month in latest_first(&year)? {
            for day in latest_first(&month)? {
                if let Some(found) = latest_first(&day)?.into_iter().find(|log| is_meant(log)) {
                    return Ok(Some(found));
                }
            }
        }
    }
    Ok(None)
}

/// What a directory holds; nothing when it is none.
fn latest_first(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = match entries(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Vec::new(),
        found => found?,
    };
    found.sort_unstable_by(|a, b| b.cmp(a));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Scratch;

    const ID: &str = "01a1e196-1234-7032-9692-0029c2bfea9c";
    const OTHER: &str = "01a1e196-9999-7032-9692-0029c2bfea9c";

    fn log(scratch: &Scratch, day: &str, id: &str, cwd: &str) -> PathBuf {
        let meta = format!("{{\"type\":\"session_meta\",\"payload\":{{\"cwd\":\"{cwd}\"}}}}\n{{}}\n");
        std::fs::create_dir_all(scratch.path(&format!("sessions/{day}"))).unwrap();
        scratch.file(&format!("sessions/{day}/rollout-2026-11-15T23-41-11-{id}.jsonl"), &meta)
    }

    #[test]
    fn a_conversation_is_found_by_its_name_on_whatever_day() {
        let scratch = Scratch::fresh();
        let (old, new) = (log(&scratch, "2025/01/02", ID, "/a"), log(&scratch, "2026/11/15", OTHER, "/b"));
        scratch.file("sessions/notes.txt", "");
        assert_eq!(find_log(&scratch.path(""), ID).unwrap(), Some(old));
        assert_eq!(find_log(&scratch.path(""), OTHER).unwrap(), Some(new));
        assert_eq!(find_log(&scratch.path("nowhere"), ID).unwrap(), None);
    }

    #[test]
    fn the_logs_of_a_workspace_are_told_by_their_first_line() {
        let scratch = Scratch::fresh();
        let here = log(&scratch, "2026/11/15", ID, "/home/dev/project");
        log(&scratch, "2026/11/15", OTHER, "/home/dev/other");
        assert_eq!(logs_of(&scratch.path(""), Path::new("/home/dev/project")).unwrap(), [here]);
    }

    #[test]
    fn the_conversation_is_in_the_name_of_its_log() {
        let of = |path: &str| conversation_of(Path::new(path)).map(str::to_owned);
        assert_eq!(of(&format!("/x/rollout-2026-11-15T23-41-11-{ID}.jsonl")).as_deref(), Some(ID));
        for other in
            ["/x/rollout-.jsonl", "/x/rollout-é.jsonl", &format!("/x/{ID}.jsonl"), &format!("/x/rollout-{ID}.txt")]
        {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
