//! What Codex's sources tell together, played through the mind without an agent.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Codex;
use crate::agent::driver::Driver;
use crate::agent::evidence::EpochMs;
use crate::agent::mind::{Effect, Mind};
use crate::child::Size;
use crate::terminal::{Cursor, Seq, Snapshot};

const START: u64 = 1_794_787_606_000;

/// A mind, and the states that it has told.
struct Played {
    mind: Mind,
    told: Vec<String>,
}

impl Played {
    fn new() -> Self {
        let rules = Arc::new(Codex.rules(None).expect("the rules that come with coop"));
        let mut mind = Mind::new(&Codex, EpochMs(START), 0, Arc::default(), rules);
        mind.seen.expects_hooks = true;
        Self { mind, told: Vec::new() }
    }

    /// Lets time pass up to so many milliseconds after the start.
    fn until(&mut self, ms: u64) {
        let end = EpochMs(START + ms);
        for _ in 0..20 {
            let (decided, look_again) = self.mind.decide(end);
            self.told.extend(decided.map(|decided| decided.state.kind().word().to_owned()));
            if look_again.is_none_or(|at| at > end) {
                break;
            }
        }
        self.told.dedup();
    }

    /// The output says this, with nothing to be seen on the screen.
    fn says(&mut self, ms: u64, state: &str) {
        self.until(ms);
        let snapshot = Snapshot {
            seq: Seq(0),
            size: Size::new(80, 24).expect("a size"),
            lines: vec![String::new(); 24],
            cursor: Cursor { row: 0, col: 0, visible: true },
            alt_screen: true,
            title: None,
            signal: Some(format!("state={state}:app=codex").into()),
            mid_frame: false,
        };
        self.mind.see(&snapshot, EpochMs(START + ms));
        self.until(ms);
    }

    fn hears(&mut self, ms: u64, event: &str, payload: &Value) -> Vec<Effect> {
        self.until(ms);
        let effects = self.mind.hear(event, payload, EpochMs(START + ms));
        if effects.iter().any(|effect| matches!(effect, Effect::Stops { .. })) {
            self.mind.stopped(false, EpochMs(START + ms));
        }
        self.until(ms);
        effects
    }

    /// The name under which a hook that waits has asked.
    fn asks(&mut self, ms: u64, command: &str) -> String {
        let payload = json!({"tool_name": "Bash", "tool_input": {"command": command, "description": "Why"}});
        let asked = self.hears(ms, "PermissionRequest", &payload).into_iter().find_map(|effect| match effect {
            Effect::Asked { id } => Some(id),
            _ => None,
        });
        asked.expect("a hook that waits")
    }

    fn shown(&self) -> Option<&str> {
        self.mind.present().prompt().and_then(|prompt| prompt.input.as_deref())
    }
}

#[test]
fn an_agent_that_wakes_has_no_turn() {
    let mut played = Played::new();
    played.says(1000, "idle");
    played.says(1150, "working");
    played.says(1230, "idle");
    played.until(3000);
    assert_eq!(played.told, ["idle"]);
}

#[test]
fn work_that_stays_is_told_though_nobody_else_speaks_of_it() {
    let mut played = Played::new();
    played.says(1000, "working");
    played.until(3000);
    assert_eq!(played.told, ["working"]);
}

#[test]
fn a_permission_is_told_at_once_and_over_when_its_hook_was_answered() {
    let mut played = Played::new();
    played.says(1000, "idle");
    played.until(2000);
    played.says(2100, "working");
    played.hears(2200, "UserPromptSubmit", &json!({"prompt": "go"}));
    let asked = played.asks(2400, "touch x");
    assert_eq!(played.told, ["idle", "working", "prompt"]);
    let prompt = played.mind.present().prompt().expect("a prompt").clone();
    assert!(prompt.ready && prompt.options.len() == 3);
    played.until(9000);
    played.mind.answered(&asked, EpochMs(START + 9000));
    played.until(9001);
    assert_eq!(played.told, ["idle", "working", "prompt", "working"]);
}

#[test]
fn permissions_that_are_asked_at_once_come_one_after_the_other() {
    let mut played = Played::new();
    played.says(1000, "working");
    played.hears(1100, "UserPromptSubmit", &json!({"prompt": "go"}));
    let (first, second) = (played.asks(1200, "touch one"), played.asks(1210, "touch two"));
    assert_eq!(played.shown(), Some(r#"{"command":"touch one"}"#));
    played.mind.answered(&first, EpochMs(START + 2000));
    played.until(2001);
    assert_eq!(played.shown(), Some(r#"{"command":"touch two"}"#));
    played.mind.answered(&second, EpochMs(START + 3000));
    played.until(3001);
    assert_eq!(played.told, ["working", "prompt", "working"]);
}

#[test]
fn a_question_that_may_not_be_asked_is_no_prompt() {
    let mut played = Played::new();
    played.says(1000, "working");
    played.hears(1100, "UserPromptSubmit", &json!({"prompt": "go"}));
    let questions = json!({"questions": [{"id": "a", "question": "Which?", "options": [{"label": "Red"}]}]});
    played.hears(1200, "PreToolUse", &json!({"tool_name": "request_user_input", "tool_input": questions}));
    played.hears(1400, "Stop", &json!({"last_assistant_message": "Then not."}));
    played.says(1450, "done");
    played.until(4000);
    assert_eq!(played.told, ["working", "idle"]);
}

#[test]
fn a_message_that_was_queued_leaves_no_idle_between_two_turns() {
    let mut played = Played::new();
    played.says(1000, "working");
    played.hears(1100, "UserPromptSubmit", &json!({"prompt": "first"}));
    played.hears(2000, "Stop", &json!({}));
    played.hears(2350, "UserPromptSubmit", &json!({"prompt": "second"}));
    played.hears(3000, "Stop", &json!({}));
    played.says(3040, "done");
    played.until(5000);
    assert_eq!(played.told, ["working", "idle"]);
}

#[test]
fn what_runs_on_in_the_background_does_not_keep_the_agent_at_work() {
    let mut played = Played::new();
    played.says(1000, "working");
    played.hears(1100, "UserPromptSubmit", &json!({"prompt": "go"}));
    played.hears(2000, "Stop", &json!({}));
    played.until(5000);
    assert_eq!(played.told, ["working", "idle"], "though its output says working on");
}

#[test]
fn an_error_is_told_by_the_log_and_kept_while_the_output_only_knows_of_one() {
    let mut played = Played::new();
    played.says(1000, "working");
    let line = json!({
        "timestamp": EpochMs(START + 1500).iso8601(), "type": "event_msg",
        "payload": {"type": "task_complete", "error": {"message": "busy", "codex_error_info": "server_overloaded"}},
    });
    let facts = Codex.read_line(&line.to_string(), EpochMs(START + 1510)).expect("a line");
    played.mind.read_line(facts, EpochMs(START + 1510));
    played.says(1520, "error");
    played.says(1800, "idle");
    played.until(5000);
    let trouble = played.mind.present().trouble().map(|trouble| trouble.detail.clone());
    assert_eq!((played.told.last().map(String::as_str), trouble.as_deref()), (Some("error"), Some("busy")));
}
