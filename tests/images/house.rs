//! A user with a home, a project and coop's verbs, as root or as an ordinary user; all that runs for them ends with the test.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};

use crate::support::{Scratch, coop};

/// The box of these tests.
const NAME: &str = "red";

pub struct House {
    pub scratch: Scratch,
}

impl House {
    pub fn new() -> Self {
        let scratch = Scratch::fresh();
        for dir in ["run", "project", "user"] {
            scratch.dir(dir);
        }
        // The one that is tested may be in a place that this user cannot reach, and what starts others must be found again.
        fs::copy(coop(), scratch.path("coop")).unwrap();
        fs::set_permissions(scratch.path("coop"), Permissions::from_mode(0o755)).unwrap();
        Self { scratch }
    }

    pub fn project(&self) -> String {
        self.scratch.path("project").display().to_string()
    }

    /// Writes the project's coop.toml, and trusts it.
    pub fn says(&self, toml: &str) {
        self.scratch.file("project/coop.toml", toml);
        self.ok(&["trust", &self.project(), "--yes"]);
    }

    /// The project's box, for which these words are said too.
    pub fn up(&self, words: &[&str]) {
        self.ok(&[&["up", &self.project(), "--name", NAME, "-d"], words, &["--", "cat"]].concat());
    }

    /// What a script in the box prints, and how it ends.
    pub fn inside(&self, script: &str) -> (String, bool) {
        let done = self.run(&["shell", NAME, "--", "/bin/sh", "-c", script]);
        let said = [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        (said, done.status.success())
    }

    pub fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(self.scratch.path("coop"));
        command.env("COOP_HOME", self.scratch.path("home")).env("XDG_RUNTIME_DIR", self.scratch.path("run"));
        command.env("HOME", self.scratch.path("user")).args(words).stdin(Stdio::null()).output().unwrap()
    }

    /// What a verb prints that must succeed.
    pub fn ok(&self, words: &[&str]) -> String {
        let done = self.run(words);
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// What a verb says that must fail.
    pub fn refused(&self, words: &[&str]) -> String {
        let done = self.run(words);
        assert!(!done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stdout));
        String::from_utf8_lossy(&done.stderr).into_owned()
    }

    pub fn removes(&self) {
        self.ok(&["rm", "--force", NAME]);
    }
}

impl Drop for House {
    fn drop(&mut self) {
        // Either may be gone already.
        self.run(&["rm", "--force", NAME]);
        self.run(&["daemon", "stop"]);
    }
}
