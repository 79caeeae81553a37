//! Claude Code, played by a test: its hooks are run as it runs them, with the environment that coop gave to its child.

use std::ops::Deref;
use std::process::Stdio;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

use super::http::Lines;
use super::{Coop, PATIENCE, Scratch, binary, environment};

/// What coop tells its child, and hooks read.
const TOLD: &str = "COOP";

/// A shell in Claude's place, which reads what it is given and shows it. It stays the shell that it is: a process that
/// becomes another has no environment for a moment.
const SHOWS_WHAT_IT_READS: &str = "stty -echo -icanon -icrnl; echo ready; cat -v; exit";

/// A session whose agent a test plays.
pub struct Claude {
    coop: Coop,
    /// Its home, and where coop keeps its files.
    pub home: Arc<Scratch>,
    variables: Vec<(String, String)>,
}

impl Deref for Claude {
    type Target = Coop;

    fn deref(&self) -> &Coop {
        &self.coop
    }
}

/// A hook that runs.
pub struct Hook {
    child: Child,
    what: String,
}

impl Claude {
    pub async fn start(flags: &[&str]) -> Self {
        Self::start_in(&Arc::new(Scratch::new()), flags, SHOWS_WHAT_IT_READS).await
    }

    /// With a configuration of the agent.
    pub async fn configured(config: Value) -> Self {
        let home = Arc::new(Scratch::new());
        let file = home.file("agent.json", config.to_string());
        Self::start_in(&home, &["--agent-config", &file], SHOWS_WHAT_IT_READS).await
    }

    /// In this home, with this script in Claude's place; it must show `ready`, and not `exec` then. A shell starts Claude with words of its
    /// own, so that coop adds none.
    pub async fn start_in(home: &Arc<Scratch>, flags: &[&str], script: &str) -> Self {
        let port: &[&str] = if flags.contains(&"--socket") { &[] } else { &["--port", "0"] };
        let program = ["bash", "--norc", "-c", script];
        let coop = Coop::start_with(&[port, &["--agent", "claude"], flags].concat(), &program, |command| {
            at_home(command, home);
        });
        coop.shows("ready").await;
        let pid = coop.child_pid().await;
        let told = environment(pid).into_iter().filter(|variable| variable.starts_with(TOLD));
        let variables = told.filter_map(|variable| variable.split_once('=').map(|(n, v)| (n.into(), v.into())));
        let claude = Self { coop, home: home.clone(), variables: variables.collect() };
        assert!(!claude.variable("COOP_HOOK_SOCKET").is_empty());
        claude
    }

    /// A variable that coop gave to its child.
    pub fn variable(&self, name: &str) -> &str {
        let found = self.variables.iter().find(|(known, _)| known == name);
        &found.unwrap_or_else(|| panic!("{name} is not among {:?}", self.variables)).1
    }

    /// A program as the child would start it.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with(TOLD)) {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Begins a hook, which coop may hold open.
    pub fn begin(&self, event: &str, payload: &Value) -> Hook {
        self.begin_with(event, payload.to_string())
    }

    /// With any bytes in place of JSON.
    pub fn begin_with(&self, event: &str, payload: impl Into<Vec<u8>>) -> Hook {
        let mut command = self.command(binary());
        command.args(["hook", event]);
        Hook::begin(command, event, payload.into())
    }

    /// Runs a hook to its end; what it prints for the agent.
    pub async fn hook(&self, event: &str, payload: Value) -> String {
        self.begin(event, &payload).ended().await
    }

    /// Waits until the agent is in this state, and tells all of it.
    pub async fn is(&self, state: &str) -> Value {
        self.wait(json!({"states": [state]})).await;
        self.state().await
    }

    pub async fn state(&self) -> Value {
        self.get("/api/v1/agent/state").await.ok()
    }

    /// Asks for a tool, and waits until coop says so; the hook, and the prompt.
    pub async fn asks(&self, tool: &str, input: Value) -> (Hook, Value) {
        let before = self.state().await["prompt"]["id"].clone();
        let mut states = self.states().await;
        let hook = self.begin("PermissionRequest", &json!({"tool_name": tool, "tool_input": input}));
        loop {
            let event = states.value().await;
            if event["next"] == "prompt" && event["prompt"]["id"] != before {
                return (hook, event["prompt"].clone());
            }
        }
    }

    /// All states from now on, the present one first.
    pub async fn states(&self) -> Lines {
        self.call("GET", "/api/v1/stream/state").stream().await
    }
}

/// Lets a coop keep its files and look for the agent's in a test's own directory.
pub fn at_home(command: &mut std::process::Command, home: &Scratch) {
    for name in ["CLAUDE_CONFIG_DIR", "XDG_STATE_HOME"] {
        command.env_remove(name);
    }
    command.env("HOME", home.dir());
}

impl Hook {
    pub fn begin(mut command: Command, what: &str, payload: Vec<u8>) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        tokio::spawn(async move {
            // A hook that does not read is seen by how it ends.
            let _ = stdin.write_all(&payload).await;
        });
        Self { child, what: what.to_owned() }
    }

    /// What it printed, after an end without a complaint: agents show whatever else to their users.
    pub async fn ended(self) -> String {
        let output = tokio::time::timeout(PATIENCE, self.child.wait_with_output()).await;
        let output = output.unwrap_or_else(|_| panic!("the hook {} has not ended", self.what)).unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), err.as_ref()), (Some(0), ""), "{}", self.what);
        String::from_utf8(output.stdout).unwrap()
    }

    /// What it printed, as JSON.
    pub async fn told(self) -> Value {
        let text = self.ended().await;
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"))
    }

    /// Whether it still waits for its answer.
    pub fn waits(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Ends it, as an agent does whose user was quicker.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }
}
