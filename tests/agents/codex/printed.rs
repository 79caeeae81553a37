//! Runs without a user interface: what they print is their state, and a program that reads it from coop gets all of it.

use serde_json::json;

use super::{Codex, Options};
use crate::model::Script;

fn printing(script: Script, prompt: &str) -> Options {
    let words = ["exec", "--json", "--skip-git-repo-check", prompt];
    words.into_iter().fold(Options::script(script), |options, word| options.word(word))
}

#[tokio::test]
async fn a_run_that_prints_json_works_ends_its_turn_and_exits() {
    let codex = Codex::start(printing(Script::new().text("All is well."), "How is it?")).await;
    codex.until("working").await;
    let idle = codex.until("idle").await;
    assert_eq!(json!([idle["cause"], idle["last_message"]]), json!(["jsonl: turn.completed", "All is well."]));
    codex.ended().await;
    assert_eq!(codex.coop.status().await["exit_code"], 0);
    assert_eq!(codex.model.heard(), ["How is it?"]);
}

#[tokio::test]
async fn a_run_that_fails_is_an_error_before_it_exits() {
    let script = Script::new().error(400, &[], "invalid_request_error", "This is not understood");
    let codex = Codex::start(printing(script, "How is it?")).await;
    codex.until("error").await;
    codex.ended().await;
    assert_eq!(codex.coop.status().await["exit_code"], 1);
}
