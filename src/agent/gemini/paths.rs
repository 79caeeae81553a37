//! Where Gemini CLI keeps its files (0.61.0).
//!
//! ```text
//! .gemini/projects.json                         {"projects":{"/path/of/workspace":"name"}}
//! .gemini/tmp/NAME/.project_root                the workspace's path
//! .gemini/tmp/NAME/chats/session-TIME-ID8.jsonl a conversation; ID8 are the first 8 letters of its id
//! ```

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::agent::EpochMs;
use crate::agent::fence;
use crate::agent::resume::{entries, is_session_id};

/// How much of a log is read to see what it is: its first lines hold the context of the conversation, some kilobytes.
const HEAD_BYTES_MAX: u64 = 1024 * 1024;

/// The registry of workspaces is a line for each.
const REGISTRY_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// As much of a conversation's id as stands in the name of its log.
const ID_CHARS: usize = 8;

/// The directory of settings and logs: `.gemini` in `GEMINI_CLI_HOME`, else in the home directory; `None` when the
/// environment names neither.
pub fn config_dir(env: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let named = |name| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    Some(named("GEMINI_CLI_HOME").or_else(|| named("HOME"))?.join(".gemini"))
}

/// The log of a conversation; the fullest, because to go on with one begins a further file with nothing in it.
pub fn find_log(config_dir: &Path, conversation: &str) -> io::Result<Option<PathBuf>> {
    let Some(id) = conversation.get(..ID_CHARS) else { return Ok(None) };
    let ending = format!("-{id}.jsonl");
    let mut found: Vec<PathBuf> = Vec::new();
    for project in entries(&config_dir.join("tmp"))? {
        let chats = entries(&project.join("chats")).unwrap_or_default();
        found.extend(chats.into_iter().filter(|log| name(log).ends_with(&ending)));
    }
    found.retain(|log| conversation_of(log).as_deref() == Some(conversation));
    let size = |log: &PathBuf| fence::metadata(log).map_or(0, |metadata| metadata.len());
    Ok(found.into_iter().max_by_key(size))
}

/// The logs of all conversations of a workspace in which something was said.
pub fn logs_of(config_dir: &Path, workspace: &Path) -> io::Result<Vec<PathBuf>> {
    let Some(project) = project_dir(config_dir, workspace) else { return Ok(Vec::new()) };
    let mut logs = entries(&project.join("chats"))?;
    logs.retain(|log| name(log).starts_with("session-") && says_something(log));
    Ok(logs)
}

/// The log of the conversation that has begun in a workspace after this moment, where there is only one.
pub fn log_since(config_dir: &Path, workspace: &Path, started: EpochMs) -> Option<PathBuf> {
    let chats = entries(&project_dir(config_dir, workspace)?.join("chats")).ok()?;
    let began = |log: &PathBuf| {
        let written = fence::metadata(log).ok()?.modified().ok().map(EpochMs::from)?;
        // Most of them are old, and need not be opened.
        let began = (written >= started).then(|| header(log)).flatten()?;
        EpochMs::from_iso8601(began["startTime"].as_str()?).filter(|began| *began >= started)
    };
    let mut since = chats.into_iter().filter(|log| began(log).is_some());
    let found = since.next()?;
    // With two, each may be another's.
    since.next().is_none().then_some(found)
}

/// The conversation that a file is the log of: its name has only the beginning of the id.
pub fn conversation_of(log: &Path) -> Option<String> {
    header(log)?["sessionId"].as_str().filter(|id| is_session_id(id)).map(str::to_owned)
}

/// The first line of a log.
fn header(log: &Path) -> Option<Value> {
    serde_json::from_str(&head(log).ok()?.lines().next()?.ok()?).ok()
}

/// The directory of a workspace.
fn project_dir(config_dir: &Path, workspace: &Path) -> Option<PathBuf> {
    let mut text = String::new();
    fence::open(&config_dir.join("projects.json")).ok()?.take(REGISTRY_BYTES_MAX).read_to_string(&mut text).ok()?;
    let registry: Value = serde_json::from_str(&text).ok()?;
    let real = workspace.canonicalize().unwrap_or_else(|_| workspace.to_path_buf());
    let slug =
        [real.as_path(), workspace].into_iter().find_map(|path| registry["projects"][path.to_str()?].as_str())?;
    Some(config_dir.join("tmp").join(Path::new(slug).file_name()?))
}

fn says_something(log: &Path) -> bool {
    let is_message = |line: &str| {
        let line: Option<Value> = serde_json::from_str(line).ok();
        line.is_some_and(|line| line["id"].is_string() && line["type"].is_string())
    };
    head(log).is_ok_and(|head| head.lines().map_while(Result::ok).any(|line| is_message(&line)))
}

fn head(log: &Path) -> io::Result<BufReader<io::Take<File>>> {
    Ok(BufReader::new(crate::agent::tail::open(log)?.take(HEAD_BYTES_MAX)))
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Scratch;

    const ID: &str = "01ce8852-15de-4daf-a016-8f7bb4426a80";
    const OTHER: &str = "01ce8852-0000-4daf-a016-8f7bb4426a80";

    fn config(pairs: &[(&str, &str)]) -> Option<PathBuf> {
        config_dir(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value)))
    }

    fn log(scratch: &Scratch, name: &str, id: &str, messages: &str) -> PathBuf {
        std::fs::create_dir_all(scratch.path("tmp/proj/chats")).unwrap();
        let header =
            format!("{{\"sessionId\":\"{id}\",\"projectHash\":\"f4\",\"kind\":\"main\"}}\n{{\"$set\":{{}}}}\n");
        scratch.file(&format!("tmp/proj/chats/{name}"), &format!("{header}{messages}"))
    }

    #[test]
    fn the_config_directory_is_in_the_named_home_or_in_the_home_directory() {
        assert_eq!(config(&[("HOME", "/home/dev")]), Some("/home/dev/.gemini".into()));
        assert_eq!(config(&[("HOME", "/home/dev"), ("GEMINI_CLI_HOME", "/g")]), Some("/g/.gemini".into()));
        assert_eq!(config(&[("HOME", "/home/dev"), ("GEMINI_CLI_HOME", "")]), Some("/home/dev/.gemini".into()));
        assert_eq!(config(&[]), None);
    }

    #[test]
    fn a_conversation_is_found_by_its_whole_id_and_not_in_the_empty_file_of_a_resumption() {
        let scratch = Scratch::fresh();
        let message = "{\"id\":\"m\",\"type\":\"user\",\"content\":[]}\n";
        let whole = log(&scratch, "session-2026-11-15T23-52-01ce8852.jsonl", ID, message);
        let empty = log(&scratch, "session-2026-11-15T23-59-01ce8852.jsonl", ID, "");
        log(&scratch, "session-2026-11-15T23-53-01ce8852.jsonl", OTHER, &message.repeat(2));
        std::fs::create_dir_all(scratch.path("tmp/bare")).unwrap();
        let dir = scratch.path("");
        assert_eq!(find_log(&dir, ID).unwrap(), Some(whole.clone()));
        assert_eq!(find_log(&dir, "01ce8852-none").unwrap(), None);
        assert_eq!(find_log(&dir, "x").unwrap(), None);
        assert_eq!(conversation_of(&empty).as_deref(), Some(ID));
        assert_eq!(conversation_of(&scratch.file("notes.jsonl", "{}\n")), None);
    }

    #[test]
    fn a_log_that_nobody_named_is_the_only_one_that_began_after_the_agent() {
        let scratch = Scratch::fresh();
        std::fs::create_dir_all(scratch.path("ws")).unwrap();
        std::fs::create_dir_all(scratch.path("tmp/proj/chats")).unwrap();
        let (dir, workspace) = (scratch.path(""), scratch.path("ws"));
        let registry = serde_json::json!({"projects": {workspace.to_str().unwrap(): "proj"}});
        scratch.file("projects.json", &registry.to_string());
        let began = |name: &str, secs: u32| {
            let header = format!("{{\"sessionId\":\"{ID}\",\"startTime\":\"2026-11-15T23:52:{secs}.000Z\"}}\n");
            scratch.file(&format!("tmp/proj/chats/session-{name}.jsonl"), &header)
        };
        began("before", 10);
        let own = began("own", 30);
        let at = |secs: u32| EpochMs::from_iso8601(&format!("2026-11-15T23:52:{secs}.000Z")).unwrap();
        assert_eq!(log_since(&dir, &workspace, at(20)), Some(own));
        assert_eq!(log_since(&dir, &workspace, at(59)), None);
        began("later", 50);
        assert_eq!(log_since(&dir, &workspace, at(20)), None, "of two nobody can tell which it is");
    }

    #[test]
    fn the_logs_of_a_workspace_are_found_by_its_name_in_the_registry() {
        let scratch = Scratch::fresh();
        std::fs::create_dir(scratch.path("ws")).unwrap();
        let (dir, workspace) = (scratch.path(""), scratch.path("ws"));
        assert_eq!(logs_of(&dir, &workspace).unwrap(), Vec::<PathBuf>::new());
        let registry = serde_json::json!({"projects": {workspace.to_str().unwrap(): "proj"}});
        scratch.file("projects.json", &registry.to_string());
        let said = log(&scratch, "session-1-01ce8852.jsonl", ID, "{\"id\":\"m\",\"type\":\"user\"}\n");
        log(&scratch, "session-2-01ce8852.jsonl", ID, "");
        assert_eq!(logs_of(&dir, &workspace).unwrap(), [said]);
        assert_eq!(logs_of(&dir, Path::new("/nowhere")).unwrap(), Vec::<PathBuf>::new());
    }
}
