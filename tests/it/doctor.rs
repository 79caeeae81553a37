//! The doctor without an agent: what is missing is said, and whatever happens, nothing is left behind.

use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::support::{PATIENCE, Scratch, binary, nothing_is_left_in, run_coop};

#[tokio::test]
async fn a_missing_program_is_told_with_the_way_out() {
    let scratch = Scratch::new();
    let temp = [("TMPDIR", scratch.dir().to_str().unwrap())];
    let ended = run_coop(&["doctor", "--agent", "claude", "--", "/no/such/claude"], &temp).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let told = ended.text();
    assert!(told.contains("/no/such/claude is not there") && told.contains("npm install -g @anthropic-ai"), "{told}");
    let nowhere = [("TMPDIR", temp[0].1), ("PATH", "/no/such")];
    let ended = run_coop(&["doctor", "--agent", "claude", "--json"], &nowhere).await;
    let (report, first) = (ended.json(), ended.json()["checks"][0].clone());
    assert_eq!((ended.code, &report["ok"], &report["version"]), (Some(1), &json!(false), &json!(null)));
    assert_eq!((&first["name"], &first["outcome"]), (&json!("program"), &json!("fails")));
    assert_eq!(first["detail"], "claude is not in PATH");
    assert!(report["checks"].as_array().unwrap()[1..].iter().all(|check| check["outcome"] == "not_tried"));
    nothing_is_left_in(&scratch).await;
}

#[tokio::test]
async fn who_names_no_agent_is_told_which_are_known() {
    let ended = run_coop(&["doctor"], &[]).await;
    assert!(
        ended.code == Some(2) && ended.out.is_empty() && ended.err.contains("claude, codex and gemini"),
        "{ended:?}"
    );
}

#[tokio::test]
async fn an_agent_that_ends_at_once_is_told_with_its_last_words() {
    let scratch = Scratch::new();
    let temp = [("TMPDIR", scratch.dir().to_str().unwrap())];
    let ended = run_coop(&["doctor", "--agent", "claude", "--", "sh", "-c", "echo no licence; exit 3"], &temp).await;
    let told = ended.text();
    assert!(ended.code == Some(1) && told.contains("exit code 3") && told.contains("│ no licence"), "{told}");
    nothing_is_left_in(&scratch).await;
}

#[tokio::test]
async fn an_interrupted_doctor_leaves_nothing_behind() {
    let scratch = Scratch::new();
    let mut command = tokio::process::Command::new(binary());
    command.args(["doctor", "--agent", "claude", "--", "sh", "-c", "touch begun; sleep 1000"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut doctor = command.env("TMPDIR", scratch.dir()).kill_on_drop(true).spawn().unwrap();
    let begun = async {
        let has_begun =
            || std::fs::read_dir(scratch.dir()).unwrap().flatten().any(|d| d.path().join("work/begun").exists());
        while !has_begun() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, begun).await.expect("the agent starts");
    kill(Pid::from_raw(doctor.id().unwrap().cast_signed()), Signal::SIGINT).unwrap();
    let status = tokio::time::timeout(PATIENCE, doctor.wait()).await.expect("the doctor ends").unwrap();
    assert_eq!(status.code(), Some(1));
    nothing_is_left_in(&scratch).await;
}
