//! A conversation goes on after its agent has ended: in a new coop, and in the same one.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Claude, House, Options};
use crate::model::Script;

/// A conversation of one message that has ended; where it was held and its name.
async fn held() -> (Arc<House>, String) {
    let claude = Claude::ready(Script::new().text("Noted.")).await;
    claude.told("The word is swordfish").await;
    claude.goes(["working", "idle"]).await;
    let id = claude.state().await["session_id"].as_str().unwrap().to_owned();
    claude.commanded("/exit").await;
    claude.ended().await;
    (claude.house.clone(), id)
}

/// Goes on with it; the model must get all of it, once.
async fn goes_on(options: Options, id: &str) -> Claude {
    let claude = Claude::ready(options).await;
    claude.told("What was the word?").await;
    claude.goes(["working", "idle"]).await;
    assert_eq!(claude.model.last().said(), ["The word is swordfish", "What was the word?"]);
    assert_eq!(claude.state().await["session_id"], id);
    let start = claude.told_of("start", |_| true).await;
    assert_eq!((&start["source"], &start["session_id"]), (&json!("resume"), &json!(id)));
    claude
}

fn resuming(house: &Arc<House>, hint: &str) -> Options {
    Options::script(Script::new().text("Swordfish.")).house(house).flag("--resume", hint)
}

#[tokio::test]
async fn the_latest_conversation_goes_on() {
    let (house, id) = held().await;
    let claude = goes_on(resuming(&house, "latest"), &id).await;
    claude.rests().await;
    assert_eq!(claude.transitions(), ["starting", "idle", "working", "idle"]);
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
        std::fs::copy(house.home().join(".claude.json"), house.beside("elsewhere").join(".claude.json")).unwrap();
    };
    let options = Options::script(Script::new().text("Noted.")).house(&house).prepare(seeded);
    let first = Claude::ready(options.variable("CLAUDE_CONFIG_DIR", &elsewhere)).await;
    first.told("The word is swordfish").await;
    first.goes(["working", "idle"]).await;
    let id = first.state().await["session_id"].as_str().unwrap().to_owned();
    first.commanded("/exit").await;
    first.ended().await;
    goes_on(resuming(&house, "latest").variable("CLAUDE_CONFIG_DIR", &elsewhere), &id).await;
}

#[tokio::test]
async fn what_does_not_exist_cannot_go_on() {
    let house = Arc::new(House::new());
    house.seed(true, true);
    let workspace = house.workspace().display().to_string();
    let home = format!("HOME={}", house.home().display());
    for hint in ["latest", "00000000-0000-4000-8000-000000000000", "/no/such/log.jsonl"] {
        let flags = ["--port", "0", "--agent", "claude", "--cwd", &workspace, "--env", &home, "--resume", hint];
        let (code, out, err) = crate::support::run_to_its_end(&flags, &["/bin/false"]);
        assert_ne!(code, Some(0), "{hint}");
        assert!(out.is_empty() && err.contains("--resume"), "{hint}: {err}");
    }
}

#[tokio::test]
async fn a_restart_goes_on_with_the_conversation_when_asked() {
    let claude = Claude::ready(Script::new().text("Noted.").text("Swordfish.")).await;
    claude.told("The word is swordfish").await;
    claude.goes(["working", "idle"]).await;
    let id = claude.state().await["session_id"].clone();
    let body = json!({"resume": true, "env": {"ANOTHER": "value"}});
    claude.coop.post("/api/v1/session/restart", body).await.ok();
    claude.goes(["restarting", "starting", "idle"]).await;
    assert_eq!(claude.state().await["session_id"], id);
    claude.told("What was the word?").await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    assert_eq!(claude.model.last().said(), ["The word is swordfish", "What was the word?"]);
    let pid = claude.coop.child_pid().await;
    assert!(crate::support::environment(pid).contains(&"ANOTHER=value".to_owned()));
    let usage = claude.eventually("/api/v1/session/usage", |usage| usage["request_count"] == 2).await;
    assert_eq!(usage["input_tokens"], 20, "each message counts once, whatever was read again: {usage}");
}

#[tokio::test]
async fn a_restart_without_asking_begins_anew() {
    let claude = Claude::ready(Script::new().text("Noted.").text("Which word?")).await;
    claude.told("The word is swordfish").await;
    claude.goes(["working", "idle"]).await;
    let id = claude.state().await["session_id"].clone();
    claude.coop.post("/api/v1/session/restart", json!({"resume": false})).await.ok();
    claude.goes(["restarting", "starting", "idle"]).await;
    claude.told("What was the word?").await;
    claude.goes(["working", "idle"]).await;
    assert_ne!(claude.state().await["session_id"], id);
    assert_eq!(claude.model.last().said(), ["What was the word?"]);
}

#[tokio::test]
async fn transcripts_are_numbered_on() {
    let number = async |claude: &Claude| {
        let saved = claude.record.events("transcript:saved").len();
        claude.commanded("/compact").await;
        claude.goes(["working", "idle"]).await;
        claude.told_of("transcript:saved", |_| true).await;
        assert_eq!(saved, 0);
        claude.record.events("transcript:saved")[0]["number"].clone()
    };
    let first = Claude::ready(Script::new()).await;
    for message in ["One", "Two"] {
        first.told(message).await;
        first.goes(["working", "idle"]).await;
    }
    assert_eq!(number(&first).await, 1);
    first.commanded("/exit").await;
    first.ended().await;
    let second = Claude::ready(Options::new().house(&first.house).flag("--resume", "latest")).await;
    for message in ["Three", "Four"] {
        second.told(message).await;
        second.goes(["working", "idle"]).await;
    }
    assert_eq!(number(&second).await, 2);
    let listed = second.coop.get("/api/v1/transcripts").await.ok()["transcripts"].clone();
    let numbers: Vec<&Value> = listed.as_array().unwrap().iter().map(|one| &one["number"]).collect();
    assert_eq!(numbers, [&json!(1), &json!(2)]);
}
