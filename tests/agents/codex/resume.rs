//! A conversation goes on after its agent has ended: in a new coop, and in the same one.

use std::sync::Arc;

use serde_json::{Value, json};

use super::house::MODEL;
use super::{Codex, House, Options};
use crate::model::Script;

/// A conversation of one message that has ended; where it was held and its name.
async fn held() -> (Arc<House>, String) {
    let codex = Codex::ready(Script::new().text("Noted.")).await;
    codex.told("The word is swordfish").await;
    codex.goes(["working", "idle"]).await;
    let id = codex.state().await["session_id"].as_str().unwrap().to_owned();
    codex.commanded("/quit").await;
    codex.ended().await;
    (codex.house.clone(), id)
}

/// Goes on with it; the model must get all of it, once.
async fn goes_on(options: Options, id: &str) -> Codex {
    let codex = Codex::ready(options).await;
    codex.told("What was the word?").await;
    codex.goes(["working", "idle"]).await;
    assert_eq!(codex.model.last().said(), ["The word is swordfish", "What was the word?"]);
    assert_eq!(codex.state().await["session_id"], id);
    let start = codex.told_of("start", |_| true).await;
    assert_eq!((&start["source"], &start["session_id"]), (&json!("resume"), &json!(id)));
    codex
}

fn resuming(house: &Arc<House>, hint: &str) -> Options {
    Options::script(Script::new().text("Swordfish.")).house(house).flag("--resume", hint)
}

#[tokio::test]
async fn the_latest_conversation_goes_on() {
    let (house, id) = held().await;
    let codex = goes_on(resuming(&house, "latest"), &id).await;
    codex.rests().await;
    assert_eq!(codex.transitions(), ["starting", "idle", "working", "idle"]);
}

#[tokio::test]
async fn a_conversation_goes_on_by_its_name() {
    let (house, id) = held().await;
    goes_on(resuming(&house, &id), &id).await;
}

#[tokio::test]
async fn a_conversation_goes_on_by_its_log() {
    let (house, id) = held().await;
    let log = house.logs().remove(0);
    goes_on(resuming(&house, log.to_str().unwrap()), &id).await;
}

#[tokio::test]
async fn a_conversation_goes_on_by_its_workspace() {
    let (house, id) = held().await;
    let workspace = house.workspace();
    goes_on(resuming(&house, workspace.to_str().unwrap()), &id).await;
}

#[tokio::test]
async fn a_conversation_goes_on_where_the_agents_files_lie_elsewhere() {
    let house = Arc::new(House::new());
    let elsewhere = house.beside("elsewhere").display().to_string();
    let seeded = |house: &House| {
        std::fs::create_dir_all(house.beside("elsewhere")).unwrap();
        std::fs::copy(house.config().join("config.toml"), house.beside("elsewhere").join("config.toml")).unwrap();
    };
    let options = Options::script(Script::new().text("Noted.")).house(&house).prepare(seeded);
    let first = Codex::ready(options.variable("CODEX_HOME", &elsewhere)).await;
    first.told("The word is swordfish").await;
    first.goes(["working", "idle"]).await;
    let id = first.state().await["session_id"].as_str().unwrap().to_owned();
    first.commanded("/quit").await;
    first.ended().await;
    goes_on(resuming(&house, "latest").prepare(seeded).variable("CODEX_HOME", &elsewhere), &id).await;
}

#[tokio::test]
async fn what_does_not_exist_cannot_go_on() {
    let house = Arc::new(House::new());
    house.seed(true, true, MODEL, "http://127.0.0.1:9");
    let workspace = house.workspace().display().to_string();
    let home = format!("HOME={}", house.home().display());
    for hint in ["latest", "00000000-0000-4000-8000-000000000000", "/no/such/log.jsonl"] {
        let flags = ["--port", "0", "--agent", "codex", "--cwd", &workspace, "--env", &home, "--resume", hint];
        let (code, out, err) = crate::support::run_to_its_end(&flags, &["/bin/false"]);
        assert_ne!(code, Some(0), "{hint}");
        assert!(out.is_empty() && err.contains("--resume"), "{hint}: {err}");
    }
}

#[tokio::test]
async fn a_restart_goes_on_with_the_conversation_when_asked() {
    let codex = Codex::ready(Script::new().text("Noted.").text("Swordfish.")).await;
    codex.told("The word is swordfish").await;
    codex.goes(["working", "idle"]).await;
    let id = codex.state().await["session_id"].clone();
    let body = json!({"resume": true, "env": {"ANOTHER": "value"}});
    codex.coop.post("/api/v1/session/restart", body).await.ok();
    codex.goes(["restarting", "starting", "idle"]).await;
    assert_eq!(codex.state().await["session_id"], id);
    codex.told("What was the word?").await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
    assert_eq!(codex.model.last().said(), ["The word is swordfish", "What was the word?"]);
    let pid = codex.coop.child_pid().await;
    assert!(crate::support::environment(pid).contains(&"ANOTHER=value".to_owned()));
    let usage = codex.eventually("/api/v1/session/usage", |usage| usage["request_count"] == 2).await;
    assert_eq!(usage["input_tokens"], 20, "each message counts once, whatever was read again: {usage}");
}

#[tokio::test]
async fn a_restart_without_asking_begins_anew() {
    let codex = Codex::ready(Script::new().text("Noted.").text("Which word?")).await;
    codex.told("The word is swordfish").await;
    codex.goes(["working", "idle"]).await;
    let id = codex.state().await["session_id"].clone();
    codex.coop.post("/api/v1/session/restart", json!({"resume": false})).await.ok();
    codex.goes(["restarting", "starting", "idle"]).await;
    codex.told("What was the word?").await;
    codex.goes(["working", "idle"]).await;
    assert_ne!(codex.state().await["session_id"], id);
    assert_eq!(codex.model.last().said(), ["What was the word?"]);
}

#[tokio::test]
async fn transcripts_are_numbered_on() {
    let number = async |codex: &Codex| {
        let saved = codex.record.events("transcript:saved").len();
        codex.commanded("/compact").await;
        codex.goes(["working", "idle"]).await;
        codex.told_of("transcript:saved", |_| true).await;
        assert_eq!(saved, 0);
        codex.record.events("transcript:saved")[0]["number"].clone()
    };
    let first = Codex::ready(Script::new()).await;
    for message in ["One", "Two"] {
        first.told(message).await;
        first.goes(["working", "idle"]).await;
    }
    assert_eq!(number(&first).await, 1);
    first.commanded("/quit").await;
    first.ended().await;
    let second = Codex::ready(Options::new().house(&first.house).flag("--resume", "latest")).await;
    for message in ["Three", "Four"] {
        second.told(message).await;
        second.goes(["working", "idle"]).await;
    }
    assert_eq!(number(&second).await, 2);
    let listed = second.coop.get("/api/v1/transcripts").await.ok()["transcripts"].clone();
    let numbers: Vec<&Value> = listed.as_array().unwrap().iter().map(|one| &one["number"]).collect();
    assert_eq!(numbers, [&json!(1), &json!(2)]);
}
