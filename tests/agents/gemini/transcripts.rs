//! The log can be read while it grows, and what a conversation cost is counted once.
//!
//! No transcript is kept when Gemini CLI 0.61.0 sums up: no hook tells of it alone.

use serde_json::{Value, json};

use super::Gemini;
use crate::model::Script;

#[tokio::test]
async fn the_live_log_is_caught_up_with_and_usage_is_counted_once_for_each_message() {
    let script = Script::new()
        .bash("touch marker")
        .usage(100, 20, 3000, 0)
        .text("A first answer.")
        .usage(150, 7, 3400, 0)
        .text("A second answer.")
        .usage(200, 3, 3450, 0);
    let gemini = Gemini::ready(script).await;
    let usage = gemini.coop.get("/api/v1/session/usage").await.ok();
    assert_eq!((&usage["input_tokens"], &usage["request_count"]), (&json!(0), &json!(0)));
    let path = |line: &Value| format!("/api/v1/transcripts/catchup?since_transcript=0&since_line={line}");
    let told = |text: &'static str| move |caught: &Value| caught["live_lines"].to_string().contains(text);
    gemini.told("What comes first?").await;
    gemini.prompt("permission").await;
    gemini.answered(json!({"accept": true})).await;
    gemini.goes(["working", "idle"]).await;
    let first = gemini.eventually(&path(&json!(0)), told("A first answer.")).await;
    assert!(first["live_lines"].to_string().contains("What comes first?"));
    gemini.told("What comes second?").await;
    gemini.goes(["working", "idle"]).await;
    gemini.rests().await;
    let second = gemini.eventually(&path(&first["current_line"]), told("A second answer.")).await;
    assert!(!second["live_lines"].to_string().contains("What comes first?"), "{second}");
    let usage = gemini.eventually("/api/v1/session/usage", |usage| usage["request_count"] == 3).await;
    for (field, expected) in [("input_tokens", 450), ("output_tokens", 30), ("cache_read_tokens", 9850)] {
        assert_eq!(usage[field], expected, "{field}: {usage}");
    }
}
