//! Events by their sequence number: resumed without gap or double, and when history is gone, said so.

use coop::proto::v1;
use serde_json::{Value, json};

use crate::support::{Coop, WebSocket, sh};

/// More than a session remembers.
const TOO_MANY: u32 = 4500;

/// Resizes so often that the first events are forgotten.
async fn make_history(ws: &mut WebSocket) {
    for n in 0..TOO_MANY {
        ws.say(json!({"event": "resize", "cols": 80 + n % 2, "rows": 24})).await;
        // Read on the way, so that neither side waits for the other.
        if n % 500 == 499 {
            ws.until_pong().await;
        }
    }
}

#[tokio::test]
async fn events_after_a_number_come_once_and_in_order() {
    let coop = Coop::run(&sh("sleep 1000"));
    let mut ws = coop.place.ws("/ws?mode=state").await;
    let first = ws.next_event("transition").await["seq"].as_u64().unwrap();
    for cols in 90..95 {
        ws.ask(json!({"event": "resize", "cols": cols, "rows": 24})).await;
    }
    let mut stream = coop.call("GET", &format!("/api/v1/stream/events?mode=state&after_seq={first}")).stream().await;
    let mut seqs = Vec::new();
    for cols in 90..95 {
        let event = stream.value().await;
        assert_eq!(
            (&event["event"], &event["cols"]),
            (&json!("resize"), &json!(cols)),
            "nothing before, nothing between"
        );
        seqs.push(event["seq"].as_u64().unwrap());
    }
    assert!(seqs.is_sorted() && seqs[0] > first);
    let mut resumed =
        coop.call("GET", &format!("/api/v1/stream/events?mode=state&after_seq={}", seqs[2])).stream().await;
    assert_eq!(resumed.value().await["cols"], 93);
}

#[tokio::test]
async fn events_that_are_gone_are_a_gap_and_then_the_state() {
    let coop = Coop::run(&["cat"]);
    let mut ws = coop.place.ws("/ws?mode=state").await;
    make_history(&mut ws).await;
    let mut stream = coop.call("GET", "/api/v1/stream/events?mode=state&after_seq=0").stream().await;
    let gap = stream.value().await;
    assert_eq!((&gap["event"], &gap["from_seq"], &gap["from_offset"]), (&json!("gap"), &json!(1), &Value::Null));
    let to = gap["to_seq"].as_u64().unwrap();
    assert!(to > 300, "{gap}");
    let state = stream.value().await;
    assert_eq!(
        (&state["event"], &state["prev"], &state["next"]),
        (&json!("transition"), &json!("unknown"), &json!("unknown"))
    );
    let next = stream.value().await;
    assert_eq!((&next["event"], &next["seq"]), (&json!("resize"), &json!(to)), "the first that follows");

    let mut grpc = coop.place.grpc().await;
    let mut states = grpc.stream_state(v1::StreamStateRequest { after_seq: Some(0) }).await.unwrap().into_inner();
    let first = coop.place.within("a state", states.message()).await.unwrap().unwrap();
    assert_eq!((first.next(), first.gap.unwrap().from_seq), (v1::AgentStateKind::Unknown, Some(1)));
}

#[tokio::test]
async fn a_state_stream_tells_the_whole_life() {
    let coop = Coop::run(&sh("read line; exit 4"));
    let mut states = coop.call("GET", "/api/v1/stream/state").header("accept", "text/event-stream").stream().await;
    let (id, now) = states.event().await;
    assert_eq!((&now["prev"], &now["next"], &now["gap"]), (&json!("unknown"), &json!("unknown"), &Value::Null));
    assert_eq!(id.unwrap(), now["seq"].to_string());
    coop.types("").await;
    let (_, end) = states.event().await;
    assert_eq!((&end["prev"], &end["next"], &end["exit"]["code"]), (&json!("unknown"), &json!("exited"), &json!(4)));
    let state = coop.get("/api/v1/agent?explain=true").await.ok();
    assert_eq!((&state["state"], &state["since_seq"]), (&json!("exited"), &end["seq"]));
    assert_eq!(state["evidence"][0]["decisive"], true);
    assert_eq!(coop.get("/api/v1/agent/state").await.ok()["evidence"], json!([]));
}

#[tokio::test]
async fn coops_own_log_can_be_read_and_followed() {
    let coop = Coop::run(&["cat"]);
    coop.log_says("the child runs").await;
    let held = coop.get("/api/v1/stream/log").await.text();
    assert!(held.contains("the child runs") && held.lines().all(|line| line.starts_with("{\"line\":")), "{held}");
    assert_eq!(coop.get("/api/v1/stream/log?tail=0").await.text(), "");
    let mut log = coop.call("GET", "/api/v1/stream/log?follow=true&tail=0").stream().await;
    coop.post("/api/v1/session/restart", json!({})).await.ok();
    for expected in ["the child has exited", "the child runs"] {
        let line = log.value().await;
        assert!(line["line"].as_str().unwrap().contains(expected), "{line}");
    }
    coop.post("/api/v1/shutdown", json!({})).await.ok();
    let rest = log.rest().await;
    assert!(rest.contains("asked to leave"), "the log is told to its end: {rest}");
}
