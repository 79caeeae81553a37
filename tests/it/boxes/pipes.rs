//! `coop shell -- COMMAND` where there is no terminal: a command in a pipe, as scripts run it.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::serving::serving;
use super::user::{User, gone};
use crate::support::{Ended, PATIENCE};

/// More than every buffer on the way together.
const MUCH: usize = 8 * 1024 * 1024;

impl User {
    /// coop with these words, which reads these bytes and then an end.
    async fn fed(&self, words: &[&str], input: Vec<u8>) -> Ended {
        let mut command = self.coop(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // One that reads no more breaks the pipe.
        let writing = tokio::spawn(async move { stdin.write_all(&input).await });
        let output = tokio::time::timeout(PATIENCE, child.wait_with_output()).await.expect("it has not ended").unwrap();
        writing.abort();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        Ended { code: output.status.code(), out: output.stdout, err }
    }
}

/// Every byte there is, in no order that repeats soon.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    std::iter::repeat_with(next).take(length).collect()
}

#[tokio::test]
async fn what_is_piped_in_comes_out_byte_for_byte_however_much_it_is() {
    let user = User::new();
    user.up("red", &["cat"]).await;
    assert_eq!(user.fed(&["shell", "red", "--", "cat"], b"hi\n".to_vec()).await.ok(), "hi\n");
    let ended = user.fed(&["shell", "red", "--", "cat"], noise(MUCH)).await;
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
    assert!(ended.out == noise(MUCH), "{} bytes came out of {MUCH}", ended.out.len());
    // The end is passed on, and what comes after it is the command's own.
    let ended = user.fed(&["shell", "red", "--", "sh", "-c", "wc -c; echo over"], noise(1000)).await;
    assert_eq!(ended.ok(), "1000\nover\n");
}

#[tokio::test]
async fn a_command_that_does_not_read_is_not_held_up_by_what_it_could_read() {
    let user = User::new();
    user.up("red", &["cat"]).await;
    // Nothing to read: ended at once, closed, and never ending.
    assert_eq!(user.run(&["shell", "red", "--", "cat"]).await.ok(), "");
    let mut closed = tokio::process::Command::new("sh");
    closed.args(["-c", "exec \"$@\" <&-", "sh"]).arg(crate::support::binary()).args(["shell", "red", "--", "cat"]);
    closed.env("COOP_HOME", user.home()).env("XDG_RUNTIME_DIR", user.scratch.path("run"));
    assert_eq!(crate::support::finished(closed).await.ok(), "");
    let mut open = user.coop(&["shell", "red", "--", "echo", "quick"]);
    open.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = open.spawn().unwrap();
    let held = child.stdin.take();
    let output =
        tokio::time::timeout(PATIENCE, child.wait_with_output()).await.expect("it waits for its stdin").unwrap();
    assert_eq!(output.stdout, b"quick\n");
    drop(held);
    // Much more than it takes.
    let ended = user.fed(&["shell", "red", "--", "head", "-c", "3"], noise(MUCH)).await;
    assert_eq!((ended.code, ended.out), (Some(0), noise(3)));
}

#[tokio::test]
async fn what_it_prints_and_what_it_complains_of_stay_apart_and_its_end_is_its_own() {
    let user = User::new();
    user.up("red", &["cat"]).await;
    let script = "printf 'one\\ntwo\\r\\n\\ttabbed\\033[1m'; echo no >&2; exit 3";
    let ended = user.run(&["shell", "red", "--", "sh", "-c", script]).await;
    let told = (ended.code, ended.text());
    assert_eq!((told.0, told.1.as_str(), ended.err.as_str()), (Some(3), "one\ntwo\r\n\ttabbed\x1b[1m", "no\n"));
    let ended = user.run(&["shell", "-s", "red", "--", "seq", "1", "200000"]).await;
    assert_eq!(ended.ok().lines().count(), 200_000);
    let ended = user.run(&["shell", "red", "--", "/no/such/program"]).await;
    assert!(ended.code == Some(2) && ended.err.contains("/no/such/program"), "{ended:?}");
    let ended = user.run(&["shell", "red", "--", "sh", "-c", "kill -9 $$"]).await;
    assert_eq!(ended.code, Some(137));
    // What it leaves running does not keep it.
    assert_eq!(user.run(&["shell", "red", "--", "sh", "-c", "sleep 1000 & echo left"]).await.ok(), "left\n");

    let ended = user.run(&["shell", "red", "--json", "--", "sh", "-c", "echo hi; exit 4"]).await;
    assert_eq!((ended.code, ended.err.as_str()), (Some(4), ""));
    let told: Vec<Value> = ended.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told[0]["event"], "started");
    assert!(told[0]["pid"].as_u64().is_some_and(|pid| pid > 0), "{told:?}");
    assert_eq!(
        told[1..],
        [json!({"event": "stdout", "data": "aGkK"}), json!({"event": "ended", "code": 4, "signal": null})]
    );
}

#[tokio::test]
async fn it_runs_where_it_is_told_and_has_no_terminal_to_ask() {
    let user = User::new();
    user.up("red", &["cat"]).await;
    let script =
        "test -t 0 || test -t 1 || test -t 2 || echo none; (: </dev/tty) 2>/dev/null || echo unasked; echo $TERM";
    let told = user.run(&["shell", "red", "--", "sh", "-c", script]).await.ok();
    assert_eq!(told, "none\nunasked\ndumb\n");
    assert_eq!(user.run(&["shell", "red", "--cwd", "/", "--", "pwd"]).await.ok(), "/\n");
    std::fs::create_dir(user.scratch.path("project/src")).unwrap();
    let told = user.run(&["shell", "red", "--cwd", "src", "--", "pwd"]).await.ok();
    assert_eq!(told, format!("{}/src\n", user.project()));
}

#[tokio::test]
async fn who_leaves_ends_the_command_and_so_does_the_box() {
    let user = User::new();
    user.up("red", &["cat"]).await;
    let start = async || {
        let mut command = user.coop(&["shell", "red", "--json", "--", "sleep", "1000"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let mut line = Vec::new();
        while !line.ends_with(b"\n") {
            line.push(child.stdout.as_mut().unwrap().read_u8().await.unwrap());
        }
        let told: Value = serde_json::from_slice(&line).unwrap();
        (child, i32::try_from(told["pid"].as_i64().unwrap()).unwrap())
    };
    let (mut verb, pid) = start().await;
    verb.kill().await.unwrap();
    gone(pid).await;

    let (verb, pid) = start().await;
    user.run(&["stop", "red"]).await.ok();
    gone(pid).await;
    let ended = tokio::time::timeout(PATIENCE, verb.wait_with_output()).await.expect("it has not ended").unwrap();
    assert_ne!(ended.status.code(), Some(0), "{ended:?}");
}

#[tokio::test]
async fn the_stdin_of_a_pipe_passes_through_the_daemon_too() {
    let user = User::new();
    user.up("red", &["cat"]).await;
    let served = serving(&user, &[]);
    let url = format!("{}/box/red", served.listening["url"].as_str().unwrap());
    let ended = user.fed(&["shell", "--url", &url, "--", "cat"], noise(MUCH)).await;
    assert!(ended.out == noise(MUCH), "{} bytes came out: {}", ended.out.len(), ended.err);
}
