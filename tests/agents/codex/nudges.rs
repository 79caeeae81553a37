//! Nudges: said to be delivered exactly when the model got exactly that message.

use serde_json::json;

use super::scenes::BYPASS;
use super::{Codex, CodexCli, Options};
use crate::WITNESS_MS;
use crate::model::{Gate, Script};
use crate::promises::nudges::heard;
use crate::promises::{Kept, keeps};

keeps!(CodexCli: nudges {
    a_message_arrives_as_it_was_given,
    decomposed_characters_arrive,
    a_message_that_looks_like_a_command_is_a_message,
    a_command_that_does_not_exist_is_not_said_to_be_delivered,
    what_was_left_in_the_input_box_does_not_go_along,
    a_message_cannot_break_out_of_the_input_box,
    two_nudges_at_once_do_not_mix,
    ten_nudges_one_after_the_other_are_ten_messages,
    a_confirmation_that_comes_late_still_comes,
    a_queued_message_that_is_taken_back_is_not_delivered_and_can_be_given_again,
    a_nudge_is_the_same_over_every_face,
    the_receipt_says_who_saw_it,
});

#[tokio::test]
async fn a_command_runs_when_it_is_asked_for() {
    let codex = Codex::ready(Script::new().text("I see.")).await;
    codex.commanded("!touch marker").await;
    codex.shows("You ran touch marker").await;
    codex.settles().await;
    assert!(codex.has("marker"));
    assert_eq!(heard(&codex, "And now a message").await, "And now a message");
    codex.commanded("/compact").await;
    codex.goes(["working", "idle"]).await;
}

#[tokio::test]
async fn a_queued_message_that_looks_like_a_command_is_a_message() {
    for message in ["/quit", "/compact now please", "!touch marker", "\u{a0}!touch marker", "\u{3000}/quit"] {
        let gate = Gate::new();
        let codex = Codex::ready(Script::new().slow("Busy.", &gate, " Done.").text("I see.")).await;
        codex.told("Work").await;
        codex.goes(["working"]).await;
        gate.reached().await;
        let queued = codex.nudge_with(json!({"message": message, "queue": true, "timeout_ms": WITNESS_MS}));
        let open = async {
            codex.shows("Queued follow-up inputs").await;
            gate.open();
        };
        let (queued, ()) = tokio::join!(queued, open);
        assert_eq!(queued.ok()["delivered"], true, "{message:?}");
        codex.goes(["idle"]).await;
        assert_eq!(codex.model.heard(), ["Work", &CodexCli::guarded(message)], "{message:?}");
        assert!(!codex.has("marker"));
    }
}

#[tokio::test]
async fn a_long_message_that_begins_like_a_command_is_a_message() {
    let codex = Codex::ready(Script::new().text("I see.")).await;
    let long = format!("/review {}", "this and that ".repeat(100).trim_end());
    assert_eq!(heard(&codex, &long).await, format!("\u{200b}{long}"));
}

#[tokio::test]
async fn a_message_that_steers_goes_into_what_the_model_is_saying() {
    let gate = Gate::new();
    let codex = Codex::ready(Script::new().slow("To the right,", &gate, " and on.").text("To the left.")).await;
    codex.told("Drive").await;
    codex.goes(["working"]).await;
    gate.reached().await;
    let steer = json!({"message": "Turn left", "steer": true, "timeout_ms": WITNESS_MS});
    let steered = codex.nudge_with(steer).await.ok();
    assert_eq!((&steered["delivered"], &steered["state_before"]), (&json!(true), &json!("working")), "{steered}");
    // The gate was never opened: what was being said has no end.
    codex.goes(["idle"]).await;
    assert_eq!(codex.model.heard(), ["Drive", "Turn left"]);
}

#[tokio::test]
async fn a_message_that_steers_waits_for_a_tool_and_goes_before_the_next_step() {
    let wait = ("exec_command", json!({"cmd": "until [ -e go ]; do sleep 0.1; done", "yield_time_ms": 30_000}));
    let script = Script::new().tools(&[wait]).text("To the left.");
    let codex = Codex::ready(Options::script(script).word(BYPASS)).await;
    codex.told("Drive").await;
    codex.goes(["working"]).await;
    codex.eventually("/api/v1/agent/state?explain=true", |state| state.to_string().contains("PreToolUse")).await;
    let steered = codex.nudge_with(json!({"message": "Turn left", "steer": true, "timeout_ms": 1})).await.ok();
    assert_eq!(steered["delivered"], false, "{steered}");
    let id = steered["receipt"]["id"].clone();
    codex.told_of("receipt", |event| event["id"] == id && event["phase"] == "echoed").await;
    std::fs::write(codex.house.at("go"), "").unwrap();
    codex.told_of("receipt", |event| event["id"] == id && event["phase"] == "accepted").await;
    codex.goes(["idle"]).await;
    assert_eq!(codex.model.heard(), ["Drive", "Turn left"]);
}

#[tokio::test]
async fn an_agent_at_rest_takes_a_message_that_would_steer_like_any_other() {
    let codex = Codex::ready(Script::new().text("I see.")).await;
    let steer = json!({"message": "Turn left", "steer": true, "timeout_ms": WITNESS_MS});
    assert_eq!(codex.nudge_with(steer).await.ok()["delivered"], true);
    codex.goes(["working", "idle"]).await;
    assert_eq!(codex.model.heard(), ["Turn left"]);
}

#[tokio::test]
async fn a_queued_message_that_an_interruption_puts_into_the_box_is_refused_and_does_not_go_along() {
    let gate = Gate::new();
    let script = Script::new().slow("Busy.", &gate, "Never said.").text("Here.");
    let codex = Codex::ready(script).await;
    codex.told("First").await;
    codex.goes(["working"]).await;
    codex.shows("Busy.").await;
    let id = codex.nudge_with(json!({"message": "Second", "queue": true, "timeout_ms": 1})).await.ok()["receipt"]["id"]
        .clone();
    codex.told_of("receipt", |event| event["id"] == id && event["phase"] == "echoed").await;
    codex.keys(&["escape"]).await;
    codex.goes(["idle"]).await;
    codex.shows("› Second").await;
    codex.told_of("receipt", |event| event["id"] == id && event["phase"] == "refused").await;
    codex.told("Third").await;
    codex.goes(["working", "idle"]).await;
    assert_eq!(codex.model.heard(), ["First", "Third"]);
}
