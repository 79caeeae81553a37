//! What an agent said before it forgot can still be read, the log can be read while it grows, and what a conversation cost is
//! counted once.

use serde_json::{Value, json};

use super::Kept;
use crate::model::Script;
use crate::session::{Options, Session};

/// Two turns, then the agent sums up and forgets.
async fn compacted<A: Kept>(agent: &Session<A>, messages: [&str; 2]) -> Value {
    for message in messages {
        agent.told(message).await;
        agent.goes(["working", "idle"]).await;
    }
    let saved = agent.record.events("transcript:saved").len();
    agent.commanded("/compact").await;
    agent.goes(["working", "idle"]).await;
    let seen = |event: &Value| event["number"].as_u64() > Some(saved as u64);
    agent.told_of("transcript:saved", seen).await
}

fn lines(value: &Value) -> Vec<Value> {
    value.as_array().unwrap().iter().map(|line| serde_json::from_str(line.as_str().unwrap()).unwrap()).collect()
}

/// What the service says before the first message: nothing yet, or that the conversation has no name.
async fn is_new<A: Kept>(agent: &Session<A>, path: &str, empty: Value) {
    let answer = agent.coop.get(path).await;
    match A::BEGINS_WITH_A_MESSAGE {
        true => assert_eq!(answer.refused(), (503, "NOT_READY".to_owned()), "it has no name yet"),
        false => {
            let answer = answer.ok();
            for (field, value) in empty.as_object().unwrap() {
                assert_eq!(answer[field], *value, "{answer}");
            }
        }
    }
}

pub async fn a_transcript_is_kept_when_the_agent_forgets<A: Kept>() {
    let agent = Session::<A>::ready(Script::new().text("A first answer.").text("A second answer.")).await;
    is_new(&agent, "/api/v1/transcripts", json!({"transcripts": []})).await;
    let saved = compacted(&agent, ["What comes first?", "What comes second?"]).await;
    assert_eq!(saved["number"], 1);
    let listed = agent.coop.get("/api/v1/transcripts").await.ok()["transcripts"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!((&listed[0]["number"], &listed[0]["line_count"]), (&json!(1), &saved["line_count"]));
    assert_eq!(listed[0]["timestamp"], saved["timestamp"]);
    let content = agent.coop.get("/api/v1/transcripts/1").await.ok()["content"].as_str().unwrap().to_owned();
    for text in ["What comes first?", "A first answer.", "What comes second?", "A second answer."] {
        assert!(content.contains(text), "{text}");
    }
    assert_eq!(listed[0]["byte_size"], content.len());
    assert_eq!(listed[0]["line_count"], content.lines().count());
    assert!(content.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    assert_eq!(agent.coop.get("/api/v1/transcripts/2").await.refused(), (404, "NOT_FOUND".to_owned()));
}

pub async fn transcripts_are_numbered_and_caught_up_with<A: Kept>() {
    let agent = Session::<A>::ready(Script::new()).await;
    compacted(&agent, ["One", "Two"]).await;
    let saved = compacted(&agent, ["Three", "Four"]).await;
    assert_eq!(saved["number"], 2);
    let all = agent.coop.get("/api/v1/transcripts/catchup?since_transcript=0&since_line=0").await.ok();
    let numbers: Vec<&Value> = all["transcripts"].as_array().unwrap().iter().map(|one| &one["number"]).collect();
    assert_eq!(numbers, [&json!(1), &json!(2)]);
    assert_eq!(all["current_transcript"], 2);
    let later = agent.coop.get("/api/v1/transcripts/catchup?since_transcript=1").await.ok();
    assert_eq!(later["transcripts"].as_array().unwrap().len(), 1);
    let first = agent.coop.get("/api/v1/transcripts/1").await.ok();
    assert_eq!(lines(&all["transcripts"][0]["lines"]).len(), first["content"].as_str().unwrap().lines().count());
}

pub async fn the_live_log_is_caught_up_with_by_line<A: Kept>() {
    let agent = Session::<A>::ready(Script::new().text("A first answer.").text("A second answer.")).await;
    let path = |line: &Value| format!("/api/v1/transcripts/catchup?since_transcript=0&since_line={line}");
    let told = |text: &'static str| move |caught: &Value| caught["live_lines"].to_string().contains(text);
    agent.told("What comes first?").await;
    agent.goes(["working", "idle"]).await;
    let first = agent.eventually(&path(&json!(0)), told("A first answer.")).await;
    assert!(first["live_lines"].to_string().contains("What comes first?"));
    agent.told("What comes second?").await;
    agent.goes(["working", "idle"]).await;
    let second = agent.eventually(&path(&first["current_line"]), told("A second answer.")).await;
    let text = second["live_lines"].to_string();
    assert!(text.contains("What comes second?") && !text.contains("What comes first?"), "{text}");
    lines(&second["live_lines"]);
    assert!(second["current_line"].as_u64() > first["current_line"].as_u64());
}

pub async fn usage_is_counted_once_for_each_message<A: Kept>() {
    // The first message has two parts, which can be two lines of the log with the same numbers.
    let (first, second) = if A::COUNTS_CACHE_WRITES { (400, 50) } else { (0, 0) };
    let script = Script::new()
        .bash("touch marker")
        .usage(100, 20, 3000, first)
        .text("Done.")
        .usage(150, 7, 3400, second)
        .text("Again.")
        .usage(200, 3, 3450, 0);
    let agent = Session::<A>::ready(script).await;
    agent.told("Touch it").await;
    agent.prompt("permission").await;
    agent.answered(json!({"accept": true})).await;
    agent.goes(["working", "idle"]).await;
    agent.told("Again").await;
    agent.goes(["working", "idle"]).await;
    agent.rests().await;
    let usage = agent.eventually("/api/v1/session/usage", |usage| usage["request_count"] == 3).await;
    let written = first + second;
    for (field, expected) in
        [("input_tokens", 450), ("output_tokens", 30), ("cache_read_tokens", 9850), ("cache_write_tokens", written)]
    {
        assert_eq!(usage[field], expected, "{field}: {usage}");
    }
    // No log has prices in it.
    assert!(usage["total_cost_usd"].is_number(), "{usage}");
}

pub async fn a_new_session_has_neither_transcripts_nor_cost<A: Kept>() {
    let agent = Session::<A>::ready(Options::new()).await;
    let empty = match A::LOGS_ITS_START {
        true => json!({"transcripts": []}),
        false => json!({"transcripts": [], "live_lines": []}),
    };
    is_new(&agent, "/api/v1/transcripts/catchup", empty).await;
    let usage = agent.coop.get("/api/v1/session/usage").await.ok();
    assert_eq!((&usage["input_tokens"], &usage["request_count"]), (&json!(0), &json!(0)));
}
