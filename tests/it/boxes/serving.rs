//! `coop serve`: all boxes on a port, behind the same guard as a session.

use serde_json::json;

use super::user::User;
use crate::support::{Coop, binary, finished};

/// coop serve, which ends with the test.
pub fn serving(user: &User, words: &[&str]) -> Coop {
    let _ = binary();
    Coop::start_with(&[&["serve", "--port", "0"], words].concat(), &[], |command| {
        command.env("COOP_HOME", user.home()).env("XDG_RUNTIME_DIR", user.scratch.path("run"));
    })
}

#[tokio::test]
async fn all_boxes_are_served_on_a_port_and_each_at_its_own_address() {
    let user = User::new();
    let served = serving(&user, &[]);
    assert_eq!(served.get("/api/v1/boxes").await.ok()["boxes"], json!([]));
    let source = user.source("red", &["cat"]);
    served.post("/api/v1/boxes", json!({ "source": source })).await.ok();
    assert_eq!(served.get("/box/red/api/v1/status").await.ok()["labels"]["name"], "red");
    // A daemon that was killed is replaced, and the box is still there.
    user.daemon().await.kill(nix::sys::signal::Signal::SIGKILL);
    assert_eq!(served.get("/api/v1/boxes/red").await.ok()["state"], "running");
    let (status, _, message) = served.get("/box/green/api/v1/status").await.error();
    assert!(status == 404 && message.contains("green"), "{message}");
}

#[tokio::test]
async fn verbs_reach_a_box_by_its_address_with_the_token_of_all() {
    let user = User::new().with("COOP_AUTH_TOKEN", "hush");
    let served = serving(&user, &["--auth-token", "hush"]);
    for name in ["red", "blue"] {
        served.post("/api/v1/boxes", json!({ "source": user.source(name, &["cat"]) })).await.ok();
    }
    let port = served.listening["url"].as_str().unwrap().to_owned();
    let red = format!("{port}/box/red");
    let told = user.run(&["state", "--url", &red, "--json"]).await.json();
    assert_eq!(told["status"]["labels"]["name"], "red");
    user.run(&["input", "-e", "hello", "--url", &red]).await.ok();
    user.run(&["wait", "--text", "hello", "--url", &format!("{red}/")]).await.ok();
    assert!(user.run(&["screen", "--url", &red]).await.ok().contains("hello"));
    assert_eq!(user.run(&["shell", "--url", &red, "--", "echo", "beside"]).await.ok(), "beside\n");
    let mut by_variable = user.coop(&["screen"]);
    by_variable.env("COOP_URL", format!("{port}/box/blue"));
    assert!(!finished(by_variable).await.ok().contains("hello"));

    let mut seat = user.seat(&["attach", "--url", &red, "--token", "hush"]);
    seat.shows("hello").await;
    seat.types("again\r").await;
    user.run(&["wait", "--text", "again", "--url", &red]).await.ok();
    seat.types("\x1d").await;
    assert_eq!(seat.ended().await.code(), Some(0));

    user.run(&["stop", "--url", &format!("{port}/box/blue")]).await.ok();
    user.daemon().await.stands("blue", "stopped").await;

    let ended = user.run(&["state", "--url", &red, "--token", "wrong"]).await;
    assert!(ended.complaint().starts_with("wrong token"), "{ended:?}");
    let ended = user.run(&["state", "--url", &format!("{port}/box/green")]).await;
    assert!(ended.complaint().contains("green"), "{ended:?}");
    let ended = user.run(&["state", "--url", &port]).await;
    assert!(ended.complaint().contains("--url http://HOST:PORT/box/NAME"), "{ended:?}");
}

#[tokio::test]
async fn who_has_no_token_is_not_passed_on() {
    let user = User::new();
    let served = serving(&user, &["--auth-token", "hush"]);
    assert_eq!(served.get("/api/v1/boxes").await.ok()["boxes"], json!([]));
    let stranger = crate::support::Place { token: None, ..served.place.clone() };
    let (status, code, _) = stranger.call("GET", "/api/v1/boxes").send().await.error();
    assert_eq!((status, code.as_str()), (401, "UNAUTHORIZED"));
    let (status, ..) = stranger.call("GET", "/box/red/api/v1/screen").send().await.error();
    assert_eq!(status, 401);
}

#[tokio::test]
async fn the_page_of_all_boxes_needs_no_token_and_is_kept_harmless() {
    let user = User::new();
    let served = serving(&user, &["--auth-token", "hush"]);
    let stranger = crate::support::Place { token: None, ..served.place.clone() };
    for (path, content_type) in [
        ("/", "text/html; charset=utf-8"),
        ("/web/boxes/main.js", "text/javascript; charset=utf-8"),
        ("/web/boxes/boxes.css", "text/css; charset=utf-8"),
        ("/web/dom.js", "text/javascript; charset=utf-8"),
    ] {
        let answer = stranger.call("GET", path).send().await;
        assert_eq!((answer.status, answer.header("content-type")), (200, content_type), "{path}");
        let policy = answer.header("content-security-policy");
        for word in ["default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "trusted-types 'none'"] {
            assert!(policy.contains(word), "{path}: {policy}");
        }
    }
    let page = stranger.call("GET", "/").send().await.text();
    assert!(page.contains("web/boxes/main.js"), "{page}");
    let missing = stranger.call("GET", "/web/boxes/nothing.js").send().await;
    assert_eq!(missing.refused(), (404, "NOT_FOUND".to_owned()));
    // A box has the page of its session.
    let source = user.source("red", &["cat"]);
    served.post("/api/v1/boxes", json!({ "source": source })).await.ok();
    let inner = stranger.call("GET", "/box/red/").send().await.text();
    assert!(inner.contains("web/main.js") && !inner.contains("web/boxes/"), "{inner}");
}

#[tokio::test]
async fn a_public_address_needs_a_token() {
    let user = User::new();
    let ended = user.run(&["serve", "--host", "0.0.0.0", "--port", "0"]).await;
    assert!(ended.code == Some(1) && ended.err.contains("--auth-token-file"), "{ended:?}");
    assert!(!user.sockets().join("daemon.sock").exists(), "nothing was started for it");
}
