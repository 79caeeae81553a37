//! A verb that fails says why and names the way out: in one line, or with --json in one object.

use std::fs::Permissions;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use axum::Router;
use nix::sys::signal::Signal;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Coop, Ended, Scratch, run_coop, sh};

const TOKEN: &str = "correct-horse-battery";

fn on_socket(scratch: &Scratch, flags: &[&str], program: &[&str]) -> Coop {
    Coop::start(&[&["--socket", scratch.path("s").to_str().unwrap()], flags].concat(), program)
}

/// Every part is in the one line; the last says what to do.
fn says(ended: &Ended, parts: &[&str]) {
    let line = ended.complaint();
    for part in parts {
        assert!(line.contains(part), "says nothing of {part:?}: {line}");
    }
}

/// The same of a session that could not be reached, which is named.
fn says_of(ended: &Ended, target: &str, parts: &[&str]) {
    assert!(ended.complaint().starts_with(&format!("{target}: ")), "names no {target}: {ended:?}");
    says(ended, parts);
}

/// The code and the message of a failure that was told as JSON.
fn told_as_json(ended: &Ended) -> (String, String) {
    assert!(ended.out.is_empty() && ended.err.lines().count() == 1, "{ended:?}");
    let told: Value = serde_json::from_str(&ended.err).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    let word = |name: &str| told["error"][name].as_str().unwrap_or_else(|| panic!("{told}")).to_owned();
    (word("code"), word("message"))
}

#[tokio::test]
async fn who_shows_no_token_or_a_wrong_one_is_told_how_to_show_it() {
    let scratch = Scratch::new();
    let coop = on_socket(&scratch, &["--auth-token", TOKEN], &["cat"]);
    let (socket, file) = (scratch.path("s").display().to_string(), scratch.file("token", format!("{TOKEN}\n")));
    for words in [&["state"][..], &["logs", "-f"], &["input", "x"]] {
        says(&coop.verb(words).await, &["no token", "--token-file FILE", "COOP_AUTH_TOKEN"]);
        let wrong = coop.verb(&[words, &["--token", "wrong-secret"]].concat()).await;
        says(&wrong, &["wrong token", "--token-file FILE"]);
        assert!(!wrong.err.contains("wrong-secret"), "{}", wrong.err);
    }
    coop.verb(&["state", "--token-file", &file]).await.ok();
    run_coop(&["state", "--socket", &socket], &[("COOP_AUTH_TOKEN", TOKEN)]).await.ok();
    run_coop(&["state", "--socket", &socket], &[("COOP_AUTH_TOKEN_FILE", &file)]).await.ok();
}

#[tokio::test]
async fn who_types_after_the_end_is_told_where_to_look() {
    let scratch = Scratch::new();
    let coop = on_socket(&scratch, &[], &sh("exit 3"));
    coop.exited().await;
    for words in [["input", "late"], ["keys", "x"]] {
        says(&coop.verb(&words).await, &["exited", "`coop screen "]);
    }
    assert!(coop.verb(&["state"]).await.ok().contains("exit code 3"));
}

#[tokio::test]
async fn who_names_a_key_or_a_lock_that_there_is_not_is_told_what_would_do() {
    let scratch = Scratch::new();
    let coop = on_socket(&scratch, &[], &["cat"]);
    says(&coop.verb(&["keys", "hyper-x"]).await, &["\"hyper-x\"", "ctrl-c"]);
    for words in [["input", "x"], ["keys", "x"]] {
        says(&coop.verb(&[words, ["--lock", "lock-9"]].concat()).await, &["expired", "acquire another"]);
    }
    assert_eq!(coop.status().await["bytes_written"], 0);
}

#[tokio::test]
async fn who_knocks_where_no_session_is_any_more_is_told() {
    let scratch = Scratch::new();
    let absent = scratch.path("absent").display().to_string();
    says_of(&run_coop(&["state", "--socket", &absent], &[]).await, &absent, &["no such socket", "still running?"]);
    let coop = on_socket(&scratch, &[], &["cat"]);
    coop.signal(Signal::SIGKILL);
    coop.left().await;
    assert!(scratch.path("s").exists(), "what a killed session leaves behind");
    says_of(&coop.verb(&["state"]).await, scratch.path("s").to_str().unwrap(), &["nobody listens", "has ended"]);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let url = format!("http://{closed}");
    says_of(&run_coop(&["state", "--url", &closed], &[]).await, &url, &["nothing listens there", "still running?"]);
    says_of(&run_coop(&["state"], &[("COOP_URL", &url)]).await, &url, &["nothing listens there"]);
    says_of(&run_coop(&["state"], &[("COOP_SOCKET", &absent)]).await, &absent, &["no such socket"]);
}

#[tokio::test]
async fn who_calls_another_server_is_told_that_it_is_not_coop() {
    let old = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", old.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut wire, _)) = old.accept().await {
            let _ = wire.read(&mut [0; 64]).await;
            let _ = wire.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await;
        }
    });
    for words in [["state", "--explain"], ["logs", "-f"], ["input", "x"]] {
        says_of(
            &run_coop(&[&words[..], &["--url", &url]].concat(), &[]).await,
            &url,
            &["something else listen there?"],
        );
    }
    // One that speaks HTTP/2 and knows nothing of our calls.
    let new = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", new.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(new, Router::new()).await });
    says_of(&run_coop(&["state", "--url", &url], &[]).await, &url, &["something else listen there?"]);
    let scratch = Scratch::new();
    let opened = scratch.path("opened");
    let browser = scratch.file("browser", format!("#!/bin/sh\ntouch {}\n", opened.display()));
    std::fs::set_permissions(&browser, Permissions::from_mode(0o755)).unwrap();
    let words = ["open", "--url", &url, "--token", TOKEN];
    let ended = run_coop(&words, &[("BROWSER", &browser)]).await;
    says_of(&ended, &url, &["something else listen there?"]);
    assert!(!opened.exists(), "no token goes to a stranger's page");
}

#[tokio::test]
async fn with_json_an_error_is_one_object_with_the_codes_of_the_api() {
    let scratch = Scratch::new();
    let coop = on_socket(&scratch, &["--auth-token", TOKEN], &["cat"]);
    let (code, message) = told_as_json(&coop.verb(&["state", "--json"]).await);
    assert!(code == "UNAUTHORIZED" && message.contains("--token-file FILE"), "{message}");
    let with_token = async |words: &[&str]| coop.verb(&[words, &["--json", "--token", TOKEN]].concat()).await;
    let ended = with_token(&["keys", "hyper-x"]).await;
    let (code, message) = told_as_json(&ended);
    assert!(ended.code == Some(2) && code == "BAD_REQUEST" && message.starts_with("unknown key"), "{ended:?}");
    let ended = with_token(&["wait"]).await;
    let (code, message) = told_as_json(&ended);
    assert_eq!((ended.code, &*code), (Some(2), "BAD_REQUEST"), "wrong usage");
    assert!(message.contains("--state") && !message.contains("Usage"), "{message}");
    assert_eq!(told_as_json(&with_token(&["env", "show", "A=B"]).await).0, "BAD_REQUEST", "also of a verb in a verb");
    let absent = scratch.path("absent").display().to_string();
    let knock = async |words: &[&str]| run_coop(&[words, &["--json", "--socket", &absent]].concat(), &[]).await;
    assert_eq!(told_as_json(&knock(&["state"]).await).0, "UNREACHABLE");
    let ended = knock(&["ready", "--wait", "0.1"]).await;
    assert_eq!((ended.code, &*told_as_json(&ended).0), (Some(124), "UNREACHABLE"));
    let nowhere = ("XDG_RUNTIME_DIR", scratch.dir().to_str().unwrap());
    assert_eq!(told_as_json(&run_coop(&["state", "--json"], &[nowhere]).await).0, "NO_SESSION");
    let ended = run_coop(&["state", "--json", "--session", "nobody"], &[nowhere]).await;
    assert_eq!(told_as_json(&ended).0, "NO_SESSION");
}

#[tokio::test]
async fn a_session_that_cannot_listen_names_the_place() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ended = run_coop(&["--port", &port, "--", "cat"], &[]).await;
    assert!(ended.complaint().contains(&format!("127.0.0.1:{port}")), "{ended:?}");
    let scratch = Scratch::new();
    let _alive = UnixListener::bind(scratch.path("s")).unwrap();
    let socket = scratch.path("s").display().to_string();
    let ended = run_coop(&["--socket", &socket, "--", "cat"], &[]).await;
    assert!(ended.complaint().contains(&socket), "{ended:?}");
}
