//! What cannot be done is not done, and the answer says why.

use serde_json::{Value, json};

use super::{Claude, Options};
use crate::model::{Gate, Script};

/// A session that asks whether it may touch a file, and the dialog.
async fn asking() -> (Claude, Value) {
    let claude =
        Claude::ready(Script::new().bash("touch marker").text("Done.").bash("touch other").text("Done.")).await;
    claude.told("Touch it").await;
    let prompt = claude.prompt("permission").await;
    (claude, prompt)
}

/// A session that works until the gate is opened.
async fn working() -> (Claude, Gate) {
    let gate = Gate::new();
    let claude = Claude::ready(Script::new().slow("At work.", &gate, " Done.")).await;
    claude.told("Work").await;
    claude.goes(["working"]).await;
    gate.reached().await;
    (claude, gate)
}

fn refused(code: u16, word: &str) -> (u16, String) {
    (code, word.to_owned())
}

#[tokio::test]
async fn a_nudge_to_a_prompt_types_nothing() {
    let (claude, prompt) = asking().await;
    claude.quiet().await;
    let screen = claude.screen().await;
    let nudged = claude.nudge("Never mind").await;
    assert_eq!((&nudged["delivered"], &nudged["reason"]), (&json!(false), &json!("agent_busy")), "{nudged}");
    assert_eq!((&nudged["state_before"], &nudged["state"]), (&json!("prompt"), &json!("prompt")), "{nudged}");
    let strict = claude.nudge_with(json!({"message": "Never mind", "strict": true})).await;
    assert_eq!(strict.refused(), refused(409, "AGENT_BUSY"));
    let queued = claude.nudge_with(json!({"message": "Never mind", "queue": true})).await.ok();
    assert_eq!(queued["delivered"], false, "{queued}");
    claude.rests().await;
    assert_eq!(claude.screen().await, screen);
    claude.answered(json!({"accept": false, "prompt_id": prompt["id"]})).await;
    claude.goes(["idle"]).await;
    assert_eq!(claude.model.heard(), ["Touch it"]);
}

#[tokio::test]
async fn a_nudge_to_a_working_agent_waits_for_no_one() {
    let (claude, gate) = working().await;
    let nudged = claude.nudge("Faster").await;
    assert_eq!((&nudged["delivered"], &nudged["reason"]), (&json!(false), &json!("agent_busy")), "{nudged}");
    assert_eq!(nudged["state"], "working");
    let strict = claude.nudge_with(json!({"message": "Faster", "strict": true})).await;
    assert_eq!(strict.refused(), refused(409, "AGENT_BUSY"));
    assert!(!claude.screen().await.contains("Faster"));
    gate.open();
    claude.goes(["idle"]).await;
    claude.rests().await;
    assert_eq!(claude.model.heard(), ["Work"]);
}

#[tokio::test]
async fn what_was_expected_must_hold() {
    let claude = Claude::ready(Script::new().text("Fine.")).await;
    let body = |state: &str| json!({"message": "Hello", "expect": {"state": state}, "timeout_ms": crate::WITNESS_MS});
    assert_eq!(claude.nudge_with(body("prompt")).await.refused(), refused(409, "STATE_CHANGED"));
    claude.rests().await;
    assert!(claude.model.heard().is_empty());
    assert_eq!(claude.nudge_with(body("idle")).await.ok()["delivered"], true);
    claude.goes(["working", "idle"]).await;
    assert_eq!(claude.model.heard(), ["Hello"]);
}

#[tokio::test]
async fn an_answer_expects_its_prompt() {
    let (claude, prompt) = asking().await;
    let wrong = json!({"accept": true, "expect": {"prompt_id": "another"}});
    assert_eq!(claude.respond_with(wrong).await.refused(), refused(409, "STATE_CHANGED"));
    claude.rests().await;
    assert!(!claude.has("marker"));
    claude.answered(json!({"accept": true, "expect": {"prompt_id": prompt["id"]}})).await;
    claude.goes(["working", "idle"]).await;
    assert!(claude.has("marker"));
}

#[tokio::test]
async fn an_option_that_is_not_there_is_refused() {
    let (claude, prompt) = asking().await;
    for option in [0, 4, 100] {
        let answer = claude.respond_with(json!({"option": option})).await;
        assert_eq!(answer.refused(), refused(400, "BAD_REQUEST"), "option {option}");
    }
    claude.rests().await;
    assert_eq!(claude.state().await["prompt"]["id"], prompt["id"]);
    assert!(!claude.has("marker"));
}

#[tokio::test]
async fn an_answer_without_content_is_refused() {
    let (claude, prompt) = asking().await;
    assert_eq!(claude.respond_with(json!({})).await.refused(), refused(400, "BAD_REQUEST"));
    claude.rests().await;
    assert_eq!(claude.state().await["prompt"]["id"], prompt["id"]);
}

#[tokio::test]
async fn an_answer_to_an_old_prompt_does_not_hit_the_new_one() {
    let (claude, first) = asking().await;
    claude.answered(json!({"accept": true, "prompt_id": first["id"]})).await;
    claude.goes(["working", "idle"]).await;
    claude.told("And the other").await;
    let second = claude.prompt("permission").await;
    assert_ne!(first["id"], second["id"]);
    let (status, code, _) = claude.respond_with(json!({"accept": true, "prompt_id": first["id"]})).await.error();
    assert_eq!((status, code.as_str()), (409, "STATE_CHANGED"));
    claude.rests().await;
    assert!(!claude.has("other"));
    claude.answered(json!({"accept": false, "prompt_id": second["id"]})).await;
    claude.goes(["idle"]).await;
    assert!(!claude.has("other"));
}

#[tokio::test]
async fn the_second_of_two_answers_is_refused() {
    let (claude, prompt) = asking().await;
    let yes = json!({"accept": true, "prompt_id": prompt["id"]});
    claude.answered(yes.clone()).await;
    let again = claude.respond(yes).await;
    assert_eq!(again["delivered"], false, "{again}");
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    assert_eq!(claude.model.heard(), ["Touch it"]);
}

#[tokio::test]
async fn of_two_answers_at_once_one_is_taken() {
    let (claude, prompt) = asking().await;
    let no = json!({"accept": false, "text": "Rather not", "prompt_id": prompt["id"]});
    let yes = json!({"accept": true, "prompt_id": prompt["id"]});
    let (no, yes) = tokio::join!(claude.respond(no), claude.respond(yes));
    assert_ne!(no["delivered"], yes["delivered"], "{no} {yes}");
    claude.until("idle").await;
    claude.rests().await;
    assert_eq!(claude.has("marker"), yes["delivered"] == true);
}

#[tokio::test]
async fn there_is_nothing_to_answer_when_nothing_is_asked() {
    let (claude, gate) = working().await;
    let none = async || {
        let answer = claude.respond(json!({"accept": true})).await;
        assert_eq!((&answer["delivered"], &answer["reason"]), (&json!(false), &json!("no_prompt")), "{answer}");
        assert_eq!(answer["prompt_type"], Value::Null);
        let strict = claude.respond_with(json!({"accept": true, "strict": true})).await;
        assert_eq!(strict.refused(), refused(409, "NO_PROMPT"));
    };
    none().await;
    gate.open();
    claude.goes(["idle"]).await;
    none().await;
    claude.rests().await;
    assert_eq!(claude.model.heard(), ["Work"]);
}

#[tokio::test]
async fn another_writer_is_not_disturbed() {
    let claude = Claude::ready(Script::new().text("Fine.")).await;
    let lock = claude.coop.post("/api/v1/lock", json!({})).await.ok();
    let message = json!({"message": "Hello", "timeout_ms": crate::WITNESS_MS});
    assert_eq!(claude.nudge_with(message.clone()).await.refused(), refused(409, "WRITER_BUSY"));
    let holder = claude.coop.call("POST", "/api/v1/agent/nudge").header("coop-lock", lock["lock_id"].as_str().unwrap());
    assert_eq!(holder.json(&message).send().await.ok()["delivered"], true);
    claude.goes(["working", "idle"]).await;
    assert_eq!(claude.model.heard(), ["Hello"]);
}

#[tokio::test]
async fn nobody_answers_after_the_end() {
    let claude = Claude::ready(Options::new()).await;
    claude.commanded("/exit").await;
    claude.ended().await;
    for answer in
        [claude.nudge_with(json!({"message": "Hello"})).await, claude.respond_with(json!({"accept": true})).await]
    {
        assert_eq!(answer.refused(), refused(410, "EXITED"));
    }
}

#[tokio::test]
async fn a_malformed_call_names_what_is_wrong() {
    let claude = Claude::ready(Options::new()).await;
    for (body, named) in [(json!({"message": 7}), "message"), (json!({"massage": "x"}), "massage")] {
        let (status, code, message) = claude.nudge_with(body.clone()).await.error();
        assert_eq!((status, code.as_str()), (400, "BAD_REQUEST"), "{body}");
        assert!(message.contains(named), "{body}: {message}");
    }
    claude.rests().await;
}
