//! What the logs of a real Gemini CLI told, as facts.

use super::*;
use crate::agent::usage::Usage;
use crate::session::{ErrorCategory, StateKind};

const NOW: EpochMs = EpochMs(0);

macro_rules! log {
    ($name:literal) => {
        include_str!(concat!("../../../../tests/fixtures/gemini/logs/session-", $name, ".jsonl"))
    };
}

fn facts(log: &str) -> Vec<LogFacts> {
    log.lines().map(|line| read_line(line, NOW).unwrap()).collect()
}

fn prompts(log: &str) -> Vec<String> {
    let said = facts(log).into_iter().filter_map(|facts| facts.said);
    said.map(|said| if let Said::Prompt { text, queued: false } = said { text } else { panic!("{said:?}") }).collect()
}

fn rules(log: &str) -> Vec<(&'static str, StateKind)> {
    let mut rules: Vec<_> =
        facts(log).into_iter().filter_map(|facts| facts.claim.map(|(rule, claim)| (rule, claim.kind()))).collect();
    rules.dedup();
    rules
}

#[test]
fn messages_are_known_and_what_gemini_says_to_itself_is_none() {
    let expected = [
        "do fake:plan",
        "now fake:slow:6",
        "queued message fake:text:queued_reply",
        "now fake:slow:20",
        "now fake:think:4",
    ];
    assert_eq!(prompts(log!("plan-queue-cancel"))[..5], expected);
    let first = facts(log!("plan-queue-cancel")).remove(0);
    assert_eq!(first.session_id.as_deref(), Some("fa07ff90-5ad9-43f2-960d-939af814f2ff"));
    assert_eq!(prompts(log!("gate-block")).len(), 2, "what the gate said is a message to Gemini");
}

#[test]
fn a_turn_is_cancelled_in_the_log_where_hooks_are_silent() {
    let told = rules(log!("plan-queue-cancel"));
    assert!(told.contains(&("cancelled", StateKind::Idle)) && told.contains(&("toolCalls", StateKind::Working)));
    assert!(told.iter().all(|(_, kind)| matches!(kind, StateKind::Idle | StateKind::Working)));
}

#[test]
fn what_the_server_answered_is_an_error_with_its_category_and_so_is_no_answer() {
    let troubles: Vec<ErrorCategory> = facts(log!("errors"))
        .into_iter()
        .filter_map(|facts| match facts.claim?.1 {
            Claim::Error(trouble) => Some(trouble.category),
            Claim::Parked(parked) => Some(parked.category),
            _ => None,
        })
        .collect();
    use ErrorCategory::{Other, ServerError, Unauthorized};
    assert_eq!(troubles, [Other, Unauthorized, Unauthorized, Other, ServerError, Other]);
}

#[test]
fn a_message_that_is_written_again_costs_once() {
    let mut usage = Usage::default();
    for facts in facts(log!("plan-queue-cancel")) {
        facts.usage.into_iter().for_each(|message| usage.count(message));
    }
    let distinct: std::collections::BTreeSet<String> = log!("plan-queue-cancel")
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| line["tokens"].is_object())
        .filter_map(|line| line["id"].as_str().map(str::to_owned))
        .collect();
    let totals = usage.totals();
    assert_eq!(totals.requests, distinct.len() as u64);
    assert_eq!((totals.tokens.input, totals.tokens.output), (100 * totals.requests, 5 * totals.requests));
}

#[test]
fn cached_input_and_thoughts_are_counted_in_their_places() {
    let line = r#"{"id":"m","type":"gemini","content":"Hi.","tokens":
        {"input":100,"output":5,"cached":40,"thoughts":7,"tool":2,"total":114}}"#;
    let facts = read_line(line, NOW).unwrap();
    let tokens = facts.usage.unwrap().tokens;
    assert_eq!((tokens.input, tokens.output, tokens.cache_read), (62, 12, 40));
    assert_eq!(facts.last_message.as_deref(), Some("Hi."));
}

#[test]
fn what_is_no_line_of_a_log_is_told_and_what_is_strange_is_passed_over() {
    assert!(matches!(read_line("{\"id", NOW), Err(BadLine::NotJson(_))));
    assert!(matches!(read_line("[]", NOW), Err(BadLine::NotAnObject)));
    for strange in [r#"{"type":7}"#, r#"{"type":"user","content":{}}"#, r#"{"$rewindTo":"x"}"#, r#"{"type":"error"}"#] {
        assert_eq!(read_line(strange, NOW).unwrap(), LogFacts::default(), "{strange}");
    }
}
