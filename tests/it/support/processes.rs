//! What the kernel says about processes.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{PATIENCE, Scratch};

/// Parent, session and state of one process.
struct Stat {
    parent: i32,
    session: i32,
    state: char,
}

fn stat(pid: i32) -> Option<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, also blanks and parentheses.
    let rest = text.rsplit_once(") ")?.1;
    let mut fields = rest.split(' ');
    let state = fields.next()?.chars().next()?;
    let mut number = || fields.next()?.parse().ok();
    let (parent, _group, session) = (number()?, number()?, number()?);
    Some(Stat { parent, session, state })
}

/// Whether it runs; one that is dead and only not yet buried does not.
pub fn alive(pid: i32) -> bool {
    stat(pid).is_some_and(|stat| stat.state != 'Z')
}

/// Waits until a signal has stopped the process.
pub async fn stopped(pid: i32) {
    let deadline = Instant::now() + PATIENCE;
    while stat(pid).is_none_or(|stat| stat.state != 'T') {
        assert!(Instant::now() < deadline, "process {pid} was not stopped");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn all() -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// All living processes of a session.
pub fn session_members(session: i32) -> BTreeSet<i32> {
    all().into_iter().filter(|pid| alive(*pid) && stat(*pid).is_some_and(|stat| stat.session == session)).collect()
}

/// All living processes that came from this one, without itself.
pub fn descendants(pid: i32) -> BTreeSet<i32> {
    let parents: Vec<(i32, i32)> = all().into_iter().filter_map(|pid| Some((pid, stat(pid)?.parent))).collect();
    let mut found = BTreeSet::new();
    let mut open = vec![pid];
    while let Some(parent) = open.pop() {
        let children = parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid);
        open.extend(children.clone().filter(|pid| !found.contains(pid)).collect::<Vec<_>>());
        found.extend(children.filter(|pid| alive(*pid)));
    }
    found
}

/// How much memory it uses now.
pub fn rss_bytes(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// The environment that it was started with, a `NAME=VALUE` each.
pub fn environment(pid: i32) -> Vec<String> {
    let bytes = std::fs::read(Path::new("/proc").join(pid.to_string()).join("environ")).unwrap();
    bytes.split(|byte| *byte == 0).map(|entry| String::from_utf8_lossy(entry).into_owned()).collect()
}

/// Whether these have nothing to do, among themselves or otherwise: all their threads sleep, and none did not meanwhile.
pub fn at_rest(pids: &[i32]) -> bool {
    let woken = || pids.iter().map(|pid| wakeups(*pid)).collect::<Vec<_>>();
    let sleeps = |thread: std::fs::DirEntry| {
        let text = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S'))
    };
    let before = woken();
    let threads = pids.iter().flat_map(|pid| std::fs::read_dir(format!("/proc/{pid}/task")).unwrap());
    threads.flatten().all(sleeps) && woken() == before
}

/// How much of the processors it has used so far, in the kernel's ticks; nothing if it is gone.
pub fn cpu_ticks(pid: i32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Those of the program itself, and those of the kernel for it: the 14th and 15th field, after the name.
    let fields = text.rsplit_once(") ").map(|(_, rest)| rest.split(' ').skip(11).take(2)).into_iter().flatten();
    fields.filter_map(|field| field.parse::<u64>().ok()).sum()
}

/// How often its threads were woken so far.
pub fn wakeups(pid: i32) -> u64 {
    let switches = |status: String| {
        let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let statuses = threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("status")).ok());
    statuses.filter_map(switches).sum()
}

/// All living processes that were started with a place in this directory.
pub fn started_in(scratch: &Scratch) -> Vec<i32> {
    let place = format!("{}/", scratch.dir().display());
    let speaks_of_it = |pid: &i32| {
        let text = |name: &str| std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let holds = |bytes: Vec<u8>| bytes.windows(place.len()).any(|part| part == place.as_bytes());
        alive(*pid) && (holds(text("environ")) || holds(text("cmdline")))
    };
    all().into_iter().filter(speaks_of_it).collect()
}

/// Looks until no process was started with a place in this directory any more; then it must be empty.
pub async fn nothing_is_left_in(scratch: &Scratch) {
    let deadline = Instant::now() + PATIENCE;
    // A guardian ends a moment after what it guards.
    while let Some(pid) = started_in(scratch).first() {
        assert!(Instant::now() < deadline, "process {pid} is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let files: Vec<_> = std::fs::read_dir(scratch.dir()).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(files.is_empty(), "{files:?}");
}
