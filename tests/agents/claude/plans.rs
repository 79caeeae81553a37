//! Plans: carried out, sent back with words, or turned down.

use serde_json::{Value, json};

use super::{Claude, Options, SMALL, WIDE};
use crate::model::Script;

const PLAN: &str = "# The plan\n\n1. Measure\n2. Cut\n";
const APPROVED: &str = "User has approved your plan.";

/// A session that shows this plan, and the dialog.
async fn planned(plan: &str, size: (u16, u16)) -> (Claude, Value) {
    let script = Script::new().plan(plan).text("So be it.").text("Go on then.");
    let claude = Claude::ready(Options::script(script).size(size).planning()).await;
    claude.told("Make a plan").await;
    let prompt = claude.prompt("plan").await;
    (claude, prompt)
}

/// What became of the plan, as the model was told.
fn outcome(claude: &Claude) -> (bool, String) {
    let results = claude.model.results();
    let result = results.iter().find(|result| result.tool == "ExitPlanMode").expect("an outcome");
    (result.is_error, result.text.clone())
}

#[tokio::test]
async fn an_accepted_plan_is_carried_out() {
    for size in [WIDE, SMALL] {
        let (claude, prompt) = planned(PLAN, size).await;
        assert!(prompt["summary"].as_str().is_some_and(|plan| plan.contains("Measure")), "{prompt}");
        assert_eq!(prompt["options"].as_array().unwrap().len(), 3, "{prompt}");
        let answer = claude.answered(json!({"accept": true})).await;
        assert_eq!(answer["prompt_type"], "plan");
        claude.goes(["working", "idle"]).await;
        claude.rests().await;
        let (is_error, text) = outcome(&claude);
        assert!(!is_error && text.starts_with(APPROVED), "{text}");
        assert!(!claude.screen().await.contains("plan mode on"));
    }
}

#[tokio::test]
async fn every_option_leads_to_its_own_mode() {
    for (option, auto) in [(1, true), (2, false)] {
        let (claude, _) = planned(PLAN, WIDE).await;
        claude.answered(json!({"option": option})).await;
        claude.goes(["working", "idle"]).await;
        claude.rests().await;
        assert!(outcome(&claude).1.starts_with(APPROVED));
        assert_eq!(claude.screen().await.contains("auto mode on"), auto, "option {option}");
    }
}

#[tokio::test]
async fn words_send_the_plan_back() {
    for (size, answer) in [
        (WIDE, json!({"text": "Measure twice"})),
        (SMALL, json!({"text": "Measure twice"})),
        (WIDE, json!({"accept": false, "text": "Measure twice"})),
        (WIDE, json!({"option": 3, "text": "Measure twice"})),
    ] {
        let (claude, _) = planned(PLAN, size).await;
        claude.answered(answer).await;
        claude.goes(["working", "idle"]).await;
        claude.rests().await;
        let (is_error, text) = outcome(&claude);
        assert!(is_error && text.contains("Measure twice") && !text.contains(APPROVED), "{text}");
        assert!(claude.screen().await.contains("plan mode on"));
    }
}

#[tokio::test]
async fn a_plan_can_be_turned_down() {
    let (claude, _) = planned(PLAN, WIDE).await;
    claude.answered(json!({"accept": false})).await;
    claude.goes(["idle"]).await;
    claude.rests().await;
    assert!(claude.screen().await.contains("plan mode on"));
    claude.told("Something else").await;
    claude.goes(["working", "idle"]).await;
    let (is_error, text) = outcome(&claude);
    assert!(is_error && !text.contains(APPROVED), "{text}");
}

#[tokio::test]
async fn a_plan_longer_than_the_screen_can_be_answered() {
    let steps: String = (1..=80).map(|step| format!("{step}. Step number {step}\n")).collect();
    let (claude, _) = planned(&format!("# Long\n\n{steps}"), SMALL).await;
    claude.answered(json!({"accept": true})).await;
    claude.goes(["working", "idle"]).await;
    assert!(outcome(&claude).1.starts_with(APPROVED));
}

#[tokio::test]
async fn a_plan_without_a_file_is_a_plan_too() {
    for accept in [true, false] {
        let script = Script::new().tool("ExitPlanMode", json!({"plan": PLAN})).text("So be it.");
        let claude = Claude::ready(Options::script(script).planning()).await;
        claude.told("Make a plan").await;
        let prompt = claude.prompt("plan").await;
        assert_eq!(prompt["options"], json!(["Yes", "No"]), "{prompt}");
        claude.answered(json!({"accept": accept})).await;
        claude.until("idle").await;
        claude.rests().await;
        assert_eq!(claude.screen().await.contains("plan mode on"), !accept);
    }
}

#[tokio::test]
async fn a_nudge_never_answers_a_plan() {
    let (claude, prompt) = planned(PLAN, WIDE).await;
    let nudged = claude.nudge("1").await;
    assert_eq!((&nudged["delivered"], &nudged["state"]), (&json!(false), &json!("prompt")), "{nudged}");
    claude.quiet().await;
    assert_eq!(claude.state().await["prompt"]["id"], prompt["id"]);
    assert_eq!(claude.model.heard(), ["Make a plan"]);
}
