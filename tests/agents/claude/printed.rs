//! Runs without a user interface: what they print is their state, and a program that reads it from coop gets all of it.

use serde_json::json;

use super::{Claude, Options};
use crate::model::Script;

fn printing(script: Script, prompt: &str) -> Options {
    let words = ["-p", "--output-format", "stream-json", "--verbose", prompt];
    words.into_iter().fold(Options::script(script), |options, word| options.word(word))
}

#[tokio::test]
async fn a_run_that_prints_json_works_ends_its_turn_and_exits() {
    let claude = Claude::start(printing(Script::new().text("All is well."), "How is it?")).await;
    claude.until("working").await;
    let idle = claude.until("idle").await;
    assert_eq!(json!([idle["cause"], idle["last_message"]]), json!(["jsonl: result", "All is well."]));
    claude.ended().await;
    let output = claude.coop.get("/api/v1/status").await.ok();
    assert_eq!(output["exit_code"], 0);
    assert_eq!(claude.model.heard(), ["How is it?"]);
}

#[tokio::test]
async fn what_a_run_costs_that_writes_no_log_is_counted_by_what_it_prints() {
    let options = printing(Script::new().text("All is well."), "How is it?").word("--no-session-persistence");
    let claude = Claude::start(options).await;
    claude.ended().await;
    assert!(claude.house.logs().is_empty());
    let usage = claude.coop.get("/api/v1/session/usage").await.ok();
    assert_eq!((&usage["request_count"], &usage["input_tokens"]), (&json!(1), &json!(10)), "{usage}");
}

#[tokio::test]
async fn a_run_that_fails_is_an_error_before_it_exits() {
    let script = Script::new().error(401, &[("x-should-retry", "false")], "authentication_error", "invalid x-api-key");
    let claude = Claude::start(printing(script, "How is it?")).await;
    let failed = claude.until("error").await;
    assert_eq!(failed["error_category"], "unauthorized", "{failed}");
    claude.ended().await;
}
