//! With one witness taken away, coop still tells the truth: what works goes on working, what is not known is said.

use serde_json::{Value, json};

use super::scenes::{which_database, without_log};
use super::{Codex, Options};
use crate::WITNESS_MS;
use crate::model::{Gate, Script};

/// All that the daily work needs: a message, a permission, a refusal, a question, an interruption.
async fn does_its_work(options: impl Fn(Script) -> Options, missing: &str) -> Codex {
    // Refused by key the turn ends, and the model is not asked again.
    let ends = missing == "hooks";
    let (first, midst) = (Gate::new(), Gate::new());
    let script =
        Script::new().hold(&first).text("Hello.").bash("touch accepted").text("Touched.").bash("touch refused");
    let script = if ends { script } else { script.text("I understand.") };
    let script = script
        .question(vec![which_database()])
        .text("Thank you.")
        .slow("I have begun.", &midst, "Never said.")
        .text("Here.");
    let codex = Codex::ready(options(script)).await;

    codex.told("A message\nof two lines").await;
    first.reached().await;
    codex.until("working").await;
    first.open();
    codex.until("idle").await;

    codex.told("Touch it").await;
    codex.prompt("permission").await;
    codex.answered(json!({"accept": true})).await;
    codex.shows("Touched.").await;
    is_idle(&codex).await;
    assert!(codex.has("accepted"));

    codex.told("Touch another").await;
    codex.prompt("permission").await;
    codex.answered(json!({"accept": false})).await;
    is_idle(&codex).await;
    assert!(!codex.has("refused"));

    codex.told("Ask me").await;
    codex.prompt("question").await;
    codex.answered(json!({"option": 2})).await;
    codex.shows("Thank you.").await;
    is_idle(&codex).await;
    assert!(codex.model.results().iter().any(|result| result.text.contains("SQLite")));

    codex.told("Begin").await;
    codex.until("working").await;
    codex.shows("I have begun.").await;
    codex.keys(&["escape"]).await;
    codex.until("idle").await;

    codex.told("Are you there?").await;
    codex.shows("Here.").await;
    is_idle(&codex).await;
    let said = ["A message\nof two lines", "Touch it", "Touch another", "Ask me", "Begin", "Are you there?"];
    assert_eq!(codex.model.heard(), said);
    let claims: Vec<Value> = told_by(&codex, missing).await;
    assert!(claims.iter().all(|claim| claim["claim"] == "unspecified"), "{missing} cannot have seen it: {claims:?}");
    codex
}

/// A short turn may be over before the witnesses that are left have seen it; at its end they must agree.
async fn is_idle(codex: &Codex) {
    codex.settles().await;
    assert_eq!(codex.state().await["state"], "idle");
}

/// What a source contributes to the explanation.
async fn told_by(codex: &Codex, source: &str) -> Vec<Value> {
    let explained = codex.explained().await;
    let evidence = explained["evidence"].as_array().unwrap().iter();
    evidence.filter(|one| one["source"].as_str().unwrap().starts_with(source)).cloned().collect()
}

/// The explanation says that a source is missing, and why.
async fn is_said_to_ail(codex: &Codex, source: &str) {
    let told = told_by(codex, source).await;
    assert!(told.iter().any(|one| one["detail"].is_string()), "{source}: {told:?}");
}

#[tokio::test]
async fn without_hooks() {
    does_its_work(|script| Options::script(script).untouched().asking(), "hooks").await;
}

#[tokio::test]
async fn without_the_log() {
    let codex = does_its_work(|script| Options::script(script).prepare(without_log).asking(), "log").await;
    is_said_to_ail(&codex, "log").await;
}

#[tokio::test]
async fn with_nothing_but_the_screen_no_message_is_said_to_be_delivered_that_was_not() {
    let codex = Codex::ready(Options::new().untouched().prepare(without_log)).await;
    for message in ["A message", "Another\nof two lines", "And a third"] {
        let before = codex.model.heard().len();
        let nudged = codex.nudge_with(json!({"message": message, "timeout_ms": WITNESS_MS})).await.ok();
        codex.quiet().await;
        let heard = codex.model.heard();
        assert_eq!(heard.get(before).map(String::as_str), Some(message), "it is typed all the same");
        assert!(nudged["delivered"] == true || nudged["receipt"]["phase"] == "unconfirmed", "{nudged}");
        codex.eventually("/api/v1/agent/state", |state| state["state"] == "idle").await;
    }
}

#[tokio::test]
async fn hooks_that_stop_coming_do_not_stop_the_rest() {
    let codex = Codex::ready(Script::new().text("Hello.").bash("touch marker").text("Done.")).await;
    codex.told("First").await;
    codex.goes(["working", "idle"]).await;
    let pid = codex.coop.child_pid().await;
    let variables = crate::support::environment(pid);
    let socket = variables.iter().find_map(|variable| variable.strip_prefix("COOP_HOOK_SOCKET=")).expect("a socket");
    std::fs::remove_file(socket).unwrap();

    codex.told("Second").await;
    codex.prompt("permission").await;
    codex.answered(json!({"accept": true})).await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    assert!(codex.has("marker"));
    assert_eq!(codex.model.heard(), ["First", "Second"]);
    assert!(!codex.screen().await.contains("hook error"), "the agent does not notice");
}
