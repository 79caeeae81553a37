//! What one line of Codex's log of a conversation tells (0.166.0).

use serde_json::Value;

use super::trouble::Failure;
use crate::agent::facts::{BadLine, LogFacts, Said};
use crate::agent::heard::cut;
use crate::agent::usage::{MessageUsage, Tokens};
use crate::agent::{Claim, EpochMs};

/// How much of a plan is shown with its prompt.
const SUMMARY_CHARS_MAX: usize = 4000;

/// Reads one line. `now` dates what the line tells when it has no time of its own.
pub fn read_line(line: &str, now: EpochMs) -> Result<LogFacts, BadLine> {
    let line: Value = serde_json::from_str(line)?;
    if !line.is_object() {
        return Err(BadLine::NotAnObject);
    }
    let at = line["timestamp"].as_str().and_then(EpochMs::from_iso8601);
    let mut facts = LogFacts { at, ..LogFacts::default() };
    let payload = &line["payload"];
    match (line["type"].as_str(), payload["type"].as_str()) {
        (Some("session_meta"), _) => {
            facts.session_id = word(payload, "id");
            facts.cwd = word(payload, "cwd");
        }
        (Some("compacted"), _) => facts.compacted = true,
        (Some("token_usage_record"), _) => facts.usage = usage(payload),
        (Some("event_msg"), Some("task_started")) => facts.claim = Some(("task_started", Claim::Working)),
        (Some("event_msg"), Some("task_complete")) => {
            facts.last_message = word(payload, "last_agent_message");
            let failure = Failure::read(&payload["error"]);
            let claim = failure.map_or(Claim::Idle, |failure| failure.claim(at.unwrap_or(now)));
            facts.claim = Some(("task_complete", claim));
        }
        (Some("event_msg"), Some("turn_aborted")) => facts.claim = Some(("turn_aborted", Claim::Idle)),
        (Some("event_msg"), Some("item_completed")) => item(&payload["item"], &mut facts),
        _ => {}
    }
    Ok(facts)
}

fn item(item: &Value, facts: &mut LogFacts) {
    match item["type"].as_str() {
        Some("UserMessage") => facts.said = text(&item["content"]).map(|text| Said::Prompt { text, queued: false }),
        Some("AgentMessage") => facts.last_message = text(&item["content"]),
        Some("Plan") => facts.plan = Some(cut(item["text"].as_str().unwrap_or_default().trim(), SUMMARY_CHARS_MAX)),
        _ => {}
    }
}

/// The texts of a message, as paragraphs; `None` when it has none. Codex writes the kind of a part in small letters or
/// with a capital.
fn text(content: &Value) -> Option<String> {
    let is_text = |part: &&Value| part["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("text"));
    let parts = content.as_array()?.iter().filter(is_text).filter_map(|part| part["text"].as_str());
    let texts: Vec<&str> = parts.collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// What one answer of the model cost. What came from the cache is counted among the input.
fn usage(payload: &Value) -> Option<MessageUsage> {
    let count = |name: &str| payload["usage"][name].as_u64().unwrap_or(0);
    let (cache_read, cache_write) = (count("cached_input_tokens"), count("cache_write_input_tokens"));
    Some(MessageUsage {
        message_id: word(payload, "response_id")?,
        tokens: Tokens {
            input: count("input_tokens").saturating_sub(cache_read).saturating_sub(cache_write),
            output: count("output_tokens"),
            cache_read,
            cache_write,
        },
        cost_usd: None,
    })
}

fn word(value: &Value, name: &str) -> Option<String> {
    value[name].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{ErrorCategory, StateKind};

    const NOW: EpochMs = EpochMs(1_794_787_606_000);
    const KINDS: &str = include_str!("../../../tests/fixtures/codex/logs/rollout_kinds.jsonl");

    fn facts() -> Vec<LogFacts> {
        KINDS.lines().map(|line| read_line(line, NOW).unwrap()).collect()
    }

    #[test]
    fn the_beginning_and_the_end_of_a_turn_are_told() {
        let claims: Vec<(&str, StateKind)> =
            facts().into_iter().filter_map(|facts| facts.claim).map(|(rule, claim)| (rule, claim.kind())).collect();
        assert_eq!(
            claims,
            [
                ("task_complete", StateKind::Idle),
                ("task_started", StateKind::Working),
                ("turn_aborted", StateKind::Idle)
            ]
        );
    }

    #[test]
    fn a_message_that_was_taken_is_a_witness() {
        let said: Vec<Said> = facts().into_iter().filter_map(|facts| facts.said).collect();
        assert_eq!(said, [Said::Prompt { text: "plan".to_owned(), queued: false }]);
        assert!(facts().iter().any(|facts| facts.last_message.as_deref() == Some("ECHO: 2")));
        assert_eq!(facts().iter().filter(|facts| facts.compacted).count(), 1);
    }

    #[test]
    fn a_plan_is_told_with_its_words() {
        let plans: Vec<String> = facts().into_iter().filter_map(|facts| facts.plan).collect();
        assert_eq!(plans, ["# Fake plan\n\n- Step one\n- Step two"]);
    }

    #[test]
    fn the_first_line_names_the_conversation_and_its_workspace() {
        let meta = facts().into_iter().find(|facts| facts.cwd.is_some()).unwrap();
        assert_eq!(meta.session_id.as_deref(), Some("01a1e19c-8982-7241-b093-b0b6bc010215"));
    }

    #[test]
    fn what_came_from_the_cache_is_not_counted_twice() {
        let line = r#"{"type":"token_usage_record","payload":{"response_id":"r","usage":{"input_tokens":100,
            "cached_input_tokens":60,"cache_write_input_tokens":10,"output_tokens":7}}}"#;
        let usage = read_line(line, NOW).unwrap().usage.unwrap();
        assert_eq!(usage.tokens, Tokens { input: 30, output: 7, cache_read: 60, cache_write: 10 });
    }

    #[test]
    fn a_turn_that_failed_says_why() {
        let line = r#"{"type":"event_msg","payload":{"type":"task_complete","last_agent_message":null,
            "error":{"message":"busy","codex_error_info":"server_overloaded"}}}"#;
        let Some(("task_complete", Claim::Error(trouble))) = read_line(line, NOW).unwrap().claim else {
            panic!("no error")
        };
        assert_eq!((trouble.category, trouble.detail.as_str()), (ErrorCategory::ServerError, "busy"));
    }

    #[test]
    fn what_is_no_line_of_a_log_is_named() {
        assert!(read_line("[]", NOW).unwrap_err().to_string().contains("not a JSON object"));
        assert!(read_line("{", NOW).is_err());
        assert_eq!(read_line("{}", NOW).unwrap(), LogFacts::default());
    }
}
