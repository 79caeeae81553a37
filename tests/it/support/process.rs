//! A coop that runs as its users run it: its own process, an address on stdout, a log on stderr.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::place::{Address, Log, Place};
use super::{Answer, Call, PATIENCE, PATIENCE_MS, Scratch};

/// How long a coop may take to leave after a test before it is told again.
const LEAVE_WITHIN: Duration = Duration::from_secs(2);

/// The size that tests start with unless they ask for another.
const SIZE: [&str; 4] = ["--cols", "80", "--rows", "24"];

/// A running coop, which ends with the test.
pub struct Coop {
    pub place: Place,
    pub pid: i32,
    /// The line on stdout.
    pub listening: Value,
    pub socket: Option<PathBuf>,
    end: Arc<End>,
    /// Where it puts its own socket unless a test says otherwise, so that no session of the user's is mixed up with it.
    _runtime: Scratch,
}

/// How it ended, once it has.
#[derive(Default)]
struct End {
    status: Mutex<Option<ExitStatus>>,
    /// What came on stdout after the one line.
    more: Mutex<String>,
    told: Condvar,
}

impl End {
    fn wait(&self, patience: Duration) -> Option<ExitStatus> {
        let status = self.status.lock().unwrap();
        *self.told.wait_timeout_while(status, patience, |status| status.is_none()).unwrap().0
    }
}

/// Another build can be held to the same promises, such as a release.
pub fn binary() -> PathBuf {
    std::env::var_os("COOP_TEST_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_coop").into()).into()
}

pub(super) fn command(flags: &[&str], program: &[&str]) -> Command {
    let mut command = Command::new(binary());
    // What the tests themselves run in must not show.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("COOP")) {
        command.env_remove(name);
    }
    if !program.is_empty() && !flags.contains(&"--cols") {
        command.args(SIZE);
    }
    command.args(flags);
    if !program.is_empty() {
        command.arg("--").args(program);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a coop that must end by itself, a session or, without a program, a verb; its exit code, stdout and stderr.
pub fn run_to_its_end(flags: &[&str], program: &[&str]) -> (Option<i32>, String, String) {
    let mut child = command(flags, program).spawn().unwrap();
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let pid = Pid::from_raw(child.id().cast_signed());
    let (done, ended) = sync_channel(1);
    let reader = std::thread::spawn(move || {
        let (mut out, mut err) = (String::new(), String::new());
        stdout.read_to_string(&mut out).unwrap();
        stderr.read_to_string(&mut err).unwrap();
        let _ = done.send(());
        (out, err)
    });
    if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
        let _ = kill(pid, Signal::SIGKILL);
    }
    let status = child.wait().unwrap();
    let (out, err) = reader.join().unwrap();
    (status.code(), out, err)
}

impl Coop {
    /// A program on a free port.
    pub fn run(program: &[&str]) -> Self {
        Self::start(&["--port", "0"], program)
    }

    pub fn start(flags: &[&str], program: &[&str]) -> Self {
        Self::start_with(flags, program, |_| {})
    }

    /// With changes to how coop itself is started.
    pub fn start_with(flags: &[&str], program: &[&str], change: impl FnOnce(&mut Command)) -> Self {
        let (mut command, runtime) = (command(flags, program), Scratch::new());
        command.env("XDG_RUNTIME_DIR", runtime.dir());
        change(&mut command);
        let mut child = command.spawn().unwrap();
        let pid = child.id().cast_signed();
        let log = Log::default();
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let lines = log.clone();
        std::thread::spawn(move || {
            BufReader::new(stderr).lines().map_while(Result::ok).for_each(|line| lines.push(line))
        });
        let end = Arc::new(End::default());
        let tell = end.clone();
        let (said, first_line) = sync_channel(1);
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            let mut line = String::new();
            let _ = stdout.read_line(&mut line);
            let _ = said.send(line);
            let mut more = String::new();
            let _ = stdout.read_to_string(&mut more);
            *tell.more.lock().unwrap() = more;
            *tell.status.lock().unwrap() = child.wait().ok();
            tell.told.notify_all();
        });
        let line = first_line.recv_timeout(PATIENCE).unwrap_or_default();
        let listening: Value = serde_json::from_str(&line).unwrap_or_else(|_| {
            panic!(
                "coop did not start: {line:?}\n{}",
                end.wait(LEAVE_WITHIN).map_or(log.text(), |status| format!("{status}\n{}", log.text()))
            )
        });
        let socket = listening["socket"].as_str().map(PathBuf::from);
        let url = listening["url"].as_str().and_then(|url| url.strip_prefix("http://")?.parse().ok());
        let address = url.map(Address::Tcp).unwrap_or_else(|| Address::Unix(socket.clone().unwrap()));
        let token = flags.windows(2).find(|pair| pair[0] == "--auth-token").map(|pair| pair[1].to_owned());
        Self { place: Place { address, log, token }, pid, listening, socket, end, _runtime: runtime }
    }

    /// The same coop through another of its addresses.
    pub fn at(&self, key: &str) -> Place {
        let said = self.listening[key].as_str().unwrap_or_else(|| panic!("no {key} in {}", self.listening));
        let address = match said.strip_prefix("http://") {
            Some(address) => Address::Tcp(address.parse().unwrap()),
            None => Address::Unix(said.into()),
        };
        Place { address, ..self.place.clone() }
    }

    pub fn call(&self, verb: &str, path: &str) -> Call {
        self.place.call(verb, path)
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.call("GET", path).send().await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.call("POST", path).json(&body).send().await
    }

    pub async fn status(&self) -> Value {
        self.get("/api/v1/status").await.ok()
    }

    /// The screen's rows, without the blank ones below.
    pub async fn screen(&self) -> String {
        let lines = self.get("/api/v1/screen").await.ok()["lines"].clone();
        let lines: Vec<&str> = lines.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        lines.join("\n").trim_end().to_owned()
    }

    /// Waits until something is true of the session.
    pub async fn wait(&self, mut what: Value) -> Value {
        what["timeout_ms"] = PATIENCE_MS.into();
        let met = self.post("/api/v1/wait", what.clone()).await.ok();
        assert!(met["matched"] == json!(true), "{what} never came true\n{}", self.place.sight().await);
        met
    }

    /// Waits until a row of the screen shows this.
    pub async fn shows(&self, text: &str) -> String {
        self.wait(json!({"text": text})).await["line"].as_str().unwrap_or_default().to_owned()
    }

    pub async fn exited(&self) -> Value {
        self.wait(json!({"exited": true})).await["exit"].clone()
    }

    /// Types a line.
    pub async fn types(&self, line: &str) {
        self.post("/api/v1/input", json!({"text": line, "enter": true})).await.ok();
    }

    pub async fn child_pid(&self) -> i32 {
        i32::try_from(self.status().await["pid"].as_i64().unwrap()).unwrap()
    }

    /// All bytes of the child's output that are held.
    pub async fn output(&self) -> Vec<u8> {
        self.get("/api/v1/output").await.bytes_of("data")
    }

    pub fn signal(&self, signal: Signal) {
        // Until its end is told, the id is nobody else's.
        if self.end.wait(Duration::ZERO).is_none() {
            let _ = kill(Pid::from_raw(self.pid), signal);
        }
    }

    /// Waits until coop itself has left.
    pub async fn left(&self) -> ExitStatus {
        let end = self.end.clone();
        let status = tokio::task::spawn_blocking(move || end.wait(PATIENCE)).await.unwrap();
        match status {
            Some(status) => status,
            None => panic!("coop did not leave\n{}", self.place.sight().await),
        }
    }

    pub fn has_left(&self) -> bool {
        self.end.wait(Duration::ZERO).is_some()
    }

    pub async fn log_says(&self, text: &str) {
        let (log, wanted) = (self.place.log.clone(), text.to_owned());
        let found = tokio::task::spawn_blocking(move || log.wait_for(&wanted)).await.unwrap();
        assert!(found, "the log never said {text:?}\n{}", self.place.log.text());
    }
}

impl Drop for Coop {
    fn drop(&mut self) {
        let begun = Instant::now();
        for signal in [Signal::SIGTERM, Signal::SIGTERM, Signal::SIGKILL] {
            self.signal(signal);
            if self.end.wait(LEAVE_WITHIN).is_some() {
                let more = self.end.more.lock().unwrap();
                assert!(std::thread::panicking() || more.is_empty(), "only one line may ever go to stdout: {more}");
                return;
            }
        }
        if !std::thread::panicking() {
            panic!("coop {} is still there after {:?}", self.pid, begun.elapsed());
        }
    }
}
