//! The registry that everybody runs (CNCF distribution), on a port of its own, ended with the test.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use crate::scratch::Scratch;

/// `me:hunter2`, as htpasswd writes it.
const LOGIN: &str = "me:$2y$05$abcdefghijklmnopqrstuuoXuKqgZXLiJqzfmMXDDhSFPIvxV7t8.";

/// After this a wait has failed. Long, because it only matters when something is broken.
const HANGS_AFTER: Duration = Duration::from_secs(30);

/// More requests than any test makes.
const LINES_MAX: usize = 1000;

pub struct RegistryProgram {
    pub address: String,
    child: Child,
    /// A line for each request that was answered, as web servers write it.
    answered: Receiver<String>,
    _scratch: Scratch,
}

/// Where `tests/images/ready` puts what it installs.
fn program() -> PathBuf {
    let cache = std::env::var_os("BOXES_CACHE").map_or_else(|| "/tmp/boxes-cache".into(), PathBuf::from);
    let program = cache.join("registry");
    assert!(program.exists(), "{} is missing: run tests/images/ready", program.display());
    program
}

impl RegistryProgram {
    pub fn open_to_all() -> Self {
        Self::start("")
    }

    pub fn with_login() -> Self {
        Self::start("auth:\n  htpasswd: {realm: coop, path: LOGINS}\n")
    }

    fn start(more: &str) -> Self {
        let scratch = Scratch::fresh();
        let logins = scratch.path("logins");
        std::fs::write(&logins, LOGIN).unwrap();
        let config = format!(
            "version: 0.1\nlog: {{level: info}}\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: \"127.0.0.1:0\"}}\n{}",
            scratch.path("data").display(),
            more.replace("LOGINS", logins.to_str().unwrap())
        );
        std::fs::write(scratch.path("config.yml"), config).unwrap();
        let mut command = Command::new(program());
        command.arg("serve").arg(scratch.path("config.yml")).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.env("OTEL_TRACES_EXPORTER", "none").spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut seen = Vec::new();
        let address = loop {
            let Some(Ok(line)) = lines.next() else { panic!("the registry ended: {seen:?}") };
            if let Some((_, rest)) = line.split_once("listening on ") {
                break rest.split('"').next().unwrap().to_owned();
            }
            seen.push(line);
        };
        // It must not stop because nobody reads what it says.
        std::thread::spawn(move || lines.for_each(drop));
        let (tell, answered) = sync_channel(LINES_MAX);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(tell.try_send(line))));
        Self { address, child, answered, _scratch: scratch }
    }
}

impl RegistryProgram {
    /// What it wrote down about the first request with this text that was not looked at yet.
    pub fn answer_to(&self, request: &str) -> String {
        loop {
            let line = self.answered.recv_timeout(HANGS_AFTER).expect("there was no such request");
            if line.contains(request) {
                return line;
            }
        }
    }
}

impl Drop for RegistryProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
