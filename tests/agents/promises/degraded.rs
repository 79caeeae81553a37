//! With one witness taken away, coop still tells the truth: what works goes on working, what is not known is said.

use serde_json::{Value, json};

use super::{Kept, which_database};
use crate::WITNESS_MS;
use crate::model::{Gate, Script};
use crate::session::{Options, Session};

/// All that the daily work needs: a message, a permission, a refusal, a question, an interruption. The agent must be one that
/// may ask, and is without what the source `missing` would have told of.
pub async fn does_its_work<A: Kept>(agent: &Session<A>, missing: &str) {
    let (first, midst) = (Gate::new(), Gate::new());

    agent.model.plays(Script::new().hold(&first).text("Hello."));
    agent.told("A message\nof two lines").await;
    first.reached().await;
    agent.until("working").await;
    first.open();
    agent.shows("Hello.").await;
    agent.until("idle").await;

    agent.model.plays(Script::new().bash("touch accepted").text("Touched."));
    agent.told("Touch it").await;
    agent.prompt("permission").await;
    agent.answered(json!({"accept": true})).await;
    agent.shows("Touched.").await;
    is_idle(agent).await;
    assert!(agent.has("accepted"));

    // Where the turn ends with a refusal, the model is not asked again.
    agent.model.plays(Script::new().bash("touch refused").text("I understand."));
    agent.told("Touch another").await;
    agent.prompt("permission").await;
    agent.answered(json!({"accept": false})).await;
    agent.until("idle").await;
    is_idle(agent).await;
    assert!(!agent.has("refused"));

    agent.model.plays(Script::new().question(vec![which_database()]).text("Thank you."));
    agent.told("Ask me").await;
    A::asked(agent).await;
    agent.answered(json!({"option": 2})).await;
    agent.shows("Thank you.").await;
    is_idle(agent).await;
    assert!(agent.model.results().iter().any(|result| result.text.contains(&A::chosen("SQLite"))));

    agent.model.plays(Script::new().slow("I have begun.", &midst, "Never said."));
    agent.told("Begin").await;
    agent.until("working").await;
    agent.shows("I have begun.").await;
    agent.keys(&["escape"]).await;
    agent.until("idle").await;

    agent.model.plays(Script::new().text("Here."));
    agent.told("Are you there?").await;
    agent.shows("Here.").await;
    is_idle(agent).await;
    let said = ["A message\nof two lines", "Touch it", "Touch another", "Ask me", "Begin", "Are you there?"];
    assert_eq!(agent.model.heard(), said);
    let claims = told_by(agent, missing).await;
    assert!(claims.iter().all(|claim| claim["claim"] == "unspecified"), "{missing} cannot have seen it: {claims:?}");
}

/// A short turn may be over before the witnesses that are left have seen it; at its end they must agree.
async fn is_idle<A: Kept>(agent: &Session<A>) {
    if A::SILENT_BEFORE_THE_END {
        agent.eventually("/api/v1/agent/state", |state| state["state"] == "idle").await;
    }
    agent.settles().await;
    // A message that may still be in the agent's queue holds the rest back for two seconds.
    agent.eventually("/api/v1/agent/state", |state| state["state"] == "idle").await;
    agent.settles().await;
    assert_eq!(agent.state().await["state"], "idle");
}

/// What a source contributes to the explanation.
async fn told_by<A: Kept>(agent: &Session<A>, source: &str) -> Vec<Value> {
    let explained = agent.explained().await;
    let evidence = explained["evidence"].as_array().unwrap().iter();
    evidence.filter(|one| one["source"].as_str().unwrap().starts_with(source)).cloned().collect()
}

/// The explanation says that a source is missing, and why.
pub async fn is_said_to_ail<A: Kept>(agent: &Session<A>, source: &str) {
    let told = told_by(agent, source).await;
    assert!(told.iter().any(|one| one["detail"].is_string()), "{source}: {told:?}");
}

/// No message is said to be delivered that was not, though nobody but the screen tells.
pub async fn says_nothing_that_is_not_known<A: Kept>(agent: &Session<A>) {
    for message in ["A message", "Another\nof two lines", "And a third"] {
        let before = agent.model.heard().len();
        let nudged = agent.nudge_with(json!({"message": message, "timeout_ms": WITNESS_MS})).await.ok();
        agent.quiet().await;
        let heard = agent.model.heard();
        assert_eq!(heard.get(before).map(String::as_str), Some(message), "it is typed all the same");
        assert!(nudged["delivered"] == true || nudged["receipt"]["phase"] == "unconfirmed", "{nudged}");
        agent.eventually("/api/v1/agent/state", |state| state["state"] == "idle").await;
    }
}

pub async fn without_hooks<A: Kept>() {
    let agent = Session::<A>::ready(A::asking(A::ungroomed(Options::new()))).await;
    does_its_work(&agent, "hooks").await;
    is_said_to_ail(&agent, "hooks").await;
}

pub async fn in_a_tmux_that_coop_has_not_started<A: Kept>() {
    let agent = Session::<A>::ready(A::asking(A::ungroomed(Options::new())).in_tmux()).await;
    assert_eq!(agent.coop.status().await["backend"], "tmux");
    does_its_work(&agent, "hooks").await;
    is_said_to_ail(&agent, "hooks").await;
}

pub async fn hooks_that_stop_coming_do_not_stop_the_rest<A: Kept>() {
    let agent = Session::<A>::ready(Script::new().text("Hello.").bash("touch marker").text("Done.")).await;
    agent.told("First").await;
    agent.goes(["working", "idle"]).await;
    let pid = agent.coop.child_pid().await;
    let variables = crate::support::environment(pid);
    let socket = variables.iter().find_map(|variable| variable.strip_prefix("COOP_HOOK_SOCKET=")).expect("a socket");
    std::fs::remove_file(socket).unwrap();

    agent.told("Second").await;
    agent.prompt("permission").await;
    agent.answered(json!({"accept": true})).await;
    agent.goes(["working", "idle"]).await;
    agent.rests().await;
    assert!(agent.has("marker"));
    assert_eq!(agent.model.heard(), ["First", "Second"]);
    assert!(!agent.screen().await.contains("hook error"), "the agent does not notice");
}
