//! Gasboat's pods: an entry point that starts coop and talks to it with curl, and probes on a port of their own.

use serde_json::json;

use super::stand_in::{installed, started, words};
use super::wire::{Caller, curl, curl_data};
use crate::support::Claude;

#[tokio::test]
async fn gasboat_starts_an_agent_whose_own_words_come_first() {
    let home = installed();
    let flags = ["--agent=claude", "--port", "0", "--port-health", "0", "--cols", "200", "--rows", "50"];
    let program = ["claude", "--dangerously-skip-permissions", "--model", "opus"];
    let coop = started(&home, &flags, &program, &[("COOP_LOG_LEVEL", "info")]).await;
    let words = words(&home);
    assert_eq!(words[..3], program[1..], "{words:?}");
    assert!(words.len() > 3 && words[3..].iter().all(|word| word.starts_with("--") && word.contains('=')), "{words:?}");
    let mut probe = Caller::to(&coop.at("health_url")).await;
    for path in ["/api/v1/health", "/api/v1/ready", "/api/v1/livez"] {
        let by_pod_address = curl("GET", path).replace("localhost:8080", "10.1.2.3:9090");
        assert_eq!(probe.says(&by_pod_address).await.status, 200, "{path}");
    }
    let mut caller = Caller::to(&coop.place).await;
    let accepted = caller.says(&curl("POST", "/api/v1/shutdown")).await.ok();
    assert_eq!(accepted["accepted"], true);
    assert_eq!(coop.left().await.code(), Some(0));
}

#[tokio::test]
async fn gasboat_polls_the_agent_and_presses_its_way_through_dialogs() {
    let claude = Claude::start(&[]).await;
    let mut caller = Caller::to(&claude.place).await;
    let agent = caller.says(&curl("GET", "/api/v1/agent")).await.ok();
    assert!(agent["state"].is_string() && agent["prompt"].is_null() && agent["error_category"].is_null(), "{agent}");
    for (body, shown) in
        [(r#"{"keys":["Return"]}"#, "^M"), (r#"{"keys":["Up","Return"]}"#, "^[[A^M"), (r#"{"keys":["Escape"]}"#, "^[")]
    {
        caller.says(&curl_data("/api/v1/input", r#"{"text":"|"}"#)).await.ok();
        caller.says(&curl_data("/api/v1/input/keys", body)).await.ok();
        caller.says(&curl_data("/api/v1/input", r#"{"text":"|\n"}"#)).await.ok();
        claude.shows(&format!("|{shown}|")).await;
    }
    let failed = json!({"error": "rate_limit", "last_assistant_message": "You've hit your limit · resets 9pm (UTC)"});
    claude.hook("StopFailure", failed).await;
    claude.wait(json!({"states": ["error", "parked"]})).await;
    let agent = caller.says(&curl("GET", "/api/v1/agent")).await.ok();
    assert_eq!(agent["error_category"], "rate_limited", "{agent}");
    assert!(agent["last_message"].as_str().unwrap().contains("9pm"), "{agent}");
}

#[tokio::test]
async fn gasboat_sends_its_first_message_when_the_agent_can_take_it_and_is_told_when_it_cannot() {
    let claude = Claude::start(&[]).await;
    let mut caller = Caller::to(&claude.place).await;
    claude.hook("UserPromptSubmit", json!({"prompt": "go"})).await;
    claude.is("working").await;
    let body = r#"{"message": "Check `gb ready` for your workflow steps — and begin."}"#;
    let nudge = caller.says(&curl_data("/api/v1/agent/nudge", body)).await.ok();
    assert_eq!(json!([nudge["delivered"], nudge["reason"]]), json!([false, "agent_busy"]));
    let none = caller.says(&curl_data("/api/v1/agent/respond", r#"{"option":2}"#)).await.ok();
    assert_eq!(json!([none["delivered"], none["reason"]]), json!([false, "no_prompt"]));
}
