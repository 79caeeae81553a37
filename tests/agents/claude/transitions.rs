//! Every state comes in its order, once, and none that is not true.

use serde_json::{Value, json};

use super::scenes::helper;
use super::{Claude, Options};
use crate::WITNESS_MS;
use crate::model::{Gate, Script};
use crate::promises::which_database;

#[tokio::test]
async fn a_start_is_starting_then_idle() {
    let claude = Claude::start(Script::new()).await;
    claude.goes(["starting", "idle"]).await;
    claude.rests().await;
    let state = claude.state().await;
    assert_eq!((&state["agent"], &state["state"], &state["prompt"]), (&json!("claude"), &json!("idle"), &Value::Null));
}

#[tokio::test]
async fn a_turn_is_working_then_idle() {
    let claude = Claude::ready(Script::new().text("First answer.").text("Second answer.")).await;
    for answer in ["First answer.", "Second answer."] {
        let told = claude.told("Go on").await;
        assert_eq!(told["state_before"], "idle");
        claude.goes(["working", "idle"]).await;
        claude.rests().await;
        assert_eq!(claude.state().await["last_message"], answer);
    }
    let state = claude.state().await;
    assert_eq!(state["detection_tier"], "hooks", "{state}");
    assert!(state["session_id"].as_str().is_some_and(|id| id.len() == 36), "{state}");
}

#[tokio::test]
async fn a_long_answer_is_one_working() {
    let gate = Gate::new();
    let claude = Claude::ready(Script::new().slow("Words that stay on the screen.", &gate, " The end.")).await;
    claude.told("Talk").await;
    claude.goes(["working"]).await;
    claude.shows("Words that stay on the screen.").await;
    // The spinner goes on, so that the terminal is never silent; a second of it is enough.
    gate.reached().await;
    assert_eq!(claude.state().await["state"], "working");
    gate.open();
    claude.goes(["idle"]).await;
    claude.rests().await;
}

#[tokio::test]
async fn a_permission_is_a_prompt_between_two_workings() {
    let claude = Claude::ready(Script::new().bash("touch marker").text("Done.")).await;
    claude.told("Touch it").await;
    claude.goes(["working", "prompt:permission"]).await;
    claude.answered(json!({"accept": true})).await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
}

#[tokio::test]
async fn a_question_is_a_prompt_between_two_workings() {
    let claude = Claude::ready(Script::new().question(vec![which_database()]).text("Done.")).await;
    claude.told("Ask me").await;
    claude.goes(["working", "prompt:question"]).await;
    claude.answered(json!({"option": 1})).await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
}

#[tokio::test]
async fn a_plan_is_a_prompt_between_two_workings() {
    let script = Script::new().plan("# Plan\n\n1. Do it\n").text("Done.");
    let claude = Claude::ready(Options::script(script).planning()).await;
    claude.told("Plan it").await;
    claude.goes(["working", "prompt:plan"]).await;
    claude.answered(json!({"option": 2})).await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
}

#[tokio::test]
async fn a_prompt_that_is_answered_by_hand_is_over() {
    let claude = Claude::ready(Script::new().bash("touch marker").text("Done.").text("Again.")).await;
    claude.told("Touch it").await;
    claude.prompt("permission").await;
    claude.keys(&["1"]).await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    assert!(claude.has("marker"));
}

#[tokio::test]
async fn the_choice_of_a_model_is_opened_by_its_command_and_left() {
    let claude = Claude::ready(Script::new().text("Here.")).await;
    claude.commanded("/model").await;
    let prompt = claude.prompt("setup").await;
    assert_eq!(prompt["subtype"], "dialog", "{prompt}");
    claude.keys(&["escape"]).await;
    claude.goes(["idle"]).await;
    claude.rests().await;
    claude.told("Are you there?").await;
    claude.goes(["working", "idle"]).await;
    assert_eq!(claude.model.heard(), ["Are you there?"]);
}

#[tokio::test]
async fn a_denial_ends_the_turn() {
    let claude = Claude::ready(Script::new().bash("touch marker").text("Never said.")).await;
    claude.told("Touch it").await;
    claude.goes(["working", "prompt:permission"]).await;
    claude.answered(json!({"accept": false})).await;
    claude.goes(["idle"]).await;
    claude.rests().await;
}

#[tokio::test]
async fn a_denial_by_hand_ends_the_turn_though_no_hook_says_so() {
    for key in ["3", "escape"] {
        let claude = Claude::ready(Script::new().bash("touch marker").text("Never said.")).await;
        claude.told("Touch it").await;
        claude.prompt("permission").await;
        claude.keys(&[key]).await;
        claude.goes(["idle"]).await;
        claude.rests().await;
        assert!(!claude.has("marker"));
    }
}

#[tokio::test]
async fn an_interruption_ends_the_turn_though_no_hook_says_so() {
    for key in ["escape", "ctrl-c"] {
        let gate = Gate::new();
        let script = Script::new().slow("I have begun.", &gate, "Never said.").text("Here.");
        let claude = Claude::ready(script).await;
        claude.told("Begin").await;
        claude.goes(["working"]).await;
        claude.shows("I have begun.").await;
        claude.keys(&[key]).await;
        claude.goes(["idle"]).await;
        claude.rests().await;
        claude.told("Are you there?").await;
        claude.goes(["working", "idle"]).await;
        assert_eq!(claude.model.heard(), ["Begin", "Are you there?"], "{key}");
    }
}

#[tokio::test]
async fn an_interruption_before_the_first_word_ends_the_turn() {
    let gate = Gate::new();
    let script = Script::new().hold(&gate).text("Never said.").text("Here.");
    let claude = Claude::ready(script).await;
    claude.told("Begin").await;
    claude.goes(["working"]).await;
    gate.reached().await;
    claude.keys(&["escape"]).await;
    claude.goes(["idle"]).await;
    claude.rests().await;
    // The agent has put the words back into its input box; they must not go along with the next ones.
    claude.told("Something else").await;
    claude.goes(["working", "idle"]).await;
    assert_eq!(claude.model.heard(), ["Begin", "Something else"]);
}

#[tokio::test]
async fn an_interruption_of_a_tool_ends_the_turn() {
    let claude = Claude::ready(Script::new().bash("sleep 1000; echo slept").text("Here.")).await;
    claude.told("Sleep").await;
    claude.goes(["working"]).await;
    claude.shows("Running").await;
    claude.keys(&["escape"]).await;
    claude.goes(["idle"]).await;
    claude.rests().await;
}

#[tokio::test]
async fn an_error_stays_until_something_new_happens() {
    let script = Script::new().error(529, &[], "overloaded_error", "Overloaded").text("Back again.");
    let claude = Claude::ready(script).await;
    claude.told("Go").await;
    claude.goes(["working", "error"]).await;
    claude.rests().await;
    let told = claude.told("And now?").await;
    assert_eq!(told["state_before"], "error");
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    let state = claude.state().await;
    assert_eq!((&state["error_detail"], &state["error_category"]), (&Value::Null, &Value::Null), "{state}");
}

#[tokio::test]
async fn a_compaction_is_working_then_idle() {
    let claude = Claude::ready(Script::new().text("One.").text("Two.").text("Three.")).await;
    for message in ["First", "Second"] {
        claude.told(message).await;
        claude.goes(["working", "idle"]).await;
    }
    claude.commanded("/compact").await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    claude.told("Third").await;
    claude.goes(["working", "idle"]).await;
    assert!(claude.model.last().mentions("SUMMARY OF ALL BEFORE"));
}

#[tokio::test]
async fn a_cleared_conversation_is_another_one_and_idle() {
    let claude = Claude::ready(Script::new().text("One.").text("Two.")).await;
    claude.told("First").await;
    claude.goes(["working", "idle"]).await;
    let before = claude.state().await["session_id"].clone();
    claude.commanded("/clear").await;
    claude.told_of("start", |event| event["source"] == "clear").await;
    claude.settles().await;
    let state = claude.state().await;
    assert_eq!(state["state"], "idle");
    assert_ne!(state["session_id"], before);
    claude.told("Second").await;
    claude.goes(["working", "idle"]).await;
    assert_eq!(claude.model.last().said(), ["Second"]);
}

#[tokio::test]
async fn a_helper_that_ends_is_not_the_end() {
    let gate = Gate::new();
    let script = Script::new()
        .tool("Agent", helper("Look for it"))
        .usage(1, 2, 0, 0)
        .helper("Look for it", Script::new().text("Found it.").usage(100, 50, 0, 0))
        .hold(&gate)
        .text("The helper is back.")
        .usage(1, 2, 0, 0);
    let claude = Claude::ready(script).await;
    claude.told("Send a helper").await;
    claude.goes(["working"]).await;
    gate.reached().await;
    assert_eq!(claude.state().await["state"], "working");
    gate.open();
    claude.goes(["idle"]).await;
    claude.rests().await;
    let usage = claude.eventually("/api/v1/session/usage", |usage| usage["request_count"] == 3).await;
    assert_eq!((&usage["input_tokens"], &usage["output_tokens"]), (&json!(102), &json!(54)), "a helper costs, too");
}

#[tokio::test]
async fn a_helper_that_asks_is_a_prompt() {
    let script = Script::new()
        .tool("Agent", helper("Touch it"))
        .helper("Touch it", Script::new().bash("touch marker").text("Touched."))
        .text("The helper is back.");
    let claude = Claude::ready(script).await;
    claude.told("Send a helper").await;
    claude.goes(["working", "prompt:permission"]).await;
    claude.answered(json!({"accept": true})).await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    assert!(claude.has("marker"));
}

#[tokio::test]
async fn two_commands_at_once_are_two_prompts() {
    let command = |name: &str| ("Bash", json!({"command": format!("touch {name}"), "description": name}));
    let claude = Claude::ready(Script::new().tools(&[command("one"), command("two")]).text("Done.")).await;
    claude.told("Touch both").await;
    let first = claude.prompt("permission").await;
    claude.answered(json!({"accept": true, "prompt_id": first["id"]})).await;
    claude.goes(["working"]).await;
    let second = claude.prompt("permission").await;
    assert_ne!(first["id"], second["id"]);
    claude.answered(json!({"accept": true, "prompt_id": second["id"]})).await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    assert!(claude.has("one") && claude.has("two"));
}

#[tokio::test]
async fn a_command_of_the_users_own_is_working_then_idle() {
    let claude = Claude::ready(Script::new().text("I see.")).await;
    claude.types("!echo printed by the shell").await;
    claude.shows("echo printed by the shell").await;
    claude.keys(&["enter"]).await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    assert!(claude.model.last().mentions("<bash-stdout>printed by the shell"));
}

#[tokio::test]
async fn a_queued_message_goes_on_without_an_idle_between() {
    let gate = Gate::new();
    let claude = Claude::ready(Script::new().slow("Busy.", &gate, " Done.").text("Now that.")).await;
    claude.told("First").await;
    claude.goes(["working"]).await;
    gate.reached().await;
    let queued = claude.nudge_with(json!({"message": "Second", "queue": true, "timeout_ms": WITNESS_MS}));
    let open = async {
        claude.shows("❯ Second").await;
        gate.open();
    };
    let (queued, ()) = tokio::join!(queued, open);
    let queued = queued.ok();
    assert_eq!((&queued["delivered"], &queued["state_before"]), (&json!(true), &json!("working")), "{queued}");
    claude.goes(["idle"]).await;
    claude.rests().await;
    assert_eq!(claude.model.heard(), ["First", "Second"]);
}

#[tokio::test]
async fn a_message_queued_behind_a_tool_is_delivered_within_the_turn() {
    let claude = Claude::ready(Script::new().bash("until [ -e go ]; do sleep 0.1; done").text("Both seen.")).await;
    claude.told("First").await;
    claude.goes(["working"]).await;
    claude.shows("Running").await;
    let queued = claude.nudge_with(json!({"message": "Second", "queue": true, "timeout_ms": WITNESS_MS}));
    let open = async {
        claude.shows("❯ Second").await;
        std::fs::write(claude.house.at("go"), "").unwrap();
    };
    let (queued, ()) = tokio::join!(queued, open);
    assert_eq!(queued.ok()["delivered"], true);
    claude.goes(["idle"]).await;
    claude.rests().await;
    assert_eq!(claude.model.heard(), ["First", "Second"]);
}

#[tokio::test]
async fn an_exit_is_the_last_state() {
    let claude = Claude::ready(Script::new()).await;
    claude.commanded("/exit").await;
    assert_eq!(claude.ended().await["code"], 0);
    assert_eq!(claude.transitions(), ["starting", "idle", "exited"]);
}

#[tokio::test]
async fn an_agent_that_is_ended_from_outside_has_exited() {
    let gate = Gate::new();
    let claude = Claude::ready(Script::new().hold(&gate).text("Never said.")).await;
    claude.told("Go").await;
    claude.goes(["working"]).await;
    claude.coop.post("/api/v1/signal", json!({"signal": "TERM"})).await.ok();
    claude.goes(["exited"]).await;
    assert_eq!(claude.coop.status().await["exit_code"], 143);
}

#[tokio::test]
async fn a_restart_is_restarting_starting_idle() {
    let claude = Claude::ready(Script::new().text("One.")).await;
    let restarted = claude.coop.post("/api/v1/session/restart", json!({})).await.ok();
    assert!(restarted["pid"].is_number());
    claude.goes(["restarting", "starting", "idle"]).await;
    claude.told("Hello").await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    assert_eq!(claude.model.heard(), ["Hello"]);
}
