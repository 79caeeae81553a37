//! Gates: what an agent is told at its start, and that it does not leave without a word.

use serde_json::{Value, json};

use super::{Claude, Options};
use crate::model::{Gate, Script};

/// An agent with this stop gate, which may give its signal without asking.
fn gated(script: Script, stop: Value) -> Options {
    let settings = json!({"permissions": {"allow": ["Bash(coop send:*)"]}});
    Options::script(script).agent_config(json!({"stop": stop, "settings": settings}))
}

/// What was decided about the stops so far.
fn decided(claude: &Claude) -> Vec<String> {
    let word = |event: &Value| event["type"].as_str().unwrap().to_owned();
    claude.record.events("stop").iter().map(word).collect()
}

#[tokio::test]
async fn an_ungated_agent_stops_when_it_likes() {
    let claude = Claude::ready(Script::new().text("Done.")).await;
    assert_eq!(claude.coop.get("/api/v1/config/stop").await.ok()["mode"], "allow");
    claude.told("Go").await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    assert_eq!(decided(&claude), ["allowed"]);
}

#[tokio::test]
async fn a_gated_agent_is_told_how_to_give_its_signal_and_leaves_with_it() {
    let script = Script::new()
        .text("I think I am done.")
        .bash(r#"coop send '{"status":"done","note":"all is well"}'"#)
        .text("Now I may go.");
    let claude = Claude::ready(gated(script, json!({"mode": "auto"}))).await;
    claude.told("Go").await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    assert_eq!(decided(&claude), ["blocked", "signaled"]);
    let signaled = &claude.record.events("stop")[1];
    assert_eq!(signaled["signal"], json!({"status": "done", "note": "all is well"}), "{signaled}");
    let requests = claude.model.requests(crate::model::Kind::Turn);
    assert!(requests[1].mentions("coop send"), "the instructions reach the model");
    assert!(!claude.model.results()[0].is_error, "{:?}", claude.model.results());
}

#[tokio::test]
async fn a_gated_agent_hears_the_operators_own_words() {
    let gate = Gate::new();
    let script = Script::new().text("I think I am done.").hold(&gate).text("So I wait.");
    let claude = Claude::ready(gated(script, json!({"mode": "gate", "prompt": "Ask the captain first."}))).await;
    claude.told("Go").await;
    claude.goes(["working"]).await;
    gate.reached().await;
    assert_eq!(decided(&claude), ["blocked"]);
    assert!(claude.model.last().mentions("Ask the captain first."));
    assert!(!claude.model.last().mentions("coop send"));
    let resolved = claude.coop.post("/api/v1/stop/resolve", json!({"captain": "aye"})).await.ok();
    assert_eq!(resolved["accepted"], true);
    gate.open();
    claude.goes(["idle"]).await;
    claude.rests().await;
    assert_eq!(decided(&claude), ["blocked", "signaled"]);
    assert_eq!(claude.record.events("stop")[1]["signal"], json!({"captain": "aye"}));
}

#[tokio::test]
async fn an_agent_is_held_back_once_and_then_let_go() {
    let script = Script::new().text("I am done.").text("I really am.");
    let claude = Claude::ready(gated(script, json!({"mode": "gate", "prompt": "Not yet."}))).await;
    claude.told("Go").await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    assert_eq!(decided(&claude), ["blocked", "safety_valve"]);
}

#[tokio::test]
async fn an_agent_can_be_held_back_longer() {
    let script = Script::new().text("One.").text("Two.").text("Three.").text("Four.");
    let claude = Claude::ready(gated(script, json!({"mode": "gate", "prompt": "Not yet.", "max_blocks": 3}))).await;
    claude.told("Go").await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    assert_eq!(decided(&claude), ["blocked", "blocked", "blocked", "safety_valve"]);
}

#[tokio::test]
async fn a_signal_must_fit_its_schema() {
    let status = json!({"required": true, "enum": ["done", "stuck"]});
    let stop = json!({"mode": "auto", "schema": {"fields": {"status": status}}});
    let script = Script::new()
        .text("I am done.")
        .bash(r#"coop send '{"status":"perhaps"}'"#)
        .bash(r#"coop send '{"status":"stuck"}'"#)
        .text("Now I may go.");
    let claude = Claude::ready(gated(script, stop)).await;
    claude.told("Go").await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    let results = claude.model.results();
    assert!(results[0].is_error && results[0].text.contains("status"), "{results:?}");
    assert!(!results[1].is_error, "{results:?}");
    assert_eq!(decided(&claude), ["blocked", "signaled"]);
    assert_eq!(claude.record.events("stop")[1]["signal"], json!({"status": "stuck"}));
}

#[tokio::test]
async fn a_signal_given_before_the_stop_counts() {
    let script = Script::new().bash(r#"coop send '{"status":"done"}'"#).text("Done.");
    let claude = Claude::ready(gated(script, json!({"mode": "auto"}))).await;
    claude.told("Go").await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    assert_eq!(decided(&claude), ["signaled"]);
}

#[tokio::test]
async fn a_signal_counts_once() {
    let script = Script::new().text("One.").text("Two.").text("Three.");
    let claude = Claude::ready(gated(script, json!({"mode": "gate", "prompt": "Not yet."}))).await;
    claude.coop.post("/api/v1/stop/resolve", json!({"go": 1})).await.ok();
    claude.told("Go").await;
    claude.goes(["working", "idle"]).await;
    claude.told("Again").await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    assert_eq!(decided(&claude), ["signaled", "blocked", "safety_valve"]);
}

#[tokio::test]
async fn the_gate_can_be_changed_while_the_agent_runs() {
    let claude = Claude::ready(Script::new().text("One.").text("Two.").text("Three.").text("Four.")).await;
    let stop = json!({"mode": "gate", "prompt": "Not yet.", "schema": null, "max_blocks": null});
    let put = claude.coop.call("PUT", "/api/v1/config/stop").json(&stop).send().await.ok();
    assert_eq!(put, claude.coop.get("/api/v1/config/stop").await.ok());
    assert_eq!((&put["mode"], &put["prompt"]), (&json!("gate"), &json!("Not yet.")));
    claude.told("Go").await;
    claude.goes(["working", "idle"]).await;
    claude.coop.call("PUT", "/api/v1/config/stop").json(&json!({"mode": "allow"})).send().await.ok();
    claude.told("Again").await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    assert_eq!(decided(&claude), ["blocked", "safety_valve", "allowed"]);
}

#[tokio::test]
async fn the_agent_needs_no_token_of_a_caller_to_give_its_signal() {
    let script = Script::new().bash(r#"coop send '{"status":"done"}'"#).bash("env").text("Done.");
    let settings = json!({"permissions": {"allow": ["Bash(coop send:*)", "Bash(env)"]}});
    let config = json!({"stop": {"mode": "auto"}, "settings": settings});
    let claude =
        Claude::ready(Options::script(script).agent_config(config).flag("--auth-token", "a-callers-token")).await;
    claude.told("Go").await;
    claude.goes(["working", "idle"]).await;
    assert_eq!(decided(&claude), ["signaled"]);
    let results = claude.model.results();
    assert!(results[1].text.contains("COOP_HOOK_TOKEN="), "{results:?}");
    assert!(!results[1].text.contains("a-callers-token"), "the agent must not have it");
}

#[tokio::test]
async fn stops_and_starts_can_be_followed_over_http() {
    let claude = Claude::ready(Script::new().text("Done.")).await;
    let mut starts = claude.coop.call("GET", "/api/v1/stream/start?after_seq=0").stream().await;
    let start = starts.value().await;
    assert_eq!((&start["source"], &start["injected"]), (&json!("startup"), &json!(false)));
    assert_eq!(start["session_id"], claude.state().await["session_id"]);
    let mut stops = claude.coop.call("GET", "/api/v1/stream/stop?after_seq=0").stream().await;
    claude.told("Go").await;
    let stop = stops.value().await;
    assert_eq!((&stop["type"], &stop["signal"]), (&json!("allowed"), &Value::Null));
    let told = claude.told_of("stop", |_| true).await;
    assert_eq!(told["seq"], stop["seq"]);
}

#[tokio::test]
async fn words_at_the_start_reach_the_model() {
    let start = json!({"text": "The word of the day is swordfish.", "shell": ["echo the sum is $((40 + 2))"]});
    let script = Script::new().text("I know.");
    let claude = Claude::ready(Options::script(script).agent_config(json!({"start": start}))).await;
    claude.told("Go").await;
    claude.goes(["working", "idle"]).await;
    let request = claude.model.last();
    assert!(request.mentions("The word of the day is swordfish."));
    assert!(request.mentions("the sum is 42"));
    let event = claude.told_of("start", |event| event["source"] == "startup").await;
    assert_eq!(event["injected"], true, "{event}");
}

#[tokio::test]
async fn another_kind_of_start_has_its_own_words() {
    let start = json!({"text": "Said at the beginning.", "event": {"clear": {"text": "Said after a clearing."}}});
    let script = Script::new().text("One.").text("Two.");
    let claude = Claude::ready(Options::script(script).agent_config(json!({"start": start}))).await;
    claude.told("First").await;
    claude.goes(["working", "idle"]).await;
    assert!(claude.model.last().mentions("Said at the beginning."));
    claude.commanded("/clear").await;
    claude.told_of("start", |event| event["source"] == "clear").await;
    claude.settles().await;
    claude.told("Second").await;
    claude.goes(["working", "idle"]).await;
    let request = claude.model.last();
    assert!(request.mentions("Said after a clearing.") && !request.mentions("Said at the beginning."));
}

#[tokio::test]
async fn the_operators_own_hooks_and_settings_still_work() {
    let hook =
        |name: &str| json!([{"matcher": "", "hooks": [{"type": "command", "command": format!("touch {name}")}]}]);
    let settings = json!({
        "hooks": {"SessionStart": hook("hook-start"), "Stop": hook("hook-stop")},
        "permissions": {"allow": ["Bash(touch allowed)"]},
        "env": {"FROM_SETTINGS": "yes"},
    });
    let script = Script::new().bash("touch allowed").text("Done.");
    let claude = Claude::ready(Options::script(script).agent_config(json!({"settings": settings}))).await;
    claude.told("Go").await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    for file in ["hook-start", "hook-stop", "allowed"] {
        assert!(claude.has(file), "{file}");
    }
}
