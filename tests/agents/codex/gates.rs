//! Gates: what an agent is told at its start, and that it does not leave without a word.

use serde_json::{Value, json};

use super::scenes::{BYPASS, inside};
use super::{Codex, Options};
use crate::model::{Gate, Script};

/// An agent with this stop gate.
fn gated(script: Script, stop: Value) -> Options {
    Options::script(script).agent_config(json!({ "stop": stop }))
}

/// Codex runs commands in a login shell, which has a PATH of its own; the instructions name coop by its place, too.
fn coop(words: &str) -> String {
    format!("{} {words}", crate::support::binary().display())
}

/// What was decided about the stops so far.
fn decided(codex: &Codex) -> Vec<String> {
    let word = |event: &Value| event["type"].as_str().unwrap().to_owned();
    codex.record.events("stop").iter().map(word).collect()
}

#[tokio::test]
async fn an_ungated_agent_stops_when_it_likes() {
    let codex = Codex::ready(Script::new().text("Done.")).await;
    assert_eq!(codex.coop.get("/api/v1/config/stop").await.ok()["mode"], "allow");
    codex.told("Go").await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    assert_eq!(decided(&codex), ["allowed"]);
}

#[tokio::test]
async fn a_gated_agent_is_told_how_to_give_its_signal_and_leaves_with_it() {
    let script = Script::new()
        .text("I think I am done.")
        .tools(&[inside(&coop(r#"send '{"status":"done","note":"all is well"}'"#))])
        .text("Now I may go.");
    let codex = Codex::ready(gated(script, json!({"mode": "auto"})).word(BYPASS)).await;
    codex.told("Go").await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    assert_eq!(decided(&codex), ["blocked", "signaled"]);
    let signaled = &codex.record.events("stop")[1];
    assert_eq!(signaled["signal"], json!({"status": "done", "note": "all is well"}), "{signaled}");
    let requests = codex.model.requests(crate::model::Kind::Turn);
    assert!(requests[1].mentions("coop send"), "the instructions reach the model");
    assert!(codex.model.results()[0].text.contains("exited with code 0"), "{:?}", codex.model.results());
}

#[tokio::test]
async fn a_gated_agent_hears_the_operators_own_words() {
    let gate = Gate::new();
    let script = Script::new().text("I think I am done.").hold(&gate).text("So I wait.");
    let codex = Codex::ready(gated(script, json!({"mode": "gate", "prompt": "Ask the captain first."}))).await;
    codex.told("Go").await;
    codex.goes(["working"]).await;
    gate.reached().await;
    assert_eq!(decided(&codex), ["blocked"]);
    assert!(codex.model.last().mentions("Ask the captain first."));
    assert!(!codex.model.last().mentions("coop send"));
    let resolved = codex.coop.post("/api/v1/stop/resolve", json!({"captain": "aye"})).await.ok();
    assert_eq!(resolved["accepted"], true);
    gate.open();
    codex.goes(["idle"]).await;
    codex.rests().await;
    assert_eq!(decided(&codex), ["blocked", "signaled"]);
    assert_eq!(codex.record.events("stop")[1]["signal"], json!({"captain": "aye"}));
}

#[tokio::test]
async fn an_agent_is_held_back_once_and_then_let_go() {
    let script = Script::new().text("I am done.").text("I really am.");
    let codex = Codex::ready(gated(script, json!({"mode": "gate", "prompt": "Not yet."}))).await;
    codex.told("Go").await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    assert_eq!(decided(&codex), ["blocked", "safety_valve"]);
}

#[tokio::test]
async fn an_agent_can_be_held_back_longer() {
    let script = Script::new().text("One.").text("Two.").text("Three.").text("Four.");
    let codex = Codex::ready(gated(script, json!({"mode": "gate", "prompt": "Not yet.", "max_blocks": 3}))).await;
    codex.told("Go").await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    assert_eq!(decided(&codex), ["blocked", "blocked", "blocked", "safety_valve"]);
}

#[tokio::test]
async fn a_signal_must_fit_its_schema() {
    let status = json!({"required": true, "enum": ["done", "stuck"]});
    let stop = json!({"mode": "auto", "schema": {"fields": {"status": status}}});
    let script = Script::new()
        .text("I am done.")
        .tools(&[inside(&coop(r#"send '{"status":"perhaps"}'"#))])
        .tools(&[inside(&coop(r#"send '{"status":"stuck"}'"#))])
        .text("Now I may go.");
    let codex = Codex::ready(gated(script, stop).word(BYPASS)).await;
    codex.told("Go").await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    let results = codex.model.results();
    assert!(results[0].text.contains("exited with code 1") && results[0].text.contains("status"), "{results:?}");
    assert!(results[1].text.contains("exited with code 0"), "{results:?}");
    assert_eq!(decided(&codex), ["blocked", "signaled"]);
    assert_eq!(codex.record.events("stop")[1]["signal"], json!({"status": "stuck"}));
}

#[tokio::test]
async fn a_signal_given_before_the_stop_counts() {
    let script = Script::new().tools(&[inside(&coop(r#"send '{"status":"done"}'"#))]).text("Done.");
    let codex = Codex::ready(gated(script, json!({"mode": "auto"})).word(BYPASS)).await;
    codex.told("Go").await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    assert_eq!(decided(&codex), ["signaled"]);
}

#[tokio::test]
async fn a_signal_counts_once() {
    let script = Script::new().text("One.").text("Two.").text("Three.");
    let codex = Codex::ready(gated(script, json!({"mode": "gate", "prompt": "Not yet."}))).await;
    codex.coop.post("/api/v1/stop/resolve", json!({"go": 1})).await.ok();
    codex.told("Go").await;
    codex.goes(["working", "idle"]).await;
    codex.told("Again").await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    assert_eq!(decided(&codex), ["signaled", "blocked", "safety_valve"]);
}

#[tokio::test]
async fn the_gate_can_be_changed_while_the_agent_runs() {
    let codex = Codex::ready(Script::new().text("One.").text("Two.").text("Three.").text("Four.")).await;
    let stop = json!({"mode": "gate", "prompt": "Not yet.", "schema": null, "max_blocks": null});
    let put = codex.coop.call("PUT", "/api/v1/config/stop").json(&stop).send().await.ok();
    assert_eq!(put, codex.coop.get("/api/v1/config/stop").await.ok());
    assert_eq!((&put["mode"], &put["prompt"]), (&json!("gate"), &json!("Not yet.")));
    codex.told("Go").await;
    codex.goes(["working", "idle"]).await;
    codex.coop.call("PUT", "/api/v1/config/stop").json(&json!({"mode": "allow"})).send().await.ok();
    codex.told("Again").await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    assert_eq!(decided(&codex), ["blocked", "safety_valve", "allowed"]);
}

#[tokio::test]
async fn the_agent_needs_no_token_of_a_caller_to_give_its_signal() {
    let script = Script::new()
        .tools(&[inside(&coop(r#"send '{"status":"done"}'"#))])
        .tools(&[inside("env | grep -o COOP_HOOK_TOKEN=; env | grep -c a-callers-token")])
        .text("Done.");
    let config = json!({"stop": {"mode": "auto"}});
    let codex =
        Codex::ready(Options::script(script).agent_config(config).flag("--auth-token", "a-callers-token").word(BYPASS))
            .await;
    codex.told("Go").await;
    codex.goes(["working", "idle"]).await;
    assert_eq!(decided(&codex), ["signaled"]);
    let results = codex.model.results();
    assert!(results[1].text.ends_with("COOP_HOOK_TOKEN=\n0\n"), "the agent must not have the caller's: {results:?}");
}

#[tokio::test]
async fn stops_and_starts_can_be_followed_over_http() {
    let codex = Codex::ready(Script::new().text("Done.")).await;
    let mut starts = codex.coop.call("GET", "/api/v1/stream/start?after_seq=0").stream().await;
    let mut stops = codex.coop.call("GET", "/api/v1/stream/stop?after_seq=0").stream().await;
    codex.told("Go").await;
    // It begins with the first message.
    let start = starts.value().await;
    assert_eq!((&start["source"], &start["injected"]), (&json!("startup"), &json!(false)));
    assert_eq!(start["session_id"], codex.state().await["session_id"]);
    let stop = stops.value().await;
    assert_eq!((&stop["type"], &stop["signal"]), (&json!("allowed"), &Value::Null));
    let told = codex.told_of("stop", |_| true).await;
    assert_eq!(told["seq"], stop["seq"]);
}

#[tokio::test]
async fn words_at_the_start_reach_the_model() {
    let start = json!({"text": "The word of the day is swordfish.", "shell": ["echo the sum is $((40 + 2))"]});
    let script = Script::new().text("I know.");
    let codex = Codex::ready(Options::script(script).agent_config(json!({"start": start}))).await;
    codex.told("Go").await;
    codex.goes(["working", "idle"]).await;
    let request = codex.model.last();
    assert!(request.mentions("The word of the day is swordfish."));
    assert!(request.mentions("the sum is 42"));
    let event = codex.told_of("start", |event| event["source"] == "startup").await;
    assert_eq!(event["injected"], true, "{event}");
}

#[tokio::test]
async fn another_kind_of_start_has_its_own_words() {
    let start = json!({"text": "Said at the beginning.", "event": {"resume": {"text": "Said when it goes on."}}});
    let codex = Codex::ready(Options::script(Script::new().text("One.")).agent_config(json!({ "start": start }))).await;
    codex.told("First").await;
    codex.goes(["working", "idle"]).await;
    assert!(codex.model.last().mentions("Said at the beginning."));
    codex.commanded("/quit").await;
    codex.ended().await;
    let options = Options::script(Script::new().text("Two.")).house(&codex.house).flag("--resume", "latest");
    let again = Codex::ready(options.agent_config(json!({ "start": start }))).await;
    again.told("Second").await;
    again.goes(["working", "idle"]).await;
    assert!(again.model.last().mentions("Said when it goes on."));
}

#[tokio::test]
async fn the_operators_own_hooks_settings_and_servers_still_work() {
    let hook = |name: &str| json!([{"hooks": [{"type": "command", "command": format!("touch {name}")}]}]);
    let settings = json!({
        "hooks": {"SessionStart": hook("hook-start"), "Stop": hook("hook-stop")},
        "tools": {"update_plan": {"enabled": true}},
    });
    let plan = json!({"plan": [{"step": "A step of the plan", "status": "in_progress"}]});
    let server = json!({"type": "stdio", "command": "sh", "args": ["-c", "touch \"$0\"; exec cat >/dev/null", "asked"], "env": {"A": "1"}});
    let script = Script::new().tool("update_plan", plan).text("Done.");
    let config = json!({"settings": settings, "mcp": {"far": server}});
    let codex = Codex::ready(Options::script(script).agent_config(config)).await;
    codex.told("Go").await;
    codex.goes(["working", "idle"]).await;
    codex.shows("A step of the plan").await;
    for file in ["hook-start", "hook-stop", "asked"] {
        assert!(codex.has(file), "{file}");
    }
}
