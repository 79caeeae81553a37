//! `coop nudge` and `coop respond` as a script uses them: what came of it is an exit code, and what went wrong is on stderr.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::compatibility::stand_in::TAKES_MESSAGES;
use crate::support::{Claude, Coop, Ended, Scratch, at_home, binary};

/// Plays Claude Code for every client that is tested.
const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/clients/testdata/agent");

/// Longer than anything takes.
const PATIENTLY: [&str; 2] = ["--timeout", "15"];

/// Shorter than nothing.
const BRIEFLY: [&str; 2] = ["--timeout", "0.5"];

/// An agent that waits for a message; it goes with its home.
async fn at_rest() -> (Coop, Scratch) {
    let home = Scratch::new();
    let flags = ["--port", "0", "--agent", "claude", "--groom", "manual", "--cols", "100", "--rows", "30"];
    let program = ["bash", AGENT, binary().to_str().unwrap()].map(str::to_owned);
    let coop = Coop::start_with(&flags, &program.each_ref().map(String::as_str), |command| at_home(command, &home));
    coop.wait(json!({"states": ["idle"]})).await;
    (coop, home)
}

/// Lets it ask for a permission; the prompt's name.
async fn asks(coop: &Coop) -> String {
    coop.wait(json!({"states": ["idle"]})).await;
    coop.verb(&[&["nudge", "this needs permission"], &PATIENTLY[..]].concat()).await.ok();
    coop.wait(json!({"states": ["prompt"]})).await;
    let state: Value = coop.get("/api/v1/agent/state").await.ok();
    state["prompt"]["id"].as_str().unwrap().to_owned()
}

/// What it said on stderr, with this code and nothing on stdout.
fn complained(ended: &Ended, code: i32) -> &str {
    assert_eq!((ended.code, ended.text().as_str()), (Some(code), ""), "{ended:?}");
    ended.err.trim_end().strip_prefix("coop: ").unwrap_or_else(|| panic!("{ended:?}"))
}

#[tokio::test]
async fn a_message_that_was_taken_is_told_with_its_witness_and_one_that_was_not_with_the_reason() {
    let (coop, _home) = at_rest().await;
    let told = coop.verb(&[&["nudge", "good", "morning"], &PATIENTLY[..]].concat()).await.ok();
    assert!(told.starts_with("delivered, seen by "), "{told}");
    coop.shows("You said: good morning").await;
    asks(&coop).await;
    let refused = coop.verb(&["nudge", "not now"]).await;
    assert!(complained(&refused, 1).starts_with("not delivered: the agent is in state prompt"), "{refused:?}");
    let refused = coop.verb(&["nudge", "not now", "--json"]).await;
    assert_eq!((refused.code, &refused.json()["reason"]), (Some(1), &json!("agent_busy")));
    assert_eq!(refused.err, "", "the answer of the call is on stdout");
}

#[tokio::test]
async fn a_dialog_is_answered_by_yes_by_no_by_number_and_by_name() {
    let (coop, _home) = at_rest().await;
    let none = coop.verb(&["respond", "--accept"]).await;
    assert_eq!(complained(&none, 1), "not answered: the agent shows no dialog");
    for (answer, seen) in [
        (&["--accept"][..], "allowed"),
        (&["--deny"], "denied"),
        (&["--option", "1"], "allowed"),
        (&["--deny", "--text", "use the test database"], "denied"),
    ] {
        asks(&coop).await;
        let told = coop.verb(&[&["respond"], answer, &PATIENTLY].concat()).await.ok();
        assert!(told.starts_with("permission answered, seen by hooks: "), "{answer:?}: {told}");
        coop.shows(&format!("● {seen}")).await;
    }
    let prompt = asks(&coop).await;
    let other = coop.verb(&["respond", "--accept", "--prompt", "p-none"]).await;
    assert!(other.complaint().contains("p-none"), "{other:?}");
    coop.verb(&[&["respond", "--accept", "--prompt", &prompt], &PATIENTLY[..]].concat()).await.ok();
    coop.shows("● allowed").await;
}

#[tokio::test]
async fn what_nobody_has_seen_yet_ends_with_124() {
    // Its hooks tell nobody.
    let flags = ["--env", "COOP_PROGRAM=true"];
    let claude = Claude::start_in(&Arc::new(Scratch::new()), &flags, TAKES_MESSAGES).await;
    claude.hook("Stop", json!({"stop_hook_active": false})).await;
    claude.is("idle").await;
    let unseen = claude.verb(&["nudge", "is anybody there", BRIEFLY[0], "1"]).await;
    assert_eq!(complained(&unseen, 124), "written, but nobody has seen the agent take it yet");

    let (hook, _) = claude.asks("Bash", json!({"command": "ls"})).await;
    let unseen = claude.verb(&[&["respond", "--accept"], &BRIEFLY[..]].concat()).await;
    assert_eq!(complained(&unseen, 124), "given, but nobody has seen the agent take it yet");
    hook.ended().await;
}

#[tokio::test]
async fn an_input_that_did_not_get_far_enough_is_told_on_stderr() {
    let coop = Coop::run(&["bash", "--norc", "-c", "stty -echo; echo ready; sleep 1000"]);
    coop.shows("ready").await;
    let silent = coop.verb(&[&["input", "--wait-echo", "hidden"], &BRIEFLY[..]].concat()).await;
    assert!(complained(&silent, 124).contains("no echo was seen in time"), "{silent:?}");
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused_and_not_cut() {
    let (scratch, coop) = (Scratch::new(), Coop::run(&["cat"]));
    let large = scratch.file("large", "x".repeat((1 << 20) + 1));
    let mut verb = tokio::process::Command::new("sh");
    let line = coop.verb_command(&["nudge", "--file", "-"]);
    verb.args(["-c", "file=$1; shift; \"$@\" < \"$file\"", "sh", &large]).arg(binary()).args(line.get_args());
    let refused = crate::support::finished(verb).await;
    assert!(refused.complaint().contains("more than the 1048576 bytes"), "{refused:?}");
}
