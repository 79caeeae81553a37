//! A conversation goes on after its agent has ended: in a new coop, and in the same one.

use std::sync::Arc;

use serde_json::json;

use super::{Gemini, House, Options};
use crate::model::Script;

/// Goes on with it; the model must get all of it, once.
async fn goes_on(options: Options, id: &str, said: &[&str]) -> Gemini {
    let gemini = Gemini::ready(options).await;
    gemini.told("What was the word?").await;
    gemini.goes(["working", "idle"]).await;
    gemini.rests().await;
    assert_eq!(gemini.model.last().said(), said);
    assert_eq!(gemini.state().await["session_id"], id);
    let start = gemini.told_of("start", |_| true).await;
    assert_eq!((&start["source"], &start["session_id"]), (&json!("resume"), &json!(id)));
    assert_eq!(gemini.transitions(), ["starting", "idle", "working", "idle"]);
    gemini
}

fn resuming(house: &Arc<House>, hint: &str) -> Options {
    Options::script(Script::new().text("Swordfish.")).house(house).flag("--resume", hint)
}

async fn left(gemini: &Gemini) {
    gemini.commanded("/quit").await;
    gemini.ended().await;
}

#[tokio::test]
async fn a_conversation_goes_on_by_every_kind_of_hint() {
    let first = Gemini::ready(Script::new().text("Noted.")).await;
    first.told("The word is swordfish").await;
    first.goes(["working", "idle"]).await;
    let id = first.state().await["session_id"].as_str().unwrap().to_owned();
    left(&first).await;
    let house = first.house.clone();
    let mut said = vec!["The word is swordfish"];
    let log = std::fs::read_dir(house.config().join("tmp/work/chats")).unwrap().next().unwrap().unwrap().path();
    for hint in ["latest", &id, log.to_str().unwrap()] {
        said.push("What was the word?");
        let gemini = goes_on(resuming(&house, hint), &id, &said).await;
        let usage = gemini.eventually("/api/v1/session/usage", |usage| usage["request_count"] == said.len()).await;
        assert_eq!(usage["input_tokens"], 10 * said.len(), "each message counts once: {usage}");
        left(&gemini).await;
    }
}

#[tokio::test]
async fn what_does_not_exist_cannot_go_on() {
    let house = Arc::new(House::new());
    house.seed(true, true, &[]);
    let workspace = house.workspace().display().to_string();
    let home = format!("HOME={}", house.home().display());
    for hint in ["latest", "00000000-0000-4000-8000-000000000000", "/no/such/log.jsonl"] {
        let flags = ["--port", "0", "--agent", "gemini", "--cwd", &workspace, "--env", &home, "--resume", hint];
        let (code, out, err) = crate::support::run_to_its_end(&flags, &["/bin/false"]);
        assert_ne!(code, Some(0), "{hint}");
        assert!(out.is_empty() && err.contains("--resume"), "{hint}: {err}");
    }
}

#[tokio::test]
async fn a_restart_goes_on_with_the_conversation_when_asked() {
    let gemini = Gemini::ready(Script::new().text("Noted.").text("Swordfish.").text("Which word?")).await;
    gemini.told("The word is swordfish").await;
    gemini.goes(["working", "idle"]).await;
    let id = gemini.state().await["session_id"].clone();
    gemini.coop.post("/api/v1/session/restart", json!({"resume": true})).await.ok();
    gemini.goes(["restarting", "starting", "idle"]).await;
    assert_eq!(gemini.state().await["session_id"], id);
    gemini.told("What was the word?").await;
    gemini.goes(["working", "idle"]).await;
    gemini.rests().await;
    assert_eq!(gemini.model.last().said(), ["The word is swordfish", "What was the word?"]);
    gemini.coop.post("/api/v1/session/restart", json!({"resume": false})).await.ok();
    gemini.goes(["restarting", "starting", "idle"]).await;
    gemini.told("And now?").await;
    gemini.goes(["working", "idle"]).await;
    assert_ne!(gemini.state().await["session_id"], id);
    assert_eq!(gemini.model.last().said(), ["And now?"]);
}
