//! What cannot be done is not done, and the answer says why.

use serde_json::{Value, json};

use super::{Codex, Options};
use crate::model::{Gate, Script};

/// A session that asks whether it may touch a file, and the dialog.
async fn asking() -> (Codex, Value) {
    let codex = Codex::ready(Script::new().bash("touch marker").text("Done.").bash("touch other").text("Done.")).await;
    codex.told("Touch it").await;
    let prompt = codex.prompt("permission").await;
    (codex, prompt)
}

/// A session that works until the gate is opened.
async fn working() -> (Codex, Gate) {
    let gate = Gate::new();
    let codex = Codex::ready(Script::new().slow("At work.", &gate, " Done.")).await;
    codex.told("Work").await;
    codex.goes(["working"]).await;
    gate.reached().await;
    (codex, gate)
}

/// Nothing has happened to what is asked. A hook waits, and the terminal is never silent meanwhile.
async fn still_asks(codex: &Codex, prompt: &Value) {
    assert_eq!(codex.state().await["prompt"]["id"], prompt["id"]);
    assert_eq!(codex.transitions().last().map(String::as_str), Some("prompt:permission"));
}

fn refused(code: u16, word: &str) -> (u16, String) {
    (code, word.to_owned())
}

#[tokio::test]
async fn a_nudge_to_a_prompt_types_nothing() {
    let (codex, prompt) = asking().await;
    let nudged = codex.nudge("Never mind").await;
    assert_eq!((&nudged["delivered"], &nudged["reason"]), (&json!(false), &json!("agent_busy")), "{nudged}");
    assert_eq!((&nudged["state_before"], &nudged["state"]), (&json!("prompt"), &json!("prompt")), "{nudged}");
    let strict = codex.nudge_with(json!({"message": "Never mind", "strict": true})).await;
    assert_eq!(strict.refused(), refused(409, "AGENT_BUSY"));
    let queued = codex.nudge_with(json!({"message": "Never mind", "queue": true})).await.ok();
    assert_eq!(queued["delivered"], false, "{queued}");
    still_asks(&codex, &prompt).await;
    assert!(!codex.screen().await.contains("Never mind"));
    codex.answered(json!({"accept": false, "prompt_id": prompt["id"]})).await;
    codex.goes(["working", "idle"]).await;
    assert_eq!(codex.model.heard(), ["Touch it"]);
}

#[tokio::test]
async fn a_nudge_to_a_working_agent_waits_for_no_one() {
    let (codex, gate) = working().await;
    let nudged = codex.nudge("Faster").await;
    assert_eq!((&nudged["delivered"], &nudged["reason"]), (&json!(false), &json!("agent_busy")), "{nudged}");
    assert_eq!(nudged["state"], "working");
    let strict = codex.nudge_with(json!({"message": "Faster", "strict": true})).await;
    assert_eq!(strict.refused(), refused(409, "AGENT_BUSY"));
    assert!(!codex.screen().await.contains("Faster"));
    gate.open();
    codex.goes(["idle"]).await;
    codex.rests().await;
    assert_eq!(codex.model.heard(), ["Work"]);
}

#[tokio::test]
async fn what_was_expected_must_hold() {
    let codex = Codex::ready(Script::new().text("Fine.")).await;
    let body = |state: &str| json!({"message": "Hello", "expect": {"state": state}, "timeout_ms": crate::WITNESS_MS});
    assert_eq!(codex.nudge_with(body("prompt")).await.refused(), refused(409, "STATE_CHANGED"));
    codex.rests().await;
    assert!(codex.model.heard().is_empty());
    assert_eq!(codex.nudge_with(body("idle")).await.ok()["delivered"], true);
    codex.goes(["working", "idle"]).await;
    assert_eq!(codex.model.heard(), ["Hello"]);
}

#[tokio::test]
async fn an_answer_expects_its_prompt() {
    let (codex, prompt) = asking().await;
    let wrong = json!({"accept": true, "expect": {"prompt_id": "another"}});
    assert_eq!(codex.respond_with(wrong).await.refused(), refused(409, "STATE_CHANGED"));
    still_asks(&codex, &prompt).await;
    assert!(!codex.has("marker"));
    codex.answered(json!({"accept": true, "expect": {"prompt_id": prompt["id"]}})).await;
    codex.goes(["working", "idle"]).await;
    assert!(codex.has("marker"));
}

#[tokio::test]
async fn an_option_that_is_not_there_is_refused() {
    let (codex, prompt) = asking().await;
    for option in [0, 4, 100] {
        let answer = codex.respond_with(json!({"option": option})).await;
        assert_eq!(answer.refused(), refused(400, "BAD_REQUEST"), "option {option}");
    }
    still_asks(&codex, &prompt).await;
    assert!(!codex.has("marker"));
}

#[tokio::test]
async fn an_answer_without_content_is_refused() {
    let (codex, prompt) = asking().await;
    assert_eq!(codex.respond_with(json!({})).await.refused(), refused(400, "BAD_REQUEST"));
    still_asks(&codex, &prompt).await;
}

#[tokio::test]
async fn an_answer_to_an_old_prompt_does_not_hit_the_new_one() {
    let (codex, first) = asking().await;
    codex.answered(json!({"accept": true, "prompt_id": first["id"]})).await;
    codex.goes(["working", "idle"]).await;
    codex.told("And the other").await;
    let second = codex.prompt("permission").await;
    assert_ne!(first["id"], second["id"]);
    let (status, code, _) = codex.respond_with(json!({"accept": true, "prompt_id": first["id"]})).await.error();
    assert_eq!((status, code.as_str()), (409, "STATE_CHANGED"));
    still_asks(&codex, &second).await;
    assert!(!codex.has("other"));
    codex.answered(json!({"accept": false, "prompt_id": second["id"]})).await;
    codex.goes(["working", "idle"]).await;
    assert!(!codex.has("other"));
}

#[tokio::test]
async fn the_second_of_two_answers_is_refused() {
    let (codex, prompt) = asking().await;
    let yes = json!({"accept": true, "prompt_id": prompt["id"]});
    codex.answered(yes.clone()).await;
    let again = codex.respond(yes).await;
    assert_eq!(again["delivered"], false, "{again}");
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    assert_eq!(codex.model.heard(), ["Touch it"]);
}

#[tokio::test]
async fn of_two_answers_at_once_one_is_taken() {
    let (codex, prompt) = asking().await;
    let no = json!({"accept": false, "text": "Rather not", "prompt_id": prompt["id"]});
    let yes = json!({"accept": true, "prompt_id": prompt["id"]});
    let (no, yes) = tokio::join!(codex.respond(no), codex.respond(yes));
    assert_ne!(no["delivered"], yes["delivered"], "{no} {yes}");
    codex.until("idle").await;
    codex.rests().await;
    assert_eq!(codex.has("marker"), yes["delivered"] == true);
}

#[tokio::test]
async fn there_is_nothing_to_answer_when_nothing_is_asked() {
    let (codex, gate) = working().await;
    let none = async || {
        let answer = codex.respond(json!({"accept": true})).await;
        assert_eq!((&answer["delivered"], &answer["reason"]), (&json!(false), &json!("no_prompt")), "{answer}");
        assert_eq!(answer["prompt_type"], Value::Null);
        let strict = codex.respond_with(json!({"accept": true, "strict": true})).await;
        assert_eq!(strict.refused(), refused(409, "NO_PROMPT"));
    };
    none().await;
    gate.open();
    codex.goes(["idle"]).await;
    none().await;
    codex.rests().await;
    assert_eq!(codex.model.heard(), ["Work"]);
}

#[tokio::test]
async fn another_writer_is_not_disturbed() {
    let codex = Codex::ready(Script::new().text("Fine.")).await;
    let lock = codex.coop.post("/api/v1/lock", json!({})).await.ok();
    let message = json!({"message": "Hello", "timeout_ms": crate::WITNESS_MS});
    assert_eq!(codex.nudge_with(message.clone()).await.refused(), refused(409, "WRITER_BUSY"));
    let holder = codex.coop.call("POST", "/api/v1/agent/nudge").header("coop-lock", lock["lock_id"].as_str().unwrap());
    assert_eq!(holder.json(&message).send().await.ok()["delivered"], true);
    codex.goes(["working", "idle"]).await;
    assert_eq!(codex.model.heard(), ["Hello"]);
}

#[tokio::test]
async fn nobody_answers_after_the_end() {
    let codex = Codex::ready(Options::new()).await;
    codex.commanded("/quit").await;
    codex.ended().await;
    for answer in
        [codex.nudge_with(json!({"message": "Hello"})).await, codex.respond_with(json!({"accept": true})).await]
    {
        assert_eq!(answer.refused(), refused(410, "EXITED"));
    }
}

#[tokio::test]
async fn a_malformed_call_names_what_is_wrong() {
    let codex = Codex::ready(Options::new()).await;
    for (body, named) in [(json!({"message": 7}), "message"), (json!({"massage": "x"}), "massage")] {
        let (status, code, message) = codex.nudge_with(body.clone()).await.error();
        assert_eq!((status, code.as_str()), (400, "BAD_REQUEST"), "{body}");
        assert!(message.contains(named), "{body}: {message}");
    }
    codex.rests().await;
}
