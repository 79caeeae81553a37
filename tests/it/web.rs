//! The web page's files: there for everybody, kept by browsers, and harmless.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use crate::support::{Coop, Heard, sh};

const TOKEN: &str = "a-token/with+odd=characters~";

/// The token as a browser's WebSocket shows it.
fn offered(token: &str) -> String {
    format!("coop.v1, coop.token.{}", URL_SAFE_NO_PAD.encode(token))
}

fn guarded(flags: &[&str]) -> Coop {
    Coop::start(&[&["--port", "0", "--auth-token", TOKEN], flags].concat(), &sh("read line"))
}

#[tokio::test]
async fn the_pages_files_need_no_token_and_say_what_they_are() {
    let coop = guarded(&[]);
    for (path, content_type) in [
        ("/", "text/html; charset=utf-8"),
        ("/web/main.js", "text/javascript; charset=utf-8"),
        ("/web/vendor/xterm.mjs", "text/javascript; charset=utf-8"),
        ("/web/layout.css", "text/css; charset=utf-8"),
        ("/web/icon.svg", "image/svg+xml"),
        ("/web/vendor/LICENSE.xterm", "text/plain; charset=utf-8"),
    ] {
        let answer = coop.call("GET", path).header("authorization", "").send().await;
        assert_eq!((answer.status, answer.header("content-type")), (200, content_type), "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        let policy = answer.header("content-security-policy");
        for word in ["default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "trusted-types 'none'"] {
            assert!(policy.contains(word), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe-eval"), "{policy}");
    }
    let missing = coop.call("GET", "/web/nothing.js").header("authorization", "").send().await;
    assert_eq!(missing.refused(), (404, "NOT_FOUND".to_owned()));
    let foreign = coop.call("GET", "/").header("host", "evil.example").send().await;
    assert_eq!(foreign.refused(), (403, "FORBIDDEN".to_owned()));
}

#[tokio::test]
async fn a_browser_that_has_a_file_is_not_sent_it_again() {
    let coop = Coop::run(&sh("read line"));
    let first = coop.get("/web/vendor/xterm.mjs").await;
    assert_eq!(first.header("cache-control"), "no-cache", "asked for each time, so that versions never mix");
    let mark = first.header("etag").to_owned();
    for known in [mark.clone(), format!("W/{mark}"), format!("\"other\", {mark}")] {
        let again = coop.call("GET", "/web/vendor/xterm.mjs").header("if-none-match", &known).send().await;
        assert_eq!((again.status, again.text().len()), (304, 0), "{known}");
    }
    let other = coop.call("GET", "/web/main.js").header("if-none-match", &mark).send().await;
    assert_eq!(other.status, 200);
}

#[tokio::test]
async fn a_websocket_takes_the_token_as_a_subprotocol() {
    let coop = guarded(&[]);
    let mut stranger = coop.place.clone();
    stranger.token = None;
    for path in ["/ws", "/api/v1/attach"] {
        let refused = stranger.try_ws(path, &[("sec-websocket-protocol", &offered("wrong"))]).await.err().unwrap();
        assert_eq!(refused.status(), 401, "{path}");
        let garbled = [("sec-websocket-protocol", "coop.v1, coop.token.%%%")];
        assert_eq!(stranger.try_ws(path, &garbled).await.err().unwrap().status(), 401, "{path}");
        assert!(stranger.try_ws(path, &[("sec-websocket-protocol", &offered(TOKEN))]).await.is_ok(), "{path}");
    }
    let call = stranger.call("GET", "/api/v1/status").header("sec-websocket-protocol", &offered(TOKEN)).send().await;
    assert_eq!(call.refused(), (401, "UNAUTHORIZED".to_owned()), "other calls have a header for it");
}

#[tokio::test]
async fn where_anybody_may_read_a_terminal_without_the_token_looks_and_does_no_more() {
    let coop = guarded(&["--anonymous-read"]);
    let mut stranger = coop.place.clone();
    stranger.token = None;
    let mut viewer = stranger.ws("/api/v1/attach").await;
    viewer.say(json!({"event": "hello", "cols": 10, "rows": 10, "view": true})).await;
    let ready = viewer.next_event("ready").await;
    assert_eq!(json!([ready["cols"], ready["rows"]]), json!([80, 24]));
    let mut driver = stranger.ws("/api/v1/attach").await;
    driver.say(json!({"event": "hello", "view": false})).await;
    assert!(matches!(driver.hear().await, Heard::Closed(Some(4401))));
    let mut owner = coop.place.ws("/api/v1/attach").await;
    owner.say(json!({"event": "hello"})).await;
    owner.next_event("ready").await;
}
