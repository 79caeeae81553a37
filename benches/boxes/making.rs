//! How long a box takes: made, `/bin/true` run in it, its end seen. Beside bubblewrap, in turns, so that both meet the same
//! noise.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use coop::sandbox::{Ended, Limits, Network, Root, Run, Sandbox, Spec, UidMap};
use serde_json::json;

use crate::binary::binary;
use crate::report::{Report, Row, at_most};
use crate::stats::Samples;

/// A box has a PID 1 that stays, a terminal and a filter of its own; it may take this much of bubblewrap's time.
const OF_BUBBLEWRAP_MAX: f64 = 1.2;

/// The same root, namespaces and file systems as a plain box has.
const BUBBLEWRAP: &str = "--unshare-all --new-session --die-with-parent --ro-bind /usr /usr --ro-bind /etc /etc \
    --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 --ro-bind /opt /opt --proc /proc --dev /dev \
    --tmpfs /tmp --tmpfs /run /bin/true";

pub struct Scale {
    pub rounds: usize,
    /// Boxes in each round, of each kind.
    boxes: usize,
}

impl Scale {
    pub fn of(short: bool, rounds: Option<usize>) -> Self {
        let usual = if short { 2 } else { 9 };
        Self { rounds: rounds.unwrap_or(usual), boxes: if short { 5 } else { 40 } }
    }
}

/// Medians of the rounds, in milliseconds.
#[derive(Default)]
struct Medians {
    boxes: Samples,
    second: Samples,
    peer: Samples,
}

pub fn run(scale: &Scale, report: &mut Report) -> Result<()> {
    eprintln!("making");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let has_peer = Command::new("bwrap").arg("--version").stdout(Stdio::null()).status().is_ok_and(|it| it.success());
    let mut medians = Medians::default();
    // The first round fills caches and does not count.
    for round in 0..=scale.rounds {
        let mut times = Medians::default();
        for _ in 0..scale.boxes {
            let (whole, again) = one_box(&runtime)?;
            times.boxes.push(whole);
            times.second.push(again);
            if has_peer {
                times.peer.push(one_bubble()?);
            }
        }
        if round > 0 {
            medians.boxes.push(times.boxes.median());
            medians.second.push(times.second.median());
            medians.peer.push(times.peer.median());
        }
    }
    tell(&medians, has_peer, report);
    Ok(())
}

fn tell(medians: &Medians, has_peer: bool, report: &mut Report) {
    let ms = |samples: &Samples| format!("{:.2} ms ({:.2}–{:.2})", samples.median(), samples.least(), samples.most());
    let mut row = Row::new("a box, /bin/true, its end", ms(&medians.boxes)).data(json!({"ms": medians.boxes.json()}));
    if has_peer {
        let ratio = medians.boxes.over(&medians.peer);
        let bound = at_most(ratio.median(), OF_BUBBLEWRAP_MAX, " × bubblewrap");
        row = row.ratio(&ratio, "of bubblewrap").gate(bound);
    } else {
        report.note("bubblewrap is not installed: nothing to compare with");
    }
    report.push(row);
    if has_peer {
        report.push(Row::new("bubblewrap, /bin/true", ms(&medians.peer)).data(json!({"ms": medians.peer.json()})));
    }
    report.push(Row::new("another program in the box", ms(&medians.second)).data(json!({"ms": medians.second.json()})));
}

/// A box with a program, and how long a second program takes in it, in milliseconds.
fn one_box(runtime: &tokio::runtime::Runtime) -> Result<(f64, f64)> {
    let began = Instant::now();
    let sandbox = Sandbox::start(&spec(), &binary())?;
    run_true(&sandbox)?;
    let whole = began.elapsed();
    let began = Instant::now();
    run_true(&sandbox)?;
    let again = began.elapsed();
    // Its remains must not be in the way of the next.
    let first = nix::unistd::Pid::from_raw(sandbox.pid().cast_signed());
    nix::sys::signal::kill(first, nix::sys::signal::Signal::SIGKILL)?;
    runtime.block_on(sandbox.gone());
    Ok((whole.as_secs_f64() * 1000.0, again.as_secs_f64() * 1000.0))
}

fn run_true(sandbox: &Sandbox) -> Result<()> {
    let job = Run { argv: vec!["/bin/true".into()], cwd: "/".into(), env: Vec::new(), size: None };
    let ended = sandbox.run(&job)?.exit.wait();
    ensure!(matches!(ended, Ended::Code(0)), "/bin/true ended otherwise: {ended:?}");
    Ok(())
}

fn one_bubble() -> Result<f64> {
    let began = Instant::now();
    let status = Command::new("bwrap").args(BUBBLEWRAP.split_whitespace()).stdin(Stdio::null()).status();
    ensure!(status.context("bwrap")?.success(), "bubblewrap makes no sandbox here");
    Ok(began.elapsed().as_secs_f64() * 1000.0)
}

fn spec() -> Spec {
    Spec {
        name: "bench".into(),
        hostname: "bench".into(),
        root: Root::Host,
        uid_map: UidMap::Same,
        mounts: Vec::new(),
        network: Network::None,
        nested: false,
        root_powers: false,
        limits: Limits::default(),
        landlock: true,
        seccomp: true,
    }
}
