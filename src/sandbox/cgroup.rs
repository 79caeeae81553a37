//! Limits of a whole box through cgroup v2, where a part of its tree was given to us.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use nix::unistd::Uid;

use super::spec::Limits;

/// All our groups begin so; what is empty and begins so was left behind by a crash.
const PREFIX: &str = "coop-box-";
/// Memory on disk, which counts for itself.
const SWAP: &str = "memory.swap.max";
/// The kernel's usual period in which a share of the processors is counted.
const PERIOD_US: f64 = 100_000.0;

/// How to have a group delegated.
pub(super) const WAY_OUT: &str =
    "start coop in a unit with Delegate=yes, as by `systemd-run --user --scope -p Delegate=yes coop …`";

/// The group of one box; removed when it is dropped, which is after the box.
#[derive(Debug)]
pub(super) struct Group(PathBuf);

impl Drop for Group {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir(&self.0) {
            tracing::debug!(%error, group = %self.0.display(), "a box's cgroup stays behind");
        }
    }
}

impl Group {
    /// Puts a process under the limits as far as this machine lets us, and says what it does not let us.
    pub(super) fn place(name: &str, limits: &Limits, pid: u32) -> (Option<Self>, Vec<String>) {
        let wanted = wanted(limits);
        if wanted.is_empty() {
            return (None, Vec::new());
        }
        match home().and_then(|home| Self::make(&home, name, &wanted, pid)) {
            Ok(group) => (Some(group), Vec::new()),
            Err(problem) => (None, unenforced(limits, &problem, Uid::effective().is_root())),
        }
    }

    fn make(
        home: &Home,
        name: &str,
        wanted: &[(&'static str, &'static str, String)],
        pid: u32,
    ) -> Result<Self, String> {
        let parent = home.fitting(wanted)?;
        sweep(&parent);
        let path = parent.join(format!("{PREFIX}{name}-{pid}"));
        let said = |what: &Path, error: io::Error| format!("{}: {error}", what.display());
        fs::create_dir(&path).map_err(|error| said(&path, error))?;
        let group = Self(path.clone());
        for (_, file, value) in wanted {
            match fs::write(path.join(file), value) {
                // A kernel that does not count swap has no such file, and nothing to limit.
                Err(_) if *file == SWAP && !path.join(file).exists() => {}
                written => written.map_err(|error| said(&path.join(file), error))?,
            }
        }
        let procs = path.join("cgroup.procs");
        fs::write(&procs, pid.to_string()).map_err(|error| said(&procs, error))?;
        Ok(group)
    }
}

/// Controller, file and value of each limit.
fn wanted(limits: &Limits) -> Vec<(&'static str, &'static str, String)> {
    let mut all = Vec::new();
    if let Some(bytes) = limits.memory_bytes {
        all.push(("memory", "memory.max", bytes.to_string()));
        // What is over the limit would be put there else, and the machine would be busy with that.
        all.push(("memory", SWAP, "0".to_owned()));
    }
    if let Some(count) = limits.processes {
        // PID 1 is ours, not the box's.
        all.push(("pids", "pids.max", count.saturating_add(1).to_string()));
    }
    if let Some(cpus) = limits.cpus {
        all.push(("cpu", "cpu.max", format!("{:.0} {PERIOD_US:.0}", (cpus * PERIOD_US).max(1000.0))));
    }
    all
}

/// What is said when there is no group. Processes and open files have limits without one, but not for root.
fn unenforced(limits: &Limits, problem: &str, root: bool) -> Vec<String> {
    let mut all = Vec::new();
    let mut say = |what: &str| all.push(format!("the limit on {what} is not enforced: {problem} ({WAY_OUT})"));
    if limits.memory_bytes.is_some() {
        say("memory");
    }
    if limits.cpus.is_some() {
        say("processors");
    }
    if limits.processes.is_some() && root {
        say("processes");
    }
    all
}

/// Where we are in the tree of groups.
struct Home {
    top: PathBuf,
    own: PathBuf,
}

fn home() -> Result<Home, String> {
    let none = "there is no cgroup v2 here";
    let mounts = fs::read_to_string("/proc/self/mountinfo").map_err(|error| error.to_string())?;
    let groups = fs::read_to_string("/proc/self/cgroup").map_err(|error| error.to_string())?;
    let top = mounted(&mounts).ok_or(none)?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/")).ok_or(none)?;
    Ok(Home { own: top.join(own), top })
}

/// Where the unified tree is mounted.
fn mounted(mountinfo: &str) -> Option<PathBuf> {
    mountinfo.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        after.starts_with("cgroup2 ").then(|| before.split(' ').nth(4).map(PathBuf::from)).flatten()
    })
}

impl Home {
    /// The nearest group at or above our own in which a group with these controllers can be made. Our own holds
    /// processes, and such a group can not have limited ones below it; the one above usually can.
    fn fitting(&self, wanted: &[(&str, &str, String)]) -> Result<PathBuf, String> {
        let above = self.own.ancestors().take_while(|group| group.starts_with(&self.top));
        for group in above {
            let control = group.join("cgroup.subtree_control");
            let missing: Vec<String> = {
                let given = fs::read_to_string(&control).unwrap_or_default();
                let missing =
                    wanted.iter().filter(|(controller, ..)| !given.split_whitespace().any(|it| it == *controller));
                missing.map(|(controller, ..)| format!("+{controller}")).collect()
            };
            if missing.is_empty() || fs::write(&control, missing.join(" ")).is_ok() {
                let writable = nix::unistd::access(group, nix::unistd::AccessFlags::W_OK).is_ok();
                let procs = nix::unistd::access(&group.join("cgroup.procs"), nix::unistd::AccessFlags::W_OK).is_ok();
                if writable && procs {
                    return Ok(group.to_owned());
                }
            }
        }
        Err("no cgroup v2 was delegated to this user".into())
    }
}

/// Removes what crashes left behind. A group with processes in it refuses. One that is empty may be about to take a box
/// that is being started by somebody else: for as long as there is such a process, it stays.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let ours = name.to_str().and_then(|name| name.strip_prefix(PREFIX)).and_then(|name| name.rsplit_once('-'));
        if ours.is_some_and(|(_, pid)| !Path::new("/proc").join(pid).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Whether limits could be enforced here, for `coop doctor`.
pub(super) fn delegated() -> Result<PathBuf, String> {
    let all = Limits { memory_bytes: Some(1), processes: Some(1), cpus: Some(1.0), open_files: None };
    home()?.fitting(&wanted(&all))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Limits {
        Limits { memory_bytes: Some(1 << 30), processes: Some(100), cpus: Some(1.5), open_files: Some(9) }
    }

    #[test]
    fn each_limit_has_its_file() {
        let files: Vec<_> = wanted(&all()).into_iter().map(|(_, file, value)| (file, value)).collect();
        let expected =
            [("memory.max", "1073741824"), ("memory.swap.max", "0"), ("pids.max", "101"), ("cpu.max", "150000 100000")];
        assert_eq!(files, expected.map(|(file, value)| (file, value.to_owned())));
        assert!(wanted(&Limits { open_files: Some(9), ..Limits::default() }).is_empty());
    }

    #[test]
    fn the_unified_tree_is_found_beside_old_ones() {
        let text = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        assert_eq!(mounted(text), Some(PathBuf::from("/sys/fs/cgroup/unified")));
        assert_eq!(mounted("22 27 0:21 / /proc rw - proc proc rw\n"), None);
    }

    #[test]
    fn what_is_not_enforced_is_said() {
        assert_eq!(unenforced(&all(), "why", false).len(), 2);
        assert_eq!(unenforced(&all(), "why", true).len(), 3);
        assert_eq!(unenforced(&Limits { processes: Some(1), ..Limits::default() }, "why", false), [""; 0]);
    }

    /// A tree of ordinary files that looks like groups: those above have controllers, our own can not give any.
    #[test]
    fn the_nearest_group_that_can_be_divided_takes_the_box_and_gets_its_limits() {
        let top = std::env::temp_dir().join(format!("coop-cgroup-{}-{}", Uid::effective(), std::process::id()));
        let own = top.join("user/app/own");
        fs::create_dir_all(own.join("cgroup.subtree_control")).unwrap();
        fs::write(top.join("user/app/cgroup.subtree_control"), "cpu memory pids\n").unwrap();
        fs::write(top.join("user/app/cgroup.procs"), "").unwrap();
        // A process that never was, and one that lives: its starter has not put it there yet.
        let (left, other) =
            (format!("user/app/{PREFIX}left-{}", u32::MAX), format!("user/app/{PREFIX}a-b-{}", std::process::id()));
        fs::create_dir(top.join(&left)).unwrap();
        fs::create_dir(top.join(&other)).unwrap();
        let home = Home { own, top: top.clone() };
        let group = Group::make(&home, "it", &wanted(&all()), 77).unwrap();
        assert_eq!(group.0, top.join("user/app").join(format!("{PREFIX}it-77")));
        assert_eq!(fs::read_to_string(group.0.join("memory.max")).unwrap(), "1073741824");
        assert_eq!(fs::read_to_string(group.0.join("cgroup.procs")).unwrap(), "77");
        assert!(!top.join(left).exists(), "what a crash left is gone");
        assert!(top.join(other).exists(), "a box that starts at the same time keeps its group");
        let nowhere = Home { own: top.join("none"), top: top.clone() };
        assert!(Group::make(&nowhere, "it", &wanted(&all()), 77).unwrap_err().contains("delegated"));
        fs::remove_dir_all(&top).unwrap();
    }
}
