//! The verbs: the same session from a shell, with an exit code that scripts can rely on.

use serde_json::{Value, json};

use crate::support::{Coop, Scratch, run_to_its_end, sh};

/// Runs a verb against a session; its exit code, stdout and stderr.
async fn verb(coop: &Coop, words: &[&str]) -> (Option<i32>, String, String) {
    let socket = coop.socket.clone().unwrap().display().to_string();
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let run = move || {
        let words: Vec<&str> = words.iter().map(String::as_str).chain(["--socket", &socket]).collect();
        run_to_its_end(&words, &[])
    };
    tokio::task::spawn_blocking(run).await.unwrap()
}

fn on_socket(scratch: &Scratch, program: &[&str]) -> Coop {
    Coop::start(&["--socket", scratch.path("s").to_str().unwrap()], program)
}

#[tokio::test]
async fn state_tells_how_the_session_stands() {
    let scratch = Scratch::new();
    let coop = on_socket(&scratch, &["cat"]);
    let (code, out, err) = verb(&coop, &["state"]).await;
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    assert!(out.contains("running"), "{out}");
    let (code, out, _) = verb(&coop, &["state", "--json"]).await;
    let both: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &both["status"]["state"], &both["agent"]["state"]),
        (Some(0), &json!("running"), &json!("unknown"))
    );
}

#[tokio::test]
async fn what_is_typed_is_seen_on_the_screen() {
    let scratch = Scratch::new();
    let coop = on_socket(&scratch, &sh("stty -echo; while read line; do echo \"got $line\"; done"));
    assert_eq!(verb(&coop, &["input", "--enter", "some", "words"]).await.0, Some(0));
    let (code, _, err) = verb(&coop, &["wait", "--text", "got some words", "--timeout", "15"]).await;
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(verb(&coop, &["keys", "x", "enter"]).await.0, Some(0));
    coop.shows("got x").await;
    let (code, out, _) = verb(&coop, &["screen"]).await;
    assert_eq!((code, out.trim_end()), (Some(0), "got some words\ngot x"));
}

#[tokio::test]
async fn a_wait_that_times_out_ends_with_124() {
    let scratch = Scratch::new();
    let coop = on_socket(&scratch, &["cat"]);
    assert_eq!(verb(&coop, &["wait", "--text", "never", "--timeout", "0.1"]).await.0, Some(124));
}

#[tokio::test]
async fn a_verb_that_fails_says_why_on_stderr() {
    let scratch = Scratch::new();
    let coop = on_socket(&scratch, &sh("exit 3"));
    coop.exited().await;
    let (code, out, err) = verb(&coop, &["input", "too late"]).await;
    assert!(code.is_some_and(|code| code != 0) && out.is_empty(), "{code:?} {out}");
    assert!(err.contains("exited"), "{err}");
    let (code, out, err) = verb(&coop, &["keys", "hyper-x"]).await;
    assert!(code != Some(0) && out.is_empty() && err.lines().count() <= 2, "{err}");
    let nowhere = scratch.path("nobody").display().to_string();
    let (code, _, err) = run_to_its_end(&["state", "--socket", &nowhere], &[]);
    assert!(code.is_some_and(|code| code != 0) && err.contains(&nowhere), "{err}");
}
