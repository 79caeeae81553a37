//! Gates: what an agent is told at its start, and that it does not leave without a word.

use serde_json::{Value, json};

use super::{Gemini, Options};
use crate::model::{Gate, Kind, Script};

/// An agent with this stop gate, which may give its signal without asking.
fn gated(script: Script, stop: Value) -> Options {
    Options::script(script).agent_config(json!({ "stop": stop })).word("--yolo")
}

/// What was decided about the stops so far.
fn decided(gemini: &Gemini) -> Vec<String> {
    let word = |event: &Value| event["type"].as_str().unwrap().to_owned();
    gemini.record.events("stop").iter().map(word).collect()
}

#[tokio::test]
async fn a_gated_agent_is_told_how_to_give_its_signal_and_leaves_with_it() {
    let status = json!({"required": true, "enum": ["done", "stuck"]});
    let script = Script::new()
        .text("I think I am done.")
        .bash(r#"coop send '{"status":"perhaps"}'"#)
        .bash(r#"coop send '{"status":"done"}'"#)
        .text("Now I may go.");
    let stop = json!({"mode": "auto", "schema": {"fields": {"status": status}}});
    let gemini = Gemini::ready(gated(script, stop)).await;
    gemini.told("Go").await;
    gemini.goes(["working", "idle"]).await;
    gemini.rests().await;
    assert_eq!(decided(&gemini), ["blocked", "signaled"]);
    let signaled = &gemini.record.events("stop")[1];
    assert_eq!(signaled["signal"], json!({"status": "done"}), "{signaled}");
    assert!(gemini.model.requests(Kind::Turn)[1].mentions("coop send"), "the instructions reach the model");
    let results = gemini.model.results();
    assert!(results[0].text.contains("status"), "a signal must fit its schema: {results:?}");
}

#[tokio::test]
async fn a_gated_agent_hears_the_operators_own_words_and_is_let_go_in_the_end() {
    let gate = Gate::new();
    let script = Script::new().text("I think I am done.").hold(&gate).text("So I wait.").text("One.").text("Two.");
    let gemini = Gemini::ready(gated(script, json!({"mode": "gate", "prompt": "Ask the captain first."}))).await;
    gemini.told("Go").await;
    gemini.goes(["working"]).await;
    gate.reached().await;
    assert_eq!(decided(&gemini), ["blocked"]);
    assert!(gemini.model.last().mentions("Ask the captain first."));
    assert!(!gemini.model.last().mentions("coop send"));
    let resolved = gemini.coop.post("/api/v1/stop/resolve", json!({"captain": "aye"})).await.ok();
    assert_eq!(resolved["accepted"], true);
    gate.open();
    gemini.goes(["idle"]).await;
    assert_eq!(decided(&gemini), ["blocked", "signaled"]);
    gemini.told("Again").await;
    gemini.goes(["working", "idle"]).await;
    gemini.rests().await;
    assert_eq!(decided(&gemini)[2..], ["blocked", "safety_valve"], "a signal counts once, and so does a reason");
    gemini.coop.call("PUT", "/api/v1/config/stop").json(&json!({"mode": "allow"})).send().await.ok();
    gemini.told("And again").await;
    gemini.goes(["working", "idle"]).await;
    assert_eq!(decided(&gemini)[4..], ["allowed"]);
}

#[tokio::test]
async fn an_agent_can_be_held_back_longer() {
    let script = Script::new().text("One.").text("Two.").text("Three.").text("Four.");
    let gemini = Gemini::ready(gated(script, json!({"mode": "gate", "prompt": "Not yet.", "max_blocks": 3}))).await;
    gemini.told("Go").await;
    gemini.goes(["working", "idle"]).await;
    gemini.rests().await;
    assert_eq!(decided(&gemini), ["blocked", "blocked", "blocked", "safety_valve"]);
}

#[tokio::test]
async fn an_agent_that_fails_is_not_held_back() {
    let script = Script::new().error(401, &[], "UNAUTHENTICATED", "Nobody knows this key");
    let gemini = Gemini::ready(gated(script, json!({"mode": "gate", "prompt": "Not yet."}))).await;
    gemini.told("Go").await;
    gemini.goes(["working", "error"]).await;
    gemini.rests().await;
    assert_eq!(decided(&gemini), ["error"]);
}

#[tokio::test]
async fn words_at_the_start_reach_the_model() {
    let start = json!({
        "text": "The word of the day is \"swordfish\".", "shell": ["echo the sum is $((40 + 2))"],
        "event": {"clear": {"text": "Said after a clearing."}},
    });
    let gemini = Gemini::ready(Options::new().agent_config(json!({"start": start}))).await;
    gemini.told("Go").await;
    gemini.goes(["working", "idle"]).await;
    let request = gemini.model.last();
    assert!(request.mentions("The word of the day is \"swordfish\"."));
    assert!(request.mentions("the sum is 42"));
    let event = gemini.told_of("start", |event| event["source"] == "startup").await;
    assert_eq!(event["injected"], true, "{event}");
    gemini.rests().await;
    assert!(!gemini.screen().await.contains("swordfish"), "it is for the model alone");
}
