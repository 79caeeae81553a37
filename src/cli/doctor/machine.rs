//! What this machine can do for boxes: tried with boxes that live for a moment, told in a line each.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use nix::sys::statvfs::statvfs;
use serde::Serialize;

use super::super::words::{print_json, print_line};
use super::report::{NAME_WIDTH, Outcome};
use super::subjects::Known;
use crate::agent::version;
use crate::boxes::{DAEMON_SOCKET, Home, HomeError};
use crate::child::{Launch, Size};
use crate::config;
use crate::sandbox::{self, Finding};

/// Re-executed as the first process of the boxes that are tried.
const COOP: &str = "/proc/self/exe";

/// Below this, the first thing that an agent installs fills the disk.
const FREE_MIB_MIN: u64 = 256;

#[derive(Debug, Serialize)]
struct Report {
    /// Whether a box can be made.
    ok: bool,
    checks: Vec<Checked>,
    agents: Vec<Installed>,
}

#[derive(Debug, Serialize)]
struct Checked {
    name: &'static str,
    outcome: Outcome,
    /// Whether there are no boxes without it.
    needed: bool,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// An agent that the doctor could look at.
#[derive(Debug, Serialize)]
struct Installed {
    agent: &'static str,
    /// Where it is; nowhere if it is not installed.
    program: Option<String>,
    #[serde(skip)]
    install: &'static str,
}

/// Tries everything, and tells it.
pub async fn examine(json: bool) -> anyhow::Result<ExitCode> {
    let found =
        tokio::task::spawn_blocking(try_everything).await.context("the machine was not looked at to the end")?;
    let agents = installed()?;
    let report = Report {
        ok: found.iter().all(|finding| finding.ok || !finding.needed),
        checks: found.into_iter().map(Checked::from).collect(),
        agents,
    };
    if json {
        print_json(&report)?;
    } else {
        for line in report.lines() {
            print_line(&line)?;
        }
    }
    Ok(if report.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The places first: boxes keep their layers there, which is then tried too.
fn try_everything() -> Vec<Finding> {
    let places = [home(), sockets()].map(Finding::needed);
    places.into_iter().chain(sandbox::probe(COOP.as_ref())).collect()
}

/// Whether files can be kept where boxes are kept.
fn home() -> Finding {
    const NAME: &str = "files of boxes";
    const FIX: &str = "set COOP_HOME to a directory of your own, on a disk with room";
    let home = match Home::open() {
        Ok(home) => home,
        Err(HomeError::Unusable { path, why }) => return Finding::bad(NAME, format!("{}: {why}", path.display()), FIX),
        Err(other) => return Finding::bad(NAME, other.to_string(), FIX),
    };
    let (shown, file) = (home.path().display(), home.path().join(format!(".probe-{}", std::process::id())));
    let written = fs::write(&file, [0; 4096]);
    let _ = fs::remove_file(&file);
    if let Err(error) = written {
        return Finding::bad(NAME, format!("nothing can be written in {shown}: {error}"), FIX);
    }
    match free_mib(home.path()) {
        Some(free) if free < FREE_MIB_MIN => Finding::bad(
            NAME,
            format!("only {free} MiB are free in {shown}"),
            "remove what is not needed: `coop image gc`, `coop rm`",
        ),
        Some(free) => Finding::good(NAME, format!("in {shown}, {} GiB free", free / 1024)),
        None => Finding::good(NAME, format!("in {shown}")),
    }
}

fn free_mib(path: &Path) -> Option<u64> {
    let found = statvfs(path).ok()?;
    Some(found.blocks_available() * found.fragment_size() / (1024 * 1024))
}

/// Whether sockets can be made where sessions listen.
fn sockets() -> Finding {
    const NAME: &str = "sockets";
    const FIX: &str = "set XDG_RUNTIME_DIR to a short directory of your own";
    let dir = match config::private_runtime_dir() {
        Ok(dir) => dir,
        Err(mistake) => return Finding::bad(NAME, mistake.to_string(), FIX),
    };
    if let Err(mistake) = config::check_socket_path(&dir.join(DAEMON_SOCKET)) {
        return Finding::bad(NAME, mistake.to_string(), FIX);
    }
    let path = dir.join(format!("probe-{}.sock", std::process::id()));
    let bound = UnixListener::bind(&path);
    let _ = fs::remove_file(&path);
    match bound {
        Ok(_) => Finding::good(NAME, format!("in {}", dir.display())),
        Err(error) => Finding::bad(NAME, format!("none can be made in {}: {error}", dir.display()), FIX),
    }
}

/// Which agents are here.
fn installed() -> anyhow::Result<Vec<Installed>> {
    let launch = Launch {
        argv: Vec::new(),
        cwd: None,
        env: Vec::new(),
        env_remove: Vec::new(),
        bare: false,
        size: Size::new(80, 24)?,
    };
    let all = [Known::Claude, Known::Codex, Known::Gemini].map(Known::subject).into_iter().map(|subject| {
        let program = version::find(OsStr::new(subject.program), &launch);
        let program = program.map(|path| path.display().to_string());
        Installed { agent: subject.program, program, install: subject.install }
    });
    Ok(all.collect())
}

impl From<Finding> for Checked {
    fn from(Finding { name, ok, needed, detail, fix }: Finding) -> Self {
        let outcome = match (ok, &fix) {
            (true, _) => Outcome::Works,
            (false, Some(_)) => Outcome::Fails,
            (false, None) => Outcome::NotTried,
        };
        Self { name, outcome, needed, detail, hint: fix }
    }
}

impl Report {
    fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.checks.iter().flat_map(Checked::lines).collect();
        lines.push(self.verdict());
        lines.extend(self.agents.iter().map(Installed::line));
        lines
    }

    fn verdict(&self) -> String {
        let missing: Vec<&str> =
            self.checks.iter().filter(|check| check.outcome == Outcome::Fails).map(|check| check.name).collect();
        match (self.ok, missing.is_empty()) {
            (true, true) => "boxes can be made here, with everything".to_owned(),
            (true, false) => format!("boxes can be made here, without {}", missing.join(", ")),
            (false, _) => "no box can be made here until what is marked with ✗ is mended".to_owned(),
        }
    }
}

impl Checked {
    /// `✓ name  detail`; what boxes do without has a `!`. The way out stands below.
    fn lines(&self) -> Vec<String> {
        let mark = match (self.outcome, self.needed) {
            (Outcome::Works, _) => '✓',
            (Outcome::Fails, true) => '✗',
            (Outcome::Fails, false) => '!',
            (Outcome::NotTried, _) => '–',
        };
        let first = format!("{mark} {:NAME_WIDTH$}{}", self.name, self.detail);
        std::iter::once(first).chain(self.hint.iter().map(|hint| format!("    → {hint}"))).collect()
    }
}

impl Installed {
    fn line(&self) -> String {
        let Self { agent, program, install } = self;
        match program {
            Some(program) => format!("{agent} is {program}: `coop doctor --agent {agent}` looks at it"),
            None => format!("{agent} is not in PATH: `{install}` installs it"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(findings: Vec<Finding>) -> Report {
        let ok = findings.iter().all(|finding| finding.ok || !finding.needed);
        Report { ok, checks: findings.into_iter().map(Checked::from).collect(), agents: Vec::new() }
    }

    #[test]
    fn what_boxes_need_is_told_apart_from_what_they_do_without() {
        let told =
            report(vec![Finding::good("mounts", "fine").needed(), Finding::bad("cgroup v2", "none", "ask for one")]);
        assert_eq!(told.lines()[1..3], [format!("! {:24}none", "cgroup v2"), "    → ask for one".to_owned()]);
        assert_eq!(told.verdict(), "boxes can be made here, without cgroup v2");
        let told = report(vec![Finding::bad("mounts", "forbidden", "allow them").needed()]);
        assert!(!told.ok && told.lines()[0].starts_with("✗ mounts") && told.verdict().contains("no box"));
    }
}
