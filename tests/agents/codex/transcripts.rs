//! What an agent said before it forgot can still be read, and what it cost is counted once.

use serde_json::{Value, json};

use super::{Codex, Options};
use crate::model::Script;

/// Two turns, then the agent sums up and forgets.
async fn compacted(codex: &Codex, messages: [&str; 2]) -> Value {
    for message in messages {
        codex.told(message).await;
        codex.goes(["working", "idle"]).await;
    }
    let saved = codex.record.events("transcript:saved").len();
    codex.commanded("/compact").await;
    codex.goes(["working", "idle"]).await;
    let seen = |event: &Value| event["number"].as_u64() > Some(saved as u64);
    codex.told_of("transcript:saved", seen).await
}

fn lines(value: &Value) -> Vec<Value> {
    value.as_array().unwrap().iter().map(|line| serde_json::from_str(line.as_str().unwrap()).unwrap()).collect()
}

#[tokio::test]
async fn a_transcript_is_kept_when_the_agent_forgets() {
    let codex = Codex::ready(Script::new().text("A first answer.").text("A second answer.")).await;
    // Its conversation has no name before the first message.
    assert_eq!(codex.coop.get("/api/v1/transcripts").await.refused(), (503, "NOT_READY".to_owned()));
    let saved = compacted(&codex, ["What comes first?", "What comes second?"]).await;
    assert_eq!(saved["number"], 1);
    let listed = codex.coop.get("/api/v1/transcripts").await.ok()["transcripts"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!((&listed[0]["number"], &listed[0]["line_count"]), (&json!(1), &saved["line_count"]));
    assert_eq!(listed[0]["timestamp"], saved["timestamp"]);
    let content = codex.coop.get("/api/v1/transcripts/1").await.ok()["content"].as_str().unwrap().to_owned();
    for text in ["What comes first?", "A first answer.", "What comes second?", "A second answer."] {
        assert!(content.contains(text), "{text}");
    }
    assert_eq!(listed[0]["byte_size"], content.len());
    assert_eq!(listed[0]["line_count"], content.lines().count());
    assert!(content.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    assert_eq!(codex.coop.get("/api/v1/transcripts/2").await.refused(), (404, "NOT_FOUND".to_owned()));
}

#[tokio::test]
async fn transcripts_are_numbered_and_caught_up_with() {
    let codex = Codex::ready(Script::new()).await;
    compacted(&codex, ["One", "Two"]).await;
    let saved = compacted(&codex, ["Three", "Four"]).await;
    assert_eq!(saved["number"], 2);
    let all = codex.coop.get("/api/v1/transcripts/catchup?since_transcript=0&since_line=0").await.ok();
    let numbers: Vec<&Value> = all["transcripts"].as_array().unwrap().iter().map(|one| &one["number"]).collect();
    assert_eq!(numbers, [&json!(1), &json!(2)]);
    assert_eq!(all["current_transcript"], 2);
    let later = codex.coop.get("/api/v1/transcripts/catchup?since_transcript=1").await.ok();
    assert_eq!(later["transcripts"].as_array().unwrap().len(), 1);
    let first = codex.coop.get("/api/v1/transcripts/1").await.ok();
    assert_eq!(lines(&all["transcripts"][0]["lines"]).len(), first["content"].as_str().unwrap().lines().count());
}

#[tokio::test]
async fn the_live_log_is_caught_up_with_by_line() {
    let codex = Codex::ready(Script::new().text("A first answer.").text("A second answer.")).await;
    let path = |line: &Value| format!("/api/v1/transcripts/catchup?since_transcript=0&since_line={line}");
    let told = |text: &'static str| move |caught: &Value| caught["live_lines"].to_string().contains(text);
    codex.told("What comes first?").await;
    codex.goes(["working", "idle"]).await;
    let first = codex.eventually(&path(&json!(0)), told("A first answer.")).await;
    assert!(first["live_lines"].to_string().contains("What comes first?"));
    codex.told("What comes second?").await;
    codex.goes(["working", "idle"]).await;
    let second = codex.eventually(&path(&first["current_line"]), told("A second answer.")).await;
    let text = second["live_lines"].to_string();
    assert!(text.contains("What comes second?") && !text.contains("What comes first?"), "{text}");
    lines(&second["live_lines"]);
    assert!(second["current_line"].as_u64() > first["current_line"].as_u64());
}

#[tokio::test]
async fn usage_is_counted_once_for_each_message() {
    let script = Script::new()
        .bash("touch marker")
        .usage(100, 20, 3000, 0)
        .text("Done.")
        .usage(150, 7, 3400, 0)
        .text("Again.")
        .usage(200, 3, 3450, 0);
    let codex = Codex::ready(script).await;
    codex.told("Touch it").await;
    codex.prompt("permission").await;
    codex.answered(json!({"accept": true})).await;
    codex.goes(["working", "idle"]).await;
    codex.told("Again").await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    let usage = codex.eventually("/api/v1/session/usage", |usage| usage["request_count"] == 3).await;
    for (field, expected) in
        [("input_tokens", 450), ("output_tokens", 30), ("cache_read_tokens", 9850), ("cache_write_tokens", 0)]
    {
        assert_eq!(usage[field], expected, "{field}: {usage}");
    }
    // Codex 0.166.0 knows no prices into its log.
    assert!(usage["total_cost_usd"].is_number(), "{usage}");
}

#[tokio::test]
async fn a_new_session_has_neither_transcripts_nor_cost() {
    let codex = Codex::ready(Options::new()).await;
    let caught = codex.coop.get("/api/v1/transcripts/catchup").await;
    assert_eq!(caught.refused(), (503, "NOT_READY".to_owned()), "it has no name before the first message");
    let usage = codex.coop.get("/api/v1/session/usage").await.ok();
    assert_eq!((&usage["input_tokens"], &usage["request_count"]), (&json!(0), &json!(0)));
}
