//! Plans: carried out, sent back with words, or turned down.

use serde_json::{Value, json};

use super::scenes::labels;
use super::{Gemini, Options, SMALL, WIDE};
use crate::model::Script;

const PLAN: &str = "# The plan\n\n1. Measure\n2. Cut\n";
const APPROVED: &str = "Plan approved.";

/// A session that shows this plan, and the dialog.
async fn planned(plan: &str, size: (u16, u16)) -> (Gemini, Value) {
    let script = Script::new().plan(plan).text("So be it.").text("Go on then.");
    let gemini = Gemini::ready(Options::script(script).size(size).planning()).await;
    gemini.told("Make a plan").await;
    gemini.goes(["working"]).await;
    let prompt = gemini.prompt("plan").await;
    (gemini, prompt)
}

#[tokio::test]
async fn words_send_the_plan_back_and_an_accepted_one_is_carried_out() {
    for size in [WIDE, SMALL] {
        let (gemini, prompt) = planned(PLAN, size).await;
        assert!(prompt["summary"].as_str().is_some_and(|plan| plan.contains("Measure")), "{prompt}");
        assert_eq!(labels(&prompt).len(), 3, "{prompt}");
        gemini.answered(json!({"text": "Measure twice"})).await;
        gemini.goes(["working", "idle"]).await;
        gemini.rests().await;
        let learned = gemini.learned();
        assert!(learned.contains("Measure twice") && !learned.contains(APPROVED), "{learned}");
        gemini.asked(Script::new().plan(PLAN).text("So be it."), "plan").await;
        let answer = gemini.answered(json!({"accept": true})).await;
        assert_eq!(answer["prompt_type"], "plan");
        gemini.goes(["working", "idle"]).await;
        gemini.rests().await;
        let learned = gemini.learned();
        assert!(learned.starts_with(APPROVED) && !learned.contains("automatically"), "the careful way: {learned}");
    }
}

#[tokio::test]
async fn a_plan_can_be_turned_down_and_a_nudge_never_answers_one() {
    let (gemini, prompt) = planned(PLAN, WIDE).await;
    let nudged = gemini.nudge("1").await;
    assert_eq!((&nudged["delivered"], &nudged["state"]), (&json!(false), &json!("prompt")), "{nudged}");
    gemini.quiet().await;
    assert_eq!(gemini.state().await["prompt"]["id"], prompt["id"]);
    assert_eq!(gemini.model.heard(), ["Make a plan"]);
    gemini.answered(json!({"accept": false})).await;
    gemini.goes(["idle"]).await;
    gemini.rests().await;
    gemini.asked(Script::new().plan(PLAN).text("So be it."), "plan").await;
    gemini.answered(json!({"option": 1})).await;
    gemini.goes(["working", "idle"]).await;
    assert!(gemini.learned().contains("automatically"), "{}", gemini.learned());
}

#[tokio::test]
async fn a_plan_longer_than_the_screen_can_be_answered() {
    let steps: String = (1..=80).map(|step| format!("{step}. Step number {step}\n")).collect();
    let (gemini, _) = planned(&format!("# Long\n\n{steps}"), SMALL).await;
    gemini.answered(json!({"accept": true})).await;
    gemini.goes(["working", "idle"]).await;
    assert!(gemini.learned().starts_with(APPROVED));
}

#[tokio::test]
async fn to_begin_a_plan_is_asked_for() {
    let gemini = Gemini::ready(Script::new()).await;
    for accept in [false, true] {
        let script = Script::new().tool("enter_plan_mode", json!({"reason": "It is complex"})).text("Planning.");
        let prompt = gemini.asked(script, "permission").await;
        assert_eq!(
            (&prompt["subtype"], &prompt["tool"]),
            (&json!("plan_entry"), &json!("enter_plan_mode")),
            "{prompt}"
        );
        gemini.answered(json!({"accept": accept})).await;
        gemini.until("idle").await;
        gemini.rests().await;
        assert_eq!(gemini.learned().contains("Plan mode"), accept, "{}", gemini.learned());
    }
}
