//! Whatever comes through the hooks, coop stays and tells the truth; and an agent that cannot be started says so.

use std::process::Stdio;

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::Gemini;
use crate::model::Script;
use crate::support::{Coop, Ended, binary, environment};

/// Runs `coop hook EVENT` as the agent would, with this on its stdin.
async fn hook(gemini: &Gemini, event: &str, payload: &[u8]) -> Ended {
    let variables = environment(gemini.coop.child_pid().await);
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
async fn malformed_and_huge_payloads_change_nothing() {
    let gemini = Gemini::ready(Script::new().text("Here.")).await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for event in ["AfterAgent", "Notification", "BeforeAgent", "BeforeTool", "NoSuchEvent", ""] {
        for payload in ["", "not JSON", "{", "null", "[]", "7", "\u{0}\u{1}", &deep] {
            silent(&hook(&gemini, event, payload.as_bytes()).await);
        }
        silent(&hook(&gemini, event, &[0xff, 0xfe, 0x80, b'{']).await);
    }
    let huge = json!({"hook_event_name": "AfterModel", "llm_response": "x".repeat(5 * 1024 * 1024)}).to_string();
    let calls = (0..20).map(|_| hook(&gemini, "AfterModel", huge.as_bytes()));
    for ended in futures_util::future::join_all(calls).await {
        silent(&ended);
    }
    gemini.rests().await;
    assert_eq!(gemini.state().await["state"], "idle");
    gemini.told("Are you there?").await;
    gemini.goes(["working", "idle"]).await;
    gemini.rests().await;
}

#[tokio::test]
async fn a_program_that_is_no_gemini_is_not_taken_for_one() {
    let coop = Coop::start(&["--port", "0", "--agent", "gemini"], &["/no/such/gemini"]);
    coop.exited().await;
    let state = coop.get("/api/v1/agent/state").await.ok();
    assert_eq!((&state["agent"], &state["state"]), (&json!("gemini"), &json!("exited")), "{state}");
    assert_eq!(coop.status().await["exit_code"], 127);
    let coop = Coop::start(&["--port", "0", "--agent", "gemini"], &["sh", "-c", "echo 'not an agent'; read line"]);
    coop.shows("not an agent").await;
    let nudged = coop.post("/api/v1/agent/nudge", json!({"message": "Hello", "timeout_ms": 1000})).await.ok();
    assert_eq!(nudged["delivered"], false, "{nudged}");
    assert_ne!(coop.get("/api/v1/agent/state").await.ok()["state"], "idle");
}
