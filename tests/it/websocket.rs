//! The WebSocket at `/ws`: every message, every mode, and how it ends.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Coop, Heard, WebSocket, sh};

/// Asks without an id and takes the next event of this kind.
async fn asked(ws: &mut WebSocket, message: Value, word: &str) -> Value {
    ws.say(message).await;
    ws.next_event(word).await
}

#[tokio::test]
async fn questions_are_answered() {
    let coop = Coop::run(&sh("printf 'hello there'; sleep 1000"));
    coop.shows("hello there").await;
    let mut ws = coop.place.ws("/ws?mode=state").await;
    ws.next_event("transition").await;
    assert_eq!(asked(&mut ws, json!({"event": "ping"}), "pong").await, json!({"event": "pong"}));
    let screen = asked(&mut ws, json!({"event": "screen:get"}), "screen").await;
    assert_eq!((&screen["lines"][0], &screen["cursor"]["col"]), (&json!("hello there"), &json!(11)));
    let state = asked(&mut ws, json!({"event": "state:get"}), "transition").await;
    assert_eq!((&state["prev"], &state["next"]), (&json!("unknown"), &json!("unknown")));
    let status = asked(&mut ws, json!({"event": "get:status"}), "status").await;
    assert_eq!(
        (&status["state"], &status["ws_clients"], &status["bytes_read"]),
        (&json!("running"), &json!(1), &json!(11))
    );
    let replay = asked(&mut ws, json!({"event": "replay", "offset": 6}), "replay_result").await;
    assert_eq!(crate::output::data(&replay), b"there");
    assert_eq!(json!([replay["offset"], replay["next_offset"], replay["total_written"]]), json!([6, 11, 11]));
    for nudge in [json!({"event": "nudge", "message": "hi"}), json!({"event": "respond", "accept": true})] {
        assert_eq!(asked(&mut ws, nudge, "error").await["code"], "NO_DRIVER");
    }
}

#[tokio::test]
async fn an_id_comes_back_with_every_answer() {
    let coop = Coop::run(&["cat"]);
    let mut ws = coop.place.ws("/ws?mode=state").await;
    for (message, word) in [
        (json!({"event": "ping"}), "pong"),
        (json!({"event": "screen:get"}), "screen"),
        (json!({"event": "state:get"}), "transition"),
        (json!({"event": "get:status"}), "status"),
        (json!({"event": "replay", "offset": 0}), "replay_result"),
        (json!({"event": "input", "text": "a"}), "input:result"),
        (json!({"event": "input:raw", "data": "YQ=="}), "input:result"),
        (json!({"event": "keys", "keys": ["enter"]}), "input:result"),
        (json!({"event": "resize", "cols": 70, "rows": 20}), "resize:result"),
        (json!({"event": "signal", "signal": "WINCH"}), "signal:result"),
        (json!({"event": "lock"}), "lock:result"),
        (json!({"event": "wait", "text": "a", "timeout_ms": 15_000}), "wait:result"),
        (json!({"event": "nudge", "message": "x"}), "error"),
        (json!({"event": "transcript:list"}), "error"),
        (json!({"event": "restart"}), "restart:result"),
    ] {
        assert_eq!(ws.ask(message.clone()).await["event"], word, "{message}");
    }
    ws.say(json!({"event": "ping", "request_id": 17})).await;
    assert_eq!(ws.next_event("pong").await["request_id"], "17");
}

#[tokio::test]
async fn typing_needs_no_answer_and_reaches_the_child() {
    let coop = Coop::run(&sh("stty -echo -icrnl; echo ready; cat -v"));
    coop.shows("ready").await;
    let mut ws = coop.place.ws("/ws?mode=state").await;
    ws.next_event("transition").await;
    ws.say(json!({"event": "input", "text": "one", "enter": true})).await;
    ws.say(json!({"event": "input:raw", "data": "dHdv"})).await;
    ws.say(json!({"event": "keys", "keys": ["up", "ctrl-d"]})).await;
    coop.shows("one^Mtwo^[[A").await;
    ws.say(json!({"event": "signal", "signal": "SIGKILL"})).await;
    let exit = ws.next_event("exit").await;
    assert_eq!((&exit["code"], &exit["signal"]), (&Value::Null, &json!(9)));
}

/// Which kinds of events come in a mode, from a child that prints, is resized and exits.
async fn kinds(query: &str) -> BTreeSet<String> {
    let coop = Coop::run(&sh("stty -echo; echo begin; read line; echo more; exit 0"));
    coop.shows("begin").await;
    let mut ws = coop.place.ws(&format!("/ws{query}")).await;
    coop.post("/api/v1/resize", json!({"cols": 60, "rows": 20})).await.ok();
    coop.types("").await;
    let mut kinds = BTreeSet::new();
    while !kinds.contains("exit") {
        kinds.insert(ws.hear().await.event()["event"].as_str().unwrap().to_owned());
    }
    coop.exited().await;
    kinds.extend(ws.until_pong().await.iter().map(|event| event["event"].as_str().unwrap().to_owned()));
    // Sizes and the end concern everybody; receipts are not what is asked here.
    kinds.retain(|word| !["exit", "resize", "receipt"].contains(&word.as_str()));
    kinds
}

#[tokio::test]
async fn each_mode_pushes_its_own_events() {
    let set = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<BTreeSet<_>>();
    let modes = [
        ("?mode=raw", set(&["output"])),
        ("?mode=screen", set(&["screen"])),
        ("?mode=state", set(&["transition"])),
        ("?mode=all", set(&["output", "screen", "transition"])),
        ("", set(&["output", "screen", "transition"])),
        ("?subscribe=state,screen,pty", set(&["output", "screen", "transition"])),
        ("?subscribe=pty", set(&["output"])),
        ("?subscribe=state&subscribe=screen", set(&["screen", "transition"])),
    ];
    let seen = futures_util::future::join_all(modes.iter().map(|(query, _)| kinds(query))).await;
    for ((query, expected), seen) in modes.iter().zip(seen) {
        assert_eq!(&seen, expected, "{query}");
    }
}

#[tokio::test]
async fn the_first_message_of_a_state_subscription_is_the_current_state() {
    let coop = Coop::run(&["cat"]);
    for query in ["?mode=state", "?mode=all", ""] {
        let first = coop.place.ws(&format!("/ws{query}")).await.hear().await.event();
        assert_eq!(
            (&first["event"], &first["prev"], &first["next"]),
            (&json!("transition"), &json!("unknown"), &json!("unknown"))
        );
    }
    let mut lines = coop.call("GET", "/api/v1/stream/state").stream().await;
    assert_eq!(lines.value().await["next"], "unknown");
    let refused = coop.place.try_ws("/ws?mode=some", &[]).await.err().unwrap();
    assert_eq!(refused.status(), 400);
}

#[tokio::test]
async fn a_subscription_can_be_changed_on_the_way() {
    let coop = Coop::run(&sh("stty -echo; echo begin; read line; echo more; sleep 1000"));
    coop.shows("begin").await;
    let mut ws = coop.place.ws("/ws?mode=state").await;
    ws.next_event("transition").await;
    ws.say(json!({"event": "subscribe", "mode": "raw", "from_offset": 3})).await;
    let chunk = ws.next_event("output").await;
    assert_eq!((&chunk["offset"], crate::output::data(&chunk)), (&json!(3), b"in\r\n".to_vec()));
    coop.types("").await;
    assert_eq!(ws.next_event("output").await["offset"], 7);
}

#[tokio::test]
async fn a_resize_is_told_to_all() {
    let coop = Coop::run(&["cat"]);
    let (mut one, mut other) = (coop.place.ws("/ws?mode=state").await, coop.place.ws("/ws?mode=raw").await);
    other.until_pong().await;
    one.say(json!({"event": "resize", "cols": 66, "rows": 22})).await;
    for ws in [&mut one, &mut other] {
        let resized = ws.next_event("resize").await;
        assert_eq!((&resized["cols"], &resized["rows"]), (&json!(66), &json!(22)));
    }
}

#[tokio::test]
async fn the_screen_follows_every_change() {
    let coop = Coop::run(&["cat"]);
    let mut ws = coop.place.ws("/ws?mode=screen").await;
    assert_eq!(ws.hear().await.event()["event"], "screen", "first the screen as it is");
    ws.say(json!({"event": "input", "text": "typed", "enter": true})).await;
    loop {
        let screen = ws.next_event("screen").await;
        if screen["lines"][1] == "typed" {
            break;
        }
    }
}

#[tokio::test]
async fn shutdown_ends_with_an_exit_and_a_close() {
    let coop = Coop::run(&["cat"]);
    let mut ws = coop.place.ws("/ws").await;
    ws.say(json!({"event": "shutdown"})).await;
    assert_eq!(ws.next_event("exit").await["signal"], 1);
    let code = loop {
        if let Heard::Closed(code) = ws.hear().await {
            break code;
        }
    };
    assert_eq!(code, Some(1001));
    assert!(coop.left().await.success());
}

#[tokio::test]
async fn wait_is_answered_while_the_conversation_goes_on() {
    let coop = Coop::run(&["cat"]);
    let mut ws = coop.place.ws("/ws?mode=state").await;
    ws.say(json!({"event": "wait", "text": "magic", "timeout_ms": 15_000, "request_id": "w"})).await;
    assert_eq!(ws.ask(json!({"event": "ping"})).await["event"], "pong", "waiting holds up nothing");
    ws.say(json!({"event": "input", "text": "magic"})).await;
    let met = ws.answer("w").await;
    assert_eq!((&met["event"], &met["matched"], &met["line"]), (&json!("wait:result"), &json!(true), &json!("magic")));
    let late = ws.ask(json!({"event": "wait", "text": "never", "timeout_ms": 50})).await;
    assert_eq!((&late["matched"], &late["condition"]), (&json!(false), &Value::Null));
}

#[tokio::test]
async fn what_has_nothing_to_tell_is_answered_with_ok_when_it_is_named() {
    let coop = Coop::start(&["--port", "0", "--auth-token", "secret"], &["cat"]);
    let mut ws = coop.place.ws("/ws").await;
    for (id, message) in [
        ("1", json!({"event": "auth", "token": "secret"})),
        ("2", json!({"event": "subscribe", "mode": "state"})),
        ("3", json!({"event": "shutdown"})),
    ] {
        let mut message = message;
        message["request_id"] = id.into();
        ws.say(message).await;
        assert_eq!(ws.answer(id).await["event"], "ok");
    }
}
