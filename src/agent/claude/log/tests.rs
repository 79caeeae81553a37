//! Every line of the recorded session logs means what it meant when it was recorded.

use super::*;
use crate::agent::usage::Usage;
use crate::session::{ErrorCategory, StateKind};

const NOW: EpochMs = EpochMs(0);

macro_rules! log {
    ($name:literal) => {
        include_str!(concat!("../../../../tests/fixtures/claude/logs/", $name, ".jsonl"))
    };
}

fn facts(log: &str) -> Vec<LogFacts> {
    log.lines().map(|line| read_line(line, NOW).unwrap()).collect()
}

/// The claims of a log in order, as letters: a user's or a tool's line (`w`, `t`), the agent's (`T` for a tool, `I` for
/// the end of its turn), the end of the turn (`.`), an interrupt (`x`), an error (`E`), a limit (`P`).
fn claims(log: &str) -> String {
    let letter = |facts: LogFacts| match facts.claim? {
        ("prompt", Claim::Working) => Some('w'),
        ("tool_result", Claim::Working) => Some('t'),
        ("tool_use", Claim::Working) => Some('T'),
        ("end_turn", Claim::Idle) => Some('I'),
        ("turn_duration", Claim::Idle) => Some('.'),
        ("interrupted", Claim::Idle) => Some('x'),
        ("api_error", Claim::Error(_)) => Some('E'),
        ("api_error", Claim::Parked(_)) => Some('P'),
        other => panic!("no such claim: {other:?}"),
    };
    facts(log).into_iter().filter_map(letter).collect()
}

fn trouble(log: &str) -> (ErrorCategory, String) {
    match facts(log).into_iter().filter_map(|facts| facts.claim).find(|(rule, _)| *rule == "api_error") {
        Some((_, Claim::Error(trouble))) => (trouble.category, trouble.detail),
        Some((_, Claim::Parked(parked))) => {
            (parked.category, parked.resume_at_epoch_ms.map_or("-".to_owned(), |at| EpochMs(at).iso8601()))
        }
        other => panic!("no trouble: {other:?}"),
    }
}

#[test]
fn a_session_of_turns_an_early_escape_and_a_refused_tool() {
    assert_eq!(
        claims(log!("session-misc")),
        ["wI.".repeat(5), "wwI.".to_owned(), "wI.".repeat(2), "wTTtx".to_owned()].concat()
    );
}

#[test]
fn a_session_with_a_queue_interrupts_a_subagent_and_a_compaction() {
    let log = log!("session-after-compact");
    assert_eq!(claims(log), "wI.wI.wI.wxwxwTTtI.wTTtI.wTTtI.");
    let compacted: Vec<usize> =
        facts(log).iter().enumerate().filter(|(_, facts)| facts.compacted).map(|(line, _)| line).collect();
    assert_eq!(compacted, [65]);
}

#[test]
fn local_commands_and_shell_commands_are_no_turns() {
    // The last prompt was stopped before any output, and the log does not tell.
    assert_eq!(claims(log!("session-queue")), "wI.wTTtxwI.wTTtI.I.w");
    assert_eq!(claims(log!("session-after-clear")), "wI.");
    assert_eq!(claims(log!("session-commands")), "I.wI.wwI.wTTtxwTTtI.");
}

#[test]
fn a_background_task_that_ends_wakes_the_agent_without_a_message_from_anybody() {
    let log = log!("session-background");
    assert_eq!(claims(log), "TwtI.wI.wI.");
    let prompts = facts(log).into_iter().filter(|facts| matches!(facts.said, Some(Said::Prompt { .. }))).count();
    assert_eq!(prompts, 2);
}

#[test]
fn the_log_witnesses_what_becomes_of_messages() {
    let said: Vec<Said> = facts(log!("session-queue")).into_iter().filter_map(|facts| facts.said).collect();
    let prompt = |text: &str| Said::Prompt { text: text.to_owned(), queued: false };
    let expected = [
        prompt("one @@text"),
        prompt("two @@bash"),
        prompt("three @@slow"),
        Said::Queued { text: "queued then popped @@text".to_owned() },
        Said::Withdrawn { text: "queued then popped @@text".to_owned() },
        prompt("four @@bashsleep"),
        Said::Queued { text: "told while the tool runs".to_owned() },
        Said::Removed,
        Said::TakenInTurn { text: "told while the tool runs".to_owned() },
        prompt("early @@slowstart"),
    ];
    assert_eq!(said, expected);
    let said: Vec<Said> = facts(log!("session-commands")).into_iter().filter_map(|facts| facts.said).collect();
    let queued = |text: &str| Said::Prompt { text: text.to_owned(), queued: true };
    assert_eq!(said[3..7], [Said::Dequeued, Said::Dequeued, queued("queued A @@text"), queued("queued B @@text")]);
}

#[test]
fn every_recorded_error_is_told_between_the_prompt_and_the_end_of_the_turn() {
    for (log, expected, category) in [
        (log!("err-e400"), "wE.", ErrorCategory::Other),
        (log!("err-e400credit"), "wE.", ErrorCategory::OutOfCredits),
        (log!("err-e400long"), "wE.", ErrorCategory::ContextWindow),
        (log!("err-e401"), "wE.", ErrorCategory::Unauthorized),
        (log!("err-e401-oauth"), "wE.", ErrorCategory::Unauthorized),
        (log!("err-e403-oauth"), "wE.", ErrorCategory::Unauthorized),
        (log!("err-e500"), "wE.", ErrorCategory::ServerError),
        (log!("err-e529"), "wE.", ErrorCategory::ServerError),
        (log!("err-drop"), "wIE.", ErrorCategory::ServerError),
        (log!("err-estream"), "wE.", ErrorCategory::ServerError),
        (log!("err-maxtok"), "wE.", ErrorCategory::Other),
        (log!("err-refusal"), "wE.", ErrorCategory::Other),
        (log!("err-refused"), "wE", ErrorCategory::NoInternet),
        (log!("err-e429short"), "wP.", ErrorCategory::RateLimited),
        (log!("err-e429unified"), "wP.", ErrorCategory::RateLimited),
        (log!("err-e429unified-oauth"), "wP.", ErrorCategory::RateLimited),
        (log!("err-e400usage"), "wP.", ErrorCategory::RateLimited),
    ] {
        assert_eq!(claims(log), expected);
        assert_eq!(trouble(log).0, category, "{}", trouble(log).1);
    }
    // Retries leave no line.
    assert_eq!(claims(log!("err-e429")), "w");
    assert_eq!(claims(log!("err-e529nr")), "w");
}

#[test]
fn a_limit_ends_at_the_time_that_was_meant_when_the_line_was_written() {
    assert_eq!(trouble(log!("err-e429unified-oauth")).1, "2026-11-16T03:33:00.000Z");
    assert_eq!(trouble(log!("err-e400usage")).1, "2026-12-01T00:00:00.000Z");
    assert_eq!(trouble(log!("err-e429short")).1, "-");
}

#[test]
fn usage_is_counted_once_for_each_message_and_not_for_claudes_own() {
    let mut usage = Usage::default();
    for facts in facts(log!("session-misc")) {
        facts.usage.into_iter().for_each(|message| usage.count(message));
    }
    let totals = usage.totals();
    assert_eq!((totals.requests, totals.tokens.input, totals.tokens.output), (9, 90, 45));
    assert!(facts(log!("err-e401")).iter().all(|facts| facts.usage.is_none()));
}

#[test]
fn a_line_carries_its_time_its_session_and_the_agents_words() {
    let facts = facts(log!("session-misc"));
    let line = &facts[8];
    assert_eq!(line.at.map(EpochMs::iso8601).as_deref(), Some("2026-11-16T00:05:46.435Z"));
    assert_eq!(line.session_id.as_deref(), Some("aa97109f-bda1-48eb-a8a0-f0fa577133e8"));
    assert_eq!(line.last_message.as_deref(), Some("Hello from the fake model."));
}

#[test]
fn a_subagents_line_costs_but_says_nothing_about_the_agent() {
    let line = r#"{"type":"assistant","isSidechain":true,"message":{"id":"m","model":"x","stop_reason":"end_turn",
        "content":[{"type":"text","text":"sub"}],"usage":{"output_tokens":7}},"costUSD":0.5}"#;
    let facts = read_line(line, NOW).unwrap();
    assert_eq!((facts.claim, facts.last_message), (None, None));
    let usage = facts.usage.unwrap();
    assert_eq!((usage.tokens.output, usage.cost_usd), (7, Some(0.5)));
}

#[test]
fn somebody_who_types_the_words_of_an_interrupt_is_heard() {
    let line = r#"{"type":"user","promptSource":"typed","message":{"content":"[Request interrupted by user]"}}"#;
    let facts = read_line(line, NOW).unwrap();
    assert_eq!(facts.claim.unwrap().1.kind(), StateKind::Working);
}

#[test]
fn strange_lines_are_errors_or_nothing_but_never_a_panic() {
    for line in ["", "no json", "{\"type\":", "\u{fffd}", "[]", "7", "null"] {
        assert!(read_line(line, NOW).is_err(), "{line}");
    }
    for line in [
        "{}",
        r#"{"type":7}"#,
        r#"{"type":"assistant"}"#,
        r#"{"type":"assistant","message":{"content":7,"usage":[],"id":null}}"#,
        r#"{"type":"user"}"#,
        r#"{"type":"system","subtype":{}}"#,
        r#"{"type":"attachment","attachment":7}"#,
        r#"{"type":"queue-operation"}"#,
        r#"{"type":"a-type-of-tomorrow"}"#,
    ] {
        let facts = read_line(line, NOW).unwrap();
        assert_eq!((facts.claim, facts.said, facts.usage), (None, None, None), "{line}");
    }
}
