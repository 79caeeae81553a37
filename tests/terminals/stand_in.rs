//! A program in front of the real tmux or screen, which fails for as long as a test says so.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use crate::support::Scratch;

pub struct StandIn {
    scratch: Scratch,
}

impl StandIn {
    /// Stands in for a program; these lines of a shell come before it is run.
    pub fn of(program: &str, first: &str) -> Self {
        let stand_in = Self { scratch: Scratch::new() };
        let found = Command::new("which").arg(program).output().unwrap().stdout;
        let (real, fails) = (String::from_utf8(found).unwrap(), stand_in.fails());
        let refuse = format!("[ ! -e {} ] || {{ echo 'busy' >&2; exit 1; }}", fails.display());
        let script = format!("#!/bin/sh\n{first}\n{refuse}\nexec {} \"$@\"\n", real.trim());
        let path = stand_in.scratch.file(program, script);
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
        stand_in
    }

    /// `PATH` with it in front.
    pub fn path(&self) -> String {
        format!("{}:{}", self.scratch.dir().display(), std::env::var("PATH").unwrap())
    }

    /// From now on each command fails.
    pub fn fail(&self) {
        std::fs::write(self.fails(), "").unwrap();
    }

    /// And now no more.
    pub fn recover(&self) {
        std::fs::remove_file(self.fails()).unwrap();
    }

    fn fails(&self) -> PathBuf {
        self.scratch.path("fails")
    }
}
