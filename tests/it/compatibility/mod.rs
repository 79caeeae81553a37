//! Callers of today, played as they talk: what they send works as it is, and what they read is there.

mod gas_town;
mod gasboat;
mod oddjobs;
pub mod stand_in;
mod wire;

use serde_json::json;

use crate::support::{Coop, sh};
use wire::{Caller, bare_get, bare_post, curl, curl_data, go_get, go_post};

#[tokio::test]
async fn every_reply_says_how_long_it_is_on_one_connection_that_stays_open() {
    let coop = Coop::run(&sh("echo ready; sleep 1000"));
    coop.shows("ready").await;
    let mut caller = Caller::to(&coop.place).await;
    for path in [
        "/api/v1/health",
        "/api/v1/livez",
        "/api/v1/ready",
        "/api/v1/status",
        "/api/v1/agent",
        "/api/v1/agent/state",
        "/api/v1/screen",
        "/api/v1/screen/text",
        "/api/v1/output",
        "/metrics",
        "/openapi.json",
        "/",
    ] {
        for request in [go_get(path), curl("GET", path), bare_get(path)] {
            let reply = caller.says(&request).await;
            assert_eq!((reply.status, reply.body.is_empty()), (200, false), "{request}");
        }
        assert_eq!(caller.says(&curl("HEAD", path)).await.status, 200, "{path}");
    }
    for (request, status) in [
        (bare_get("/api/v1/no/such"), 404),
        (bare_get("/api/v1/session/usage"), 404),
        (bare_get("/api/v1/transcripts/catchup?since_transcript=0&since_line=0"), 404),
        (go_post("/api/v1/screen", "{}"), 405),
        (go_post("/api/v1/input", "{"), 400),
        (go_post("/api/v1/agent/nudge", r#"{"message":"x"}"#), 404),
        (curl_data("/api/v1/input/keys", r#"{"keys":["hyper-x"]}"#), 400),
    ] {
        let reply = caller.says(&request).await;
        assert_eq!(reply.status, status, "{request}");
        assert!(reply.json()["error"]["code"].is_string(), "{request}: {reply:?}");
    }
    for (path, body) in [
        ("/api/v1/input", r#"{"text":"x","enter":false}"#),
        ("/api/v1/input/keys", r#"{"keys":["Enter"]}"#),
        ("/api/v1/resize", r#"{"cols":81,"rows":25}"#),
        ("/api/v1/signal", r#"{"signal":"SIGWINCH"}"#),
        ("/api/v1/wait", r#"{"text":"ready"}"#),
    ] {
        for request in [go_post(path, body), curl_data(path, body), bare_post(path, body)] {
            caller.says(&request).await.ok();
        }
    }
}

#[tokio::test]
async fn a_probe_that_may_not_come_in_is_told_so_with_its_length() {
    let coop = Coop::start(&["--port", "0", "--auth-token", "correct-horse-battery"], &["cat"]);
    let mut caller = Caller::to(&coop.place).await;
    let reply = caller.says(&bare_get("/api/v1/agent")).await;
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (401, &json!("UNAUTHORIZED")));
    assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
    caller.says(&bare_get("/api/v1/health")).await.ok();
    let with_token =
        bare_get("/api/v1/agent").replace("\r\n\r\n", "\r\nAuthorization: Bearer correct-horse-battery\r\n\r\n");
    caller.says(&with_token).await.ok();
}
