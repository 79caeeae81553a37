//! What cannot be done is not done, and the answer says why.

use serde_json::{Value, json};

use super::{Gemini, Options};
use crate::model::{Gate, Script};

fn refused(code: u16, word: &str) -> (u16, String) {
    (code, word.to_owned())
}

#[tokio::test]
async fn a_nudge_to_a_prompt_types_nothing_and_a_wrong_answer_leaves_it() {
    let gemini = Gemini::ready(Script::new()).await;
    let prompt = gemini.asked(Script::new().bash("touch marker").text("Done."), "permission").await;
    gemini.quiet().await;
    let screen = gemini.screen().await;
    let nudged = gemini.nudge("Never mind").await;
    assert_eq!((&nudged["delivered"], &nudged["reason"]), (&json!(false), &json!("agent_busy")), "{nudged}");
    assert_eq!((&nudged["state_before"], &nudged["state"]), (&json!("prompt"), &json!("prompt")), "{nudged}");
    let strict = gemini.nudge_with(json!({"message": "Never mind", "strict": true})).await;
    assert_eq!(strict.refused(), refused(409, "AGENT_BUSY"));
    let queued = gemini.nudge_with(json!({"message": "Never mind", "queue": true})).await.ok();
    assert_eq!(queued["delivered"], false, "{queued}");
    for option in [0, 4, 100] {
        let answer = gemini.respond_with(json!({"option": option})).await;
        assert_eq!(answer.refused(), refused(400, "BAD_REQUEST"), "option {option}");
    }
    assert_eq!(gemini.respond_with(json!({})).await.refused(), refused(400, "BAD_REQUEST"));
    let wrong = json!({"accept": true, "expect": {"prompt_id": "another"}});
    assert_eq!(gemini.respond_with(wrong).await.refused(), refused(409, "STATE_CHANGED"));
    gemini.rests().await;
    assert_eq!(gemini.screen().await, screen);
    assert_eq!(gemini.state().await["prompt"]["id"], prompt["id"]);
    assert!(!gemini.has("marker"));

    let no = json!({"accept": false, "prompt_id": prompt["id"]});
    let yes = json!({"accept": true, "prompt_id": prompt["id"]});
    let (no, yes) = tokio::join!(gemini.respond(no), gemini.respond(yes));
    assert_ne!(no["delivered"], yes["delivered"], "one of two answers is taken: {no} {yes}");
    gemini.until("idle").await;
    gemini.rests().await;
    assert_eq!(gemini.has("marker"), yes["delivered"] == true);
    assert_eq!(gemini.model.heard(), ["Go on"]);
}

#[tokio::test]
async fn an_answer_to_an_old_prompt_does_not_hit_the_new_one() {
    let gemini = Gemini::ready(Script::new()).await;
    let first = gemini.asked(Script::new().bash("touch marker").text("Done."), "permission").await;
    let yes = json!({"accept": true, "prompt_id": first["id"]});
    gemini.answered(yes.clone()).await;
    let again = gemini.respond_with(yes.clone()).await;
    assert!(again.status != 200 || again.ok()["delivered"] == false, "the second of two answers");
    gemini.goes(["working", "idle"]).await;
    let second = gemini.asked(Script::new().bash("touch other").text("Done."), "permission").await;
    assert_ne!(first["id"], second["id"]);
    let (status, code, _) = gemini.respond_with(yes).await.error();
    assert_eq!((status, code.as_str()), (409, "STATE_CHANGED"));
    gemini.rests().await;
    assert!(!gemini.has("other"));
    gemini.answered(json!({"accept": false, "prompt_id": second["id"]})).await;
    gemini.goes(["idle"]).await;
    assert!(!gemini.has("other"));
}

#[tokio::test]
async fn a_working_agent_takes_neither_a_nudge_nor_an_answer() {
    let gate = Gate::new();
    let gemini = Gemini::ready(Script::new().slow("At work.", &gate, " Done.")).await;
    gemini.told("Work").await;
    gemini.goes(["working"]).await;
    gate.reached().await;
    let nudged = gemini.nudge("Faster").await;
    assert_eq!((&nudged["delivered"], &nudged["reason"]), (&json!(false), &json!("agent_busy")), "{nudged}");
    let strict = gemini.nudge_with(json!({"message": "Faster", "strict": true})).await;
    assert_eq!(strict.refused(), refused(409, "AGENT_BUSY"));
    assert!(!gemini.screen().await.contains("Faster"));
    let none = async || {
        let answer = gemini.respond(json!({"accept": true})).await;
        assert_eq!((&answer["delivered"], &answer["reason"]), (&json!(false), &json!("no_prompt")), "{answer}");
        assert_eq!(answer["prompt_type"], Value::Null);
        let strict = gemini.respond_with(json!({"accept": true, "strict": true})).await;
        assert_eq!(strict.refused(), refused(409, "NO_PROMPT"));
    };
    none().await;
    gate.open();
    gemini.goes(["idle"]).await;
    none().await;
    gemini.rests().await;
    assert_eq!(gemini.model.heard(), ["Work"]);
}

#[tokio::test]
async fn what_was_expected_must_hold_and_another_writer_is_not_disturbed() {
    let gemini = Gemini::ready(Script::new()).await;
    let body = |state: &str| json!({"message": "Hello", "expect": {"state": state}, "timeout_ms": crate::WITNESS_MS});
    assert_eq!(gemini.nudge_with(body("prompt")).await.refused(), refused(409, "STATE_CHANGED"));
    let lock = gemini.coop.post("/api/v1/lock", json!({})).await.ok();
    assert_eq!(gemini.nudge_with(body("idle")).await.refused(), refused(409, "WRITER_BUSY"));
    gemini.rests().await;
    assert!(gemini.model.heard().is_empty());
    let holder = gemini.coop.call("POST", "/api/v1/agent/nudge").header("coop-lock", lock["lock_id"].as_str().unwrap());
    assert_eq!(holder.json(&body("idle")).send().await.ok()["delivered"], true);
    gemini.goes(["working", "idle"]).await;
    assert_eq!(gemini.model.heard(), ["Hello"]);
}

#[tokio::test]
async fn nobody_answers_after_the_end() {
    let gemini = Gemini::ready(Options::new()).await;
    gemini.commanded("/quit").await;
    gemini.ended().await;
    for answer in
        [gemini.nudge_with(json!({"message": "Hello"})).await, gemini.respond_with(json!({"accept": true})).await]
    {
        assert_eq!(answer.refused(), refused(410, "EXITED"));
    }
}
