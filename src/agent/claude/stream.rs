//! What Claude Code prints when it runs without a user interface (`--output-format stream-json`, 2.1.197).

use serde_json::Value;

use super::message::{text, usage, word};
use super::trouble::Failure;
use crate::agent::facts::{Printed, StreamFacts};
use crate::agent::usage::{RunUsage, Tokens};
use crate::agent::{Claim, EpochMs};
use crate::session::Parked;

/// Reads the lines of one run in order.
#[derive(Debug, Default)]
pub struct Stream {
    /// Claude's word for the error that ended the turn; the result after it does not repeat it.
    error: Option<String>,
}

impl Printed for Stream {
    fn read_line(&mut self, line: &str, now: EpochMs) -> Option<StreamFacts> {
        let line: Value = serde_json::from_str(line).ok()?;
        let kind = line["type"].as_str()?;
        let working = |rule| Some((rule, Claim::Working));
        let mut facts = StreamFacts { session_id: word(&line, "session_id"), ..StreamFacts::default() };
        match (kind, line["subtype"].as_str()) {
            ("system", Some("init")) => facts.claim = working("init"),
            ("system", Some("api_retry")) => facts.claim = Some(("api_retry", Claim::Parked(retry(&line, now)))),
            ("assistant", _) => {
                self.error = word(&line, "error");
                facts.claim = working("assistant");
                facts.usage = usage(&line["message"], &Value::Null);
                // A subagent's words are not the agent's.
                if line["parent_tool_use_id"].is_null() && self.error.is_none() {
                    facts.last_message = text(&line["message"]["content"]);
                }
            }
            ("user", _) => facts.claim = working("user"),
            ("stream_event", _) => facts.claim = working("stream_event"),
            ("result", _) => self.result(&line, now, &mut facts),
            _ => {}
        }
        Some(facts)
    }
}

impl Stream {
    /// The end of a turn; its subtype says `success` even when it failed.
    fn result(&mut self, line: &Value, now: EpochMs, facts: &mut StreamFacts) {
        let error = self.error.take();
        let said = line["result"].as_str();
        facts.run = Some(run(line));
        if line["is_error"] == true {
            let failure = Failure {
                word: error.as_deref().unwrap_or_default(),
                text: said.or(line["subtype"].as_str()).unwrap_or_default(),
                http_status: status(&line["api_error_status"]),
            };
            facts.claim = Some(("result", failure.claim(now)));
        } else {
            facts.claim = Some(("result", Claim::Idle));
            facts.last_message = said.map(str::to_owned);
        }
    }
}

/// A request that failed and is tried again.
fn retry(line: &Value, now: EpochMs) -> Parked {
    let word = line["error"].as_str().unwrap_or("unknown");
    let status = status(&line["error_status"]);
    let failure = Failure { word, text: "", http_status: status };
    let count = |name: &str| line[name].as_u64().map_or("?".to_owned(), |count| count.to_string());
    let status = status.map_or(String::new(), |status| format!(" {status}"));
    let reason = format!("API error{status} ({word}), retry {}/{}", count("attempt"), count("max_retries"));
    // The delay has a fraction of a millisecond.
    let delay_ms = line["retry_delay_ms"].as_f64().filter(|ms| *ms >= 0.0);
    let resume_at_epoch_ms = delay_ms.map(|ms| now.plus(ms as u64).0);
    Parked { reason, resume_at_epoch_ms, category: failure.category() }
}

/// What the run cost: the sum over its models, which goes on from turn to turn, unlike the line's own `usage`.
fn run(line: &Value) -> RunUsage {
    let mut tokens = Tokens::default();
    for model in line["modelUsage"].as_object().into_iter().flat_map(|models| models.values()) {
        let count = |name: &str| model[name].as_u64().unwrap_or(0);
        tokens.input = tokens.input.saturating_add(count("inputTokens"));
        tokens.output = tokens.output.saturating_add(count("outputTokens"));
        tokens.cache_read = tokens.cache_read.saturating_add(count("cacheReadInputTokens"));
        tokens.cache_write = tokens.cache_write.saturating_add(count("cacheCreationInputTokens"));
    }
    let cost_usd = line["total_cost_usd"].as_f64().filter(|usd| usd.is_finite() && *usd >= 0.0).unwrap_or(0.0);
    RunUsage { tokens, cost_usd }
}

fn status(value: &Value) -> Option<u16> {
    u16::try_from(value.as_u64()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::usage::Usage;
    use crate::session::{ErrorCategory, StateKind};

    const NOW: EpochMs = EpochMs(1_000_000);

    macro_rules! stdout {
        ($name:literal) => {
            include_str!(concat!("../../../tests/fixtures/claude/stdout/", $name, ".jsonl"))
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

    fn last_trouble(recording: &str) -> (ErrorCategory, String) {
        match facts(recording).pop().and_then(|facts| facts.claim) {
            Some((_, Claim::Error(trouble))) => (trouble.category, trouble.detail),
            Some((_, Claim::Parked(parked))) => (parked.category, parked.reason),
            other => panic!("no trouble: {other:?}"),
        }
    }

    #[test]
    fn a_run_works_until_its_result() {
        for recording in [stdout!("p-text"), stdout!("p-bash-skip"), stdout!("p-bash-denied"), stdout!("p-streamin")] {
            assert_eq!(kinds(recording), [StateKind::Working, StateKind::Idle]);
        }
        assert_eq!(kinds(stdout!("p-partial-hooks")), [StateKind::Working, StateKind::Idle]);
        assert_eq!(kinds(stdout!("p-nokey-json")), [StateKind::Idle]);
        let idle_and_back = [StateKind::Working, StateKind::Idle, StateKind::Working, StateKind::Idle];
        assert_eq!(kinds(stdout!("p-two-turns")), idle_and_back);
    }

    #[test]
    fn a_result_carries_the_last_message_and_the_session() {
        let last = facts(stdout!("p-bash-skip")).pop().unwrap();
        assert_eq!(last.last_message.as_deref(), Some("Bash is done."));
        assert_eq!(last.session_id.as_deref(), Some("876873ac-825c-431c-b7e3-3d054b7c356a"));
    }

    #[test]
    fn a_failed_result_is_an_error_with_its_category() {
        use StateKind::{Error, Parked, Working};
        assert_eq!(kinds(stdout!("p-401")), [Working, Parked, Working, Error]);
        assert_eq!(last_trouble(stdout!("p-401")).0, ErrorCategory::Unauthorized);
        assert_eq!(kinds(stdout!("p-429")), [Working, Parked, Working, Parked]);
        assert_eq!(last_trouble(stdout!("p-429")).0, ErrorCategory::RateLimited);
        // Neither a status nor a word is in the result itself; the word came with the message before it.
        assert_eq!(last_trouble(stdout!("p-refused")).0, ErrorCategory::NoInternet);
    }

    #[test]
    fn a_retry_is_parked_until_its_delay_is_over() {
        let retry = facts(stdout!("p-429")).remove(1);
        let Some(("api_retry", Claim::Parked(parked))) = retry.claim else { panic!("not parked: {retry:?}") };
        assert_eq!(parked.reason, "API error 429 (rate_limit), retry 1/1");
        assert_eq!(parked.resume_at_epoch_ms, Some(1_003_000));
        let retry = facts(stdout!("p-refused")).remove(1);
        let Some((_, Claim::Parked(parked))) = retry.claim else { panic!("not parked: {retry:?}") };
        assert_eq!(parked.reason, "API error (unknown), retry 1/1");
        assert_eq!(parked.resume_at_epoch_ms, Some(1_000_502));
    }

    #[test]
    fn the_cost_of_a_run_goes_on_over_its_turns() {
        let mut usage = Usage::default();
        for facts in facts(stdout!("p-two-turns")) {
            facts.usage.into_iter().for_each(|message| usage.count(message));
            facts.run.into_iter().for_each(|run| usage.told_by_agent(run));
        }
        let totals = usage.totals();
        assert_eq!((totals.requests, totals.tokens.input, totals.tokens.output), (3, 30, 15));
        assert!((totals.cost_usd - 0.000_525).abs() < 1e-9);
    }

    #[test]
    fn what_is_not_of_the_stream_is_passed_over() {
        let mut stream = Stream::default();
        for line in ["", "Warning: no stdin", "7", "[]", "{}", r#"{"type":7}"#, "{\"type\":\"resu"] {
            assert_eq!(stream.read_line(line, NOW), None, "{line}");
        }
        let strange = r#"{"type":"system","subtype":"api_retry","retry_delay_ms":-1}"#;
        let Some(("api_retry", Claim::Parked(parked))) = stream.read_line(strange, NOW).unwrap().claim else {
            panic!("not parked")
        };
        assert_eq!((parked.reason.as_str(), parked.resume_at_epoch_ms), ("API error (unknown), retry ?/?", None));
    }
}
