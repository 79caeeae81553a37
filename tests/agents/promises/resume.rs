//! A conversation goes on after its agent has ended: in a new coop, and in the same one.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::Kept;
use crate::model::{Gate, Script};
use crate::session::{House, Options, Session};

pub const WORD: &str = "The word is swordfish";
pub const ASKED: &str = "What was the word?";

/// A conversation of one message that has ended; where it was held and its name.
pub async fn held<A: Kept>(options: Options<A>) -> (Arc<House<A>>, String) {
    let agent = Session::ready(options).await;
    agent.told(WORD).await;
    agent.goes(["working", "idle"]).await;
    let id = agent.state().await["session_id"].as_str().unwrap().to_owned();
    leaves(&agent).await;
    (agent.house.clone(), id)
}

pub async fn leaves<A: Kept>(agent: &Session<A>) {
    agent.commanded(A::LEAVE).await;
    agent.ended().await;
}

/// Goes on with it; the model must get all that was `said`, once.
pub async fn goes_on<A: Kept>(options: Options<A>, id: &str, said: &[&str]) -> Session<A> {
    let agent = Session::ready(options).await;
    agent.told(ASKED).await;
    agent.goes(["working", "idle"]).await;
    agent.rests().await;
    assert_eq!(agent.model.last().said(), said);
    assert_eq!(agent.state().await["session_id"], id);
    let start = agent.told_of("start", |_| true).await;
    assert_eq!((&start["source"], &start["session_id"]), (&json!("resume"), &json!(id)));
    assert_eq!(agent.transitions(), ["starting", "idle", "working", "idle"]);
    agent
}

pub fn noting<A: Kept>() -> Options<A> {
    Options::script(Script::new().text("Noted."))
}

pub fn resuming<A: Kept>(house: &Arc<House<A>>, hint: &str) -> Options<A> {
    Options::script(Script::new().text("Swordfish.")).house(house).flag("--resume", hint)
}

pub async fn the_latest_conversation_goes_on<A: Kept>() {
    let (house, id) = held::<A>(noting()).await;
    goes_on(resuming(&house, "latest"), &id, &[WORD, ASKED]).await;
}

pub async fn a_conversation_goes_on_by_its_name<A: Kept>() {
    let (house, id) = held::<A>(noting()).await;
    goes_on(resuming(&house, &id), &id, &[WORD, ASKED]).await;
}

pub async fn a_conversation_goes_on_by_its_log<A: Kept>() {
    let (house, id) = held::<A>(noting()).await;
    let log = A::logs(&house).remove(0);
    goes_on(resuming(&house, log.to_str().unwrap()), &id, &[WORD, ASKED]).await;
}

pub async fn a_conversation_goes_on_by_its_workspace<A: Kept>() {
    let (house, id) = held::<A>(noting()).await;
    let workspace = house.workspace();
    goes_on(resuming(&house, workspace.to_str().unwrap()), &id, &[WORD, ASKED]).await;
}

pub async fn a_conversation_goes_on_where_the_agents_files_lie_elsewhere<A: Kept>() {
    let house = Arc::new(House::new());
    let elsewhere = house.beside("elsewhere").display().to_string();
    // The model has another address each time.
    let moved = |house: &House<A>| {
        for (from, to) in A::SEEDED {
            let to = house.beside("elsewhere").join(to);
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(house.home().join(from), to).unwrap();
        }
    };
    let there = |options: Options<A>| options.house(&house).prepare(moved).variable(A::HOME_VARIABLE, &elsewhere);
    let (_, id) = held(there(noting())).await;
    goes_on(there(resuming(&house, "latest")), &id, &[WORD, ASKED]).await;
}

pub async fn what_does_not_exist_cannot_go_on<A: Kept>() {
    let house = House::new();
    A::default().seed(&house, "http://127.0.0.1:9");
    let workspace = house.workspace().display().to_string();
    let home = format!("HOME={}", house.home().display());
    for hint in ["latest", "00000000-0000-4000-8000-000000000000", "/no/such/log.jsonl"] {
        let flags = ["--port", "0", "--agent", A::NAME, "--cwd", &workspace, "--env", &home, "--resume", hint];
        let (code, out, err) = crate::support::run_to_its_end(&flags, &["/bin/false"]);
        assert_ne!(code, Some(0), "{hint}");
        assert!(out.is_empty() && err.contains("--resume"), "{hint}: {err}");
    }
}

pub async fn a_restart_goes_on_with_the_conversation_when_asked<A: Kept>() {
    let agent = Session::<A>::ready(Script::new().text("Noted.").text("Swordfish.")).await;
    agent.told(WORD).await;
    agent.goes(["working", "idle"]).await;
    let id = agent.state().await["session_id"].clone();
    let body = json!({"resume": true, "env": {"ANOTHER": "value"}});
    agent.coop.post("/api/v1/session/restart", body).await.ok();
    agent.goes(["restarting", "starting", "idle"]).await;
    assert_eq!(agent.state().await["session_id"], id);
    agent.told(ASKED).await;
    agent.goes(["working", "idle"]).await;
    agent.rests().await;
    assert_eq!(agent.model.last().said(), [WORD, ASKED]);
    let pid = agent.coop.child_pid().await;
    assert!(crate::support::environment(pid).contains(&"ANOTHER=value".to_owned()));
    let usage = agent.eventually("/api/v1/session/usage", |usage| usage["request_count"] == 2).await;
    assert_eq!(usage["input_tokens"], 20, "each message counts once, whatever was read again: {usage}");
}

pub async fn a_restart_without_asking_begins_anew<A: Kept>() {
    let agent = Session::<A>::ready(Script::new().text("Noted.").text("Which word?")).await;
    agent.told(WORD).await;
    agent.goes(["working", "idle"]).await;
    let id = agent.state().await["session_id"].clone();
    agent.coop.post("/api/v1/session/restart", json!({"resume": false})).await.ok();
    agent.goes(["restarting", "starting", "idle"]).await;
    agent.told(ASKED).await;
    agent.goes(["working", "idle"]).await;
    assert_ne!(agent.state().await["session_id"], id);
    assert_eq!(agent.model.last().said(), [ASKED]);
}

pub async fn a_restart_before_the_first_message_begins_anew_though_asked_to_go_on<A: Kept>() {
    let agent = Session::<A>::ready(Script::new().text("Which word?")).await;
    let id = agent.state().await["session_id"].clone();
    agent.coop.post("/api/v1/session/restart", json!({"resume": true})).await.ok();
    agent.goes(["restarting", "starting", "idle"]).await;
    agent.told(ASKED).await;
    agent.goes(["working", "idle"]).await;
    agent.rests().await;
    assert_eq!(agent.model.last().said(), [ASKED]);
    if A::KEEPS_ITS_NAME_UNUSED {
        assert_eq!(agent.state().await["session_id"], id, "nothing was written under it");
    }
}

/// Without hooks, so that nobody but its files names the conversation.
pub async fn a_restart_with_its_files_elsewhere_is_followed_there<A: Kept>() {
    let gate = Gate::new();
    let agent = Session::<A>::ready(A::ungroomed(Options::script(Script::new().hold(&gate).text("There.")))).await;
    let elsewhere = agent.house.beside("elsewhere");
    for (from, to) in A::SEEDED {
        let to = elsewhere.join(to);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(agent.house.home().join(from), to).unwrap();
    }
    let env = json!({A::HOME_VARIABLE: elsewhere.display().to_string()});
    agent.coop.post("/api/v1/session/restart", json!({"resume": true, "env": env})).await.ok();
    agent.goes(["restarting", "starting", "idle"]).await;
    if A::LOGS_ITS_START {
        // Its screen looks ready before it is.
        agent.eventually("/api/v1/agent/state", |_| has_log(&elsewhere)).await;
    }
    agent.told("Where are you?").await;
    gate.reached().await;
    agent.until("working").await;
    gate.open();
    agent.until("idle").await;
    let usage = agent.eventually("/api/v1/session/usage", |usage| usage["request_count"] == 1).await;
    assert_eq!(usage["input_tokens"], 10, "{usage}");
}

fn has_log(dir: &Path) -> bool {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let is_log = |path: &Path| path.extension().is_some_and(|extension| extension == "jsonl");
    entries.map(|entry| entry.path()).any(|path| is_log(&path) || path.is_dir() && has_log(&path))
}

pub async fn transcripts_are_numbered_on<A: Kept>() {
    let number = async |agent: &Session<A>, messages: [&str; 2]| {
        for message in messages {
            agent.told(message).await;
            agent.goes(["working", "idle"]).await;
        }
        let saved = agent.record.events("transcript:saved").len();
        agent.commanded("/compact").await;
        agent.goes(["working", "idle"]).await;
        agent.told_of("transcript:saved", |_| true).await;
        assert_eq!(saved, 0);
        agent.record.events("transcript:saved")[0]["number"].clone()
    };
    let first = Session::<A>::ready(Script::new()).await;
    assert_eq!(number(&first, ["One", "Two"]).await, 1);
    leaves(&first).await;
    let second = Session::ready(Options::new().house(&first.house).flag("--resume", "latest")).await;
    assert_eq!(number(&second, ["Three", "Four"]).await, 2);
    let listed = second.coop.get("/api/v1/transcripts").await.ok()["transcripts"].clone();
    let numbers: Vec<&Value> = listed.as_array().unwrap().iter().map(|one| &one["number"]).collect();
    assert_eq!(numbers, [&json!(1), &json!(2)]);
}
