//! A user with a home and sockets of their own, and all that runs for them, which ends with the test.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::support::{Answer, Ended, Lines, PATIENCE, Place, Scratch, Seat, alive, binary, finished, started_in};

pub struct User {
    pub scratch: Scratch,
    variables: Vec<(String, String)>,
}

/// The daemon as its callers see it.
pub struct Daemon {
    pub place: Place,
    pub pid: i32,
    pub info: Value,
}

impl User {
    pub fn new() -> Self {
        let scratch = Scratch::new();
        for dir in ["run", "project", "other"] {
            std::fs::create_dir(scratch.path(dir)).unwrap();
        }
        Self { scratch, variables: Vec::new() }
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With projects that are repositories already, of which there is nothing to warn.
    pub fn with_git(self) -> Self {
        for dir in ["project/.git", "other/.git"] {
            std::fs::create_dir(self.scratch.path(dir)).unwrap();
        }
        self
    }

    /// Where boxes are kept.
    pub fn home(&self) -> PathBuf {
        self.scratch.path("home")
    }

    pub fn sockets(&self) -> PathBuf {
        self.scratch.path("run/coop")
    }

    pub fn project(&self) -> String {
        self.scratch.path("project").display().to_string()
    }

    /// The directory of a box.
    pub fn kept(&self, name: &str) -> PathBuf {
        self.home().join("sessions").join(name)
    }

    /// coop, as this user starts it.
    pub fn coop(&self, words: &[&str]) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(binary());
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("COOP")) {
            command.env_remove(name);
        }
        command.env("COOP_HOME", self.home()).env("XDG_RUNTIME_DIR", self.scratch.path("run"));
        command.envs(self.variables.iter().map(|(name, value)| (name, value))).args(words);
        command
    }

    pub async fn run(&self, words: &[&str]) -> Ended {
        finished(self.coop(words)).await
    }

    /// coop with these words in a terminal of its own.
    pub fn seat(&self, words: &[&str]) -> Seat {
        let variables = [("COOP_HOME", self.home()), ("XDG_RUNTIME_DIR", self.scratch.path("run"))];
        let mut argv: Vec<OsString> = vec!["env".into()];
        argv.extend(variables.iter().map(|(name, value)| format!("{name}={}", value.display()).into()));
        argv.push(binary().into());
        argv.extend(words.iter().map(OsString::from));
        Seat::running(90, 12, argv)
    }

    /// The daemon, started if there is none.
    pub async fn daemon(&self) -> Daemon {
        let info = self.run(&["daemon", "start"]).await.json();
        let place = Place::unix(info["socket"].as_str().unwrap().into());
        Daemon { place, pid: i32::try_from(info["pid"].as_i64().unwrap()).unwrap(), info }
    }

    /// What a caller sends to have a box.
    pub fn source(&self, name: &str, command: &[&str]) -> Value {
        json!({"directory": self.project(), "name": name, "command": command})
    }
}

impl Daemon {
    pub async fn get(&self, path: &str) -> Answer {
        self.place.call("GET", path).send().await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.place.call("POST", path).json(&body).send().await
    }

    pub async fn create(&self, source: Value) -> Answer {
        self.post("/api/v1/boxes", json!({ "source": source })).await
    }

    pub async fn get_box(&self, name: &str) -> Value {
        self.get(&format!("/api/v1/boxes/{name}")).await.ok()
    }

    /// All boxes, and what happens to them.
    pub async fn watch(&self) -> Lines {
        self.place.call("GET", "/api/v1/stream/boxes").stream().await
    }

    /// Waits until a box stands like this.
    pub async fn stands(&self, name: &str, state: &str) -> Value {
        let mut news = self.watch().await;
        loop {
            let changed = news.value().await["changed"].take();
            if changed["name"] == name && changed["state"] == state {
                return changed;
            }
        }
    }

    pub fn kill(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid), signal).unwrap();
    }

    /// Looks until the process has gone; it is not our child, who would be told.
    pub async fn left(&self) {
        gone(self.pid).await;
    }
}

pub async fn gone(pid: i32) {
    let deadline = Instant::now() + PATIENCE;
    while alive(pid) {
        assert!(Instant::now() < deadline, "process {pid} is still there");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The process of a box's session.
pub fn pid_of(told: &Value) -> i32 {
    i32::try_from(told["pid"].as_i64().unwrap_or_else(|| panic!("{told}"))).unwrap()
}

/// The session itself, without the daemon.
pub fn session_of(told: &Value) -> Place {
    Place::unix(told["socket"].as_str().unwrap().into())
}

impl Drop for User {
    fn drop(&mut self) {
        // Nothing but what this user has started speaks of this directory.
        for _ in 0..3 {
            for pid in started_in(&self.scratch) {
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
        }
    }
}
