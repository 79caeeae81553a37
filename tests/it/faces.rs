//! HTTP/JSON: one shape of answers, one shape of errors, and requests as people write them.

use serde_json::{Value, json};

use crate::support::{Coop, sh};

/// A program that echoes what it is typed.
fn cat() -> Coop {
    Coop::run(&["cat"])
}

#[tokio::test]
async fn every_refusal_comes_in_the_one_envelope_and_coop_goes_on() {
    let coop = cat();
    let refusals = [
        ("GET", "/nothing/here", "", 404, "NOT_FOUND"),
        ("GET", "/api/v1/nothing", "", 404, "NOT_FOUND"),
        ("GET", "/api/v1/screen/", "", 404, "NOT_FOUND"),
        ("POST", "/api/v1/screen", "{}", 405, "METHOD_NOT_ALLOWED"),
        ("DELETE", "/api/v1/input", "", 405, "METHOD_NOT_ALLOWED"),
        ("PATCH", "/api/v1/config/stop", "", 405, "METHOD_NOT_ALLOWED"),
        ("POST", "/ws", "{}", 405, "METHOD_NOT_ALLOWED"),
        ("GET", "/ws", "", 400, "BAD_REQUEST"),
        ("POST", "/api/v1/input", "{", 400, "BAD_REQUEST"),
        ("POST", "/api/v1/input", "[]", 400, "BAD_REQUEST"),
        ("POST", "/api/v1/input", "null", 400, "BAD_REQUEST"),
        ("POST", "/api/v1/input", "{} {}", 400, "BAD_REQUEST"),
        ("POST", "/api/v1/input", "{\"text\":\"\u{fffd}", 400, "BAD_REQUEST"),
        ("POST", "/api/v1/input?enter=true", "{}", 400, "BAD_REQUEST"),
        ("POST", "/api/v1/input", r#"{"wait_for":"accepted"}"#, 400, "BAD_REQUEST"),
        ("POST", "/api/v1/input/raw", r#"{"data":"not base64!"}"#, 400, "BAD_REQUEST"),
        ("POST", "/api/v1/input/keys", r#"{"keys":["enter","hyper-x"]}"#, 400, "BAD_REQUEST"),
        ("POST", "/api/v1/input/keys", r#"{"keys":"enter"}"#, 400, "BAD_REQUEST"),
        ("POST", "/api/v1/resize", "{}", 400, "BAD_REQUEST"),
        ("POST", "/api/v1/resize", r#"{"cols":0,"rows":24}"#, 400, "BAD_REQUEST"),
        ("POST", "/api/v1/resize", r#"{"cols":80,"rows":1001}"#, 400, "BAD_REQUEST"),
        ("POST", "/api/v1/resize", r#"{"cols":20000,"rows":20000}"#, 400, "BAD_REQUEST"),
        ("POST", "/api/v1/resize", r#"{"cols":-1,"rows":24}"#, 400, "BAD_REQUEST"),
        ("POST", "/api/v1/resize", r#"{"cols":1e99,"rows":24}"#, 400, "BAD_REQUEST"),
        ("POST", "/api/v1/signal", r#"{"signal":"SIGWHAT"}"#, 400, "BAD_REQUEST"),
        ("POST", "/api/v1/signal", r#"{"signal":"0"}"#, 400, "BAD_REQUEST"),
        ("POST", "/api/v1/signal", "{}", 400, "BAD_REQUEST"),
        ("POST", "/api/v1/lock", r#"{"ttl_secs":0}"#, 400, "BAD_REQUEST"),
        ("POST", "/api/v1/lock", r#"{"ttl_secs":301}"#, 400, "BAD_REQUEST"),
        ("DELETE", "/api/v1/lock", "", 400, "BAD_REQUEST"),
        ("POST", "/api/v1/session/restart", r#"{"env":{"A=B":"c"}}"#, 400, "BAD_REQUEST"),
        ("GET", "/api/v1/screen?format=html", "", 400, "BAD_REQUEST"),
        ("GET", "/api/v1/screen?colour=red", "", 400, "BAD_REQUEST"),
        ("GET", "/api/v1/screen?since_seq=-1", "", 400, "BAD_REQUEST"),
        ("GET", "/api/v1/output?offset=soon", "", 400, "BAD_REQUEST"),
        ("GET", "/api/v1/output?limit=99999999999", "", 400, "BAD_REQUEST"),
        ("GET", "/api/v1/stream/state?after_seq=999999", "", 400, "BAD_REQUEST"),
        ("GET", "/api/v1/stream/events?mode=some", "", 400, "BAD_REQUEST"),
        ("GET", "/api/v1/transcripts/many", "", 400, "BAD_REQUEST"),
        ("POST", "/api/v1/agent/nudge", r#"{"message":"hi"}"#, 404, "NO_DRIVER"),
        ("POST", "/api/v1/agent/respond", r#"{"accept":true}"#, 404, "NO_DRIVER"),
        ("GET", "/api/v1/session/usage", "", 404, "NO_DRIVER"),
        ("GET", "/api/v1/stream/stop", "", 404, "NO_DRIVER"),
    ];
    for (verb, path, body, status, code) in refusals {
        let answer = coop.call(verb, path).bytes(body).send().await;
        assert_eq!(answer.refused(), (status, code.to_owned()), "{verb} {path} {body}");
        assert_eq!(answer.header("content-length"), answer.body.len().to_string(), "{verb} {path}");
    }
    assert_eq!(coop.status().await["bytes_written"], 0, "nothing of it was typed");
    assert_eq!(coop.status().await["terminal"], json!({"cols": 80, "rows": 24}));
}

#[tokio::test]
async fn an_error_names_the_field_and_what_was_expected() {
    let coop = cat();
    let message = async |path: &str, body: &str| coop.call("POST", path).bytes(body.to_owned()).send().await.error().2;
    let unknown = message("/api/v1/input", r#"{"text":"a","colour":1}"#).await;
    assert!(unknown.contains("`colour`") && unknown.contains("`enter`"), "{unknown}");
    let wrong = message("/api/v1/input", r#"{"text":"a","enter":"often"}"#).await;
    assert!(wrong.starts_with("enter: ") && wrong.contains("bool"), "{wrong}");
    let nested = message("/api/v1/input", r#"{"text":"a","expect":{"screen_seq":"x"}}"#).await;
    assert!(nested.starts_with("expect.screen_seq: ") && nested.contains("a number"), "{nested}");
    let word = message("/api/v1/wait", r#"{"states":["idle","asleep"]}"#).await;
    assert!(word.contains("states[1]") && word.contains("asleep") && word.contains("working"), "{word}");
    let keys = message("/api/v1/input/keys", r#"{"keys":["up","hyper-x"]}"#).await;
    assert!(keys.contains("hyper-x"), "{keys}");
    let size = message("/api/v1/resize", r#"{"cols":1001,"rows":24}"#).await;
    assert!(size.contains("1001x24") && size.contains("1000"), "{size}");
}

#[tokio::test]
async fn requests_are_taken_as_people_write_them() {
    let coop = cat();
    let input = async |body: &str| coop.call("POST", "/api/v1/input").bytes(body.to_owned()).send().await.ok();
    assert_eq!(input(r#"{"text":"ab","enter":null,"expect":null,"wait_for":null}"#).await["bytes_written"], 2);
    assert_eq!(input(r#"{"text":"c","timeoutMs":"500","waitFor":"written"}"#).await["bytes_written"], 1);
    assert_eq!(input("").await["bytes_written"], 0, "an empty body is an empty object");
    assert_eq!(input(" \n ").await["bytes_written"], 0);
    for content_type in ["application/x-www-form-urlencoded", "text/plain", "application/json; charset=utf-8"] {
        let call = coop.call("POST", "/api/v1/resize").header("content-type", content_type);
        let resized = call.bytes(r#"{"cols":"90","rows":30.0}"#).send().await.ok();
        assert_eq!(resized, json!({"cols": 90, "rows": 30}), "{content_type}");
    }
    assert_eq!(coop.get("/api/v1/screen?sinceSeq=&cursor=").await.status, 200, "an empty parameter is absent");
}

#[tokio::test]
async fn an_answer_is_a_whole_object_with_numbers_words_and_nulls() {
    let coop = Coop::start(&["--port", "0", "--label", "team=red", "--label", "n=1"], &["cat"]);
    let status = coop.status().await;
    let number = |name: &str| status[name].as_u64().unwrap_or_else(|| panic!("{name} in {status}"));
    let numbers = [
        "pid",
        "uptime_secs",
        "screen_seq",
        "bytes_read",
        "bytes_written",
        "ws_clients",
        "seq",
        "restarts",
        "oldest_offset",
        "input_queued",
    ];
    numbers.iter().for_each(|name| assert!(number(name) < u64::MAX));
    assert_eq!(status["state"], "running");
    assert_eq!(status["agent"], "unknown");
    assert_eq!(status["command"], json!(["cat"]));
    assert_eq!(status["labels"], json!({"team": "red", "n": "1"}));
    assert_eq!(status["terminal"], json!({"cols": 80, "rows": 24}));
    for absent in ["exit_code", "exit_signal", "error"] {
        assert_eq!(status.get(absent), Some(&Value::Null), "{absent} is there, and null");
    }
    let health = coop.get("/api/v1/health").await.ok();
    assert_eq!((&health["status"], &health["pid"]), (&json!("running"), &status["pid"]));
    assert_eq!(coop.get("/api/v1/livez").await.ok()["status"], "running");
    assert_eq!(coop.get("/api/v1/ready").await.ok(), json!({"ready": true, "reason": null}));
}

#[tokio::test]
async fn a_session_without_its_child_is_alive_but_not_ready() {
    let coop = Coop::run(&sh("exit 3"));
    coop.exited().await;
    assert_eq!(coop.get("/api/v1/health").await.ok()["status"], "exited");
    let ready = coop.get("/api/v1/ready").await;
    assert_eq!((ready.status, ready.value()["ready"].clone()), (503, json!(false)));
    assert!(ready.value()["reason"].as_str().unwrap().contains("exited"));
}

#[tokio::test]
async fn a_success_has_a_length_and_head_gives_it_without_the_body() {
    let coop = cat();
    for path in ["health", "status", "screen", "screen/text", "output", "agent", "screen?format=ansi"] {
        let path = format!("/api/v1/{path}");
        let got = coop.get(&path).await;
        assert_eq!((got.status, got.header("content-length")), (200, got.body.len().to_string().as_str()), "{path}");
        let head = coop.call("HEAD", &path).send().await;
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        assert!(head.header("content-length").parse::<usize>().unwrap() > 0, "{path}");
    }
    let signalled = coop.post("/api/v1/signal", json!({"signal": "winch"})).await;
    assert_eq!(signalled.ok(), json!({"delivered": true}));
    assert!(!signalled.header("content-length").is_empty());
}

#[tokio::test]
async fn a_body_above_its_limit_is_too_large_and_nothing_of_it_is_typed() {
    let coop = Coop::run(&sh("stty raw -echo; echo ready; cat >/dev/null"));
    coop.shows("ready").await;
    let just_fits = json!({"text": "x".repeat((1 << 20) - 40)});
    assert_eq!(coop.post("/api/v1/input", just_fits.clone()).await.status, 200);
    let written = async || coop.status().await["bytes_written"].as_u64().unwrap();
    let before = written().await;
    let text = json!({"text": "x".repeat(1 << 20)});
    assert_eq!(coop.post("/api/v1/input", text).await.refused(), (413, "TOO_LARGE".to_owned()));
    let raw = coop.call("POST", "/api/v1/input/raw").header("content-type", "application/octet-stream");
    let refused = raw.bytes(vec![b'x'; (16 << 20) + 1]).send().await;
    assert_eq!(refused.refused(), (413, "TOO_LARGE".to_owned()));
    assert_eq!(written().await, before);
}

#[tokio::test]
async fn the_page_lists_every_path_and_the_openapi_document_describes_it() {
    let coop = Coop::start(&["--port", "0", "--auth-token", "secret"], &["cat"]);
    // The page's own files need no token.
    let open = async |path: &str| coop.call("GET", path).header("authorization", "").send().await;
    let page = open("/api").await;
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    let document = open("/openapi.json").await.ok();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let text = page.text();
    let rows: Vec<(&str, &str)> = text
        .split("<tr><td>")
        .skip(1)
        .filter_map(|row| Some((row.split_once("</td>")?.0, row.split_once("<code>")?.1.split_once("</code>")?.0)))
        .collect();
    assert!(rows.len() > 35, "{rows:?}");
    // OpenAPI has no words for WebSockets.
    for (verb, path) in rows.into_iter().filter(|(_, path)| !["/ws", "/api/v1/attach"].contains(path)) {
        assert!(document["paths"][path][verb.to_lowercase()].is_object(), "{verb} {path}");
    }
}
