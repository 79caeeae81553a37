//! Oddjobs' adapter: HTTP written by hand over a Unix socket, and one WebSocket for states and messages.

use std::io::Write;
use std::sync::Arc;

use serde_json::{Value, json};

use super::stand_in::{installed, started, words};
use super::wire::{Caller, bare_get, bare_post};
use crate::support::{Claude, Hook, Scratch, WebSocket};

/// Shows what it reads, as the stand-in of other tests, and ends when it reads an `x`.
const ENDS_AT_X: &str = "stty -echo -icanon -icrnl; echo ready; while read -rn1 c; do [ \"$c\" = x ] && exit 7; done";

/// An agent on a Unix socket, with a configuration of the orchestrator's.
async fn agent(config: Value, script: &str) -> Claude {
    let home = Arc::new(Scratch::new());
    let (socket, config) = (home.path("coop.sock"), home.file("agent-config.json", config.to_string()));
    Claude::start_in(&home, &["--socket", socket.to_str().unwrap(), "--agent-config", &config], script).await
}

/// The log of the conversation, which the test writes as the agent does; its hooks name it.
fn append(home: &Scratch, lines: &[Value]) -> Value {
    let path = home.path("conversation.jsonl");
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&path).unwrap();
    for line in lines {
        writeln!(file, "{line}").unwrap();
    }
    json!({"session_id": "conversation", "transcript_path": path})
}

fn with(mut payload: Value, more: Value) -> Value {
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    payload
}

async fn bridge(claude: &Claude) -> WebSocket {
    claude.place.ws("/ws?subscribe=state,messages").await
}

#[tokio::test]
async fn oddjobs_starts_an_agent_behind_a_shell_and_coops_words_reach_it() {
    let home = installed();
    let config = json!({
        "settings": {"permissions": {"allow": ["Bash"]}},
        "stop": {"mode": "gate", "prompt": "Wait for what comes next."},
        "start": {"event": {"startup": {"shell": ["set -eu\necho primed"]}}},
    });
    let (socket, config) = (home.path("coop.sock"), home.file("agent-config.json", config.to_string()));
    let flags = ["--agent", "claude", "--socket", socket.to_str().unwrap(), "--agent-config", &config];
    let program = ["bash", "-c", r#"claude --dangerously-skip-permissions "$@""#, "_"];
    let quick = [("COOP_SCREEN_POLL_MS", "50"), ("COOP_NUDGE_TIMEOUT_MS", "100"), ("COOP_DRAIN_TIMEOUT_MS", "100")];
    let coop = started(&home, &flags, &program, &quick).await;
    let words = words(&home);
    assert_eq!(words[0], "--dangerously-skip-permissions");
    for option in ["--settings=", "--session-id="] {
        assert!(words[1..].iter().any(|word| word.starts_with(option)), "{option} in {words:?}");
    }
    assert!(!coop.place.log.text().contains("cannot add its hooks"), "{}", coop.place.log.text());
    let health = Caller::to(&coop.place).await.says(&bare_get("/api/v1/health")).await.ok();
    assert_eq!(json!([health["status"], health["agent"]]), json!(["running", "claude"]));
}

#[tokio::test]
async fn oddjobs_hears_the_current_state_first_then_transitions_and_the_exit() {
    let claude = agent(json!({}), ENDS_AT_X).await;
    claude.hook("Stop", json!({"stop_hook_active": false})).await;
    claude.is("idle").await;
    let mut ws = bridge(&claude).await;
    let first = ws.hear().await.event();
    assert_eq!(json!([first["event"], first["prev"], first["next"]]), json!(["transition", "idle", "idle"]));
    claude.hook("UserPromptSubmit", json!({"prompt": "go"})).await;
    assert_eq!(ws.next_event("transition").await["next"], "working");
    let hook = claude.begin("PermissionRequest", &json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}));
    let prompt = ws.next_event("transition").await;
    assert_eq!(json!([prompt["next"], prompt["prompt"]["type"]]), json!(["prompt", "permission"]));
    hook.kill().await;
    let mut caller = Caller::to(&claude.place).await;
    caller.says(&bare_post("/api/v1/input", r#"{"text":"x","enter":false}"#)).await.ok();
    let exit = ws.next_event("exit").await;
    assert_eq!(json!([exit["code"], exit["signal"]]), json!([7, null]));
    let state = caller.says(&bare_get("/api/v1/agent")).await.ok();
    assert_eq!(state["state"], "exited");
}

#[tokio::test]
async fn oddjobs_gets_every_line_of_the_conversation_as_the_agent_wrote_it() {
    let claude = agent(json!({}), ENDS_AT_X).await;
    let mut ws = bridge(&claude).await;
    let lines = [
        json!({"type": "user", "message": {"content": "go"}, "z": 1, "a": [null, 1.50]}),
        json!({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "é\"\\"}]}}),
    ];
    let payload = append(&claude.home, &lines);
    claude.hook("UserPromptSubmit", with(payload.clone(), json!({"prompt": "go"}))).await;
    let mut seqs = Vec::new();
    for line in &lines {
        let heard = ws.next_event("message:raw").await;
        assert_eq!((&heard["data"], &heard["source"]), (line, &json!("log")));
        assert_eq!(heard["byte_size"], line.to_string().len());
        seqs.push(heard["seq"].as_u64().unwrap());
    }
    assert!(seqs[0] < seqs[1]);
    let old = json!({"type": "user", "timestamp": "2020-01-01T00:00:00.000Z", "message": {"content": "long ago"}});
    let large = json!({"type": "user", "message": {"content": "x".repeat(1 << 20)}});
    append(&claude.home, &[old, large.clone()]);
    let heard = ws.next_event("message:raw").await;
    assert_eq!(
        json!([heard["data"], heard["byte_size"]]),
        json!([null, large.to_string().len()]),
        "and nothing of old"
    );

    // Who was away goes on where it was; who follows states alone hears nothing of it.
    let mut again = claude.place.ws(&format!("/ws?subscribe=messages&after_seq={}", seqs[0])).await;
    assert_eq!(again.next_event("message:raw").await["seq"], seqs[1]);
    let mut states = claude.place.ws("/ws?mode=all&after_seq=0").await;
    let heard = states.until_pong().await;
    assert!(heard.iter().all(|event| event["event"] != "message:raw"), "{heard:?}");
}

#[tokio::test]
async fn a_bridge_that_was_away_too_long_is_told_which_messages_are_gone() {
    let claude = agent(json!({}), ENDS_AT_X).await;
    let mut ws = bridge(&claude).await;
    let line = |n: usize| json!({"type": "user", "message": {"content": format!("{n}{}", "y".repeat(500_000))}});
    let small = |text: &str| json!({"type": "user", "message": {"content": text}});
    let payload = append(&claude.home, &[small("first")]);
    claude.hook("UserPromptSubmit", with(payload, json!({"prompt": "go"}))).await;
    let first = ws.next_event("message:raw").await["seq"].as_u64().unwrap();
    append(&claude.home, &(0..20).map(line).chain([small("last")]).collect::<Vec<_>>());
    while ws.next_event("message:raw").await["data"]["message"]["content"] != "last" {}
    let mut again = claude.place.ws(&format!("/ws?subscribe=messages&after_seq={first}")).await;
    let gap = again.hear().await.event();
    assert_eq!(json!([gap["event"], gap["from_seq"]]), json!(["gap", first + 1]));
    let next = again.next_event("message:raw").await;
    assert_eq!(next["seq"], gap["to_seq"], "and what is held follows");
}

#[tokio::test]
async fn oddjobs_is_told_of_a_blocked_stop_and_resolves_it() {
    let claude = agent(json!({"stop": {"mode": "gate", "prompt": "Not yet."}}), ENDS_AT_X).await;
    let mut ws = bridge(&claude).await;
    let mut plain = claude.place.ws("/ws?mode=state").await;
    let stop = async |held: bool| claude.hook("Stop", json!({"stop_hook_active": held})).await;
    assert!(stop(false).await.contains("Not yet."));
    let outcome = ws.next_event("stop:outcome").await;
    assert_eq!(json!([outcome["type"], outcome["signal"]]), json!(["blocked", null]));
    assert_eq!(plain.next_event("stop").await["seq"], outcome["seq"], "those of 004 hear it under its own name");
    let mut caller = Caller::to(&claude.place).await;
    assert_eq!(caller.says(&bare_post("/api/v1/stop/resolve", "{}")).await.ok(), json!({"accepted": true}));
    assert_eq!(stop(true).await, "");
    assert_eq!(ws.next_event("stop:outcome").await["type"], "signaled");
}

#[tokio::test]
async fn oddjobs_hears_that_a_stop_was_allowed() {
    let claude = agent(json!({}), ENDS_AT_X).await;
    let mut ws = bridge(&claude).await;
    claude.hook("Stop", json!({"stop_hook_active": false})).await;
    assert_eq!(ws.next_event("stop:outcome").await["type"], "allowed");
}

#[tokio::test]
async fn oddjobs_falls_back_to_typing_when_a_nudge_is_not_delivered() {
    let claude = agent(json!({}), "stty -echo -icanon -icrnl; echo ready; cat -v; exit").await;
    claude.hook("UserPromptSubmit", json!({"prompt": "go"})).await;
    claude.is("working").await;
    let mut caller = Caller::to(&claude.place).await;
    let nudge = caller.says(&bare_post("/api/v1/agent/nudge", r#"{"message":"hello"}"#)).await.ok();
    assert_eq!(json!([nudge["delivered"], nudge["reason"]]), json!([false, "agent_busy"]));
    caller.says(&bare_post("/api/v1/input", r#"{"text":"hello","enter":true}"#)).await.ok();
    claude.shows("hello^M").await;
}

#[tokio::test]
async fn oddjobs_answers_with_nulls_where_it_has_nothing_to_say() {
    let claude = agent(json!({}), ENDS_AT_X).await;
    let input = json!({"command": "ls"});
    let (hook, _) = claude.asks("Bash", input.clone()).await;
    let goes_on = async |hook: Hook| {
        hook.told().await;
        claude.hook("PostToolUse", json!({"tool_name": "Bash", "tool_input": input})).await;
    };
    let mut caller = Caller::to(&claude.place).await;
    let request = bare_post("/api/v1/agent/respond", r#"{"accept":true,"option":null,"text":null}"#);
    let (answer, ()) = tokio::join!(caller.says(&request), goes_on(hook));
    assert_eq!(answer.ok()["delivered"], true);
}

#[tokio::test]
async fn oddjobs_fetches_the_transcript_the_usage_and_the_last_words() {
    let claude = agent(json!({}), ENDS_AT_X).await;
    let mut ws = bridge(&claude).await;
    let usage = json!({"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 5});
    let message = json!({"id": "m1", "role": "assistant", "stop_reason": "end_turn", "usage": usage,
        "content": [{"type": "text", "text": "Done."}]});
    let payload = append(&claude.home, &[json!({"type": "assistant", "message": message})]);
    claude.hook("Stop", with(payload, json!({"stop_hook_active": false, "last_assistant_message": "Done."}))).await;
    ws.next_event("message:raw").await;
    claude.is("idle").await;
    let mut caller = Caller::to(&claude.place).await;
    let path = "/api/v1/transcripts/catchup?since_transcript=0&since_line=0";
    let transcript = caller.says(&bare_get(path)).await.ok();
    assert_eq!(transcript["transcripts"], json!([]));
    let lines = transcript["live_lines"].as_array().unwrap();
    assert!(lines.len() == 1 && lines[0].as_str().unwrap().contains("\"m1\""), "{transcript}");
    let usage = caller.says(&bare_get("/api/v1/session/usage")).await.ok();
    let numbers = ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"].map(|name| &usage[name]);
    assert_eq!(json!(numbers), json!([100, 20, 7, 5]));
    assert!(usage["total_cost_usd"].is_f64(), "{usage}");
    assert_eq!(caller.says(&bare_get("/api/v1/agent")).await.ok()["last_message"], "Done.");
}

#[tokio::test]
async fn oddjobs_ends_an_agent_gently_and_the_bridge_is_closed() {
    let claude = agent(json!({}), ENDS_AT_X).await;
    let mut ws = bridge(&claude).await;
    let mut caller = Caller::to(&claude.place).await;
    caller.says(&bare_post("/api/v1/shutdown", "{}")).await.ok();
    ws.next_event("exit").await;
    assert!(ws.closed().await.is_some());
    assert_eq!(claude.left().await.code(), Some(0));
}

#[tokio::test]
async fn oddjobs_in_a_container_shows_its_token_in_the_header_and_in_the_query() {
    let flags = ["--auth-token", "correct-horse-battery"];
    let claude = Claude::start(&flags).await;
    let mut caller = Caller::to(&claude.place).await;
    let authed = |request: String| request.replacen("\r\n", "\r\nAuthorization: Bearer correct-horse-battery\r\n", 1);
    caller.says(&authed(bare_get("/api/v1/agent"))).await.ok();
    caller.says(&authed(bare_post("/api/v1/input", r#"{"text":"y","enter":true}"#))).await.ok();
    let path = "/ws?subscribe=state,messages&token=correct-horse-battery";
    let mut ws = claude.place.try_ws(path, &[]).await.unwrap_or_else(|response| panic!("{response:?}"));
    assert_eq!(ws.hear().await.event()["event"], "transition");
}
