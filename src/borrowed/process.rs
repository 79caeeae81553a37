//! The processes on a borrowed terminal: which agent is among them, where it works, when it began.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::child::Stat;
use crate::config::Agent;

/// Processes below a terminal that are looked at; a build that runs there may have thousands.
const PROCESSES_MAX: usize = 4096;

/// Programs that run an agent's script; the next word names it.
const INTERPRETERS: [&str; 3] = ["node", "bun", "deno"];

/// An agent that runs on a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub agent: Agent,
    pub pid: u32,
}

/// The group that keys and signals go to.
pub(super) fn front(stat: &Stat) -> Option<i32> {
    // 0 and 1 would mean our own group and everything.
    [stat.foreground, stat.group].into_iter().find(|group| *group > 1)
}

/// The agent that is nearest to this process, itself included; only of one kind where one is wanted.
pub fn agent_below(pid: u32, wanted: Option<Agent>) -> Option<Found> {
    let parents: Vec<(i32, i32)> = processes().collect();
    let mut next = VecDeque::from([pid.cast_signed()]);
    let mut looked_at = 0;
    while let Some(pid) = next.pop_front() {
        looked_at += 1;
        if looked_at > PROCESSES_MAX {
            return None;
        }
        let agent = agent_of(pid.cast_unsigned());
        if agent != Agent::Unknown && wanted.is_none_or(|wanted| wanted == agent) {
            return Some(Found { agent, pid: pid.cast_unsigned() });
        }
        next.extend(parents.iter().filter(|(_, parent)| *parent == pid).map(|(child, _)| *child));
    }
    None
}

/// Whether this process was started by that one, or by any that it has started.
pub fn is_below(pid: u32, above: u32) -> bool {
    let parent = |pid: &i32| Stat::of(*pid).map(|stat| stat.parent).filter(|parent| *parent > 0);
    let mut line = std::iter::successors(Some(pid.cast_signed()), parent).take(PROCESSES_MAX);
    line.any(|pid| pid == above.cast_signed())
}

/// Each process with its parent.
fn processes() -> impl Iterator<Item = (i32, i32)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| Some((pid, Stat::of(pid).filter(|stat| stat.alive)?.parent)))
}

/// The processes that this one started.
pub(super) fn children(pid: u32) -> Vec<u32> {
    let pid = pid.cast_signed();
    processes().filter(|(_, parent)| *parent == pid).map(|(child, _)| child.cast_unsigned()).collect()
}

/// Which agent a process is.
pub fn agent_of(pid: u32) -> Agent {
    named_by(&argv(pid))
}

fn named_by(words: &[OsString]) -> Agent {
    let base = |word: &OsStr| Path::new(word).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut words = words.iter().map(|word| base(word));
    let Some(program) = words.next() else { return Agent::Unknown };
    let named = Agent::of_program(OsStr::new(&program));
    if named != Agent::Unknown || !INTERPRETERS.contains(&program.as_str()) {
        return named;
    }
    let script = words.find(|word| !word.starts_with('-')).unwrap_or_default();
    Agent::of_program(OsStr::new(script.trim_end_matches(".js")))
}

/// The words that a process was started with.
pub fn argv(pid: u32) -> Vec<OsString> {
    zero_ended(&std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default())
}

/// A variable of a process, as it was when it began.
pub fn variable(pid: u32, name: &str) -> Option<OsString> {
    let all = zero_ended(&std::fs::read(format!("/proc/{pid}/environ")).ok()?);
    let value = all.iter().find_map(|pair| pair.as_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    Some(OsString::from_vec(value.to_vec()))
}

fn zero_ended(bytes: &[u8]) -> Vec<OsString> {
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    if bytes.is_empty() {
        return Vec::new();
    }
    bytes.split(|byte| *byte == 0).map(|word| OsString::from_vec(word.to_vec())).collect()
}

/// What a process takes for its own id: another than ours, if it lives in a namespace of its own.
pub fn inner_pid(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("NSpid:")?.split_whitespace().last()?.parse().ok())
}

/// Where a process works.
pub fn cwd(pid: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// When a process began.
pub fn began(pid: u32) -> Option<SystemTime> {
    let ticks = Stat::of(pid.cast_signed())?.born.ticks();
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let boot: u64 = text.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse().ok())?;
    let per_second = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK).ok().flatten()?;
    let per_second = u64::try_from(per_second).ok().filter(|ticks| *ticks > 0)?;
    let since_boot = Duration::from_millis(ticks.saturating_mul(1000) / per_second);
    Some(UNIX_EPOCH + Duration::from_secs(boot) + since_boot)
}

/// The same in milliseconds since 1970.
pub fn began_ms(pid: u32) -> Option<u64> {
    u64::try_from(began(pid)?.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};
    use std::time::Instant;

    use super::*;

    /// A process, and what it printed first.
    struct Running(Child, u32);

    impl Drop for Running {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn bash(script: &str) -> Running {
        let mut child = Command::new("bash").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Running(child, line.trim().parse().unwrap_or(0))
    }

    #[test]
    fn an_agent_is_found_at_or_below_a_process() {
        let shell = bash("(exec -a /opt/bin/claude sleep 100) & echo $!; wait");
        let deadline = Instant::now() + Duration::from_secs(20);
        let found = loop {
            match agent_below(shell.0.id(), None) {
                Some(found) => break found,
                None => assert!(Instant::now() < deadline, "it never began"),
            }
        };
        assert_eq!(found, Found { agent: Agent::Claude, pid: shell.1 });
        assert_eq!(agent_below(found.pid, Some(Agent::Claude)), Some(found.clone()));
        assert_eq!(agent_below(shell.0.id(), Some(Agent::Codex)), None);
        let pid = nix::unistd::Pid::from_raw(found.pid.cast_signed());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
    }

    #[test]
    fn a_program_or_its_script_names_the_agent() {
        let named = |line: &str| named_by(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        for (line, agent) in [
            ("claude --resume", Agent::Claude),
            ("/usr/bin/codex", Agent::Codex),
            ("node --no-warnings /usr/local/bin/gemini -y", Agent::Gemini),
            ("/usr/bin/node /opt/codex.js", Agent::Codex),
            ("vim claude", Agent::Unknown),
            ("node server.js claude", Agent::Unknown),
            ("node", Agent::Unknown),
        ] {
            assert_eq!(named(line), agent, "{line}");
        }
        assert_eq!(named_by(&[]), Agent::Unknown);
    }

    #[test]
    fn what_a_process_was_given_can_be_read() {
        // It must not become another program while it is looked at.
        let child = bash("echo; kill -STOP $$");
        let pid = child.0.id();
        assert_eq!(variable(pid, "PATH"), std::env::var_os("PATH"));
        assert_eq!(variable(pid, "PAT"), None);
        assert_eq!(cwd(pid), std::env::current_dir().ok());
        let age = began(pid).unwrap().elapsed().unwrap_or_default();
        assert!(age < Duration::from_secs(60), "{age:?}");
    }
}
