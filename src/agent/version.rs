//! Which version of an agent is it? Where its files lie tells in most installations; only others are asked.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::{AccessFlags, Pid, access};
use tokio::io::AsyncReadExt;
use tokio::process::Command;

use crate::child::Launch;

/// `claude --version` takes half a second on a calm machine, and is not the slowest.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// One line is expected; a wrapper may say something before it.
const ANSWER_BYTES_MAX: u64 = 4096;

/// The package's file is some kilobytes.
const PACKAGE_BYTES_MAX: u64 = 1024 * 1024;

/// How far above the program the package's file lies: `bin/claude.exe`, `cli.js`, `bundle/gemini.js` have been seen.
const PACKAGE_LEVELS_MAX: usize = 3;

/// Where programs are looked for without a PATH, as the C library does.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u32, pub u32, pub u32);

/// How an agent's versions are found out.
#[derive(Clone, Copy, Debug)]
pub struct Release {
    /// The version that all of a driver was measured with.
    pub measured: Version,
    /// The package's name at npm.
    pub package: &'static str,
    /// What the place of a program tells that npm did not install.
    pub of_place: fn(&Path) -> Option<Version>,
    /// Stands before the number in the answer to `--version`, if anything does.
    pub says: &'static str,
}

/// Why the version is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoVersion {
    /// The start will fail, and tell so better.
    #[error("{0:?} is not there")]
    Missing(OsString),
    #[error("{} --version: {why}", program.display())]
    Unclear { program: PathBuf, why: String },
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl FromStr for Version {
    type Err = ();

    /// Reads `2.1.197`, and what follows after a blank, `-` or `+` does not matter.
    fn from_str(text: &str) -> Result<Self, ()> {
        let number = text.trim().split([' ', '-', '+']).next().unwrap_or_default();
        let mut parts = number.split('.').map(|part| part.parse().map_err(|_| ()));
        let mut next = || parts.next().unwrap_or(Err(()));
        let version = Self(next()?, next()?, next()?);
        parts.next().map_or(Ok(version), |_| Err(()))
    }
}

/// What is to be doubted about an agent that is not of the version that was measured; `doctor` is the command that tries
/// it.
pub fn doubt(agent: &str, found: &Result<Version, NoVersion>, measured: Version, doctor: &str) -> Option<String> {
    match found {
        Ok(version) if *version > measured => Some(format!(
            "{agent} {version} is newer than what coop was measured with, {measured}: `{doctor}` tries it"
        )),
        Ok(version) if *version < measured => Some(format!(
            "{agent} {version} is older than what coop was measured with, {measured}: `{doctor}` tries it"
        )),
        Ok(_) => None,
        Err(why) => {
            Some(format!("the version of {agent} is not known ({why}): only hooks that all versions have are used"))
        }
    }
}

/// Starts a program elsewhere than here, without a terminal, and returns what it prints: at most so many bytes. Blocks.
pub type Asked = Arc<dyn Fn(&Launch, u64) -> io::Result<Vec<u8>> + Send + Sync>;

/// Where the agent is started.
#[derive(Clone, Default)]
pub struct Elsewhere {
    /// In a box, where it is asked too: what a project contains is not run outside of it.
    pub asked: Option<Asked>,
    /// Its files are not those of this machine.
    pub other_files: bool,
}

/// The version of the agent that this launch would start.
pub async fn detect(launch: &Launch, release: &Release, elsewhere: &Elsewhere) -> Result<Version, NoVersion> {
    let name = launch.argv.first().map(OsString::as_os_str).unwrap_or_default();
    let program = if elsewhere.other_files { Some(name.into()) } else { find(name, launch) };
    let program = program.ok_or_else(|| NoVersion::Missing(name.to_owned()))?;
    if !elsewhere.other_files {
        // Links lead to where the files really lie.
        let real = program.canonicalize().unwrap_or_else(|_| program.clone());
        if let Some(version) = (release.of_place)(&real).or_else(|| of_package(&real, release.package)) {
            return Ok(version);
        }
    }
    let text = match &elsewhere.asked {
        Some(asked) => ask_elsewhere(&program, launch, asked.clone()).await,
        None => ask(&program, launch).await,
    };
    text.and_then(|text| said(&text, release.says)).map_err(|why| NoVersion::Unclear { program, why })
}

async fn ask_elsewhere(program: &Path, launch: &Launch, asked: Asked) -> Result<String, String> {
    let launch = Launch { argv: vec![program.into(), "--version".into()], ..launch.clone() };
    let answer = tokio::task::spawn_blocking(move || asked(&launch, ANSWER_BYTES_MAX));
    let answer = tokio::time::timeout(ANSWER_WITHIN, answer).await;
    let printed = answer.map_err(|_| silent())?.map_err(|error| error.to_string())?;
    printed.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).map_err(|error| error.to_string())
}

fn silent() -> String {
    format!("no answer within {} s", ANSWER_WITHIN.as_secs())
}

fn said(text: &str, says: &str) -> Result<Version, String> {
    let version = text.lines().find_map(|line| line.trim_start().strip_prefix(says)?.parse().ok());
    version.ok_or_else(|| format!("it says {:?}", text.chars().take(100).collect::<String>()))
}

/// The file that would be started: with a slash it is a path, else it is looked for in the child's PATH.
pub fn find(name: &OsStr, launch: &Launch) -> Option<PathBuf> {
    let here = || launch.cwd.clone().unwrap_or_default();
    let runs = |path: &PathBuf| path.is_file() && access(path, AccessFlags::X_OK).is_ok();
    if name.is_empty() {
        return None;
    }
    if name.as_bytes().contains(&b'/') {
        return Some(here().join(name)).filter(runs);
    }
    let path = launch.variable("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
    std::env::split_paths(&path).map(|dir| here().join(dir).join(name)).find(runs)
}

/// npm keeps the package's description beside the program.
fn of_package(program: &Path, name: &str) -> Option<Version> {
    let versions = program.ancestors().skip(1).take(PACKAGE_LEVELS_MAX).filter_map(|dir| {
        let file = dir.join("package.json");
        let small = file.metadata().is_ok_and(|found| found.is_file() && found.len() <= PACKAGE_BYTES_MAX);
        let package: serde_json::Value =
            small.then(|| std::fs::read(&file).ok()).flatten().and_then(|text| serde_json::from_slice(&text).ok())?;
        let ours = package["name"] == name;
        package["version"].as_str().filter(|_| ours)?.parse().ok()
    });
    versions.into_iter().next()
}

/// Lets the program say it, as the child itself would run.
async fn ask(program: &Path, launch: &Launch) -> Result<String, String> {
    let mut command = Command::new(program);
    if launch.bare {
        command.env_clear();
    }
    for name in &launch.env_remove {
        command.env_remove(name);
    }
    command.envs(launch.env.iter().map(|(name, value)| (name, value)));
    if let Some(cwd) = &launch.cwd {
        command.current_dir(cwd);
    }
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.process_group(0).kill_on_drop(true).spawn().map_err(|error| error.to_string())?;
    let group = child.id().map(|id| Pid::from_raw(id.cast_signed()));
    let mut text = Vec::new();
    if let Some(output) = child.stdout.take() {
        let answer = tokio::time::timeout(ANSWER_WITHIN, output.take(ANSWER_BYTES_MAX).read_to_end(&mut text)).await;
        if answer.is_err() {
            // Not yet waited for, so that the id means no other group.
            let _ = group.map(|group| killpg(group, Signal::SIGKILL));
            return Err(silent());
        }
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::agent::claude::version::RELEASE as CLAUDE;
    use crate::child::Size;
    use crate::config::Scratch;

    fn launch(scratch: &Scratch, program: &str) -> Launch {
        let env = vec![("PATH".into(), scratch.path("bin").into_os_string())];
        let size = Size::new(80, 24).unwrap();
        Launch {
            argv: vec![program.into()],
            cwd: Some(scratch.path("")),
            env,
            env_remove: Vec::new(),
            bare: false,
            size,
        }
    }

    /// A program that tells nothing but by its place.
    fn install(scratch: &Scratch, place: &str, script: &str) {
        let path = scratch.path(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Written by another process: a file that this one has open, and a child of another test with it, cannot run.
        let write = r#"printf '#!/bin/sh\n%s\n' "$0" > "$1" && chmod 755 "$1""#;
        let written = std::process::Command::new("sh").args(["-c", write, script]).arg(&path).status().unwrap();
        assert!(written.success());
        fs::create_dir_all(scratch.path("bin")).unwrap();
        symlink(path, scratch.path("bin/claude")).unwrap();
    }

    #[test]
    fn versions_are_read_and_compared() {
        let read = |text: &str| text.parse::<Version>();
        assert_eq!(read("2.1.197 (Claude Code)\n"), Ok(Version(2, 1, 197)));
        assert_eq!(read("2.1.0-beta.1"), Ok(Version(2, 1, 0)));
        assert!(Version(2, 0, 56) < Version(2, 1, 0) && Version(1, 0, 100) > Version(1, 0, 61));
        for bad in ["", "2", "2.1", "2.1.x", "v2.1.1", "2.1.1.1", "99999999999.1.1", "claude 2.1.197"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert_eq!(Version(2, 1, 197).to_string(), "2.1.197");
    }

    #[tokio::test]
    async fn an_npm_package_tells_by_its_description() {
        for program in ["bin/claude.exe", "cli.js"] {
            let scratch = Scratch::fresh();
            let package = "node_modules/@anthropic-ai/claude-code";
            install(&scratch, &format!("{package}/{program}"), "exit 1");
            scratch
                .file(&format!("{package}/package.json"), r#"{"name":"@anthropic-ai/claude-code","version":"2.0.9"}"#);
            assert_eq!(
                detect(&launch(&scratch, "claude"), &CLAUDE, &Elsewhere::default()).await,
                Ok(Version(2, 0, 9)),
                "{program}"
            );
            assert_eq!(
                detect(&launch(&scratch, "./bin/claude"), &CLAUDE, &Elsewhere::default()).await,
                Ok(Version(2, 0, 9)),
                "{program}"
            );
        }
    }

    #[tokio::test]
    async fn others_are_asked_in_the_childs_own_environment() {
        let scratch = Scratch::fresh();
        install(&scratch, "opt/package/run", r#"echo "hello"; echo "1.0.$1$MARK (Claude Code)" | tr -d -- -a-z"#);
        scratch.file("opt/package/package.json", r#"{"name":"another","version":"9.9.9"}"#);
        let mut launch = launch(&scratch, "claude");
        launch.env.push(("MARK".into(), "62".into()));
        launch.env[0].1.push(":/usr/bin:/bin");
        assert_eq!(detect(&launch, &CLAUDE, &Elsewhere::default()).await, Ok(Version(1, 0, 62)));
    }

    #[tokio::test]
    async fn what_cannot_be_known_is_said() {
        let scratch = Scratch::fresh();
        assert_eq!(
            detect(&launch(&scratch, "claude"), &CLAUDE, &Elsewhere::default()).await,
            Err(NoVersion::Missing("claude".into()))
        );
        scratch.file("no-program", "");
        assert!(matches!(
            detect(&launch(&scratch, "./no-program"), &CLAUDE, &Elsewhere::default()).await,
            Err(NoVersion::Missing(_))
        ));
        install(&scratch, "opt/run", "echo I am a teapot");
        let told = detect(&launch(&scratch, "claude"), &CLAUDE, &Elsewhere::default()).await.unwrap_err().to_string();
        assert!(told.ends_with(r#"bin/claude --version: it says "I am a teapot\n""#), "{told}");
    }
}
