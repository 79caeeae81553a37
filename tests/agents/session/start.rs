//! How a session begins.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::record::Record;
use super::{Agent, House, Options, Session, program, write_json};
use crate::model::Model;
use crate::support::Coop;

impl<A: Agent> Session<A> {
    /// Starts it and follows its states; it may show anything.
    pub async fn start(options: impl Into<Options<A>>) -> Self {
        let options = options.into();
        let house = options.house.unwrap_or_else(|| Arc::new(House::new()));
        let model = Model::start(A::DIALECT, options.script);
        options.agent.seed(&house, &model.url());
        if let Some(prepare) = options.prepare {
            prepare(&house);
        }
        let mut variables = vec![("HOME", house.home().display().to_string()), ("PATH", house.path_variable())];
        variables.extend(options.agent.variables(&house, &model.url()));
        variables.retain(|(name, _)| !options.variables.iter().any(|(other, _)| name == other));
        variables.extend(options.variables.iter().map(|(name, value)| (name.as_str(), value.clone())));

        let (cols, rows) = options.size;
        let (cols, rows, cwd) = (cols.to_string(), rows.to_string(), house.workspace().display().to_string());
        let agent = if options.known { A::NAME } else { "unknown" };
        let flags = ["--port", "0", "--agent", agent, "--cwd", &cwd, "--cols", &cols, "--rows", &rows];
        let mut flags: Vec<String> = flags.map(str::to_owned).into();
        flags.extend(variables.iter().flat_map(|(name, value)| ["--env".to_owned(), format!("{name}={value}")]));
        if let Some(config) = options.agent_config {
            write_json(&house.beside("agent.json"), &config);
            flags.extend(["--agent-config".to_owned(), house.beside("agent.json").display().to_string()]);
        }
        flags.extend(options.flags);
        let mut words = vec![program::<A>().display().to_string()];
        words.extend(options.words);

        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let coop = Coop::start_with(&flags, &words, |command| {
            // Nothing of the tests' own surroundings shall reach the agent.
            command.env_clear();
            command.envs([("HOME", house.home().display().to_string()), ("PATH", house.path_variable())]);
            command.env("LANG", "C.UTF-8");
        });
        let record = Record::follow(&coop.place).await;
        Self { coop, model, house, record, seen: AtomicUsize::new(0) }
    }

    /// Starts it and waits until it is idle.
    pub async fn ready(options: impl Into<Options<A>>) -> Self {
        let session = Self::start(options).await;
        session.until("idle").await;
        session
    }
}
