//! What no client should send: it gets an error or a closed connection, and nobody else notices.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Coop, Heard, sh};

/// Sends bytes and reads until coop closes.
async fn send(coop: &Coop, bytes: &[u8]) -> String {
    let mut wire = coop.place.connect().await;
    wire.write_all(bytes).await.unwrap();
    let mut heard = Vec::new();
    // A reset is a way to close, too.
    let _ = coop.place.within("coop closes", wire.read_to_end(&mut heard)).await;
    String::from_utf8_lossy(&heard).into_owned()
}

#[tokio::test]
async fn malformed_http_is_refused_and_the_connection_closed() {
    let coop = Coop::run(&["cat"]);
    let long_head = format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "y".repeat(1 << 20));
    let many_heads = format!("GET / HTTP/1.1\r\nhost: localhost\r\n{}\r\n", "a: b\r\n".repeat(500));
    for bytes in [
        "GET\r\n\r\n".as_bytes(),
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x00\x01\x02\x03\xff\xfe\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"POST /api/v1/input HTTP/1.1\r\nhost: localhost\r\ncontent-length: -5\r\n\r\n",
        b"POST /api/v1/input HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnot a frame at all, but long enough to be read as one",
        long_head.as_bytes(),
        many_heads.as_bytes(),
    ] {
        let heard = send(&coop, bytes).await;
        assert!(heard.is_empty() || heard.starts_with("HTTP/1.1 4") || !heard.starts_with("HTTP"), "{heard}");
    }
    assert_eq!(coop.get("/api/v1/health").await.status, 200);
}

#[tokio::test]
async fn a_broken_body_is_an_error_in_the_envelope() {
    let coop = Coop::run(&["cat"]);
    let head = "POST /api/v1/input HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n";
    let heard = send(&coop, format!("{head}transfer-encoding: chunked\r\n\r\nzz\r\nnot a chunk\r\n").as_bytes()).await;
    assert!(heard.starts_with("HTTP/1.1 400") && heard.contains("\"BAD_REQUEST\""), "{heard}");
    assert_eq!(coop.status().await["bytes_written"], 0);
}

#[tokio::test]
async fn a_connection_that_never_finishes_its_head_is_closed() {
    let coop = Coop::run(&["cat"]);
    let begun = Instant::now();
    let beginnings: [&[u8]; 3] = [b"", b"GET /api/v1/health HT", b"GET /api/v1/health HTTP/1.1\r\nhost: loc"];
    let closed = beginnings.map(|bytes| send(&coop, bytes));
    for heard in futures_util::future::join_all(closed).await {
        assert!(heard.is_empty() || heard.starts_with("HTTP/1.1 408"), "{heard}");
    }
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn what_a_websocket_does_not_understand_it_says_and_goes_on() {
    let coop = Coop::run(&["cat"]);
    let mut ws = coop.place.ws("/ws?mode=state").await;
    ws.next_event("transition").await;
    ws.say_bytes(vec![0, 1, 2]).await;
    let error = ws.hear().await.event();
    assert_eq!((&error["event"], &error["code"]), (&json!("error"), &json!("BAD_REQUEST")));
    for (text, named) in [
        ("not json", "JSON"),
        ("[1,2]", "JSON"),
        ("{}", "event"),
        (r#"{"event":7}"#, "event"),
        (r#"{"event":"dance"}"#, "dance"),
        (r#"{"event":"input","txt":"a"}"#, "txt"),
        (r#"{"event":"input","text":7}"#, "text"),
        (r#"{"event":"input:raw","data":"%%%"}"#, "data"),
        (r#"{"event":"keys","keys":["hyper-x"]}"#, "hyper-x"),
        (r#"{"event":"resize","cols":0,"rows":1}"#, "0x1"),
        (r#"{"event":"signal","signal":"SIGWHAT"}"#, "SIGWHAT"),
        (r#"{"event":"subscribe","after_seq":999999}"#, "999999"),
    ] {
        ws.say_text(text).await;
        let error = ws.hear().await.event();
        assert_eq!((&error["event"], &error["code"]), (&json!("error"), &json!("BAD_REQUEST")), "{text}: {error}");
        assert!(error["message"].as_str().unwrap().contains(named), "{text}: {error}");
    }
    let answer = ws.ask(json!({"event": "dance"})).await;
    assert_eq!(answer["event"], "error", "also an unknown event is answered by its request_id");
    ws.say(json!({"event": "ping"})).await;
    assert_eq!(ws.hear().await.event()["event"], "pong");
}

#[tokio::test]
async fn a_websocket_message_without_bounds_is_cut_off_for_what_it_is() {
    let coop = Coop::run(&["cat"]);
    let mut ws = coop.place.ws("/ws?mode=state").await;
    ws.next_event("transition").await;
    ws.say_text(&"x".repeat(24 << 20)).await;
    let code = loop {
        match ws.hear().await {
            Heard::Closed(code) => break code,
            Heard::Event(event) => assert_eq!(event["code"], "TOO_LARGE"),
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(code, Some(1008 | 1009)), "{code:?}");
    assert_eq!(coop.get("/api/v1/health").await.ok()["ws_clients"], 0);
}

#[tokio::test]
async fn json_that_is_strange_but_small_is_refused_or_taken_and_harms_nothing() {
    let coop = Coop::run(&["cat"]);
    let deep = "[".repeat(300_000);
    let deep_object = "{\"expect\":".repeat(50_000);
    for (path, body) in [
        ("input", deep.as_bytes()),
        ("input", deep_object.as_bytes()),
        ("input", b"{\"text\":\"a\",\"text\":\"b\"}"),
        ("input", b"{\"timeout_ms\":1,\"timeoutMs\":2}"),
        ("input", b"{\"text\":\"\xff\xfe\"}"),
        ("input", b"{\"text\":\"\\ud800\"}"),
        ("input", b"{\"timeout_ms\":99999999999999999999}"),
        ("input", b"\xef\xbb\xbf{}"),
        ("input/keys", b"{\"keys\":[\"\"]}"),
        ("input/keys", b"{\"keys\":[\"\\n\"]}"),
        ("wait", b"{\"regex\":\"(a*)*b\",\"offset\":-1}"),
    ] {
        let answer = coop.call("POST", &format!("/api/v1/{path}")).bytes(body.to_vec()).send().await;
        assert_eq!(
            answer.refused(),
            (400, "BAD_REQUEST".to_owned()),
            "{path} {}",
            String::from_utf8_lossy(&body[..body.len().min(40)])
        );
    }
    let hook = coop.call("POST", "/api/v1/hooks/stop").bytes(deep.clone()).send().await;
    assert!([400, 404].contains(&hook.status), "{}", hook.status);
    let mut ws = coop.place.ws("/ws?mode=state").await;
    ws.next_event("transition").await;
    ws.say_text(&deep).await;
    assert_eq!(ws.next_event("error").await["code"], "BAD_REQUEST");
    assert_eq!(coop.status().await["bytes_written"], 0);
}

#[tokio::test]
async fn many_silent_connections_keep_nobody_out() {
    let coop = Coop::run(&["cat"]);
    let mut silent = Vec::new();
    for _ in 0..200 {
        silent.push(coop.place.connect().await);
    }
    assert_eq!(coop.get("/api/v1/health").await.status, 200);
    drop(silent);
    assert_eq!(coop.status().await["state"], "running");
}

#[tokio::test]
async fn random_bytes_from_the_child_leave_coop_healthy() {
    let script = "stty raw -echo; head -c 100000 /dev/urandom; printf '\\030\\033\\\\\\033cDONE'; sleep 1000";
    let coop = Coop::run(&sh(script));
    coop.wait(json!({"offset": 100_000})).await;
    coop.shows("DONE").await;
    let screen = coop.get("/api/v1/screen").await.ok();
    assert_eq!(screen["lines"].as_array().unwrap().len(), 24);
    assert_eq!(coop.get("/api/v1/screen?format=ansi").await.status, 200);
    assert_eq!(coop.get("/api/v1/health").await.ok()["status"], "running");
}

#[tokio::test]
async fn health_answers_at_once_while_the_child_prints_at_full_speed() {
    let coop = Coop::run(&["yes", "the quick brown fox"]);
    coop.wait(json!({"offset": 1_000_000})).await;
    let mut slowest = Duration::ZERO;
    for _ in 0..20 {
        let asked = Instant::now();
        assert_eq!(coop.get("/api/v1/health").await.status, 200);
        slowest = slowest.max(asked.elapsed());
    }
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
    coop.post("/api/v1/signal", json!({"signal": "KILL"})).await.ok();
    assert_eq!(coop.exited().await["signal"], 9);
}
