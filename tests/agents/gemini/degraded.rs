//! With one witness taken away, coop still tells the truth: what works goes on working, what is not known is said.

use serde_json::{Value, json};

use super::scenes::{which_database, without_log};
use super::{Gemini, Options, SMALL};
use crate::model::{Gate, Script};

/// All that the daily work needs: a message, a permission, a refusal, a question, an interruption.
async fn does_its_work(gemini: Gemini, missing: &str) -> Gemini {
    let midst = Gate::new();

    gemini.model.plays(Script::new().text("Hello."));
    gemini.told("A message\nof two lines").await;
    gemini.shows("Hello.").await;
    is_idle(&gemini).await;

    gemini.model.plays(Script::new().bash("touch accepted").text("Touched."));
    gemini.told("Touch it").await;
    gemini.prompt("permission").await;
    gemini.answered(json!({"accept": true})).await;
    gemini.shows("Touched.").await;
    is_idle(&gemini).await;
    assert!(gemini.has("accepted"));

    gemini.model.plays(Script::new().bash("touch refused"));
    gemini.told("Touch another").await;
    gemini.prompt("permission").await;
    gemini.answered(json!({"accept": false})).await;
    gemini.until("idle").await;
    assert!(!gemini.has("refused"));

    gemini.model.plays(Script::new().question(vec![which_database()]).text("Thank you."));
    gemini.told("Ask me").await;
    // Where only the screen tells, a list that scrolls is never known whole.
    gemini.until("prompt:question").await;
    gemini.shows("Enter to select").await;
    gemini.answered(json!({"option": 2})).await;
    gemini.shows("Thank you.").await;
    is_idle(&gemini).await;
    assert!(gemini.model.results().iter().any(|result| result.text.contains("SQLite")));

    gemini.model.plays(Script::new().slow("I have begun.", &midst, "Never said."));
    gemini.told("Begin").await;
    gemini.until("working").await;
    gemini.shows("I have begun.").await;
    gemini.keys(&["escape"]).await;
    gemini.until("idle").await;

    gemini.model.plays(Script::new().text("Here."));
    gemini.told("Are you there?").await;
    gemini.shows("Here.").await;
    is_idle(&gemini).await;
    let said = ["A message\nof two lines", "Touch it", "Touch another", "Ask me", "Begin", "Are you there?"];
    assert_eq!(gemini.model.heard(), said);
    let explained = gemini.explained().await;
    let evidence = explained["evidence"].as_array().unwrap().iter();
    let claims: Vec<&Value> = evidence.filter(|one| one["source"].as_str().unwrap().starts_with(missing)).collect();
    assert!(claims.iter().all(|claim| claim["claim"] == "unspecified"), "{missing} cannot have seen it: {claims:?}");
    gemini
}

/// A short turn may be over before the witnesses that are left have seen it; at its end they must agree.
async fn is_idle(gemini: &Gemini) {
    gemini.eventually("/api/v1/agent/state", |state| state["state"] == "idle").await;
    gemini.settles().await;
    assert_eq!(gemini.state().await["state"], "idle");
}

#[tokio::test]
async fn without_hooks() {
    does_its_work(Gemini::ready(Options::new().groom("pristine")).await, "hooks").await;
}

#[tokio::test]
async fn without_hooks_that_were_expected() {
    let options = Options::new().setting("hooksConfig", "enabled", json!(false)).size(SMALL);
    does_its_work(Gemini::ready(options).await, "hooks").await;
}

#[tokio::test]
async fn without_the_title() {
    let options = Options::new().setting("ui", "hideWindowTitle", json!(true));
    does_its_work(Gemini::ready(options).await, "title").await;
}

#[tokio::test]
async fn without_the_log() {
    let gemini = Gemini::ready(Script::new()).await;
    without_log(&gemini.house);
    does_its_work(gemini, "log").await;
}

#[tokio::test]
async fn hooks_that_stop_coming_do_not_stop_the_rest() {
    let gemini = Gemini::ready(Script::new().text("Hello.").bash("touch marker").text("Done.")).await;
    gemini.told("First").await;
    gemini.goes(["working", "idle"]).await;
    let pid = gemini.coop.child_pid().await;
    let variables = crate::support::environment(pid);
    let socket = variables.iter().find_map(|variable| variable.strip_prefix("COOP_HOOK_SOCKET=")).expect("a socket");
    std::fs::remove_file(socket).unwrap();
    gemini.told("Second").await;
    gemini.prompt("permission").await;
    gemini.answered(json!({"accept": true})).await;
    gemini.until("idle").await;
    gemini.rests().await;
    assert!(gemini.has("marker"));
    assert_eq!(gemini.model.heard(), ["First", "Second"]);
}
