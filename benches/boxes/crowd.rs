//! What many boxes take while nothing happens in them: memory of each, and the processors' time of all.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::binary::binary;
use crate::proc;
use crate::report::{Report, Row, at_most};
use crate::stats::Samples;

const SIDECAR_MIB_MAX: f64 = 15.0;
const FIRST_MIB_MAX: f64 = 3.0;
/// Of one processor, for the daemon and all boxes together: less than the clock can tell from nothing.
const PERCENT_MAX: f64 = 1.0;

/// What starting has set in motion is over by then.
const SETTLE: Duration = Duration::from_secs(12);

pub struct Scale {
    boxes: usize,
    settle: Duration,
    watched: Duration,
}

impl Scale {
    pub fn of(short: bool) -> Self {
        let (boxes, settle, watched) = if short { (5, 4, 1) } else { (100, SETTLE.as_secs(), 10) };
        Self { boxes, settle: Duration::from_secs(settle), watched: Duration::from_secs(watched) }
    }
}

/// A user with boxes, all of which end with it.
struct User {
    dir: PathBuf,
}

impl User {
    fn new() -> Result<Self> {
        let dir = std::env::temp_dir().join(format!("coop-bench-{}", std::process::id()));
        for room in ["project", "run"] {
            std::fs::create_dir_all(dir.join(room))?;
        }
        Ok(Self { dir })
    }

    fn coop(&self, words: &[&str]) -> Result<Vec<u8>> {
        let mut command = Command::new(binary());
        command.env("COOP_HOME", self.dir.join("home")).env("XDG_RUNTIME_DIR", self.dir.join("run"));
        let done = command.args(words).current_dir(self.dir.join("project")).stdin(Stdio::null()).output()?;
        ensure!(done.status.success(), "coop {words:?}: {}", String::from_utf8_lossy(&done.stderr));
        Ok(done.stdout)
    }

    fn json(&self, words: &[&str]) -> Result<Value> {
        Ok(serde_json::from_slice(&self.coop(words)?)?)
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let ended = self.coop(&["rm", "--all", "--force"]).and_then(|_| self.coop(&["daemon", "stop"]));
        if let Err(error) = ended.map(drop).and_then(|()| Ok(std::fs::remove_dir_all(&self.dir)?)) {
            eprintln!("  {} stays behind: {error:#}", self.dir.display());
        }
    }
}

pub fn run(scale: &Scale, report: &mut Report) -> Result<()> {
    eprintln!("crowd");
    let user = User::new()?;
    let mut sidecars = Vec::new();
    for number in 0..scale.boxes {
        let name = format!("bench-{number}");
        let told = user.json(&["up", ".", "--name", &name, "--network", "none", "--json", "--", "sleep", "100000"])?;
        sidecars.push(pid_of(&told)?);
    }
    let daemon = pid_of(&user.json(&["daemon", "status", "--json"])?)?;
    let firsts: Vec<u32> = sidecars.iter().flat_map(|pid| children(*pid)).collect();
    ensure!(firsts.len() == scale.boxes, "{} boxes have {} first processes", scale.boxes, firsts.len());
    std::thread::sleep(scale.settle);
    memory(report, "memory of a box's session", &sidecars, SIDECAR_MIB_MAX)?;
    memory(report, "memory of a box's PID 1", &firsts, FIRST_MIB_MAX)?;
    let everybody: Vec<u32> = sidecars.into_iter().chain(firsts).chain([daemon]).collect();
    idleness(report, scale, &everybody)
}

fn memory(report: &mut Report, name: &str, pids: &[u32], limit_mib: f64) -> Result<()> {
    let (mut mib, mut share) = (Samples::default(), Samples::default());
    for pid in pids {
        mib.push(proc::rss_kib(*pid)? as f64 / 1024.0);
        if let Some(kib) = proc::share_kib(*pid)? {
            share.push(kib as f64 / 1024.0);
        }
    }
    let mut figure = format!("{:.1} MiB ({:.1}–{:.1}) resident", mib.median(), mib.least(), mib.most());
    if share.is_empty() {
        report.note(format!("{name}: only root may see how much of it is shared"));
    } else {
        // The program's file is in memory once for all; each process has its part of that.
        figure += &format!(", {:.1} MiB of its own and its part of the shared", share.median());
    }
    let (row, bound) = (Row::new(name, figure), at_most(mib.median(), limit_mib, " MiB"));
    // It does not depend on how busy the machine is, only on how coop was built: without optimising it is larger.
    let is_release = !cfg!(debug_assertions) || std::env::var_os("COOP_TEST_BINARY").is_some();
    let row = if is_release { row.promise(bound) } else { row.gate(bound) };
    report.push(row.data(json!({"share_mib": share.json(), "resident_mib": mib.json()})));
    Ok(())
}

fn idleness(report: &mut Report, scale: &Scale, pids: &[u32]) -> Result<()> {
    let so_far = || -> Result<(f64, u64)> {
        let mut sum = (0.0, 0);
        for pid in pids {
            sum.0 += proc::cpu(*pid)?.as_secs_f64();
            sum.1 += proc::switches(*pid)?;
        }
        Ok(sum)
    };
    let before = so_far()?;
    std::thread::sleep(scale.watched);
    let after = so_far()?;
    let seconds = scale.watched.as_secs_f64();
    let percent = (after.0 - before.0) / seconds * 100.0;
    // A thread that has ended takes its count along.
    let switches = after.1.saturating_sub(before.1) as f64 / seconds;
    let figure = format!("{percent:.2} % of a processor, {switches:.1} switches a second");
    let row = Row::new(format!("{} idle boxes and the daemon", scale.boxes), figure);
    report.push(row.gate(at_most(percent, PERCENT_MAX, " %")).data(json!({"percent": percent, "switches": switches})));
    Ok(())
}

fn pid_of(told: &Value) -> Result<u32> {
    let pid = told["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
    pid.with_context(|| format!("no process in {told}"))
}

/// The processes that one has started and not buried.
fn children(parent: u32) -> Vec<u32> {
    let is_child = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // After the name, which may hold anything, come the state and the parent.
        let of = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
        of == Some(parent)
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_child).collect()
}
