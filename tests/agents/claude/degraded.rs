//! With one witness taken away, coop still tells the truth: what works goes on working, what is not known is said.

use serde_json::{Value, json};

use super::scenes::{which_database, without_log, without_status};
use super::{Claude, Options};
use crate::WITNESS_MS;
use crate::model::{Gate, Script};

/// All that the daily work needs: a message, a permission, a refusal, a question, an interruption.
async fn does_its_work(options: impl Fn(Script) -> Options, missing: &str) -> Claude {
    let (first, midst) = (Gate::new(), Gate::new());
    let script = Script::new()
        .hold(&first)
        .text("Hello.")
        .bash("touch accepted")
        .text("Touched.")
        .bash("touch refused")
        .question(vec![which_database()])
        .text("Thank you.")
        .slow("I have begun.", &midst, "Never said.")
        .text("Here.");
    let claude = Claude::ready(options(script)).await;

    claude.told("A message\nof two lines").await;
    first.reached().await;
    claude.until("working").await;
    first.open();
    claude.until("idle").await;

    claude.told("Touch it").await;
    claude.prompt("permission").await;
    claude.answered(json!({"accept": true})).await;
    claude.shows("Touched.").await;
    is_idle(&claude).await;
    assert!(claude.has("accepted"));

    claude.told("Touch another").await;
    claude.prompt("permission").await;
    claude.answered(json!({"accept": false})).await;
    claude.until("idle").await;
    assert!(!claude.has("refused"));

    claude.told("Ask me").await;
    claude.prompt("question").await;
    claude.answered(json!({"option": 2})).await;
    claude.shows("Thank you.").await;
    is_idle(&claude).await;
    assert!(claude.model.results().iter().any(|result| result.text.contains("=\"SQLite\"")));

    claude.told("Begin").await;
    claude.until("working").await;
    claude.shows("I have begun.").await;
    claude.keys(&["escape"]).await;
    claude.until("idle").await;

    claude.told("Are you there?").await;
    claude.shows("Here.").await;
    is_idle(&claude).await;
    let said = ["A message\nof two lines", "Touch it", "Touch another", "Ask me", "Begin", "Are you there?"];
    assert_eq!(claude.model.heard(), said);
    let claims: Vec<Value> = told_by(&claude, missing).await;
    assert!(claims.iter().all(|claim| claim["claim"] == "unspecified"), "{missing} cannot have seen it: {claims:?}");
    claude
}

/// A short turn may be over before the witnesses that are left have seen it; at its end they must agree.
async fn is_idle(claude: &Claude) {
    claude.settles().await;
    assert_eq!(claude.state().await["state"], "idle");
}

/// What a source contributes to the explanation.
async fn told_by(claude: &Claude, source: &str) -> Vec<Value> {
    let explained = claude.explained().await;
    let evidence = explained["evidence"].as_array().unwrap().iter();
    evidence.filter(|one| one["source"].as_str().unwrap().starts_with(source)).cloned().collect()
}

/// The explanation says that a source is missing, and why.
async fn is_said_to_ail(claude: &Claude, source: &str) {
    let told = told_by(claude, source).await;
    assert!(told.iter().any(|one| one["detail"].is_string()), "{source}: {told:?}");
}

#[tokio::test]
async fn without_hooks() {
    does_its_work(|script| Options::script(script).groom("pristine"), "hooks").await;
}

#[tokio::test]
async fn without_the_status_file() {
    let claude = does_its_work(|script| Options::script(script).prepare(without_status), "status").await;
    is_said_to_ail(&claude, "status").await;
}

#[tokio::test]
async fn without_the_log() {
    let claude = does_its_work(|script| Options::script(script).prepare(without_log), "log").await;
    is_said_to_ail(&claude, "log").await;
}

#[tokio::test]
async fn with_nothing_but_the_screen_no_message_is_said_to_be_delivered_that_was_not() {
    let blind = |house: &super::House| {
        without_status(house);
        without_log(house);
    };
    let claude = Claude::ready(Options::new().groom("pristine").prepare(blind)).await;
    for message in ["A message", "Another\nof two lines", "And a third"] {
        let before = claude.model.heard().len();
        let nudged = claude.nudge_with(json!({"message": message, "timeout_ms": WITNESS_MS})).await.ok();
        claude.quiet().await;
        let heard = claude.model.heard();
        assert_eq!(heard.get(before).map(String::as_str), Some(message), "it is typed all the same");
        assert!(nudged["delivered"] == true || nudged["receipt"]["phase"] == "unconfirmed", "{nudged}");
        claude.eventually("/api/v1/agent/state", |state| state["state"] == "idle").await;
    }
}

#[tokio::test]
async fn hooks_that_stop_coming_do_not_stop_the_rest() {
    let claude = Claude::ready(Script::new().text("Hello.").bash("touch marker").text("Done.")).await;
    claude.told("First").await;
    claude.goes(["working", "idle"]).await;
    let pid = claude.coop.child_pid().await;
    let variables = crate::support::environment(pid);
    let socket = variables.iter().find_map(|variable| variable.strip_prefix("COOP_HOOK_SOCKET=")).expect("a socket");
    std::fs::remove_file(socket).unwrap();

    claude.told("Second").await;
    claude.prompt("permission").await;
    claude.answered(json!({"accept": true})).await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    assert!(claude.has("marker"));
    assert_eq!(claude.model.heard(), ["First", "Second"]);
    assert!(!claude.screen().await.contains("hook error"), "the agent does not notice");
}

#[tokio::test]
async fn a_status_file_that_vanishes_does_not_stop_the_rest() {
    let gate = Gate::new();
    let claude = Claude::ready(Script::new().text("Hello.").slow("I have begun.", &gate, "Never said.")).await;
    std::fs::remove_dir_all(claude.house.config().join("sessions")).unwrap();
    without_status(&claude.house);
    claude.told("First").await;
    claude.goes(["working", "idle"]).await;
    claude.told("Second").await;
    claude.goes(["working"]).await;
    claude.shows("I have begun.").await;
    claude.keys(&["escape"]).await;
    claude.goes(["idle"]).await;
    claude.rests().await;
}
