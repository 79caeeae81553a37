//! What `codex exec --json` prints (0.166.0).

use serde_json::Value;

use super::trouble::Failure;
use crate::agent::facts::{Printed, StreamFacts};
use crate::agent::usage::{RunUsage, Tokens};
use crate::agent::{Claim, EpochMs};

/// Reads the lines of one run in order.
#[derive(Debug, Default)]
pub struct Stream;

impl Printed for Stream {
    fn read_line(&mut self, line: &str, now: EpochMs) -> Option<StreamFacts> {
        let line: Value = serde_json::from_str(line).ok()?;
        let mut facts = StreamFacts::default();
        match line["type"].as_str()? {
            "thread.started" => {
                facts.session_id = line["thread_id"].as_str().map(str::to_owned);
                facts.claim = Some(("thread.started", Claim::Working));
            }
            "turn.started" => facts.claim = Some(("turn.started", Claim::Working)),
            "turn.completed" => {
                facts.claim = Some(("turn.completed", Claim::Idle));
                facts.run = Some(run(&line["usage"]));
            }
            "turn.failed" => {
                let message = line["error"]["message"].as_str().unwrap_or_default();
                facts.claim = Some(("turn.failed", Failure::of_text(message).claim(now)));
            }
            "item.completed" if line["item"]["type"] == "agent_message" => {
                facts.last_message = line["item"]["text"].as_str().map(str::to_owned);
            }
            // `error` is told of a request that is tried again, too.
            _ => {}
        }
        Some(facts)
    }
}

fn run(usage: &Value) -> RunUsage {
    let count = |name: &str| usage[name].as_u64().unwrap_or(0);
    let (cache_read, cache_write) = (count("cached_input_tokens"), count("cache_write_input_tokens"));
    let input = count("input_tokens").saturating_sub(cache_read).saturating_sub(cache_write);
    RunUsage { tokens: Tokens { input, output: count("output_tokens"), cache_read, cache_write }, cost_usd: 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::StateKind;

    const NOW: EpochMs = EpochMs(1_794_787_606_000);

    macro_rules! exec {
        ($name:literal) => {
            include_str!(concat!("../../../tests/fixtures/codex/stdout/exec_", $name, ".jsonl"))
        };
    }

    fn kinds(recording: &str) -> Vec<StateKind> {
        let facts = recording.lines().filter_map(|line| Stream.read_line(line, NOW));
        let mut kinds: Vec<StateKind> = facts.filter_map(|facts| Some(facts.claim?.1.kind())).collect();
        kinds.dedup();
        kinds
    }

    #[test]
    fn a_run_works_until_its_turn_is_over() {
        for recording in [exec!("hello"), exec!("shell"), exec!("ask"), exec!("patch")] {
            assert_eq!(kinds(recording), [StateKind::Working, StateKind::Idle]);
        }
    }

    #[test]
    fn only_a_turn_that_failed_is_an_error() {
        assert_eq!(kinds(exec!("disconnect")), [StateKind::Working, StateKind::Error]);
        assert_eq!(kinds(exec!("e429")), [StateKind::Working, StateKind::Parked]);
        assert_eq!(kinds(exec!("usage")), [StateKind::Working, StateKind::Parked]);
    }

    #[test]
    fn the_conversation_the_last_message_and_the_cost_are_told() {
        let facts: Vec<StreamFacts> = exec!("hello").lines().filter_map(|line| Stream.read_line(line, NOW)).collect();
        assert_eq!(facts[0].session_id.as_deref(), Some("01a1e1a0-3c93-7f82-acdc-1e4a945c143b"));
        assert!(facts.iter().any(|facts| facts.last_message.as_deref() == Some("Hello from the fake model.")));
        assert_eq!(facts.last().unwrap().run.unwrap().tokens.input, 1234);
    }

    #[test]
    fn what_is_not_of_the_stream_is_passed_over() {
        for line in ["", "Reading additional input from stdin...", "7", "[]", "{}", r#"{"type":7}"#] {
            assert_eq!(Stream.read_line(line, NOW), None, "{line}");
        }
    }
}
