//! What an agent is told when its conversation begins, goes on, or was cleared.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::config::{StartConfig, StartInjection};

#[derive(Clone, Debug, Default)]
pub struct StartGate {
    config: StartConfig,
}

impl StartGate {
    pub fn new(config: StartConfig) -> Self {
        Self { config }
    }

    pub fn config(&self) -> &StartConfig {
        &self.config
    }

    pub fn put(&mut self, config: StartConfig) {
        self.config = config;
    }

    /// A shell script that prints what is told at this kind of start; empty when that is nothing.
    ///
    /// What is said for one kind replaces what is said for all, even by nothing.
    pub fn script(&self, source: &str) -> String {
        let StartConfig { text, shell, event } = &self.config;
        match event.get(source) {
            Some(StartInjection { text, shell }) => script(text.as_deref(), shell),
            None => script(text.as_deref(), shell),
        }
    }
}

fn script(text: Option<&str>, shell: &[String]) -> String {
    let mut lines = Vec::new();
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        // No quoting can go wrong in these letters.
        lines.push(format!("printf '%s' '{}' | base64 -d", BASE64.encode(text)));
        if !shell.is_empty() && !text.ends_with('\n') {
            lines.push("echo".to_owned());
        }
    }
    lines.extend(shell.iter().cloned());
    if lines.is_empty() { String::new() } else { lines.join("\n") + "\n" }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::*;
    use crate::agent::hook_script::output_of;

    fn gate(config: Value) -> StartGate {
        StartGate::new(serde_json::from_value(config).unwrap())
    }

    fn told(gate: &StartGate, source: &str) -> String {
        String::from_utf8(output_of(&gate.script(source), Duration::from_secs(60)).unwrap()).unwrap()
    }

    #[test]
    fn nothing_to_say_is_no_script() {
        for config in [json!({}), json!({"text": "", "shell": []}), json!({"text": "x", "event": {"resume": {}}})] {
            assert_eq!(gate(config).script("resume"), "");
        }
    }

    #[test]
    fn text_arrives_as_it_is_and_commands_after_it() {
        let text = "it's $HOME `id` \"é\"\n\\n %s";
        let gate = gate(json!({"text": text, "shell": ["echo one", "echo two"]}));
        assert_eq!(told(&gate, "startup"), format!("{text}\none\ntwo\n"));
        assert!(gate.script("startup").starts_with("printf '%s' 'aXQncyAk"));
    }

    #[test]
    fn one_kind_of_start_can_be_told_something_else() {
        let gate = gate(json!({"text": "all", "shell": ["echo all"], "event": {"clear": {"shell": ["echo clear"]}}}));
        assert_eq!(told(&gate, "clear"), "clear\n");
        assert_eq!(told(&gate, "compact"), "all\nall\n");
    }
}
