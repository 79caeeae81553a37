//! A GNU screen session of a test's own: nobody's configuration, nobody's sockets, and it ends with the test.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use crate::support::{PATIENCE, Scratch};

pub struct Screen {
    scratch: Scratch,
}

impl Screen {
    /// A detached session `main` whose one window runs the words.
    pub fn running(words: &[&str]) -> Self {
        let screen = Self { scratch: Scratch::new() };
        std::fs::create_dir(screen.directory()).unwrap();
        std::fs::set_permissions(screen.directory(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let mut args = vec!["-c", "/dev/null", "-dmS", "main"];
        args.extend(words);
        screen.does(&args);
        // The session is there when it is listed.
        let deadline = Instant::now() + PATIENCE;
        while !screen.lists("main") {
            assert!(Instant::now() < deadline, "screen never began");
        }
        screen
    }

    /// Where the sockets are: `SCREENDIR`.
    pub fn directory(&self) -> PathBuf {
        self.scratch.path("screens")
    }

    pub fn tries(&self, args: &[&str]) -> Output {
        let mut command = Command::new("screen");
        command.args(args).env("SCREENDIR", self.directory()).env("TERM", "xterm").env_remove("STY");
        command.stdin(Stdio::null()).output().expect("screen is there: tests/terminals/run installs it")
    }

    pub fn does(&self, args: &[&str]) -> String {
        let output = self.tries(args);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "screen {args:?}: {out} {err}");
        out.into_owned()
    }

    pub fn lists(&self, name: &str) -> bool {
        String::from_utf8_lossy(&self.tries(&["-ls"]).stdout).contains(&format!(".{name}\t"))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.tries(&["-S", "main", "-X", "quit"]);
    }
}
