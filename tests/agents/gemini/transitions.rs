//! Every state comes in its order, once, and none that is not true.

use serde_json::{Value, json};

use super::{Gemini, Options};
use crate::WITNESS_MS;
use crate::model::{Gate, Script};
use crate::promises::which_database;

#[tokio::test]
async fn a_start_is_starting_then_idle_and_a_turn_is_working_then_idle() {
    let gemini = Gemini::start(Script::new().text("First answer.").text("Second answer.")).await;
    gemini.goes(["starting", "idle"]).await;
    gemini.rests().await;
    let state = gemini.state().await;
    assert_eq!((&state["agent"], &state["state"], &state["prompt"]), (&json!("gemini"), &json!("idle"), &Value::Null));
    for answer in ["First answer.", "Second answer."] {
        let told = gemini.told("Go on").await;
        assert_eq!(told["state_before"], "idle");
        gemini.goes(["working", "idle"]).await;
        gemini.rests().await;
        assert_eq!(gemini.state().await["last_message"], answer);
    }
    let state = gemini.state().await;
    assert_eq!(state["detection_tier"], "hooks", "{state}");
    assert!(state["session_id"].as_str().is_some_and(|id| id.len() == 36), "{state}");
}

#[tokio::test]
async fn a_dialog_is_a_prompt_between_two_workings_however_it_is_answered() {
    let gemini = Gemini::ready(Script::new()).await;
    for by_hand in [false, true] {
        gemini.model.plays(Script::new().bash("touch marker").text("Done."));
        gemini.told("Touch it").await;
        gemini.goes(["working", "prompt:permission"]).await;
        match by_hand {
            true => {
                gemini.shows("Allow execution of").await;
                gemini.keys(&["1"]).await;
            }
            false => drop(gemini.answered(json!({"accept": true})).await),
        }
        gemini.goes(["working", "idle"]).await;
        gemini.rests().await;
        assert!(gemini.has("marker"));
        std::fs::remove_file(gemini.house.at("marker")).unwrap();
    }
    gemini.model.plays(Script::new().question(vec![which_database()]).text("Done."));
    gemini.told("Ask me").await;
    gemini.goes(["working", "prompt:question"]).await;
    gemini.answered(json!({"option": 1})).await;
    gemini.goes(["working", "idle"]).await;
    gemini.rests().await;
}

#[tokio::test]
async fn a_denial_ends_the_turn_though_no_hook_says_so() {
    let gemini = Gemini::ready(Script::new()).await;
    for key in ["3", "escape"] {
        gemini.asked(Script::new().bash("touch marker"), "permission").await;
        gemini.keys(&[key]).await;
        gemini.goes(["idle"]).await;
        gemini.rests().await;
        assert!(!gemini.has("marker"), "{key}");
    }
}

#[tokio::test]
async fn an_interruption_ends_the_turn() {
    let gemini = Gemini::ready(Script::new()).await;
    let (midst, first) = (Gate::new(), Gate::new());
    gemini.model.plays(Script::new().slow("I have begun.", &midst, "Never said."));
    gemini.told("Begin").await;
    gemini.goes(["working"]).await;
    gemini.shows("I have begun.").await;
    gemini.keys(&["escape"]).await;
    gemini.goes(["idle"]).await;
    gemini.rests().await;
    gemini.model.plays(Script::new().hold(&first).text("Never said."));
    gemini.told("Begin again").await;
    gemini.goes(["working"]).await;
    first.reached().await;
    gemini.keys(&["escape"]).await;
    gemini.goes(["idle"]).await;
    gemini.rests().await;
    gemini.model.plays(Script::new().bash("sleep 1000; touch slept"));
    gemini.told("Sleep").await;
    gemini.goes(["working", "prompt:permission"]).await;
    gemini.answered(json!({"accept": true})).await;
    gemini.goes(["working"]).await;
    gemini.titled("Working").await;
    gemini.keys(&["escape"]).await;
    gemini.goes(["idle"]).await;
    gemini.rests().await;
    gemini.model.plays(Script::new().text("Here."));
    // Words that were cancelled before the first answer stand in the input box again.
    gemini.told("Are you there?").await;
    gemini.goes(["working", "idle"]).await;
    assert_eq!(gemini.model.heard(), ["Begin", "Begin again", "Sleep", "Are you there?"]);
}

#[tokio::test]
async fn two_commands_at_once_are_two_prompts() {
    let command = |name: &str| ("run_shell_command", json!({"command": format!("touch {name}"), "description": name}));
    let gemini = Gemini::ready(Script::new().tools(&[command("one"), command("two")]).text("Done.")).await;
    gemini.told("Touch both").await;
    let first = gemini.prompt("permission").await;
    assert!(first["input"].as_str().unwrap().contains("touch one"), "{first}");
    gemini.answered(json!({"accept": true, "prompt_id": first["id"]})).await;
    let second = gemini.prompt("permission").await;
    assert_ne!(first["id"], second["id"]);
    assert!(second["input"].as_str().unwrap().contains("touch two"), "{second}");
    gemini.answered(json!({"accept": true, "prompt_id": second["id"]})).await;
    gemini.goes(["working", "idle"]).await;
    gemini.rests().await;
    assert!(gemini.has("one") && gemini.has("two"));
}

#[tokio::test]
async fn a_compression_and_a_clearing_end_idle() {
    let script = Script::new().text("One.").text("Two.").usage(9000, 5, 0, 0).text("Three.").text("Four.");
    let gemini = Gemini::ready(script).await;
    for message in ["First", "Second"] {
        gemini.told(message).await;
        gemini.goes(["working", "idle"]).await;
    }
    gemini.commanded("/compress").await;
    gemini.shows("compressed").await;
    gemini.settles().await;
    assert_eq!(gemini.state().await["state"], "idle");
    gemini.told("Third").await;
    gemini.goes(["working", "idle"]).await;
    assert!(gemini.model.last().mentions("SUMMARY OF ALL BEFORE"));
    let before = gemini.state().await["session_id"].clone();
    gemini.commanded("/clear").await;
    gemini.told_of("start", |event| event["source"] == "clear").await;
    gemini.settles().await;
    let state = gemini.state().await;
    assert_eq!(state["state"], "idle");
    assert_ne!(state["session_id"], before);
    gemini.told("Fourth").await;
    gemini.goes(["working", "idle"]).await;
    assert_eq!(gemini.model.last().said(), ["Fourth"]);
}

#[tokio::test]
async fn queued_messages_go_on_without_an_idle_between() {
    let gate = Gate::new();
    let gemini = Gemini::ready(Script::new().slow("Busy.", &gate, " Done.").text("Now that.")).await;
    gemini.told("First").await;
    gemini.goes(["working"]).await;
    gate.reached().await;
    let queue = |message: &str| json!({"message": message, "queue": true, "timeout_ms": WITNESS_MS});
    let queued = gemini.nudge_with(queue("Second"));
    let open = async {
        gemini.shows("Queued (press").await;
        gate.open();
    };
    let (queued, ()) = tokio::join!(queued, open);
    let queued = queued.ok();
    assert_eq!((&queued["delivered"], &queued["state_before"]), (&json!(true), &json!("working")), "{queued}");
    gemini.goes(["idle"]).await;
    gemini.rests().await;
    assert_eq!(gemini.model.heard(), ["First", "Second"]);
}

#[tokio::test]
async fn messages_that_were_queued_together_are_each_confirmed() {
    let gate = Gate::new();
    let gemini = Gemini::ready(Script::new().slow("Busy.", &gate, " Done.").text("Now those.")).await;
    gemini.told("First").await;
    gemini.goes(["working"]).await;
    gate.reached().await;
    for message in ["Second", "/third is no command"] {
        let body = json!({"message": message, "queue": true, "timeout_ms": 1});
        let id = gemini.nudge_with(body).await.ok()["receipt"]["id"].clone();
        gemini.told_of("receipt", |event| event["id"] == id && event["phase"] == "echoed").await;
    }
    gate.open();
    gemini.goes(["idle"]).await;
    gemini.rests().await;
    let taken = gemini.record.events("receipt").iter().filter(|event| event["phase"] == "accepted").count();
    assert_eq!(taken, 3, "{:?}", gemini.record.events("receipt"));
    assert_eq!(gemini.model.heard(), ["First", "Second\n\n\u{2060}/third is no command"]);
}

#[tokio::test]
async fn an_exit_is_the_last_state_and_a_restart_begins_anew() {
    let gemini = Gemini::ready(Script::new().text("One.")).await;
    let restarted = gemini.coop.post("/api/v1/session/restart", json!({})).await.ok();
    assert!(restarted["pid"].is_number());
    gemini.goes(["restarting", "starting", "idle"]).await;
    gemini.told("Hello").await;
    gemini.goes(["working", "idle"]).await;
    gemini.rests().await;
    assert_eq!(gemini.model.heard(), ["Hello"]);
    gemini.commanded("/quit").await;
    assert_eq!(gemini.ended().await["code"], 0);
}

#[tokio::test]
async fn an_agent_that_is_ended_from_outside_has_exited_with_all_its_processes() {
    let gate = Gate::new();
    let gemini = Gemini::ready(Options::script(Script::new().hold(&gate).text("Never said."))).await;
    gemini.told("Go").await;
    gemini.goes(["working"]).await;
    let pid = gemini.coop.child_pid().await;
    gemini.coop.post("/api/v1/signal", json!({"signal": "TERM"})).await.ok();
    gemini.goes(["exited"]).await;
    let left = std::fs::read_dir("/proc").unwrap().flatten().filter(|process| {
        let stat = std::fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        let session = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(3)?.parse::<u64>().ok());
        session == Some(pid.unsigned_abs().into()) && !stat.contains(") Z ")
    });
    assert_eq!(left.count(), 0, "the launcher and what it launched");
}
