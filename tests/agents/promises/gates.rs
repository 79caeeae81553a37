//! Gates: what an agent is told at its start, and that it does not leave without a word.

use serde_json::{Value, json};

use super::Kept;
use crate::model::{Gate, Kind, Script};
use crate::session::{Options, Session};

/// A server with one tool, which tells by a file that it was asked for its tools.
pub const SERVER: &str = r#"
import sys, json
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked: continue
    result = {}
    if asked["method"] == "initialize":
        info = {"name": "test", "version": "1"}
        version = asked["params"]["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    elif asked["method"] == "tools/list":
        schema = {"type": "object", "properties": {"what": {"type": "string"}}}
        result = {"tools": [{"name": "poke", "description": "Pokes.", "inputSchema": schema}]}
    elif asked["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": "poked " + asked["params"]["arguments"]["what"]}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
    if asked["method"] == "tools/list": open(sys.argv[1], "w").write("answered")
"#;

/// An agent with this stop gate, which may give its signal without asking.
pub fn gated<A: Kept>(script: Script, stop: Value) -> Options<A> {
    A::unasked(Options::script(script).agent_config(json!({ "stop": stop })), &[&format!("{} send", A::coop())])
}

/// The model gives this signal.
fn sends<A: Kept>(script: Script, signal: &str) -> Script {
    A::runs(script, &format!("{} send '{signal}'", A::coop()))
}

/// What was decided about the stops so far.
pub fn decided<A: Kept>(agent: &Session<A>) -> Vec<String> {
    let word = |event: &Value| event["type"].as_str().unwrap().to_owned();
    agent.record.events("stop").iter().map(word).collect()
}

pub async fn an_ungated_agent_stops_when_it_likes<A: Kept>() {
    let agent = Session::<A>::ready(Script::new().text("Done.")).await;
    assert_eq!(agent.coop.get("/api/v1/config/stop").await.ok()["mode"], "allow");
    agent.told("Go").await;
    agent.goes(["working", "idle"]).await;
    agent.rests().await;
    assert_eq!(decided(&agent), ["allowed"]);
}

pub async fn a_gated_agent_is_told_how_to_give_its_signal_and_leaves_with_it<A: Kept>() {
    let script = Script::new().text("I think I am done.");
    let script = sends::<A>(script, r#"{"status":"done","note":"all is well"}"#).text("Now I may go.");
    let agent = Session::<A>::ready(gated(script, json!({"mode": "auto"}))).await;
    agent.told("Go").await;
    agent.goes(["working", "idle"]).await;
    agent.rests().await;
    assert_eq!(decided(&agent), ["blocked", "signaled"]);
    let signaled = &agent.record.events("stop")[1];
    assert_eq!(signaled["signal"], json!({"status": "done", "note": "all is well"}), "{signaled}");
    let requests = agent.model.requests(Kind::Turn);
    assert!(requests[1].mentions("coop send"), "the instructions reach the model");
    let results = agent.model.results();
    assert_eq!(A::exit_code(&results[0]), 0, "{results:?}");
}

pub async fn a_gated_agent_hears_the_operators_own_words<A: Kept>() {
    let gate = Gate::new();
    let script = Script::new().text("I think I am done.").hold(&gate).text("So I wait.");
    let agent = Session::<A>::ready(gated(script, json!({"mode": "gate", "prompt": "Ask the captain first."}))).await;
    agent.told("Go").await;
    agent.goes(["working"]).await;
    gate.reached().await;
    assert_eq!(decided(&agent), ["blocked"]);
    assert!(agent.model.last().mentions("Ask the captain first."));
    assert!(!agent.model.last().mentions("coop send"));
    let resolved = agent.coop.post("/api/v1/stop/resolve", json!({"captain": "aye"})).await.ok();
    assert_eq!(resolved["accepted"], true);
    gate.open();
    agent.goes(["idle"]).await;
    agent.rests().await;
    assert_eq!(decided(&agent), ["blocked", "signaled"]);
    assert_eq!(agent.record.events("stop")[1]["signal"], json!({"captain": "aye"}));
}

pub async fn an_agent_is_held_back_once_and_then_let_go<A: Kept>() {
    let script = Script::new().text("I am done.").text("I really am.");
    let agent = Session::<A>::ready(gated(script, json!({"mode": "gate", "prompt": "Not yet."}))).await;
    agent.told("Go").await;
    agent.goes(["working", "idle"]).await;
    agent.rests().await;
    assert_eq!(decided(&agent), ["blocked", "safety_valve"]);
}

pub async fn an_agent_can_be_held_back_longer<A: Kept>() {
    let script = Script::new().text("One.").text("Two.").text("Three.").text("Four.");
    let stop = json!({"mode": "gate", "prompt": "Not yet.", "max_blocks": 3});
    let agent = Session::<A>::ready(gated(script, stop)).await;
    agent.told("Go").await;
    agent.goes(["working", "idle"]).await;
    agent.rests().await;
    assert_eq!(decided(&agent), ["blocked", "blocked", "blocked", "safety_valve"]);
}

pub async fn a_signal_must_fit_its_schema<A: Kept>() {
    let status = json!({"required": true, "enum": ["done", "stuck"]});
    let stop = json!({"mode": "auto", "schema": {"fields": {"status": status}}});
    let script = sends::<A>(Script::new().text("I am done."), r#"{"status":"perhaps"}"#);
    let script = sends::<A>(script, r#"{"status":"stuck"}"#).text("Now I may go.");
    let agent = Session::<A>::ready(gated(script, stop)).await;
    agent.told("Go").await;
    agent.goes(["working", "idle"]).await;
    agent.rests().await;
    let results = agent.model.results();
    assert!(A::exit_code(&results[0]) == 1 && results[0].text.contains("status"), "{results:?}");
    assert_eq!(A::exit_code(&results[1]), 0, "{results:?}");
    assert_eq!(decided(&agent), ["blocked", "signaled"]);
    assert_eq!(agent.record.events("stop")[1]["signal"], json!({"status": "stuck"}));
}

pub async fn a_signal_given_before_the_stop_counts<A: Kept>() {
    let script = sends::<A>(Script::new(), r#"{"status":"done"}"#).text("Done.");
    let agent = Session::<A>::ready(gated(script, json!({"mode": "auto"}))).await;
    agent.told("Go").await;
    agent.goes(["working", "idle"]).await;
    agent.rests().await;
    assert_eq!(decided(&agent), ["signaled"]);
}

pub async fn a_signal_counts_once<A: Kept>() {
    let script = Script::new().text("One.").text("Two.").text("Three.");
    let agent = Session::<A>::ready(gated(script, json!({"mode": "gate", "prompt": "Not yet."}))).await;
    agent.coop.post("/api/v1/stop/resolve", json!({"go": 1})).await.ok();
    agent.told("Go").await;
    agent.goes(["working", "idle"]).await;
    agent.told("Again").await;
    agent.goes(["working", "idle"]).await;
    agent.rests().await;
    assert_eq!(decided(&agent), ["signaled", "blocked", "safety_valve"]);
}

pub async fn the_gate_can_be_changed_while_the_agent_runs<A: Kept>() {
    let agent = Session::<A>::ready(Script::new().text("One.").text("Two.").text("Three.").text("Four.")).await;
    let stop = json!({"mode": "gate", "prompt": "Not yet.", "schema": null, "max_blocks": null});
    let put = agent.coop.call("PUT", "/api/v1/config/stop").json(&stop).send().await.ok();
    assert_eq!(put, agent.coop.get("/api/v1/config/stop").await.ok());
    assert_eq!((&put["mode"], &put["prompt"]), (&json!("gate"), &json!("Not yet.")));
    agent.told("Go").await;
    agent.goes(["working", "idle"]).await;
    agent.coop.call("PUT", "/api/v1/config/stop").json(&json!({"mode": "allow"})).send().await.ok();
    agent.told("Again").await;
    agent.goes(["working", "idle"]).await;
    agent.rests().await;
    assert_eq!(decided(&agent), ["blocked", "safety_valve", "allowed"]);
}

pub async fn the_agent_needs_no_token_of_a_caller_to_give_its_signal<A: Kept>() {
    let script = sends::<A>(Script::new(), r#"{"status":"done"}"#);
    let script = A::runs(script, "sh looks").text("Done.");
    let looks = "env | grep -o COOP_HOOK_TOKEN=\nenv | grep -c a-callers-token\n";
    let options = gated::<A>(script, json!({"mode": "auto"})).flag("--auth-token", "a-callers-token");
    let options = options.prepare(move |house| std::fs::write(house.at("looks"), looks).unwrap());
    let agent = Session::ready(A::unasked(options, &["sh looks"])).await;
    agent.told("Go").await;
    agent.goes(["working", "idle"]).await;
    assert_eq!(decided(&agent), ["signaled"]);
    let results = agent.model.results();
    let found = results[1].text.contains("COOP_HOOK_TOKEN=\n0");
    assert!(found, "it has a token of its own and must not have the caller's: {results:?}");
}

pub async fn stops_and_starts_can_be_followed_over_http<A: Kept>() {
    let agent = Session::<A>::ready(Script::new().text("Done.")).await;
    let mut starts = agent.coop.call("GET", "/api/v1/stream/start?after_seq=0").stream().await;
    let mut stops = agent.coop.call("GET", "/api/v1/stream/stop?after_seq=0").stream().await;
    if A::BEGINS_WITH_A_MESSAGE {
        agent.told("Go").await;
    }
    let start = starts.value().await;
    assert_eq!((&start["source"], &start["injected"]), (&json!("startup"), &json!(false)));
    assert_eq!(start["session_id"], agent.state().await["session_id"]);
    if !A::BEGINS_WITH_A_MESSAGE {
        agent.told("Go").await;
    }
    let stop = stops.value().await;
    assert_eq!((&stop["type"], &stop["signal"]), (&json!("allowed"), &Value::Null));
    let told = agent.told_of("stop", |_| true).await;
    assert_eq!(told["seq"], stop["seq"]);
}

pub async fn words_at_the_start_reach_the_model<A: Kept>() {
    let start = json!({
        "text": "The word of the day is \"swordfish\".", "shell": ["echo the sum is $((40 + 2))"],
        "event": {"clear": {"text": "Said after a clearing."}},
    });
    let options = Options::script(Script::new().text("I know.")).agent_config(json!({"start": start}));
    let agent = Session::<A>::ready(options).await;
    agent.told("Go").await;
    agent.goes(["working", "idle"]).await;
    let request = agent.model.last();
    assert!(request.mentions("The word of the day is \"swordfish\"."));
    assert!(request.mentions("the sum is 42"));
    assert!(!request.mentions("Said after a clearing."));
    let event = agent.told_of("start", |event| event["source"] == "startup").await;
    assert_eq!(event["injected"], true, "{event}");
    agent.rests().await;
    assert!(!agent.screen().await.contains("swordfish"), "it is for the model alone");
}
