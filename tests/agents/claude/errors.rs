//! Errors and limits: what went wrong, what it is about, when it ends, and that the agent can be talked to afterwards.

use serde_json::{Value, json};

use super::scenes::{LIMIT_ENDS, MAX_TOKENS_TRIES, limit};
use super::{Claude, Credential, Options};
use crate::model::Script;

/// When the limit of [`usage_limit`] ends, in seconds since 1970.
const REGAINED: u64 = 1_953_849_600;

/// Lets the agent run into what its script has next; the state that it is in then.
async fn failed(options: impl Into<Options>, state: &str) -> (Claude, Value) {
    let claude = Claude::ready(options).await;
    claude.told("Go").await;
    claude.goes(["working", state]).await;
    claude.rests().await;
    let found = claude.state().await;
    assert_eq!((&found["state"], &found["prompt"]), (&json!(state), &Value::Null), "{found}");
    assert!(found["error_detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{found}");
    (claude, found)
}

/// A nudge finds an agent that takes it.
async fn takes_a_nudge(claude: &Claude, state_before: &str) {
    claude.model.plays(Script::new().text("Back again."));
    let told = claude.told("And now?").await;
    assert_eq!(told["state_before"], state_before);
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    assert_eq!(claude.model.heard().last().unwrap(), "And now?");
    let state = claude.state().await;
    for field in ["error_detail", "error_category", "parked_reason", "resume_at_epoch_ms"] {
        assert_eq!(state[field], Value::Null, "{field} is over: {state}");
    }
}

/// An error of this category, after which the agent takes a nudge.
async fn is_an_error(options: impl Into<Options>, category: &str, detail: &str) {
    let (claude, state) = failed(options, "error").await;
    assert_eq!(state["error_category"], category, "{state}");
    assert!(state["error_detail"].as_str().unwrap().contains(detail), "{state}");
    let told = claude.record.steps().pop().unwrap().event;
    assert_eq!((&told["error_category"], &told["error_detail"]), (&json!(category), &state["error_detail"]));
    takes_a_nudge(&claude, "error").await;
}

#[tokio::test]
async fn a_wrong_key_is_unauthorized() {
    let script = Script::new().error(401, &[], "authentication_error", "invalid x-api-key");
    is_an_error(script, "unauthorized", "Invalid API key").await;
}

#[tokio::test]
async fn a_revoked_subscription_is_unauthorized() {
    let script = Script::new().error(403, &[], "permission_error", "OAuth token has been revoked.");
    let (_claude, state) = failed(Options::script(script).credential(Credential::Subscription), "error").await;
    assert_eq!(state["error_category"], "unauthorized", "{state}");
}

#[tokio::test]
async fn an_overloaded_service_is_a_server_error() {
    let script = Script::new().error(529, &[], "overloaded_error", "Overloaded");
    is_an_error(script, "server_error", "529").await;
}

#[tokio::test]
async fn a_broken_service_is_a_server_error() {
    let script = Script::new().error(500, &[("x-should-retry", "false")], "api_error", "Internal server error");
    is_an_error(script, "server_error", "500").await;
}

#[tokio::test]
async fn a_broken_answer_is_a_server_error() {
    is_an_error(Script::new().drop_mid_stream(), "server_error", "closed mid-response").await;
}

#[tokio::test]
async fn a_service_out_of_reach_is_no_internet() {
    // Port 9 of this machine; nobody listens there.
    let options = Options::new().variable("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    let (_claude, state) = failed(options, "error").await;
    assert_eq!(state["error_category"], "no_internet", "{state}");
}

#[tokio::test]
async fn an_empty_account_is_out_of_credits() {
    let message =
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade.";
    let script = Script::new().error(400, &[], "invalid_request_error", message);
    is_an_error(script, "out_of_credits", "Credit balance").await;
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_about_the_context_window() {
    let message = "prompt is too long: 210000 tokens > 200000 maximum";
    let script = Script::new().error(400, &[], "invalid_request_error", message);
    let (_claude, state) = failed(script, "error").await;
    assert_eq!(state["error_category"], "context_window", "{state}");
}

#[tokio::test]
async fn a_wrong_request_is_another_error() {
    let script = Script::new().error(400, &[], "invalid_request_error", "messages: something is wrong");
    is_an_error(script, "other", "something is wrong").await;
}

#[tokio::test]
async fn a_refusal_is_another_error() {
    let (_claude, state) = failed(Script::new().refusal(), "error").await;
    assert_eq!(state["error_category"], "other", "{state}");
}

#[tokio::test]
async fn an_answer_without_end_is_another_error() {
    let (_claude, state) = failed(Script::new().max_tokens().times(MAX_TOKENS_TRIES), "error").await;
    assert_eq!(state["error_category"], "other", "{state}");
}

#[tokio::test]
async fn numbers_in_prose_are_no_errors() {
    let claude =
        Claude::ready(Script::new().text("API Error: 500, said nobody. Credit balance too low, rate limit.")).await;
    claude.told("Say something odd").await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    assert_eq!(claude.state().await["error_category"], Value::Null);
}

#[tokio::test]
async fn too_many_requests_park_the_agent() {
    let headers = [("x-should-retry", "false")];
    let script = Script::new().error(429, &headers, "rate_limit_error", "This would exceed your rate limit.");
    let (claude, state) = failed(script, "parked").await;
    assert_eq!(state["error_category"], "rate_limited", "{state}");
    assert!(state["parked_reason"].is_string(), "{state}");
    takes_a_nudge(&claude, "parked").await;
}

#[tokio::test]
async fn a_limit_of_the_account_says_when_it_ends() {
    let message =
        "You have reached your specified API usage limits. You will regain access on 2031-12-01 at 00:00 UTC.";
    let script = Script::new().error(400, &[], "invalid_request_error", message);
    let (claude, state) = failed(script, "parked").await;
    assert_eq!(state["resume_at_epoch_ms"], REGAINED * 1000, "{state}");
    assert!(state["parked_reason"].as_str().unwrap().contains("usage limit"), "{state}");
    takes_a_nudge(&claude, "parked").await;
}

#[tokio::test]
async fn a_limit_of_the_subscription_says_when_it_ends() {
    let options = Options::script(limit()).credential(Credential::Subscription);
    let claude = Claude::ready(options).await;
    claude.told("Go").await;
    let prompt = claude.prompt("setup").await;
    assert_eq!(prompt["subtype"], "rate_limit_options", "{prompt}");
    let state = claude.state().await;
    assert_eq!(state["resume_at_epoch_ms"], LIMIT_ENDS * 1000, "{state}");
}

#[tokio::test]
async fn an_agent_that_tries_again_is_parked_meanwhile() {
    let script = Script::new()
        .error(429, &[("retry-after", "4")], "rate_limit_error", "Slow down.")
        .error(429, &[("retry-after", "4")], "rate_limit_error", "Slow down.")
        .text("Through at last.");
    let claude = Claude::ready(Options::script(script).variable("CLAUDE_CODE_MAX_RETRIES", "10")).await;
    claude.told("Go").await;
    claude.until("parked").await;
    let state = claude.state().await;
    assert!(state["parked_reason"].is_string(), "{state}");
    assert_eq!(state["error_category"], "other", "why is not shown, and nothing is guessed: {state}");
    let refused = claude.nudge("And now?").await;
    assert_eq!((&refused["delivered"], &refused["reason"]), (&json!(false), &json!("agent_busy")), "{refused}");
    claude.until("idle").await;
    claude.rests().await;
    assert_eq!(claude.model.heard(), ["Go"]);
}
