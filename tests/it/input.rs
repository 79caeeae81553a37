//! Input: typed as it is, whole, in order, with a receipt that says how far it got.

use std::collections::HashSet;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use coop::proto::v1;
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::{Coop, rss_bytes, sh};

const OCTETS: &str = "application/octet-stream";

/// Shows control characters as letters.
async fn showing_keys(setup: &str) -> Coop {
    let coop = Coop::run(&sh(&format!("stty -echo -icanon -isig -icrnl; {setup} echo ready; exec cat -v")));
    coop.shows("ready").await;
    coop
}

#[tokio::test]
async fn text_is_typed_as_it_is_and_enter_is_a_carriage_return() {
    let coop = showing_keys("").await;
    let typed = coop.post("/api/v1/input", json!({"text": "häl\tlo", "enter": true})).await.ok();
    assert_eq!(typed["bytes_written"], "häl\tlo\r".len());
    assert_eq!((&typed["receipt"]["phase"], &typed["receipt"]["witness"]), (&json!("written"), &json!("pty")));
    coop.shows("lo^M").await;
    coop.post("/api/v1/input", json!({"text": "plain"})).await.ok();
    assert!(coop.shows("^Mplain").await.ends_with("plain"), "no enter unless it is asked for");
    coop.post("/api/v1/input", json!({"text": "[200~ no paste \u{1b}[x"})).await.ok();
    coop.shows("plain[200~ no paste ^[[x").await;
}

#[tokio::test]
async fn keys_are_what_a_keyboard_sends() {
    let coop = showing_keys("").await;
    let keys =
        ["up", "CTRL-C", "Alt-x", "shift-tab", "f5", "ctrl-space", "escape", "backspace", "ctrl-left", "é", "enter"];
    let sent = coop.post("/api/v1/input/keys", json!({"keys": keys})).await.ok();
    coop.shows("^[[A^C^[x^[[Z^[[15~^@^[^?^[[1;5DM-CM-)^M").await;
    assert!(sent["bytes_written"].as_u64().unwrap() > 20);
}

#[tokio::test]
async fn arrows_follow_the_programs_cursor_mode() {
    let coop = showing_keys("printf '\\033[?1h';").await;
    coop.post("/api/v1/input/keys", json!({"keys": ["up", "home", "shift-up"]})).await.ok();
    coop.shows("^[OA^[OH^[[1;2A").await;
    let mut ws = coop.place.ws("/ws?mode=state").await;
    ws.say(json!({"event": "keys", "keys": ["down"]})).await;
    coop.shows("^[OB").await;
}

#[tokio::test]
async fn raw_bytes_come_as_base64_as_octets_and_over_grpc() {
    let coop = showing_keys("").await;
    let sent = coop.post("/api/v1/input/raw", json!({"data": STANDARD.encode([1, 2, 255])})).await.ok();
    assert_eq!(sent["bytes_written"], 3);
    coop.shows("^A^BM-^?").await;
    let octets = coop.call("POST", "/api/v1/input/raw").header("content-type", OCTETS).bytes(&b"\x03{}"[..]);
    assert_eq!(octets.send().await.ok()["bytes_written"], 3);
    coop.shows("^C{}").await;
    let request = v1::SendInputRawRequest { data: bytes::Bytes::from_static(b"\x04."), ..Default::default() };
    let sent = coop.place.grpc().await.send_input_raw(request).await.unwrap().into_inner();
    assert_eq!((sent.bytes_written, sent.receipt.unwrap().phase()), (2, v1::ReceiptPhase::Written));
    coop.shows("^D.").await;
}

#[tokio::test]
async fn a_receipt_says_echoed_when_the_text_was_seen() {
    let coop = Coop::run(&["cat"]);
    let mut ws = coop.place.ws("/ws?mode=state").await;
    ws.next_event("transition").await;
    let echoed =
        coop.post("/api/v1/input", json!({"text": "marvellous", "enter": true, "wait_for": "echoed"})).await.ok();
    let receipt = &echoed["receipt"];
    assert_eq!((&receipt["phase"], &receipt["witness"]), (&json!("echoed"), &json!("output")));
    let told = ws.next_event("receipt").await;
    assert_eq!((&told["id"], &told["phase"]), (&receipt["id"], &json!("echoed")), "everybody hears of it");
    let next = coop.post("/api/v1/input", json!({"text": "more"})).await.ok();
    assert!(next["receipt"]["id"].as_u64() > receipt["id"].as_u64());
}

#[tokio::test]
async fn without_an_echo_it_stays_written() {
    let coop = Coop::run(&sh("stty -echo; echo Password:; read line; echo Welcome; sleep 1000"));
    coop.shows("Password:").await;
    let body = json!({"text": "secret", "enter": true, "wait_for": "echoed", "timeout_ms": 500});
    let (typed, _) = tokio::join!(coop.post("/api/v1/input", body), coop.shows("Welcome"));
    let typed = typed.ok();
    assert_eq!((&typed["receipt"]["phase"], &typed["bytes_written"]), (&json!("written"), &json!(7)));
}

#[tokio::test]
async fn inputs_of_many_writers_never_interleave() {
    let coop = Arc::new(Coop::start(&["--port", "0", "--ring-size", "8M"], &sh("stty -echo; echo ready; exec cat")));
    coop.shows("ready").await;
    let writers = (0..10).map(|writer| {
        let coop = coop.clone();
        tokio::spawn(async move {
            for n in 0..50 {
                let line = format!("<{writer}-{n}-{}>", "x".repeat(100));
                coop.post("/api/v1/input", json!({"text": line, "enter": true})).await.ok();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    coop.types("over").await;
    coop.shows("over").await;
    let output = String::from_utf8(coop.output().await).unwrap();
    let lines: HashSet<&str> = output.lines().filter(|line| line.starts_with('<')).collect();
    let whole = |line: &&&str| line.ends_with("x>") && line.matches(['<', '>']).count() == 2;
    assert_eq!(lines.iter().filter(whole).count(), 500);
    let mut last = [None; 10];
    for line in output.lines().filter(|line| line.starts_with('<')) {
        let mut parts = line[1..].split('-').map(|part| part.parse::<usize>().ok());
        let (writer, n) = (parts.next().flatten().unwrap(), parts.next().flatten());
        assert!(last[writer] < n, "each writer's own order is kept: {line}");
        last[writer] = n;
    }
}

#[tokio::test]
async fn input_beyond_measure_to_a_child_that_never_reads_stops_nothing() {
    let coop = Coop::run(&sh("stty raw -echo; echo ready; while :; do echo tick; sleep 0.05; done"));
    coop.shows("ready").await;
    let octets = |bytes: usize| {
        let call = coop.call("POST", "/api/v1/input/raw").header("content-type", OCTETS);
        call.bytes(vec![b'x'; bytes]).send()
    };
    // It answers when its receipt's time is over: queued, and that is what it says.
    let sent = octets(10 << 20).await.ok();
    assert_eq!((&sent["bytes_written"], &sent["receipt"]["phase"]), (&json!(10 << 20), &json!("queued")));
    let read = coop.status().await["bytes_read"].as_u64().unwrap();
    coop.wait(json!({"offset": read + 12})).await;
    assert_eq!(octets(10 << 20).await.refused(), (409, "WRITER_BUSY".to_owned()), "16 MiB wait at most");
    assert!(coop.status().await["input_queued"].as_u64().unwrap() > 9 << 20);
    assert!(rss_bytes(coop.pid) < 120 << 20);
    coop.signal(Signal::SIGTERM);
    assert!(coop.left().await.success());
}

#[tokio::test]
async fn a_megabyte_and_a_half_through_a_raw_cat_comes_back_intact() {
    let coop = Coop::start(&["--port", "0", "--ring-size", "8M"], &sh("stty raw -echo; printf ready; exec cat"));
    coop.shows("ready").await;
    let bytes: Vec<u8> =
        (0..1_500_000u32).map(|n| b' ' + u8::try_from(n.wrapping_mul(2_654_435_761) >> 26).unwrap()).collect();
    let call = coop.call("POST", "/api/v1/input/raw").header("content-type", OCTETS).bytes(bytes.clone());
    assert_eq!(call.send().await.ok()["bytes_written"], bytes.len());
    coop.wait(json!({"offset": 5 + bytes.len()})).await;
    let mut back = Vec::new();
    while back.len() < bytes.len() {
        let piece = coop.get(&format!("/api/v1/output?offset={}", 5 + back.len())).await.bytes_of("data");
        assert!(!piece.is_empty());
        back.extend(piece);
    }
    assert!(back == bytes);
    assert_eq!(coop.status().await["input_queued"], 0);
}

#[tokio::test]
async fn nothing_to_write_is_an_ordinary_answer() {
    let coop = Coop::run(&["cat"]);
    for (path, body) in [("input", json!({})), ("input/raw", json!({"data": ""})), ("input/keys", json!({"keys": []}))]
    {
        let answer = coop.post(&format!("/api/v1/{path}"), body).await.ok();
        assert_eq!(answer["bytes_written"], 0, "{path}");
    }
    assert_eq!(coop.screen().await, "");
    assert_eq!(coop.status().await["pid"].as_u64().map(Value::from), Some(coop.child_pid().await.into()));
}

#[tokio::test]
async fn a_part_of_the_echo_is_no_echo() {
    // Echoes what it reads, but reads only a little: the rest stays in the queue.
    let coop = Coop::run(&sh("stty raw -echo; printf ready; head -c 1000; sleep 1000"));
    coop.shows("ready").await;
    let long = json!({"text": "a".repeat(200_000), "wait_for": "echoed", "timeout_ms": 300});
    let answer = coop.post("/api/v1/input", long).await.ok();
    assert_eq!(answer["receipt"]["phase"], "queued", "{answer}");
    assert!(coop.status().await["input_queued"].as_u64() > Some(0));
    coop.shows("aaaaaaaaaa").await;
}
