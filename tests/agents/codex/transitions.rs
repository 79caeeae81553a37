//! Every state comes in its order, once, and none that is not true.

use serde_json::{Value, json};

use super::scenes::{BYPASS, inside, outside};
use super::{Codex, Options};
use crate::WITNESS_MS;
use crate::model::{Gate, Script};
use crate::promises::which_database;

#[tokio::test]
async fn a_start_is_starting_then_idle() {
    let codex = Codex::start(Script::new()).await;
    codex.goes(["starting", "idle"]).await;
    codex.rests().await;
    let state = codex.state().await;
    assert_eq!((&state["agent"], &state["state"], &state["prompt"]), (&json!("codex"), &json!("idle"), &Value::Null));
}

#[tokio::test]
async fn a_turn_is_working_then_idle() {
    let codex = Codex::ready(Script::new().text("First answer.").text("Second answer.")).await;
    for answer in ["First answer.", "Second answer."] {
        let told = codex.told("Go on").await;
        assert_eq!(told["state_before"], "idle");
        codex.goes(["working", "idle"]).await;
        codex.rests().await;
        assert_eq!(codex.state().await["last_message"], answer);
    }
    let state = codex.state().await;
    assert_eq!(state["detection_tier"], "hooks", "{state}");
    assert!(state["session_id"].as_str().is_some_and(|id| id.len() == 36), "{state}");
}

#[tokio::test]
async fn a_long_answer_is_one_working() {
    let gate = Gate::new();
    let codex = Codex::ready(Script::new().slow("Words that stay on the screen.", &gate, " The end.")).await;
    codex.told("Talk").await;
    codex.goes(["working"]).await;
    codex.shows("Words that stay on the screen.").await;
    gate.reached().await;
    assert_eq!(codex.state().await["state"], "working");
    gate.open();
    codex.goes(["idle"]).await;
    codex.rests().await;
}

#[tokio::test]
async fn a_permission_is_a_prompt_between_two_workings() {
    let codex = Codex::ready(Script::new().bash("touch marker").text("Done.")).await;
    codex.told("Touch it").await;
    codex.goes(["working", "prompt:permission"]).await;
    codex.answered(json!({"accept": true})).await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
}

#[tokio::test]
async fn a_question_is_a_prompt_between_two_workings() {
    let script = Script::new().question(vec![which_database()]).text("Done.");
    let codex = Codex::ready(Options::script(script).asking()).await;
    codex.told("Ask me").await;
    codex.goes(["working", "prompt:question"]).await;
    codex.answered(json!({"option": 1})).await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
}

#[tokio::test]
async fn a_question_that_may_not_be_asked_is_no_prompt() {
    let codex = Codex::ready(Script::new().question(vec![which_database()]).text("Then not.")).await;
    codex.told("Ask me").await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
}

#[tokio::test]
async fn a_plan_is_a_prompt_between_two_workings() {
    let codex = Codex::ready(Script::new().plan("# Plan\n\n1. Do it\n").text("Done.")).await;
    codex.plans().await;
    codex.told("Plan it").await;
    codex.goes(["working", "prompt:plan"]).await;
    codex.answered(json!({"option": 1})).await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
}

#[tokio::test]
async fn a_prompt_that_is_answered_by_hand_is_over() {
    let script = Script::new().bash("touch marker").text("Done.").text("Again.");
    let codex = Codex::ready(Options::script(script).untouched()).await;
    codex.told("Touch it").await;
    codex.prompt("permission").await;
    codex.keys(&["y"]).await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    assert!(codex.has("marker"));
}

#[tokio::test]
async fn after_a_denial_the_turn_goes_on() {
    let codex = Codex::ready(Script::new().bash("touch marker").text("Another way then.")).await;
    codex.told("Touch it").await;
    codex.goes(["working", "prompt:permission"]).await;
    codex.answered(json!({"accept": false})).await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    assert!(!codex.has("marker"));
}

#[tokio::test]
async fn a_denial_by_hand_ends_the_turn() {
    for key in ["3", "escape"] {
        let script = Script::new().bash("touch marker").text("Never said.");
        let codex = Codex::ready(Options::script(script).untouched()).await;
        codex.told("Touch it").await;
        codex.prompt("permission").await;
        codex.keys(&[key]).await;
        // Codex says that it works once more before it stops.
        codex.until("idle").await;
        codex.rests().await;
        assert!(!codex.has("marker"));
    }
}

#[tokio::test]
async fn an_interruption_ends_a_prompt_that_no_dialog_shows() {
    let codex = Codex::ready(Script::new().bash("touch marker").text("Never said.").text("Here.")).await;
    codex.told("Touch it").await;
    codex.prompt("permission").await;
    codex.keys(&["escape"]).await;
    codex.goes(["idle"]).await;
    codex.rests().await;
    assert!(!codex.has("marker"));
}

#[tokio::test]
async fn an_interruption_ends_the_turn() {
    for key in ["escape", "ctrl-c"] {
        let gate = Gate::new();
        let script = Script::new().slow("I have begun.", &gate, "Never said.").text("Here.");
        let codex = Codex::ready(script).await;
        codex.told("Begin").await;
        codex.goes(["working"]).await;
        codex.shows("I have begun.").await;
        codex.keys(&[key]).await;
        codex.goes(["idle"]).await;
        codex.rests().await;
        codex.told("Are you there?").await;
        codex.goes(["working", "idle"]).await;
        assert_eq!(codex.model.heard(), ["Begin", "Are you there?"], "{key}");
    }
}

#[tokio::test]
async fn an_interruption_before_the_first_word_ends_the_turn() {
    let gate = Gate::new();
    let script = Script::new().hold(&gate).text("Never said.").text("Here.");
    let codex = Codex::ready(script).await;
    codex.told("Begin").await;
    codex.goes(["working"]).await;
    gate.reached().await;
    codex.keys(&["escape"]).await;
    codex.goes(["idle"]).await;
    codex.rests().await;
    codex.told("Something else").await;
    codex.goes(["working", "idle"]).await;
    assert_eq!(codex.model.heard(), ["Begin", "Something else"]);
}

#[tokio::test]
async fn an_interruption_of_a_tool_ends_the_turn() {
    let script = Script::new().tools(&[inside("sleep 1000; echo slept")]).text("Here.");
    let codex = Codex::ready(Options::script(script).word(BYPASS)).await;
    codex.told("Sleep").await;
    codex.goes(["working"]).await;
    codex.shows("1 background terminal running").await;
    codex.keys(&["escape"]).await;
    codex.goes(["idle"]).await;
    codex.rests().await;
}

#[tokio::test]
async fn an_error_stays_until_something_new_happens() {
    let script = Script::new().error(503, &[], "server_error", "Overloaded").text("Back again.");
    let codex = Codex::ready(script).await;
    codex.told("Go").await;
    codex.goes(["working", "error"]).await;
    codex.rests().await;
    let told = codex.told("And now?").await;
    assert_eq!(told["state_before"], "error");
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    let state = codex.state().await;
    assert_eq!((&state["error_detail"], &state["error_category"]), (&Value::Null, &Value::Null), "{state}");
}

#[tokio::test]
async fn a_compaction_is_working_then_idle() {
    let codex = Codex::ready(Script::new().text("One.").text("Two.").text("Three.")).await;
    for message in ["First", "Second"] {
        codex.told(message).await;
        codex.goes(["working", "idle"]).await;
    }
    codex.commanded("/compact").await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    codex.told("Third").await;
    codex.goes(["working", "idle"]).await;
    assert!(codex.model.last().mentions("SUMMARY OF ALL BEFORE"));
}

#[tokio::test]
async fn a_new_conversation_is_another_one() {
    let codex = Codex::ready(Script::new().text("One.").text("Two.")).await;
    codex.told("First").await;
    codex.goes(["working", "idle"]).await;
    let before = codex.state().await["session_id"].clone();
    codex.commanded("/new").await;
    codex.settles().await;
    assert_eq!(codex.state().await["state"], "idle");
    codex.told("Second").await;
    codex.goes(["working", "idle"]).await;
    assert_ne!(codex.state().await["session_id"], before);
    assert_eq!(codex.model.last().said(), ["Second"]);
}

#[tokio::test]
async fn two_commands_at_once_are_two_prompts() {
    let script = Script::new().tools(&[outside("touch one"), outside("touch two")]).text("Done.");
    let codex = Codex::ready(script).await;
    codex.told("Touch both").await;
    let first = codex.prompt("permission").await;
    codex.answered(json!({"accept": true, "prompt_id": first["id"]})).await;
    let second = codex.prompt("permission").await;
    assert_ne!(first["id"], second["id"]);
    codex.answered(json!({"accept": true, "prompt_id": second["id"]})).await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    assert!(codex.has("one") && codex.has("two"));
}

#[tokio::test]
async fn a_queued_message_goes_on_without_an_idle_between() {
    let gate = Gate::new();
    let codex = Codex::ready(Script::new().slow("Busy.", &gate, " Done.").text("Now that.")).await;
    codex.told("First").await;
    codex.goes(["working"]).await;
    gate.reached().await;
    let queued = codex.nudge_with(json!({"message": "Second", "queue": true, "timeout_ms": WITNESS_MS}));
    let open = async {
        codex.shows("Queued follow-up inputs").await;
        gate.open();
    };
    let (queued, ()) = tokio::join!(queued, open);
    let queued = queued.ok();
    assert_eq!((&queued["delivered"], &queued["state_before"]), (&json!(true), &json!("working")), "{queued}");
    codex.goes(["idle"]).await;
    codex.rests().await;
    assert_eq!(codex.model.heard(), ["First", "Second"]);
}

#[tokio::test]
async fn what_runs_on_in_the_background_does_not_keep_the_agent_from_its_rest() {
    let run = |command: &str| ("exec_command", json!({"cmd": command, "yield_time_ms": 300}));
    let script = Script::new().tools(&[run("until [ -e go ]; do sleep 0.1; done")]).text("It runs on.").text("Here.");
    let codex = Codex::ready(Options::script(script).word(BYPASS)).await;
    codex.told("Run it").await;
    codex.goes(["working", "idle"]).await;
    codex.told("Are you there?").await;
    codex.until("idle").await;
    std::fs::write(codex.house.at("go"), "").unwrap();
    assert_eq!(codex.model.heard(), ["Run it", "Are you there?"]);
}

#[tokio::test]
async fn an_exit_is_the_last_state() {
    let codex = Codex::ready(Script::new()).await;
    codex.commanded("/quit").await;
    assert_eq!(codex.ended().await["code"], 0);
    assert_eq!(codex.transitions(), ["starting", "idle", "exited"]);
}

#[tokio::test]
async fn an_agent_that_is_ended_from_outside_has_exited() {
    let gate = Gate::new();
    let codex = Codex::ready(Script::new().hold(&gate).text("Never said.")).await;
    codex.told("Go").await;
    codex.goes(["working"]).await;
    codex.coop.post("/api/v1/signal", json!({"signal": "TERM"})).await.ok();
    codex.goes(["exited"]).await;
}

#[tokio::test]
async fn a_restart_is_restarting_starting_idle() {
    let codex = Codex::ready(Script::new().text("One.")).await;
    let restarted = codex.coop.post("/api/v1/session/restart", json!({})).await.ok();
    assert!(restarted["pid"].is_number());
    codex.goes(["restarting", "starting", "idle"]).await;
    codex.told("Hello").await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    assert_eq!(codex.model.heard(), ["Hello"]);
}
