//! Errors and limits: what went wrong, what it is about, and that the agent can be talked to afterwards.

use serde_json::{Value, json};

use super::scenes::{blocked, used_up};
use super::{Gemini, Options, SMALL, WIDE};
use crate::model::Script;

/// Lets the agent run into what the script has next; the state that it is in then.
async fn failed(gemini: &Gemini, script: Script, state: &str) -> Value {
    gemini.model.plays(script);
    gemini.told("Go").await;
    gemini.goes(["working", state]).await;
    gemini.rests().await;
    let found = gemini.state().await;
    assert_eq!((&found["state"], &found["prompt"]), (&json!(state), &Value::Null), "{found}");
    found
}

#[tokio::test]
async fn each_error_has_its_category_and_the_agent_takes_the_next_message() {
    let gemini = Gemini::ready(Script::new()).await;
    let too_long = "The input token count (210000) exceeds the maximum number of tokens allowed (200000).";
    for (script, category, detail) in [
        (Script::new().error(401, &[], "UNAUTHENTICATED", "Nobody knows this key"), "unauthorized", "Nobody knows"),
        (Script::new().error(403, &[], "PERMISSION_DENIED", "This is not allowed"), "unauthorized", "not allowed"),
        (Script::new().error(400, &[], "INVALID_ARGUMENT", "Something is wrong"), "other", "Something is wrong"),
        (Script::new().error(400, &[], "INVALID_ARGUMENT", too_long), "context_window", "token count"),
        (Script::new().drop_mid_stream(), "server_error", "terminated"),
        (blocked(), "other", "blocked due to safety settings"),
    ] {
        let state = failed(&gemini, script, "error").await;
        assert_eq!(state["error_category"], category, "{state}");
        assert!(state["error_detail"].as_str().unwrap().contains(detail), "{state}");
        let told = gemini.record.steps().pop().unwrap().event;
        assert_eq!((&told["error_category"], &told["error_detail"]), (&json!(category), &state["error_detail"]));
    }
    gemini.model.plays(Script::new().text("Back again."));
    let told = gemini.told("And now?").await;
    assert_eq!(told["state_before"], "error");
    gemini.goes(["working", "idle"]).await;
    gemini.rests().await;
    let state = gemini.state().await;
    for field in ["error_detail", "error_category", "parked_reason", "resume_at_epoch_ms"] {
        assert_eq!(state[field], Value::Null, "{field} is over: {state}");
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_short_is_an_answer_and_a_command_that_fails_is_no_error() {
    let gemini = Gemini::ready(Script::new()).await;
    for (script, said) in [(Script::new().refusal(), "No."), (Script::new().max_tokens(), "This is cut")] {
        gemini.model.plays(script);
        gemini.told("Go").await;
        gemini.goes(["working", "idle"]).await;
        gemini.rests().await;
        assert_eq!(gemini.state().await["last_message"], said);
    }
    gemini.nudge_with(json!({"message": "/chat resume nowhere", "command": true})).await.ok();
    gemini.shows("No saved checkpoint found").await;
    gemini.rests().await;
    assert_eq!(gemini.state().await["state"], "idle");
    gemini.model.plays(Script::new().text("Here."));
    gemini.told("Are you there?").await;
    gemini.goes(["working", "idle"]).await;
}

#[tokio::test]
async fn numbers_in_prose_are_no_errors() {
    let words = "[API Error: 500], said nobody. ✕ Usage limit reached, RESOURCE_EXHAUSTED, Request cancelled.";
    let gemini = Gemini::ready(Script::new().text(words)).await;
    gemini.told("Say something odd").await;
    gemini.goes(["working", "idle"]).await;
    gemini.rests().await;
    assert_eq!(gemini.state().await["error_category"], Value::Null);
}

#[tokio::test]
async fn a_used_up_quota_asks_what_to_do_and_can_be_tried_again_or_left() {
    for size in [WIDE, SMALL] {
        let gemini = Gemini::ready(Options::new().size(size)).await;
        let prompt = gemini.asked(used_up().text("Through at last."), "setup").await;
        assert_eq!(prompt["subtype"], "quota", "{prompt}");
        let refused = gemini.nudge("Are you there?").await;
        assert_eq!((&refused["delivered"], &refused["state"]), (&json!(false), &json!("prompt")), "{refused}");
        gemini.answered(json!({"accept": true})).await;
        gemini.goes(["working", "idle"]).await;
        assert_eq!(gemini.state().await["last_message"], "Through at last.");
        gemini.asked(used_up(), "setup").await;
        gemini.answered(json!({"accept": false})).await;
        gemini.until("parked").await;
        gemini.rests().await;
        let state = gemini.state().await;
        assert_eq!(state["error_category"], "rate_limited", "{state}");
        assert_eq!(gemini.model.heard(), ["Go on", "Go on"]);
    }
}

/// Now, by the clock that agents write into their logs.
fn now_ms() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    u64::try_from(now.as_millis()).unwrap()
}

#[tokio::test]
async fn a_limit_says_when_it_ends() {
    // It waits by itself for less than five minutes.
    let wait = json!({"details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "400s"}]});
    let limit = Script::new().error(429, &[], "RESOURCE_EXHAUSTED", "Too many of them.").fields(wait);
    let gemini = Gemini::ready(Script::new()).await;
    let prompt = gemini.asked(limit, "setup").await;
    assert_eq!(prompt["subtype"], "quota", "{prompt}");
    let before = now_ms();
    gemini.answered(json!({"accept": false})).await;
    gemini.until("parked").await;
    gemini.rests().await;
    let state = gemini.state().await;
    assert_eq!(state["error_category"], "rate_limited", "{state}");
    let ends = state["resume_at_epoch_ms"].as_u64().expect("when it ends");
    assert!((before + 400_000..=now_ms() + 400_000).contains(&ends), "{state}");
}

#[tokio::test]
async fn a_model_that_is_not_there_asks_what_to_do() {
    for size in [WIDE, SMALL] {
        let gemini = Gemini::ready(Options::new().size(size)).await;
        let missing = Script::new().error(404, &[], "NOT_FOUND", "models/x is not found.");
        let prompt = gemini.asked(missing, "setup").await;
        assert_eq!(prompt["subtype"], "model_not_found", "{prompt}");
        let unclear = gemini.respond_with(json!({"accept": true})).await;
        assert_eq!(unclear.refused(), (400, "BAD_REQUEST".to_owned()), "what yes means is not clear");
        gemini.answered(json!({"accept": false})).await;
        gemini.until("error").await;
        gemini.rests().await;
    }
}

/// A service that is busy for as often as it is asked.
fn busy() -> Script {
    Script::new().error(503, &[], "UNAVAILABLE", "The model is overloaded.").times(2)
}

#[tokio::test]
async fn a_service_that_stays_busy_asks_what_to_do() {
    let gemini = Gemini::ready(Options::new().gives_up_after(2)).await;
    let prompt = gemini.asked(busy().text("Here."), "setup").await;
    assert_eq!(prompt["subtype"], "high_demand", "{prompt}");
    gemini.answered(json!({"option": 1})).await;
    gemini.goes(["working", "idle"]).await;
    assert_eq!(gemini.state().await["last_message"], "Here.");
}

#[tokio::test]
async fn a_service_that_stays_busy_can_be_left() {
    let gemini = Gemini::ready(Options::new().gives_up_after(2).size(SMALL)).await;
    let prompt = gemini.asked(busy(), "setup").await;
    assert_eq!(prompt["subtype"], "high_demand", "{prompt}");
    gemini.answered(json!({"accept": false})).await;
    gemini.until("error").await;
    gemini.rests().await;
    let state = gemini.state().await;
    assert_eq!(state["error_category"], "server_error", "{state}");
    assert_eq!(gemini.model.heard(), ["Go on"]);
}

#[tokio::test]
async fn a_loop_that_was_detected_is_answered() {
    for (size, answer, goes_on) in [(WIDE, json!({"accept": true}), false), (SMALL, json!({"option": 2}), true)] {
        let gemini = Gemini::ready(Options::new().size(size)).await;
        std::fs::write(gemini.house.at("a.txt"), "again\n").unwrap();
        let again = Script::new().tool("read_file", json!({"file_path": "a.txt"})).times(8);
        let prompt = gemini.asked(again, "setup").await;
        assert_eq!(prompt["subtype"], "loop", "{prompt}");
        gemini.answered(answer).await;
        if goes_on {
            // It may be idle for a moment before.
            gemini.until("working").await;
        }
        gemini.until("idle").await;
        gemini.rests().await;
        gemini.model.plays(Script::new().text("Out of it."));
        gemini.told("And now?").await;
        gemini.goes(["working", "idle"]).await;
    }
}
