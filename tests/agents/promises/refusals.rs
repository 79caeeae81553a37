//! What cannot be done is not done, and the answer says why.
//!
//! An agent that is slow to start can try several wrong things on one session: the steps are functions of their own.

use serde_json::{Value, json};

use super::{Kept, after_a_refusal};
use crate::WITNESS_MS;
use crate::model::{Gate, Script};
use crate::session::{Options, Session};

/// A session that asks whether it may touch a file, and the dialog.
pub async fn asking<A: Kept>() -> (Session<A>, Value) {
    let script = Script::new().bash("touch marker").text("Done.").bash("touch other").text("Done.");
    let agent = Session::ready(script).await;
    agent.told("Touch it").await;
    let prompt = agent.prompt("permission").await;
    (agent, prompt)
}

/// A session that works until the gate is opened.
pub async fn working<A: Kept>() -> (Session<A>, Gate) {
    let gate = Gate::new();
    let agent = Session::ready(Script::new().slow("At work.", &gate, " Done.")).await;
    agent.told("Work").await;
    agent.goes(["working"]).await;
    gate.reached().await;
    (agent, gate)
}

/// Nothing has happened to what is asked, and none of these files was touched.
async fn still_asks<A: Kept>(agent: &Session<A>, prompt: &Value, file: &str) {
    if A::SILENT_WHILE_ASKING {
        agent.rests().await;
    }
    assert_eq!(agent.state().await["prompt"]["id"], prompt["id"]);
    assert_eq!(agent.transitions().last().map(String::as_str), Some("prompt:permission"));
    assert!(!agent.has(file));
}

fn refused(code: u16, word: &str) -> (u16, String) {
    (code, word.to_owned())
}

pub async fn takes_no_nudge_while_asking<A: Kept>(agent: &Session<A>, prompt: &Value) {
    let screen = async || match A::SILENT_WHILE_ASKING {
        true => {
            agent.quiet().await;
            Some(agent.screen().await)
        }
        false => None,
    };
    let before = screen().await;
    let nudged = agent.nudge("Never mind").await;
    assert_eq!((&nudged["delivered"], &nudged["reason"]), (&json!(false), &json!("agent_busy")), "{nudged}");
    assert_eq!((&nudged["state_before"], &nudged["state"]), (&json!("prompt"), &json!("prompt")), "{nudged}");
    let strict = agent.nudge_with(json!({"message": "Never mind", "strict": true})).await;
    assert_eq!(strict.refused(), refused(409, "AGENT_BUSY"));
    let queued = agent.nudge_with(json!({"message": "Never mind", "queue": true})).await.ok();
    assert_eq!(queued["delivered"], false, "{queued}");
    still_asks(agent, prompt, "marker").await;
    assert!(!agent.screen().await.contains("Never mind"));
    assert_eq!(screen().await, before);
}

pub async fn takes_only_the_answer_to_its_prompt<A: Kept>(agent: &Session<A>, prompt: &Value) {
    let wrong = json!({"accept": true, "expect": {"prompt_id": "another"}});
    assert_eq!(agent.respond_with(wrong).await.refused(), refused(409, "STATE_CHANGED"));
    still_asks(agent, prompt, "marker").await;
}

pub async fn takes_no_option_that_is_not_there<A: Kept>(agent: &Session<A>, prompt: &Value) {
    for option in [0, 4, 100] {
        let answer = agent.respond_with(json!({"option": option})).await;
        assert_eq!(answer.refused(), refused(400, "BAD_REQUEST"), "option {option}");
    }
    still_asks(agent, prompt, "marker").await;
}

pub async fn takes_no_answer_without_content<A: Kept>(agent: &Session<A>, prompt: &Value) {
    assert_eq!(agent.respond_with(json!({})).await.refused(), refused(400, "BAD_REQUEST"));
    still_asks(agent, prompt, "marker").await;
}

pub async fn takes_one_of_two_answers<A: Kept>(agent: &Session<A>, prompt: &Value) {
    let yes = json!({"accept": true, "prompt_id": prompt["id"]});
    let mut no = json!({"accept": false, "prompt_id": prompt["id"]});
    if A::REFUSES_WITH_WORDS {
        no["text"] = json!("Rather not");
    }
    let (no, yes) = tokio::join!(agent.respond(no), agent.respond(yes));
    assert_ne!(no["delivered"], yes["delivered"], "{no} {yes}");
    agent.until("idle").await;
    agent.rests().await;
    assert_eq!(agent.has("marker"), yes["delivered"] == true);
    assert_eq!(agent.model.heard(), ["Touch it"]);
}

pub async fn takes_no_nudge_at_work<A: Kept>(agent: &Session<A>) {
    let nudged = agent.nudge("Faster").await;
    assert_eq!((&nudged["delivered"], &nudged["reason"]), (&json!(false), &json!("agent_busy")), "{nudged}");
    assert_eq!(nudged["state"], "working");
    let strict = agent.nudge_with(json!({"message": "Faster", "strict": true})).await;
    assert_eq!(strict.refused(), refused(409, "AGENT_BUSY"));
    assert!(!agent.screen().await.contains("Faster"));
}

pub async fn has_nothing_to_answer<A: Kept>(agent: &Session<A>) {
    let answer = agent.respond(json!({"accept": true})).await;
    assert_eq!((&answer["delivered"], &answer["reason"]), (&json!(false), &json!("no_prompt")), "{answer}");
    assert_eq!(answer["prompt_type"], Value::Null);
    let strict = agent.respond_with(json!({"accept": true, "strict": true})).await;
    assert_eq!(strict.refused(), refused(409, "NO_PROMPT"));
}

pub async fn a_nudge_to_a_prompt_types_nothing<A: Kept>() {
    let (agent, prompt) = asking::<A>().await;
    takes_no_nudge_while_asking(&agent, &prompt).await;
    agent.answered(json!({"accept": false, "prompt_id": prompt["id"]})).await;
    after_a_refusal(&agent).await;
    assert_eq!(agent.model.heard(), ["Touch it"]);
}

pub async fn a_nudge_to_a_working_agent_waits_for_no_one<A: Kept>() {
    let (agent, gate) = working::<A>().await;
    takes_no_nudge_at_work(&agent).await;
    gate.open();
    agent.goes(["idle"]).await;
    agent.rests().await;
    assert_eq!(agent.model.heard(), ["Work"]);
}

pub async fn what_was_expected_must_hold<A: Kept>() {
    let agent = Session::<A>::ready(Script::new().text("Fine.")).await;
    let body = |state: &str| json!({"message": "Hello", "expect": {"state": state}, "timeout_ms": WITNESS_MS});
    assert_eq!(agent.nudge_with(body("prompt")).await.refused(), refused(409, "STATE_CHANGED"));
    agent.rests().await;
    assert!(agent.model.heard().is_empty());
    assert_eq!(agent.nudge_with(body("idle")).await.ok()["delivered"], true);
    agent.goes(["working", "idle"]).await;
    assert_eq!(agent.model.heard(), ["Hello"]);
}

pub async fn an_answer_expects_its_prompt<A: Kept>() {
    let (agent, prompt) = asking::<A>().await;
    takes_only_the_answer_to_its_prompt(&agent, &prompt).await;
    agent.answered(json!({"accept": true, "expect": {"prompt_id": prompt["id"]}})).await;
    agent.goes(["working", "idle"]).await;
    assert!(agent.has("marker"));
}

pub async fn an_option_that_is_not_there_is_refused<A: Kept>() {
    let (agent, prompt) = asking::<A>().await;
    takes_no_option_that_is_not_there(&agent, &prompt).await;
}

pub async fn an_answer_without_content_is_refused<A: Kept>() {
    let (agent, prompt) = asking::<A>().await;
    takes_no_answer_without_content(&agent, &prompt).await;
}

pub async fn an_answer_to_an_old_prompt_does_not_hit_the_new_one<A: Kept>() {
    let (agent, first) = asking::<A>().await;
    agent.answered(json!({"accept": true, "prompt_id": first["id"]})).await;
    agent.goes(["working", "idle"]).await;
    agent.told("And the other").await;
    let second = agent.prompt("permission").await;
    assert_ne!(first["id"], second["id"]);
    let (status, code, _) = agent.respond_with(json!({"accept": true, "prompt_id": first["id"]})).await.error();
    assert_eq!((status, code.as_str()), (409, "STATE_CHANGED"));
    still_asks(&agent, &second, "other").await;
    agent.answered(json!({"accept": false, "prompt_id": second["id"]})).await;
    after_a_refusal(&agent).await;
    assert!(!agent.has("other"));
}

pub async fn the_second_of_two_answers_is_refused<A: Kept>() {
    let (agent, prompt) = asking::<A>().await;
    let yes = json!({"accept": true, "prompt_id": prompt["id"]});
    agent.answered(yes.clone()).await;
    let again = agent.respond(yes).await;
    assert_eq!(again["delivered"], false, "{again}");
    agent.goes(["working", "idle"]).await;
    agent.rests().await;
    assert_eq!(agent.model.heard(), ["Touch it"]);
}

pub async fn of_two_answers_at_once_one_is_taken<A: Kept>() {
    let (agent, prompt) = asking::<A>().await;
    takes_one_of_two_answers(&agent, &prompt).await;
}

pub async fn there_is_nothing_to_answer_when_nothing_is_asked<A: Kept>() {
    let (agent, gate) = working::<A>().await;
    has_nothing_to_answer(&agent).await;
    gate.open();
    agent.goes(["idle"]).await;
    has_nothing_to_answer(&agent).await;
    agent.rests().await;
    assert_eq!(agent.model.heard(), ["Work"]);
}

pub async fn another_writer_is_not_disturbed<A: Kept>() {
    let agent = Session::<A>::ready(Script::new().text("Fine.")).await;
    let lock = agent.coop.post("/api/v1/lock", json!({})).await.ok();
    let message = json!({"message": "Hello", "timeout_ms": WITNESS_MS});
    assert_eq!(agent.nudge_with(message.clone()).await.refused(), refused(409, "WRITER_BUSY"));
    agent.rests().await;
    assert!(agent.model.heard().is_empty());
    let holder = agent.coop.call("POST", "/api/v1/agent/nudge").header("coop-lock", lock["lock_id"].as_str().unwrap());
    assert_eq!(holder.json(&message).send().await.ok()["delivered"], true);
    agent.goes(["working", "idle"]).await;
    assert_eq!(agent.model.heard(), ["Hello"]);
}

pub async fn nobody_answers_after_the_end<A: Kept>() {
    let agent = Session::<A>::ready(Options::new()).await;
    agent.commanded(A::LEAVE).await;
    agent.ended().await;
    for answer in
        [agent.nudge_with(json!({"message": "Hello"})).await, agent.respond_with(json!({"accept": true})).await]
    {
        assert_eq!(answer.refused(), refused(410, "EXITED"));
    }
}

pub async fn a_malformed_call_names_what_is_wrong<A: Kept>() {
    let agent = Session::<A>::ready(Options::new()).await;
    for (body, named) in [(json!({"message": 7}), "message"), (json!({"massage": "x"}), "massage")] {
        let (status, code, message) = agent.nudge_with(body.clone()).await.error();
        assert_eq!((status, code.as_str()), (400, "BAD_REQUEST"), "{body}");
        assert!(message.contains(named), "{body}: {message}");
    }
    agent.rests().await;
}
