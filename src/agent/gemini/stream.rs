//! What Gemini CLI prints when it runs without a user interface (`-p … -o stream-json`, 0.61.0).

use serde_json::Value;

use super::trouble;
use crate::agent::facts::{Printed, StreamFacts};
use crate::agent::usage::{RunUsage, Tokens};
use crate::agent::{Claim, EpochMs};
use crate::session::{ErrorCategory, Trouble};

/// What the agent says is kept as the last message, this much of it.
const SAID_BYTES_MAX: usize = 1024 * 1024;

/// Reads the lines of one run in order.
#[derive(Debug, Default)]
pub struct Stream {
    /// What the agent has said since its last tool; it comes in pieces.
    said: String,
}

impl Printed for Stream {
    fn read_line(&mut self, line: &str, now: EpochMs) -> Option<StreamFacts> {
        let line: Value = serde_json::from_str(line).ok()?;
        let working = |rule| Some((rule, Claim::Working));
        let mut facts =
            StreamFacts { session_id: line["session_id"].as_str().map(str::to_owned), ..StreamFacts::default() };
        match line["type"].as_str()? {
            "init" => facts.claim = working("init"),
            "message" => {
                facts.claim = working("message");
                if line["role"] == "assistant" {
                    self.say(line["content"].as_str().unwrap_or_default());
                }
            }
            "tool_use" => {
                self.said.clear();
                facts.claim = working("tool_use");
            }
            "tool_result" => facts.claim = working("tool_result"),
            "result" => {
                facts.claim = Some(("result", ended(&line, now)));
                facts.run = Some(run(&line["stats"]));
                facts.last_message = Some(std::mem::take(&mut self.said)).filter(|said| !said.is_empty());
            }
            _ => {}
        }
        Some(facts)
    }
}

impl Stream {
    fn say(&mut self, piece: &str) {
        if self.said.len() + piece.len() <= SAID_BYTES_MAX {
            self.said.push_str(piece);
        }
    }
}

fn ended(line: &Value, now: EpochMs) -> Claim {
    if line["status"] != "error" {
        return Claim::Idle;
    }
    let detail = line["error"]["message"].as_str().unwrap_or("an error that is not told");
    trouble::claim(detail, now).unwrap_or_else(|| {
        let category = ErrorCategory::Other;
        Claim::Error(Trouble { category, detail: detail.to_owned(), resume_at_epoch_ms: None })
    })
}

fn run(stats: &Value) -> RunUsage {
    let count = |name: &str| stats[name].as_u64().unwrap_or(0);
    let (input, cache_read) = (count("input_tokens"), count("cached"));
    let tokens =
        Tokens { input: input.saturating_sub(cache_read), output: count("output_tokens"), cache_read, cache_write: 0 };
    RunUsage { tokens, cost_usd: 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::StateKind;

    const NOW: EpochMs = EpochMs(1_000_000);

    macro_rules! stdout {
        ($name:literal) => {
            include_str!(concat!("../../../tests/fixtures/gemini/stdout/", $name, ".jsonl"))
        };
    }

    fn facts(recording: &str) -> Vec<StreamFacts> {
        let mut stream = Stream::default();
        recording.lines().map(|line| stream.read_line(line, NOW).unwrap()).collect()
    }

    fn kinds(recording: &str) -> Vec<StateKind> {
        let mut kinds: Vec<StateKind> =
            facts(recording).into_iter().filter_map(|facts| Some(facts.claim?.1.kind())).collect();
        kinds.dedup();
        kinds
    }

    #[test]
    fn a_run_works_until_its_result() {
        for recording in [stdout!("text"), stdout!("yolo-shell"), stdout!("default-shell")] {
            assert_eq!(kinds(recording), [StateKind::Working, StateKind::Idle]);
        }
        assert_eq!(kinds(stdout!("401")), [StateKind::Working, StateKind::Error]);
        assert_eq!(kinds(stdout!("429day")), [StateKind::Working, StateKind::Parked]);
    }

    #[test]
    fn a_result_carries_the_last_message_and_what_the_run_cost() {
        let last = facts(stdout!("yolo-shell")).pop().unwrap();
        assert_eq!(last.last_message.as_deref(), Some("All done."), "not what was said before the tool");
        let tokens = last.run.unwrap().tokens;
        assert_eq!((tokens.input, tokens.output), (200, 10));
        let first = facts(stdout!("text")).remove(0);
        assert_eq!(first.session_id.as_deref(), Some("b4741110-84ae-478e-bf12-879e37d8750c"));
    }

    #[test]
    fn what_is_not_of_the_stream_is_passed_over() {
        let mut stream = Stream::default();
        for line in ["", "Warning: no color", "7", "[]", "{}", r#"{"type":7}"#, "{\"type\":\"resu"] {
            assert_eq!(stream.read_line(line, NOW), None, "{line}");
        }
        let strange = stream.read_line(r#"{"type":"result","status":"error"}"#, NOW).unwrap();
        assert_eq!(strange.claim.unwrap().1.kind(), StateKind::Error);
    }
}
