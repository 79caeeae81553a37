//! How a session begins.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use serde_json::json;

use super::record::Record;
use super::{Agent, House, Options, Session, program, write_json};
use crate::model::Model;
use crate::support::Coop;
use crate::tmux::Tmux;

impl<A: Agent> Session<A> {
    /// Starts it and follows its states; it may show anything.
    pub async fn start(options: impl Into<Options<A>>) -> Self {
        let options = options.into();
        let house = options.house.unwrap_or_else(|| Arc::new(House::new()));
        let model = Model::start(A::DIALECT, options.script);
        let url = if options.boxed { from_a_box(&model) } else { model.url() };
        options.agent.seed(&house, &url);
        if let Some(prepare) = options.prepare {
            prepare(&house);
        }
        let mut variables = vec![("HOME", house.home().display().to_string()), ("PATH", house.path_variable())];
        variables.extend(options.agent.variables(&house, &url));
        variables.retain(|(name, _)| !options.variables.iter().any(|(other, _)| name == other));
        variables.extend(options.variables.iter().map(|(name, value)| (name.as_str(), value.clone())));

        let agent = if options.known { A::NAME } else { "unknown" };
        let mut flags: Vec<String> = ["--port", "0", "--agent", agent].map(str::to_owned).into();
        let mut words = vec![options.program.unwrap_or_else(program::<A>).display().to_string()];
        words.extend(options.words);
        let cwd = house.workspace().display().to_string();
        let tmux = options.in_tmux.then(|| in_tmux(options.size, &cwd, &variables, &words));
        match &tmux {
            Some(tmux) => {
                flags.extend(
                    ["--attach", "tmux:main", "--tmux-socket", &tmux.socket().display().to_string()].map(str::to_owned),
                );
                words.clear();
            }
            None => {
                let (cols, rows) = options.size;
                flags.extend(
                    ["--cwd", &cwd, "--cols", &cols.to_string(), "--rows", &rows.to_string()].map(str::to_owned),
                );
                flags
                    .extend(variables.iter().flat_map(|(name, value)| ["--env".to_owned(), format!("{name}={value}")]));
            }
        }
        if let Some(config) = options.agent_config {
            write_json(&house.beside("agent.json"), &config);
            flags.extend(["--agent-config".to_owned(), house.beside("agent.json").display().to_string()]);
        }
        if options.boxed {
            put_in_a_box(&house, agent, &words, &url, &mut flags);
        }
        flags.extend(options.flags);

        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let coop = Coop::start_with(&flags, &words, |command| {
            // Nothing of the tests' own surroundings shall reach the agent.
            command.env_clear();
            command.envs([("HOME", house.home().display().to_string()), ("PATH", house.path_variable())]);
            command.env("LANG", "C.UTF-8");
            command.env("COOP_HOME", house.beside("coop"));
        });
        let record = Record::follow(&coop.place).await;
        Self { coop, model, house, record, seen: AtomicUsize::new(0), _tmux: tmux }
    }

    /// Starts it and waits until it is idle.
    pub async fn ready(options: impl Into<Options<A>>) -> Self {
        let session = Self::start(options).await;
        session.until("idle").await;
        session
    }
}

/// The model as a program in a box calls it.
fn from_a_box(model: &Model) -> String {
    model.url().replace("127.0.0.1", "host.coop")
}

/// Leaves the record of a box in the house, whose home and workspace are the box's own.
fn put_in_a_box<A: Agent>(house: &House<A>, agent: &str, words: &[String], model: &str, flags: &mut Vec<String>) {
    let name = house.beside("").file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let plan = json!({
        "name": name,
        "image": "host",
        "agent": agent,
        "command": words,
        "shell": "/bin/sh",
        "workspace": {"path": house.workspace(), "mode": "rw"},
        "network": {"mode": "filtered", "allow": [model.trim_start_matches("http://")]},
    });
    let record = house.beside("session.json");
    write_json(&record, &json!({"version": 1, "name": name, "created_at_ms": 1, "plan": plan}));
    let socket = house.beside("box.sock");
    flags
        .extend(["--box", &record.display().to_string(), "--socket", &socket.display().to_string()].map(str::to_owned));
}

/// What tmux itself tells a program, and nothing else of the tests' own surroundings; then where, with what, and which.
const ALONE: &str =
    r#"cd "$1" && shift && exec env -i TERM="$TERM" TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" LANG=C.UTF-8 "$@""#;

/// Started in a tmux, by somebody who knows nothing of coop.
fn in_tmux((cols, rows): (u16, u16), cwd: &str, variables: &[(&str, String)], words: &[String]) -> Tmux {
    let mut line: Vec<String> = ["sh", "-c", ALONE, "sh", cwd].map(str::to_owned).into();
    line.extend(variables.iter().map(|(name, value)| format!("{name}={value}")));
    line.extend_from_slice(words);
    Tmux::running(cols, rows, &line.iter().map(String::as_str).collect::<Vec<_>>())
}
