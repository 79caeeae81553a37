//! Plans: carried out, or left for other words.

use serde_json::{Value, json};

use super::{Codex, Options, SMALL, WIDE};
use crate::model::Script;

const PLAN: &str = "# The plan\n\n1. Measure\n2. Cut\n";

/// What Codex says to itself when a plan is to be carried out.
const APPROVED: &str = "Implement the plan.";

/// A session that shows this plan, and the dialog.
async fn planned(plan: &str, size: (u16, u16)) -> (Codex, Value) {
    let script = Script::new().plan(plan).text("So be it.").text("Go on then.");
    let codex = Codex::ready(Options::script(script).size(size)).await;
    codex.plans().await;
    codex.told("Make a plan").await;
    let prompt = codex.prompt("plan").await;
    (codex, prompt)
}

#[tokio::test]
async fn an_accepted_plan_is_carried_out() {
    for size in [WIDE, SMALL] {
        let (codex, prompt) = planned(PLAN, size).await;
        assert_eq!(prompt["options"].as_array().unwrap().len(), 3, "{prompt}");
        assert_eq!(prompt["summary"], PLAN.trim_end(), "{prompt}");
        let answer = codex.answered(json!({"accept": true})).await;
        assert_eq!(answer["prompt_type"], "plan");
        codex.goes(["working", "idle"]).await;
        codex.rests().await;
        assert_eq!(codex.model.heard(), ["Make a plan", APPROVED]);
        assert!(!codex.screen().await.contains("Plan mode (shift"));
    }
}

#[tokio::test]
async fn every_option_does_what_its_label_says() {
    for (option, is_carried_out) in [(2, true), (3, false)] {
        let (codex, _) = planned(PLAN, WIDE).await;
        codex.answered(json!({ "option": option })).await;
        codex.until("idle").await;
        codex.rests().await;
        let requests = codex.model.requests(crate::model::Kind::Turn);
        assert_eq!(requests.len(), if is_carried_out { 2 } else { 1 }, "option {option}");
        // The second forgets what was said before.
        assert_eq!(codex.model.last().said().contains(&"Make a plan".to_owned()), option != 2, "option {option}");
    }
}

#[tokio::test]
async fn a_plan_can_be_turned_down_and_other_words_are_a_message() {
    for size in [WIDE, SMALL] {
        let (codex, _) = planned(PLAN, size).await;
        let words = codex.respond_with(json!({"accept": false, "text": "Measure twice"})).await;
        let (status, code, message) = words.error();
        assert!((status, code.as_str()) == (400, "BAD_REQUEST") && message.contains("nudge"), "{message}");
        codex.answered(json!({"accept": false})).await;
        codex.goes(["idle"]).await;
        codex.rests().await;
        assert!(codex.screen().await.contains("Plan mode"));
        codex.told("Measure twice").await;
        codex.goes(["working", "idle"]).await;
        assert_eq!(codex.model.heard(), ["Make a plan", "Measure twice"]);
    }
}

#[tokio::test]
async fn a_plan_longer_than_the_screen_can_be_answered() {
    let steps: String = (1..=80).map(|step| format!("{step}. Step number {step}\n")).collect();
    let (codex, _) = planned(&format!("# Long\n\n{steps}"), SMALL).await;
    codex.answered(json!({"accept": true})).await;
    codex.goes(["working", "idle"]).await;
    assert_eq!(codex.model.heard(), ["Make a plan", APPROVED]);
}

#[tokio::test]
async fn a_nudge_never_answers_a_plan() {
    let (codex, prompt) = planned(PLAN, WIDE).await;
    let nudged = codex.nudge("1").await;
    assert_eq!((&nudged["delivered"], &nudged["state"]), (&json!(false), &json!("prompt")), "{nudged}");
    codex.quiet().await;
    assert_eq!(codex.state().await["prompt"]["id"], prompt["id"]);
    assert_eq!(codex.model.heard(), ["Make a plan"]);
}
