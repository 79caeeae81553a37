//! Whatever comes through the hooks, coop stays and tells the truth; and an agent that cannot be started says so.

use std::process::Stdio;

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::Kept;
use crate::model::Script;
use crate::session::{Options, Session};
use crate::support::{Coop, Ended, binary, environment};

/// Far more than any agent says at once.
const HUGE_BYTES: usize = 5 * 1024 * 1024;

/// Runs `coop hook EVENT` as the agent would, with this on its stdin.
async fn hook<A: Kept>(agent: &Session<A>, event: &str, payload: &[u8]) -> Ended {
    let variables = environment(agent.coop.child_pid().await);
    let variables = variables.iter().filter_map(|variable| variable.split_once('='));
    let mut command = Command::new(binary());
    command.args(["hook", event]).env_clear().envs(variables).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let write = async move {
        // Who does not read all of it is not to be blamed here.
        let _ = stdin.write_all(payload).await;
    };
    let ended = async { tokio::join!(write, child.wait_with_output()).1.unwrap() };
    let output = tokio::time::timeout(crate::LIMIT, ended).await.expect("a hook ends");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    Ended { code: output.status.code(), out: output.stdout, err }
}

/// A hook never fails and never speaks, because agents show that to their users.
fn silent(ended: &Ended) {
    assert_eq!((ended.code, ended.text().as_str(), ended.err.as_str()), (Some(0), "", ""));
}

/// A piece of an answer with so many letters, as one of the agent's hooks brings it.
fn chatter<A: Kept>(letters: usize) -> String {
    let (event, field) = A::CHATTER;
    json!({"hook_event_name": event, field: "x".repeat(letters)}).to_string()
}

/// Nothing has happened, and the agent does its work.
async fn goes_on<A: Kept>(agent: &Session<A>) {
    agent.rests().await;
    assert_eq!(agent.state().await["state"], "idle");
    agent.told("Are you there?").await;
    agent.goes(["working", "idle"]).await;
    agent.rests().await;
}

pub async fn malformed_payloads_change_nothing<A: Kept>() {
    let agent = Session::<A>::ready(Script::new().text("Here.")).await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for event in A::HOOKS.into_iter().chain(["NoSuchEvent", ""]) {
        for payload in ["", "not JSON", "{", "null", "[]", "7", "\u{0}\u{1}", &deep] {
            silent(&hook(&agent, event, payload.as_bytes()).await);
        }
        silent(&hook(&agent, event, &[0xff, 0xfe, 0x80, b'{']).await);
    }
    goes_on(&agent).await;
}

pub async fn huge_payloads_are_borne<A: Kept>() {
    let agent = Session::<A>::ready(Script::new().text("Here.")).await;
    let huge = chatter::<A>(HUGE_BYTES);
    let calls = (0..10).flat_map(|_| [A::CHATTER.0, "Notification"]);
    let calls = calls.map(|event| hook(&agent, event, huge.as_bytes()));
    for ended in futures_util::future::join_all(calls).await {
        silent(&ended);
    }
    goes_on(&agent).await;
}

pub async fn many_hooks_at_once_are_borne<A: Kept>() {
    let agent = Session::<A>::ready(Script::new().text("Here.")).await;
    let payload = chatter::<A>(20_000);
    let calls = (0..40).map(|_| hook(&agent, A::CHATTER.0, payload.as_bytes()));
    for ended in futures_util::future::join_all(calls).await {
        silent(&ended);
    }
    goes_on(&agent).await;
}

pub async fn a_hook_of_another_session_is_not_believed<A: Kept>() {
    let agent = Session::<A>::ready(Script::new().text("Here.")).await;
    let variables = environment(agent.coop.child_pid().await);
    assert!(variables.iter().any(|variable| variable.starts_with("COOP_HOOK_TOKEN=")), "{variables:?}");
    let [_, _, message, _] = A::HOOKS;
    let mut command = std::process::Command::new(binary());
    command.args(["hook", message]).env_clear().env("COOP_HOOK_TOKEN", "wrong");
    command.envs(
        variables
            .iter()
            .filter_map(|variable| variable.split_once('='))
            .filter(|(name, _)| *name == "COOP_HOOK_SOCKET"),
    );
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    agent.rests().await;
    assert_eq!(agent.state().await["state"], "idle");
}

pub async fn a_large_tool_result_is_borne<A: Kept>() {
    let script = A::runs(Script::new(), "seq 1 200000").text("Done.");
    let agent = Session::<A>::ready(A::unasked(Options::script(script), &["seq"])).await;
    agent.told("Count").await;
    agent.goes(["working", "idle"]).await;
    agent.rests().await;
}

pub async fn a_program_that_is_not_there_is_said_to_be_missing<A: Kept>() {
    let missing = format!("/no/such/{}", A::NAME);
    let coop = Coop::start(&["--port", "0", "--agent", A::NAME], &[&missing]);
    coop.exited().await;
    let state = coop.get("/api/v1/agent/state").await.ok();
    assert_eq!((&state["agent"], &state["state"]), (&json!(A::NAME), &json!("exited")), "{state}");
    let status = coop.status().await;
    assert_eq!(status["exit_code"], 127, "{status}");
    assert!(status["error"].as_str().is_some_and(|error| error.contains(&missing)), "{status}");
    let nudged = coop.post("/api/v1/agent/nudge", json!({"message": "Hello"})).await;
    assert_eq!(nudged.refused(), (410, "EXITED".to_owned()));
}

/// The agents' own tests of it have the agent in their name.
pub async fn another_program_is_not_taken_for_the_agent<A: Kept>() {
    let coop = Coop::start(&["--port", "0", "--agent", A::NAME], &["sh", "-c", "echo 'not an agent'; read line"]);
    coop.shows("not an agent").await;
    let nudged = coop.post("/api/v1/agent/nudge", json!({"message": "Hello", "timeout_ms": 1000})).await.ok();
    assert_eq!(nudged["delivered"], false, "{nudged}");
    assert_ne!(coop.get("/api/v1/agent/state").await.ok()["state"], "idle");
}
