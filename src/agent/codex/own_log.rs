//! The log that one child writes, where no hook names it: the one that its own processes, or the server that Codex
//! shares between sessions, have open. Two Codexes in one workspace are told apart that way (0.166.0 keeps it open).

use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use super::paths;
use crate::agent::evidence::EpochMs;

/// Conversations that were written to since the child's start; those of more sessions at once are not looked through.
const CANDIDATES_MAX: usize = 32;

/// A parent's parents, up to the child: launchers and shells between them are few.
const ANCESTORS_MAX: usize = 16;

/// Who writes to a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    Child,
    SharedServer,
    /// Somebody else, or nobody.
    Other,
    /// The system does not tell.
    Untold,
}

/// The log of this child; `None` as long as it has none, or nobody can tell which it is.
pub fn find(config_dir: &Path, workspace: &Path, pid: u32, started: EpochMs) -> Option<PathBuf> {
    let began = UNIX_EPOCH + Duration::from_millis(started.0);
    let candidates = paths::written_since(config_dir, began, CANDIDATES_MAX).ok()?;
    let writers: Vec<(PathBuf, Writer)> = candidates.into_iter().map(|log| (log.clone(), writer(&log, pid))).collect();
    let is = |wanted: Writer| writers.iter().filter(move |(_, writer)| *writer == wanted).map(|(log, _)| log);
    if let Some(own) = is(Writer::Child).next() {
        return Some(own.clone());
    }
    let real = paths::real(workspace);
    let is_here = |log: &&PathBuf| paths::cwd_of(log).is_some_and(|cwd| cwd == workspace || cwd == real);
    let began_with_child = |log: &&PathBuf| paths::began(log).is_some_and(|at| at >= started);
    let mut others = is(Writer::SharedServer).chain(is(Writer::Untold)).filter(is_here).filter(began_with_child);
    let found = others.next()?;
    // With two, each may be another's.
    others.next().is_none().then(|| found.clone())
}

/// Who has a file open, as Linux tells it.
fn writer(log: &Path, pid: u32) -> Writer {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Writer::Untold };
    let numbers = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let holders: Vec<u32> = numbers.filter(|process| has_open(*process, log)).collect();
    if holders.iter().any(|holder| descends(*holder, pid)) {
        Writer::Child
    } else if holders.iter().any(|holder| is_shared_server(*holder)) {
        Writer::SharedServer
    } else if Path::new("/proc/self/fd").exists() {
        Writer::Other
    } else {
        Writer::Untold
    }
}

fn has_open(process: u32, log: &Path) -> bool {
    let Ok(files) = std::fs::read_dir(format!("/proc/{process}/fd")) else { return false };
    files.flatten().any(|file| std::fs::read_link(file.path()).is_ok_and(|target| target == log))
}

fn descends(process: u32, ancestor: u32) -> bool {
    let parents = std::iter::successors(Some(process), |process| parent(*process));
    parents.take(ANCESTORS_MAX).any(|process| process == ancestor)
}

/// The number behind the name in parentheses and the letter for the state.
fn parent(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn is_shared_server(process: u32) -> bool {
    let words = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    words.split(|byte| *byte == 0).any(|word| word == b"app-server")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::config::Scratch;

    const OURS: &str = "sessions/2026/11/15/rollout-2026-11-15T23-41-11-01a1e196-1234-7032-9692-0029c2bfea9c.jsonl";
    const THEIRS: &str = "sessions/2026/11/15/rollout-2026-11-15T23-41-12-01a1e196-9999-7032-9692-0029c2bfea9c.jsonl";
    const META: &str =
        "{\"timestamp\":\"2026-11-15T23:41:12.000Z\",\"type\":\"session_meta\",\"payload\":{\"cwd\":\"/w\"}}\n";

    fn place() -> Scratch {
        let scratch = Scratch::fresh();
        std::fs::create_dir_all(scratch.path("sessions/2026/11/15")).unwrap();
        scratch
    }

    #[test]
    fn of_two_logs_the_one_is_taken_that_the_child_has_open() {
        let scratch = place();
        let dir = paths::real(&scratch.path(""));
        let ours = scratch.file(OURS, META).canonicalize().unwrap();
        scratch.file(THEIRS, META);
        let found = || find(&dir, Path::new("/w"), std::process::id(), EpochMs(0));
        assert_eq!(found(), None, "nobody writes to either");
        let _open = File::open(&ours).unwrap();
        assert_eq!(found(), Some(ours));
        assert_eq!(find(&dir, Path::new("/w"), u32::MAX, EpochMs(0)), None, "it is another's child");
    }

    #[test]
    fn a_log_from_before_the_child_is_not_its_own() {
        let scratch = place();
        let dir = paths::real(&scratch.path(""));
        let _open = File::open(scratch.file(OURS, META)).unwrap();
        let later = EpochMs::now().plus(60_000);
        assert_eq!(find(&dir, Path::new("/w"), std::process::id(), later), None);
    }
}
