//! Errors and limits: what went wrong, what it is about, when it ends, and that the agent can be talked to afterwards.

use serde_json::{Value, json};

use super::scenes::{LIMIT_ENDS, limit, plain_limit};
use super::{Codex, Options};
use crate::model::Script;

/// Lets the agent run into what its script has next; the state that it is in then.
async fn failed(options: impl Into<Options>, state: &str) -> (Codex, Value) {
    let codex = Codex::ready(options).await;
    codex.told("Go").await;
    codex.goes(["working", state]).await;
    codex.rests().await;
    let found = codex.state().await;
    assert_eq!((&found["state"], &found["prompt"]), (&json!(state), &Value::Null), "{found}");
    assert!(found["error_detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{found}");
    (codex, found)
}

/// A nudge finds an agent that takes it.
async fn takes_a_nudge(codex: &Codex, state_before: &str) {
    codex.model.plays(Script::new().text("Back again."));
    let told = codex.told("And now?").await;
    assert_eq!(told["state_before"], state_before);
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    assert_eq!(codex.model.heard().last().unwrap(), "And now?");
    let state = codex.state().await;
    for field in ["error_detail", "error_category", "parked_reason", "resume_at_epoch_ms"] {
        assert_eq!(state[field], Value::Null, "{field} is over: {state}");
    }
}

/// An error of this category, after which the agent takes a nudge.
async fn is_an_error(options: impl Into<Options>, category: &str, detail: &str) {
    let (codex, state) = failed(options, "error").await;
    assert_eq!(state["error_category"], category, "{state}");
    assert!(state["error_detail"].as_str().unwrap().contains(detail), "{state}");
    takes_a_nudge(&codex, "error").await;
}

#[tokio::test]
async fn a_wrong_key_is_unauthorized() {
    for status in [401, 403] {
        let script = Script::new().error(status, &[], "invalid_request_error", "Incorrect API key provided");
        is_an_error(script, "unauthorized", "Incorrect API key provided").await;
    }
}

#[tokio::test]
async fn a_broken_service_is_a_server_error() {
    is_an_error(Script::new().error(500, &[], "server_error", "Something broke"), "server_error", "high demand").await;
    is_an_error(Script::new().error_mid_stream("server_is_overloaded", "busy"), "server_error", "at capacity").await;
}

#[tokio::test]
async fn a_broken_answer_is_a_server_error() {
    is_an_error(Script::new().drop_mid_stream(), "server_error", "stream disconnected").await;
}

#[tokio::test]
async fn a_service_out_of_reach_is_no_internet() {
    // Port 9 of this machine; nobody listens there.
    let nowhere = "model_providers.tests.base_url=\"http://127.0.0.1:9/v1\"";
    let codex = Codex::ready(Options::new().word("-c").word(nowhere)).await;
    codex.told("Go").await;
    // It tries again for ever.
    codex.goes(["working", "parked"]).await;
    let state = codex.state().await;
    assert_eq!(
        (&state["error_category"], &state["resume_at_epoch_ms"]),
        (&json!("no_internet"), &Value::Null),
        "{state}"
    );
    let refused = codex.nudge("And now?").await;
    assert_eq!((&refused["delivered"], &refused["reason"]), (&json!(false), &json!("agent_busy")), "{refused}");
    codex.keys(&["escape"]).await;
    codex.until("idle").await;
    codex.rests().await;
}

#[tokio::test]
async fn an_empty_account_is_out_of_credits() {
    let script = Script::new().error_mid_stream("insufficient_quota", "You exceeded your current quota.");
    is_an_error(script, "out_of_credits", "Quota exceeded").await;
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_about_the_context_window() {
    let script = Script::new().error_mid_stream("context_length_exceeded", "Your input exceeds the context window");
    is_an_error(script, "context_window", "ran out of room").await;
}

#[tokio::test]
async fn a_refusal_and_an_answer_without_end_are_other_errors() {
    for script in [Script::new().refusal(), Script::new().max_tokens()] {
        let (_codex, state) = failed(script, "error").await;
        assert!(["other", "server_error"].contains(&state["error_category"].as_str().unwrap()), "{state}");
    }
}

#[tokio::test]
async fn numbers_in_prose_are_no_errors() {
    let said = "■ unexpected status 500, said nobody. You’ve hit your usage limit, try again at 5:00 AM.";
    let codex = Codex::ready(Script::new().text(said)).await;
    codex.told("Say something odd").await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    assert_eq!(codex.state().await["error_category"], Value::Null);
}

#[tokio::test]
async fn too_many_requests_park_the_agent() {
    let script = Script::new().error(429, &[], "requests", "Rate limit reached for requests per min.");
    let (codex, state) = failed(script, "parked").await;
    assert_eq!(state["error_category"], "rate_limited", "{state}");
    assert!(state["parked_reason"].is_string(), "{state}");
    takes_a_nudge(&codex, "parked").await;
}

#[tokio::test]
async fn a_limit_of_the_subscription_says_when_it_ends() {
    let (codex, state) = failed(plain_limit(), "parked").await;
    assert_eq!(state["resume_at_epoch_ms"], LIMIT_ENDS * 1000, "{state}");
    assert!(state["parked_reason"].as_str().unwrap().contains("usage limit"), "{state}");
    takes_a_nudge(&codex, "parked").await;
}

#[tokio::test]
async fn the_offer_of_another_model_hides_no_limit() {
    let codex = Codex::ready(Options::script(limit()).groom("manual")).await;
    codex.told("Go").await;
    let prompt = codex.prompt("setup").await;
    assert_eq!(prompt["subtype"], "rate_limit_options", "{prompt}");
    let state = codex.state().await;
    assert_eq!(
        (&state["error_category"], &state["resume_at_epoch_ms"]),
        (&json!("rate_limited"), &json!(LIMIT_ENDS * 1000))
    );
}
