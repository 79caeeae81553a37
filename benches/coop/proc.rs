//! What the kernel says about a process and about this machine.

use std::fs;
use std::io::ErrorKind;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// Ticks of `/proc/PID/stat` per second; fixed in the kernel's interface.
const TICKS_PER_SECOND: f64 = 100.0;

/// User and system time of a process so far, without its children.
pub fn cpu(pid: u32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).with_context(|| format!("process {pid} is gone"))?;
    // The name, in parentheses, may hold anything; the fields after it do not.
    let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok()).context("no time in stat");
    // utime and stime are fields 14 and 15; the name was the second.
    Ok(Duration::from_secs_f64((ticks(11)? + ticks(12)?) / TICKS_PER_SECOND))
}

/// Memory of a process that is in RAM, in KiB.
pub fn rss_kib(pid: u32) -> Result<u64> {
    status_field(&fs::read_to_string(format!("/proc/{pid}/status"))?, "VmRSS:").context("no VmRSS in status")
}

/// Its own memory and its part of what it shares with others, in KiB: what one of many costs. `None` where the process is
/// closed to us.
#[allow(dead_code)] // Of interest where there are many.
pub fn share_kib(pid: u32) -> Result<Option<u64>> {
    let path = format!("/proc/{pid}/smaps_rollup");
    match fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(None),
        rollup => status_field(&rollup.context(path)?, "Pss:").map(Some).context("no Pss in smaps_rollup"),
    }
}

/// How often the threads of a process have been put on or taken off a core.
pub fn switches(pid: u32) -> Result<u64> {
    let mut sum = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let status = fs::read_to_string(task?.path().join("status"))?;
        for field in ["voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"] {
            sum += status_field(&status, field).unwrap_or(0);
        }
    }
    Ok(sum)
}

fn status_field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The machine, for whoever reads the figures later.
pub fn machine() -> Value {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    json!({
        "cores": cores(),
        "model": model.trim_start_matches([' ', '\t', ':']),
        "kernel": kernel.trim(),
        "memory_mib": status_field(&memory, "MemTotal:").unwrap_or(0) / 1024,
    })
}

pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The load average of the last minute: above the number of cores, wall times say little.
pub fn load_average() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(f64::NAN)
}
