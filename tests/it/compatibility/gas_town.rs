//! Gas Town's backend: a Go HTTP client that stands in for tmux.

use serde_json::{Value, json};

use super::stand_in;
use super::wire::{Caller, go_get, go_post, go_put};
use crate::support::{Claude, Coop, sh};

#[tokio::test]
async fn gas_town_has_a_session_while_its_health_says_running() {
    let coop = Coop::run(&sh("read line; exit 3"));
    let mut caller = Caller::to(&coop.place).await;
    let health = caller.says(&go_get("/api/v1/health")).await.ok();
    assert_eq!(health["status"], "running");
    assert_eq!(health["pid"].as_i64(), Some(coop.child_pid().await.into()), "a number that fits into 32 bits");
    let status = caller.says(&go_get("/api/v1/status")).await.ok();
    assert_eq!(json!([status["state"], status["exit_code"]]), json!(["running", null]));
    coop.types("").await;
    coop.exited().await;
    let health = caller.says(&go_get("/api/v1/health")).await.ok();
    assert_eq!(json!([health["status"], health["pid"]]), json!(["exited", null]));
    let status = caller.says(&go_get("/api/v1/status")).await.ok();
    assert_eq!(json!([status["state"], status["exit_code"]]), json!(["exited", 3]));
    let state = caller.says(&go_get("/api/v1/agent/state")).await.ok();
    assert_eq!(state["state"], "exited", "a dead pane is a state, no error");
    let ready = caller.says(&go_get("/api/v1/ready")).await;
    assert_eq!((ready.status, &ready.json()["ready"]), (503, &json!(false)));
}

#[tokio::test]
async fn gas_town_captures_the_pane_as_lines_of_text() {
    let coop = Coop::run(&sh("printf 'one\\ntwo  \\n\\303\\251\\n'; sleep 1000"));
    coop.shows("é").await;
    let mut caller = Caller::to(&coop.place).await;
    let pane = caller.says(&go_get("/api/v1/screen/text")).await;
    assert_eq!(pane.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(pane.body.split('\n').take(3).collect::<Vec<_>>(), ["one", "two", "é"]);
    let screen = caller.says(&go_get("/api/v1/screen")).await.ok();
    assert_eq!(json!([screen["lines"][0], screen["cols"], screen["rows"]]), json!(["one", 80, 24]));
    assert!(screen["cursor"]["row"].is_u64() && screen["seq"].is_u64() && screen["alt_screen"] == false, "{screen}");
}

#[tokio::test]
async fn gas_town_types_and_presses_keys_in_any_case() {
    let coop = Coop::run(&sh("stty -echo -icanon -icrnl -isig; echo ready; cat -v"));
    coop.shows("ready").await;
    let mut caller = Caller::to(&coop.place).await;
    let typed = caller.says(&go_post("/api/v1/input", r#"{"text":"go","enter":true}"#)).await.ok();
    assert_eq!(typed["bytes_written"], 3);
    coop.shows("go^M").await;
    for (keys, shown) in [
        (json!(["Escape"]), "^["),
        (json!(["Enter"]), "^M"),
        (json!(["RETURN"]), "^M"),
        (json!(["return", "Return", "enter", "ENTER"]), "^M^M^M^M"),
        (json!(["Up", "Return"]), "^[[A^M"),
        (json!(["C-c"]), "^C"),
    ] {
        caller.says(&go_post("/api/v1/input", r#"{"text":"|","enter":false}"#)).await.ok();
        let pressed = caller.says(&go_post("/api/v1/input/keys", &json!({ "keys": keys }).to_string())).await.ok();
        assert!(pressed["bytes_written"].as_u64().unwrap() > 0);
        caller.says(&go_post("/api/v1/input", r#"{"text":"|\n","enter":false}"#)).await.ok();
        coop.shows(&format!("|{shown}|")).await;
    }
}

#[tokio::test]
async fn gas_town_reads_and_changes_a_variable_and_asks_for_the_directory() {
    let coop = Coop::start(&["--port", "0", "--cwd", "/usr", "--env", "GT_ROLE=witness"], &["cat"]);
    let mut caller = Caller::to(&coop.place).await;
    let role = caller.says(&go_get("/api/v1/env/GT_ROLE")).await.ok();
    assert_eq!(role, json!({"key": "GT_ROLE", "value": "witness"}));
    assert_eq!(caller.says(&go_get("/api/v1/env/MISSING")).await.ok(), json!({"key": "MISSING", "value": null}));
    caller.says(&go_put("/api/v1/env/GT_ROLE", r#"{"value":"polecat"}"#)).await.ok();
    let role = caller.says(&go_get("/api/v1/env/GT_ROLE")).await.ok();
    assert_eq!(role["value"], "polecat", "the next child has it");
    assert_eq!(caller.says(&go_get("/api/v1/session/cwd")).await.ok()["cwd"], "/usr");
}

#[tokio::test]
async fn gas_town_kills_a_session_with_a_signal() {
    let coop = Coop::run(&["cat"]);
    let mut caller = Caller::to(&coop.place).await;
    caller.says(&go_post("/api/v1/signal", r#"{"signal":"SIGTERM"}"#)).await.ok();
    assert_eq!(coop.exited().await["signal"], 15);
    let again = caller.says(&go_post("/api/v1/signal", r#"{"signal":"SIGTERM"}"#)).await;
    assert_eq!((again.status, &again.json()["error"]["code"]), (410, &json!("EXITED")));
}

#[tokio::test]
async fn gas_town_reads_states_and_dialogs_with_the_fields_it_knows() {
    let claude = Claude::start(&[]).await;
    let mut caller = Caller::to(&claude.place).await;
    let (hook, _) = claude.asks("Bash", json!({"command": "ls"})).await;
    let state = caller.says(&go_get("/api/v1/agent/state")).await.ok();
    assert_eq!(json!([state["agent"], state["state"]]), json!(["claude", "prompt"]));
    assert!(state["since_seq"].is_u64() && state["screen_seq"].is_u64() && state["detection_tier"].is_string());
    assert_eq!(state["prompt"]["type"], "permission");
    assert!(state["prompt"]["options"].as_array().unwrap().iter().all(Value::is_string), "{state}");
    assert_eq!(json!([state["error_detail"], state["error_category"]]), json!([null, null]));
    hook.kill().await;
}

#[tokio::test]
async fn gas_town_answers_a_dialog_and_nudges() {
    let claude = Claude::start(&[]).await;
    let mut caller = Caller::to(&claude.place).await;
    let nothing = caller.says(&go_post("/api/v1/agent/respond", r#"{"accept":true}"#)).await.ok();
    assert_eq!(json!([nothing["delivered"], nothing["reason"]]), json!([false, "no_prompt"]));
    let input = json!({"command": "ls"});
    let (hook, _) = claude.asks("Bash", input.clone()).await;
    let agent = async {
        hook.told().await;
        claude.hook("PostToolUse", json!({"tool_name": "Bash", "tool_input": input})).await;
    };
    let request = go_post("/api/v1/agent/respond", r#"{"accept":true}"#);
    let (answer, ()) = tokio::join!(caller.says(&request), agent);
    assert_eq!(json!([answer.ok()["delivered"], answer.ok()["prompt_type"]]), json!([true, "permission"]));
    claude.is("working").await;
    let nudge = caller.says(&go_post("/api/v1/agent/nudge", r#"{"message":"Fix the login bug"}"#)).await.ok();
    let told = json!([nudge["delivered"], nudge["reason"], nudge["state"], nudge["state_before"]]);
    assert_eq!(told, json!([false, "agent_busy", "working", "working"]));
}

#[tokio::test]
async fn gas_town_nudges_an_idle_agent_and_is_told_that_it_took_the_message() {
    let claude = stand_in::at_rest().await;
    let mut caller = Caller::to(&claude.place).await;
    let nudge = caller.says(&go_post("/api/v1/agent/nudge", r#"{"message":"Fix the login bug"}"#)).await.ok();
    let told = json!([nudge["delivered"], nudge["state_before"], nudge["reason"]]);
    assert_eq!(told, json!([true, "idle", null]), "{nudge}");
    claude.is("working").await;
    let metrics = caller.says(&go_get("/metrics")).await.body;
    let accepted = r#"coop_receipt_seconds_count{kind="nudge",outcome="accepted"} 1"#;
    assert!(metrics.lines().any(|line| line == accepted), "{metrics}");
}
