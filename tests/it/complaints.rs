//! A verb that fails says why in one line, which names the session and the way out.

use std::net::TcpListener;
use std::os::unix::net::UnixListener;

use axum::Router;
use nix::sys::signal::Signal;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Coop, Ended, Scratch, run_coop, sh};

const TOKEN: &str = "correct-horse-battery";

fn on_socket(scratch: &Scratch, flags: &[&str], program: &[&str]) -> Coop {
    Coop::start(&[&["--socket", scratch.path("s").to_str().unwrap()], flags].concat(), program)
}

/// Every part is in the one line; the last says what to do.
fn says(ended: &Ended, target: &str, parts: &[&str]) {
    let line = ended.complaint();
    assert!(line.starts_with(&format!("{target}: ")), "names no {target}: {line}");
    for part in parts {
        assert!(line.contains(part), "says nothing of {part:?}: {line}");
    }
}

#[tokio::test]
async fn who_shows_no_token_or_a_wrong_one_is_told_how_to_show_it() {
    let scratch = Scratch::new();
    let coop = on_socket(&scratch, &["--auth-token", TOKEN], &["cat"]);
    let (socket, file) = (scratch.path("s").display().to_string(), scratch.file("token", format!("{TOKEN}\n")));
    for words in [&["state"][..], &["logs", "-f"], &["input", "x"]] {
        says(&coop.verb(words).await, &socket, &["no token", "--token-file FILE", "COOP_AUTH_TOKEN"]);
        let wrong = coop.verb(&[words, &["--token", "wrong-secret"]].concat()).await;
        says(&wrong, &socket, &["wrong token", "--token-file FILE"]);
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
    let socket = scratch.path("s").display().to_string();
    for words in [["input", "late"], ["keys", "x"]] {
        says(&coop.verb(&words).await, &socket, &["exited", "`coop screen`"]);
    }
    assert!(coop.verb(&["state"]).await.ok().contains("exit code 3"));
}

#[tokio::test]
async fn who_names_a_key_or_a_lock_that_there_is_not_is_told_what_would_do() {
    let scratch = Scratch::new();
    let coop = on_socket(&scratch, &[], &["cat"]);
    let socket = scratch.path("s").display().to_string();
    says(&coop.verb(&["keys", "hyper-x"]).await, &socket, &["\"hyper-x\"", "ctrl-c"]);
    for words in [["input", "x"], ["keys", "x"]] {
        says(&coop.verb(&[words, ["--lock", "lock-9"]].concat()).await, &socket, &["expired", "acquire another"]);
    }
    assert_eq!(coop.status().await["bytes_written"], 0);
}

#[tokio::test]
async fn who_knocks_where_no_session_is_any_more_is_told() {
    let scratch = Scratch::new();
    let absent = scratch.path("absent").display().to_string();
    says(&run_coop(&["state", "--socket", &absent], &[]).await, &absent, &["no such socket", "still running?"]);
    let coop = on_socket(&scratch, &[], &["cat"]);
    coop.signal(Signal::SIGKILL);
    coop.left().await;
    assert!(scratch.path("s").exists(), "what a killed session leaves behind");
    says(&coop.verb(&["state"]).await, scratch.path("s").to_str().unwrap(), &["nobody listens", "has ended"]);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let url = format!("http://{closed}");
    says(&run_coop(&["state", "--url", &closed], &[]).await, &url, &["nothing listens there", "still running?"]);
    says(&run_coop(&["state"], &[("COOP_URL", &url)]).await, &url, &["nothing listens there"]);
    says(&run_coop(&["state"], &[("COOP_SOCKET", &absent)]).await, &absent, &["no such socket"]);
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
    for words in [["state", "--json"], ["logs", "-f"], ["input", "x"]] {
        says(&run_coop(&[&words[..], &["--url", &url]].concat(), &[]).await, &url, &["something else listen there?"]);
    }
    // One that speaks HTTP/2 and knows nothing of our calls.
    let new = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", new.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(new, Router::new()).await });
    says(&run_coop(&["state", "--url", &url], &[]).await, &url, &["something else listen there?"]);
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
