//! Finds a conversation of an agent to go on with.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::driver::Driver;
use super::tail::{Start, Tail};
use super::usage::Usage;
use super::{EpochMs, Evidence, Source, fence};

/// The hint that asks for the newest conversation of a workspace.
const LATEST: &str = "latest";

/// A conversation that was found.
#[derive(Clone, Debug)]
pub struct Found {
    pub session_id: String,
    pub log_path: PathBuf,
    /// Where it was held; some agents find it only from there.
    pub cwd: Option<PathBuf>,
    /// The end of the log's last whole line: following goes on here.
    pub offset: u64,
    /// What the log says last, by the times of its lines.
    pub last: Option<Evidence>,
    /// What it cost so far.
    pub usage: Usage,
}

/// Why no conversation was found.
#[derive(Debug, thiserror::Error)]
pub enum NotFound {
    #[error("{agent} has no conversation {id} under {dir}; `latest` takes the newest of a workspace")]
    Session { agent: &'static str, id: String, dir: PathBuf },
    #[error("{agent} has no conversation for {workspace} (there is none under {dir}); start one without --resume")]
    Workspace { agent: &'static str, workspace: PathBuf, dir: PathBuf },
    #[error("{path} is not a session log of {agent}: the names of those end in their session, <id>.jsonl")]
    NotALog { agent: &'static str, path: PathBuf },
    #[error(
        "`{hint}` is no conversation: give a session's id, the path of its log, the path of a workspace, or `latest`"
    )]
    NotUnderstood { hint: String },
    #[error("the conversation cannot be read: {0}")]
    Unreadable(#[from] io::Error),
}

/// Where conversations are looked for.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    pub driver: &'a dyn Driver,
    pub config_dir: &'a Path,
    pub cwd: &'a Path,
}

/// Finds the conversation that a hint means: a session's id, the path of a log or of a workspace, or `latest`. Reads
/// the whole log, which takes a moment when it is large.
pub fn find(hint: &str, places: Places<'_>, now: EpochMs) -> Result<Found, NotFound> {
    let Places { driver, config_dir, cwd } = places;
    let log = if hint == LATEST {
        newest_of(places, cwd)?
    } else if is_session_id(hint) {
        let missing = || NotFound::Session { agent: driver.name(), id: hint.to_owned(), dir: config_dir.to_path_buf() };
        driver.find_log(config_dir, hint)?.ok_or_else(missing)?
    } else {
        let path = cwd.join(hint);
        match fence::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => newest_of(places, &path)?,
            Ok(_) => path,
            Err(_) => return Err(NotFound::NotUnderstood { hint: hint.to_owned() }),
        }
    };
    read(log, driver, now)
}

/// Whether a text has the form of a session's id, which is a UUID in all agents.
pub fn is_session_id(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn newest_of(Places { driver, config_dir, .. }: Places<'_>, workspace: &Path) -> Result<PathBuf, NotFound> {
    let logs = driver.logs_of(config_dir, workspace)?;
    newest(logs.into_iter()).ok_or_else(|| NotFound::Workspace {
        agent: driver.name(),
        workspace: workspace.to_path_buf(),
        dir: config_dir.to_path_buf(),
    })
}

/// The file that was written last.
pub fn newest(paths: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    let dated = paths.filter_map(|path| Some((written(&path)?, path)));
    dated.max().map(|(_, path)| path)
}

/// When a file was last written; `None` when it is none.
fn written(path: &Path) -> Option<SystemTime> {
    let metadata = fence::metadata(path).ok().filter(|metadata| metadata.is_file())?;
    metadata.modified().ok()
}

/// What a directory holds; nothing when it does not exist.
pub fn entries(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let naming = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", dir.display()));
    match std::fs::read_dir(fence::outside(dir)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries.map_err(naming)?.map(|entry| Ok(dir.join(entry.map_err(naming)?.file_name()))).collect(),
    }
}

fn read(log_path: PathBuf, driver: &dyn Driver, now: EpochMs) -> Result<Found, NotFound> {
    let Some(session_id) = driver.conversation_of(&log_path) else {
        return Err(NotFound::NotALog { agent: driver.name(), path: log_path });
    };
    let mut tail = Tail::new(&log_path, Start::Beginning);
    let mut found = Found { session_id, log_path, cwd: None, offset: 0, last: None, usage: Usage::default() };
    loop {
        let batch = tail.read()?;
        // A line that is damaged or too long is one line less to know, no reason to lose the conversation.
        for facts in batch.lines.iter().filter_map(|line| driver.read_line(line.text()?, now).ok()) {
            found.cwd = found.cwd.or_else(|| facts.cwd.map(PathBuf::from));
            facts.usage.into_iter().for_each(|message| found.usage.count(message));
            let Some((rule, claim)) = facts.claim else { continue };
            let latest = found.last.as_ref().map(|last| last.at);
            let at = facts.at.or(latest).unwrap_or(now);
            if latest.is_none_or(|latest| at >= latest) {
                found.last = Some(Evidence::new(Source::Log, rule, claim, at));
            }
        }
        if !batch.more {
            found.offset = tail.offset();
            found.usage.begin_run();
            return Ok(found);
        }
    }
}

/// Whether anything was said in the conversation that is written there. Of a long one only the beginning is read.
pub fn holds_anything(log: &Path, driver: &dyn Driver) -> bool {
    let mut tail = Tail::new(log, Start::Beginning);
    while let Ok(batch) = tail.read() {
        let mut facts = batch.lines.iter().filter_map(|line| driver.read_line(line.text()?, EpochMs::now()).ok());
        if facts.any(|facts| facts.claim.is_some() || facts.said.is_some()) {
            return true;
        }
        if !batch.more {
            break;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::agent::claude::Claude;
    use crate::agent::claude::paths::{log_name, project_dir};
    use crate::config::Scratch;
    use crate::session::StateKind;

    const NOW: EpochMs = EpochMs(0);
    const MISC: &str = include_str!("../../tests/fixtures/claude/logs/session-misc.jsonl");
    const ID: &str = "aa97109f-bda1-48eb-a8a0-f0fa577133e8";
    const OTHER_ID: &str = "11111111-2222-4333-8444-555555555555";

    struct Place {
        scratch: Scratch,
    }

    impl Place {
        fn new() -> Self {
            let scratch = Scratch::fresh();
            std::fs::create_dir(scratch.path("ws")).unwrap();
            Self { scratch }
        }

        fn workspace(&self) -> PathBuf {
            self.scratch.path("ws")
        }

        /// Writes a log of the workspace, so many seconds after 1970.
        fn log(&self, id: &str, text: &str, written_secs: u64) -> PathBuf {
            let dir = project_dir(&self.scratch.path(""), &self.workspace());
            std::fs::create_dir_all(&dir).unwrap();
            let path = dir.join(log_name(id));
            std::fs::write(&path, text).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(written_secs);
            std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
            path
        }

        fn find(&self, hint: &str) -> Result<Found, NotFound> {
            let (config_dir, cwd) = (self.scratch.path(""), self.workspace());
            find(hint, Places { driver: &Claude, config_dir: &config_dir, cwd: &cwd }, NOW)
        }
    }

    #[test]
    fn a_conversation_is_found_by_every_kind_of_hint() {
        let place = Place::new();
        let log = place.log(ID, MISC, 20);
        place.log(OTHER_ID, "{}\n", 10);
        for hint in [ID, LATEST, log.to_str().unwrap(), place.workspace().to_str().unwrap(), "."] {
            let found = place.find(hint).unwrap();
            assert_eq!((found.session_id.as_str(), &found.log_path), (ID, &log), "{hint}");
            assert_eq!(found.cwd.as_deref(), Some(Path::new("/home/dev/projects/c/misc-505dc5/ws")));
            assert_eq!(found.offset, MISC.len() as u64);
            assert_eq!(found.usage.totals().requests, 9);
            let last = found.last.unwrap();
            assert_eq!((last.rule.as_ref(), last.claim.kind()), ("interrupted", StateKind::Idle));
        }
        assert_eq!(place.find(OTHER_ID).unwrap().last, None);
    }

    #[test]
    fn the_last_word_is_the_latest_by_its_own_time() {
        let place = Place::new();
        let log = include_str!("../../tests/fixtures/claude/logs/session-background.jsonl");
        let first_two: String = log.split_inclusive('\n').take(7).collect();
        place.log(ID, &first_two, 1);
        let last = place.find(ID).unwrap().last.unwrap();
        assert_eq!(last.rule, "tool_use", "the prompt was written after the answer to it");
    }

    #[test]
    fn a_half_written_or_damaged_line_does_not_hide_the_conversation() {
        let place = Place::new();
        let whole = "not json\n{\"type\":\"system\",\"subtype\":\"turn_duration\"}\n";
        place.log(ID, &format!("{whole}{{\"type\":\"us"), 1);
        let found = place.find(ID).unwrap();
        assert_eq!(found.offset, whole.len() as u64);
        assert_eq!(found.last.unwrap().claim.kind(), StateKind::Idle);
    }

    #[test]
    fn what_is_not_found_is_named_with_a_way_out() {
        let place = Place::new();
        let message = |hint: &str| place.find(hint).unwrap_err().to_string();
        let latest = message(LATEST);
        assert!(
            latest.contains("ws") && latest.contains("Claude Code") && latest.contains("without --resume"),
            "{latest}"
        );
        let id = message(ID);
        assert!(id.contains(ID) && id.contains("latest"), "{id}");
        let nonsense = message("nonsense");
        assert!(nonsense.contains("`nonsense`") && nonsense.contains("latest"), "{nonsense}");
        let file = place.scratch.file("notes.jsonl", "{}\n");
        let not_a_log = message(file.to_str().unwrap());
        assert!(not_a_log.contains("notes.jsonl") && not_a_log.contains("<id>.jsonl"), "{not_a_log}");
    }
}
