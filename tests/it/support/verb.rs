//! Verbs, and other programs that run to their end, as a shell sees them.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::process::command;
use super::{Coop, PATIENCE, binary};

/// Prints only the first line of a command, and ends with the command's own code.
const FIRST_LINE: &str = "\"$@\" | head -n 1; exit \"${PIPESTATUS[0]}\"";

/// What a program left behind.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: Vec<u8>,
    pub err: String,
}

impl Ended {
    /// What it printed.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    /// What it printed, after a success without a word on stderr.
    pub fn ok(&self) -> String {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{}", self.text());
        self.text()
    }

    /// The one line that it printed.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The one line on stderr of a failure, or of words that the session refused, that printed nothing else.
    pub fn complaint(&self) -> &str {
        let lines: Vec<&str> = self.err.lines().collect();
        assert!(matches!(self.code, Some(1 | 2)) && self.out.is_empty() && lines.len() == 1, "{self:?}");
        lines[0].strip_prefix("coop: ").unwrap_or_else(|| panic!("{self:?}"))
    }
}

/// Runs something that must end by itself.
async fn finish(command: Command) -> Ended {
    finished(command.into()).await
}

/// The same for what reads nothing.
pub async fn finished(mut command: tokio::process::Command) -> Ended {
    let shown = format!("{command:?}");
    command.stdin(Stdio::null());
    let output = tokio::time::timeout(PATIENCE, command.kill_on_drop(true).output()).await;
    let output = output.unwrap_or_else(|_| panic!("{shown} has not ended")).unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    Ended { code: output.status.code(), out: output.stdout, err }
}

/// Runs coop with these words and nothing else, in an environment with these variables.
pub async fn run_coop(words: &[&str], variables: &[(&str, &str)]) -> Ended {
    let mut command = command(words, &[]);
    command.envs(variables.iter().copied());
    finish(command).await
}

impl Coop {
    /// A verb for this session.
    pub fn verb_command(&self, words: &[&str]) -> Command {
        let mut command = command(words, &[]);
        match &self.socket {
            Some(path) => command.arg("--socket").arg(path),
            None => command.args(["--url", self.listening["url"].as_str().unwrap()]),
        };
        command
    }

    pub async fn verb(&self, words: &[&str]) -> Ended {
        finish(self.verb_command(words)).await
    }

    /// A verb whose reader goes after the first line.
    pub async fn first_line(&self, words: &[&str]) -> Ended {
        let verb = self.verb_command(words);
        let mut shell = Command::new("bash");
        shell.args(["--norc", "-c", FIRST_LINE, "bash"]).arg(binary()).args(verb.get_args());
        for (name, _) in verb.get_envs() {
            shell.env_remove(name);
        }
        finish(shell).await
    }
}
