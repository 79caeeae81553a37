//! The doctor finds that everything works with the version that coop was measured with, and leaves nothing behind.

use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::claude::ClaudeCode;
use crate::codex::CodexCli;
use crate::gemini::GeminiCli;
use crate::session::{Agent, program};
use crate::support::{Scratch, binary, nothing_is_left_in};

/// Two agents and six turns; a busy machine takes a minute.
const DOCTOR_LIMIT: Duration = Duration::from_secs(300);

/// Every check works.
async fn finds_nothing_wrong<A: Agent>(check_count: usize) {
    let scratch = Scratch::new();
    let mut command = tokio::process::Command::new(binary());
    command.args(["doctor", "--agent", A::NAME, "--json", "--"]).arg(program::<A>());
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("TMPDIR", scratch.dir());
    // None of this may reach the agent.
    command.envs([("HOME", "/nowhere"), ("ANTHROPIC_MODEL", "none"), ("HTTPS_PROXY", "http://127.0.0.1:9")]);
    command.envs([("HTTP_PROXY", "http://127.0.0.1:9"), ("COOP_SOCKET", "/nowhere"), ("COOP_GROOM", "manual")]);
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output();
    let output = tokio::time::timeout(DOCTOR_LIMIT, output).await.expect("the doctor ends").unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()), "{told}");
    let report: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&report["agent"], &report["ok"]), (&A::NAME.into(), &true.into()), "{told}");
    let checks = report["checks"].as_array().unwrap();
    assert!(checks.len() == check_count && checks.iter().all(|check| check["outcome"] == "works"), "{told}");
    nothing_is_left_in(&scratch).await;
}

#[tokio::test]
async fn every_source_of_claude_code_works_and_nothing_is_left_behind() {
    finds_nothing_wrong::<ClaudeCode>(17).await;
}

#[tokio::test]
async fn every_source_of_codex_works_and_nothing_is_left_behind() {
    finds_nothing_wrong::<CodexCli>(15).await;
}

#[tokio::test]
async fn every_source_of_gemini_cli_works_and_nothing_is_left_behind() {
    finds_nothing_wrong::<GeminiCli>(15).await;
}
