//! Whether an agent may stop.

use serde_json::Value;

use super::config::{StopConfig, StopMode};
use super::instructions::instructions;
use super::schema::complaints;

/// How agents run the verb that opens the gate.
const SEND: &str = "coop send";

/// What was decided about one stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The mode allows it.
    Allowed,
    /// The signal had come.
    Signaled { signal: Value },
    /// It has met an error that it cannot mend: holding it back would only repeat it.
    Error { detail: String },
    /// It was held back often enough.
    SafetyValve,
    /// It must go on, and is told why.
    Blocked { reason: String },
}

/// The gate, with what it remembers from one stop to the next.
#[derive(Clone, Debug)]
pub struct StopGate {
    config: StopConfig,
    /// How the agent runs `coop send`.
    send: String,
    /// Taken, and not yet used.
    signal: Option<Value>,
    /// How often in a row the agent was held back.
    blocks: u32,
}

impl StopGate {
    pub fn new(config: StopConfig) -> Self {
        Self { config, send: SEND.to_owned(), signal: None, blocks: 0 }
    }

    /// For an agent that does not find coop in its PATH: how it runs the verb, ready for a shell.
    pub fn with_send(mut self, send: impl Into<String>) -> Self {
        self.send = send.into();
        self
    }

    pub fn config(&self) -> &StopConfig {
        &self.config
    }

    /// Whether a stop would change something here: it would be held back, or use up a signal.
    pub fn is_closed(&self) -> bool {
        self.config.mode != StopMode::Allow || self.signal.is_some()
    }

    /// Replaces the configuration. A signal that was given for the old one does not open the new gate.
    pub fn put(&mut self, config: StopConfig) {
        self.config = config;
        (self.signal, self.blocks) = (None, 0);
    }

    /// A message began a new turn: what the agent did in the last one does not count against it. Some agents take the
    /// reason why they must go on as if a user had said it; that is no new turn.
    pub fn new_turn(&mut self, message: &str) {
        if self.blocks == 0 || message.trim() != self.reason().trim() {
            self.blocks = 0;
        }
    }

    /// Takes the signal that lets the agent stop once, or says what is wrong with it.
    pub fn resolve(&mut self, signal: Value) -> Result<(), Vec<String>> {
        let complaints = complaints(self.config.schema.as_ref(), &signal);
        if !complaints.is_empty() {
            return Err(complaints);
        }
        self.signal = Some(signal);
        Ok(())
    }

    /// Decides about a stop. `stop_hook_active` is the agent's own word for having been held back already.
    pub fn decide(&mut self, stop_hook_active: bool, unrecoverable_error: Option<&str>) -> Decision {
        let decision = self.judge(stop_hook_active, unrecoverable_error);
        match decision {
            Decision::Blocked { .. } => self.blocks = self.blocks_before(stop_hook_active) + 1,
            _ => self.blocks = 0,
        }
        decision
    }

    fn judge(&mut self, stop_hook_active: bool, unrecoverable_error: Option<&str>) -> Decision {
        if let Some(signal) = self.signal.take() {
            return Decision::Signaled { signal };
        }
        if self.config.mode == StopMode::Allow {
            return Decision::Allowed;
        }
        if let Some(detail) = unrecoverable_error {
            return Decision::Error { detail: detail.to_owned() };
        }
        if self.blocks_before(stop_hook_active) >= self.config.max_blocks() {
            return Decision::SafetyValve;
        }
        Decision::Blocked { reason: self.reason() }
    }

    /// Somebody else's hook may have held it back before; the agent counts that too.
    fn blocks_before(&self, stop_hook_active: bool) -> u32 {
        self.blocks.max(stop_hook_active.into())
    }

    fn reason(&self) -> String {
        match self.config.mode {
            StopMode::Gate => self.config.prompt.clone().unwrap_or_default(),
            StopMode::Allow | StopMode::Auto => instructions(&self.config, &self.send),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn gate(config: Value) -> StopGate {
        StopGate::new(serde_json::from_value(config).unwrap())
    }

    fn is_blocked(decision: &Decision) -> bool {
        matches!(decision, Decision::Blocked { .. })
    }

    #[test]
    fn without_a_gate_every_stop_is_allowed() {
        let mut gate = gate(json!({}));
        for active in [false, true, false] {
            assert_eq!(gate.decide(active, Some("an error")), Decision::Allowed);
        }
    }

    #[test]
    fn a_gate_says_the_operators_words_and_opens_once_for_a_signal() {
        let mut gate = gate(json!({"mode": "gate", "prompt": " Not yet.\n"}));
        assert_eq!(gate.decide(false, None), Decision::Blocked { reason: " Not yet.\n".into() });
        gate.resolve(json!({"a": 1})).unwrap();
        assert_eq!(gate.decide(true, None), Decision::Signaled { signal: json!({"a": 1}) });
        assert!(is_blocked(&gate.decide(false, None)), "the signal is used up");
    }

    #[test]
    fn auto_tells_the_command() {
        let config = json!({"mode": "auto", "schema": {"fields": {"status": {"enum": ["done"]}}}});
        let Decision::Blocked { reason } = gate(config.clone()).decide(false, None) else { panic!("blocked") };
        assert!(reason.contains(r#"coop send '{"status":"done"}'"#), "{reason}");
        let mut gate = gate(config).with_send("'/opt/my coop' send");
        let Decision::Blocked { reason } = gate.decide(false, None) else { panic!("blocked") };
        assert!(reason.contains("'/opt/my coop' send '{"), "{reason}");
    }

    #[test]
    fn an_agent_is_held_back_so_often_and_no_more() {
        for (max_blocks, expected) in [(json!(null), 1), (json!(3), 3)] {
            let mut gate = gate(json!({"mode": "auto", "max_blocks": max_blocks}));
            for turn in 0..2 {
                for block in 0..expected {
                    assert!(is_blocked(&gate.decide(block > 0, None)), "turn {turn}, block {block}");
                }
                assert_eq!(gate.decide(true, None), Decision::SafetyValve);
            }
        }
    }

    #[test]
    fn an_agent_that_does_not_mark_its_stops_is_let_go_as_well() {
        let mut gate = gate(json!({"mode": "auto"}));
        assert!(is_blocked(&gate.decide(false, None)));
        assert_eq!(gate.decide(false, None), Decision::SafetyValve);
    }

    #[test]
    fn a_new_turn_counts_anew() {
        let mut gate = gate(json!({"mode": "auto"}));
        assert!(is_blocked(&gate.decide(false, None)));
        // As after an interrupt, when the second stop never came.
        gate.new_turn("another");
        assert!(is_blocked(&gate.decide(false, None)));
    }

    #[test]
    fn the_reason_itself_is_no_new_turn() {
        let mut gate = gate(json!({"mode": "gate", "prompt": "go on"}));
        let Decision::Blocked { reason } = gate.decide(false, None) else { panic!("blocked") };
        gate.new_turn(&format!("{reason}\n"));
        assert_eq!(gate.decide(false, None), Decision::SafetyValve);
    }

    #[test]
    fn a_stop_that_another_hook_held_back_counts() {
        assert_eq!(gate(json!({"mode": "auto"})).decide(true, None), Decision::SafetyValve);
        let mut patient = gate(json!({"mode": "auto", "max_blocks": 2}));
        assert!(is_blocked(&patient.decide(true, None)));
        assert_eq!(patient.decide(true, None), Decision::SafetyValve);
    }

    #[test]
    fn an_error_that_cannot_be_mended_lets_it_stop() {
        let mut gate = gate(json!({"mode": "auto"}));
        assert_eq!(gate.decide(false, Some("no credit")), Decision::Error { detail: "no credit".into() });
        assert!(is_blocked(&gate.decide(false, None)));
    }

    #[test]
    fn a_wrong_signal_does_not_open_the_gate_and_a_new_configuration_forgets_an_old_one() {
        let mut gate = gate(json!({"mode": "auto", "schema": {"fields": {"status": {"enum": ["done"]}}}}));
        assert!(gate.resolve(json!({"status": "perhaps"})).unwrap_err()[0].contains("\"done\""));
        assert!(is_blocked(&gate.decide(false, None)));
        gate.resolve(json!({"status": "done"})).unwrap();
        gate.put(StopConfig { mode: StopMode::Auto, ..StopConfig::default() });
        assert!(is_blocked(&gate.decide(false, None)));
    }
}
