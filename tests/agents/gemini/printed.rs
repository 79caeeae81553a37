//! Runs without a user interface: what they print is their state, and a program that reads it from coop gets all of it.

use serde_json::json;

use super::{Gemini, Options};
use crate::model::Script;

fn printing(script: Script, prompt: &str) -> Options {
    let words = ["-p", prompt, "-o", "stream-json"];
    words.into_iter().fold(Options::script(script), |options, word| options.word(word))
}

#[tokio::test]
async fn a_run_that_prints_json_works_ends_its_turn_and_exits() {
    let gemini = Gemini::start(printing(Script::new().text("All is well."), "How is it?")).await;
    gemini.until("working").await;
    let idle = gemini.until("idle").await;
    assert_eq!(json!([idle["cause"], idle["last_message"]]), json!(["jsonl: result", "All is well."]));
    gemini.ended().await;
    assert_eq!(gemini.coop.status().await["exit_code"], 0);
    assert_eq!(gemini.model.heard(), ["How is it?"]);
}

#[tokio::test]
async fn a_run_that_fails_is_an_error_before_it_exits() {
    let script = Script::new().error(401, &[], "UNAUTHENTICATED", "Nobody knows this key");
    let gemini = Gemini::start(printing(script, "How is it?")).await;
    let failed = gemini.until("error").await;
    assert_eq!(failed["error_category"], "unauthorized", "{failed}");
    gemini.ended().await;
}
