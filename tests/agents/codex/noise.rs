//! Whatever comes through the hooks, coop stays and tells the truth; and an agent that cannot be started says so.

use std::process::Stdio;

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::scenes::{BYPASS, inside};
use super::{Codex, Options};
use crate::model::Script;
use crate::support::{Coop, Ended, binary, environment};

/// Runs `coop hook EVENT` as the agent would, with this on its stdin.
async fn hook(codex: &Codex, event: &str, payload: &[u8]) -> Ended {
    let variables = environment(codex.coop.child_pid().await);
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

#[tokio::test]
async fn malformed_payloads_change_nothing() {
    let codex = Codex::ready(Script::new().text("Here.")).await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for event in ["Stop", "PermissionRequest", "UserPromptSubmit", "PreToolUse", "NoSuchEvent", ""] {
        for payload in ["", "not JSON", "{", "null", "[]", "7", "\u{0}\u{1}", &deep] {
            silent(&hook(&codex, event, payload.as_bytes()).await);
        }
        silent(&hook(&codex, event, &[0xff, 0xfe, 0x80, b'{']).await);
    }
    codex.rests().await;
    assert_eq!(codex.state().await["state"], "idle");
    codex.told("Are you there?").await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
}

#[tokio::test]
async fn huge_payloads_are_borne() {
    let codex = Codex::ready(Script::new().text("Here.")).await;
    let huge = json!({"hook_event_name": "MessageDisplay", "delta": "x".repeat(5 * 1024 * 1024)}).to_string();
    let (one, other) =
        tokio::join!(hook(&codex, "MessageDisplay", huge.as_bytes()), hook(&codex, "Notification", huge.as_bytes()));
    silent(&one);
    silent(&other);
    codex.rests().await;
    codex.told("Are you there?").await;
    codex.goes(["working", "idle"]).await;
}

#[tokio::test]
async fn many_hooks_at_once_are_borne() {
    let codex = Codex::ready(Script::new().text("Here.")).await;
    let payload = json!({"hook_event_name": "MessageDisplay", "delta": "x".repeat(20_000)}).to_string();
    let calls = (0..40).map(|_| hook(&codex, "MessageDisplay", payload.as_bytes()));
    for ended in futures_util::future::join_all(calls).await {
        silent(&ended);
    }
    codex.rests().await;
    codex.told("Are you there?").await;
    codex.goes(["working", "idle"]).await;
}

#[tokio::test]
async fn a_hook_of_another_session_is_not_believed() {
    let codex = Codex::ready(Script::new().text("Here.")).await;
    let variables = environment(codex.coop.child_pid().await);
    assert!(variables.iter().any(|variable| variable.starts_with("COOP_HOOK_TOKEN=")), "{variables:?}");
    let mut command = std::process::Command::new(binary());
    command.args(["hook", "UserPromptSubmit"]).env_clear().env("COOP_HOOK_TOKEN", "wrong");
    command.envs(
        variables
            .iter()
            .filter_map(|variable| variable.split_once('='))
            .filter(|(name, _)| *name == "COOP_HOOK_SOCKET"),
    );
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    codex.rests().await;
    assert_eq!(codex.state().await["state"], "idle");
}

#[tokio::test]
async fn a_large_tool_result_is_borne() {
    let script = Script::new().tools(&[inside("seq 1 200000")]).text("Done.");
    let codex = Codex::ready(Options::script(script).word(BYPASS)).await;
    codex.told("Count").await;
    codex.goes(["working", "idle"]).await;
    codex.rests().await;
}

#[tokio::test]
async fn a_program_that_is_not_there_is_said_to_be_missing() {
    let coop = Coop::start(&["--port", "0", "--agent", "codex"], &["/no/such/codex"]);
    coop.exited().await;
    let state = coop.get("/api/v1/agent/state").await.ok();
    assert_eq!((&state["agent"], &state["state"]), (&json!("codex"), &json!("exited")), "{state}");
    let status = coop.status().await;
    assert_eq!(status["exit_code"], 127, "{status}");
    assert!(status["error"].as_str().is_some_and(|error| error.contains("/no/such/codex")), "{status}");
    let nudged = coop.post("/api/v1/agent/nudge", json!({"message": "Hello"})).await;
    assert_eq!(nudged.refused(), (410, "EXITED".to_owned()));
}

#[tokio::test]
async fn a_program_that_is_no_codex_is_not_taken_for_one() {
    let coop = Coop::start(&["--port", "0", "--agent", "codex"], &["sh", "-c", "echo 'not an agent'; read line"]);
    coop.shows("not an agent").await;
    let nudged = coop.post("/api/v1/agent/nudge", json!({"message": "Hello", "timeout_ms": 1000})).await.ok();
    assert_eq!(nudged["delivered"], false, "{nudged}");
    assert_ne!(coop.get("/api/v1/agent/state").await.ok()["state"], "idle");
}
