//! When the child was started, and when something was last printed or typed.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::support::{Coop, sh};

fn now_ms() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

fn at(status: &Value, name: &str) -> u64 {
    status[name].as_u64().unwrap_or_else(|| panic!("{name}: {status}"))
}

#[tokio::test]
async fn status_tells_when_the_child_began_and_when_it_was_last_active() {
    let before = now_ms();
    let coop = Coop::run(&sh("stty -echo; read a; echo one; read b"));
    let fresh = coop.status().await;
    let started = at(&fresh, "started_at_ms");
    assert!((before..=now_ms()).contains(&started), "{fresh}");
    assert_eq!((&fresh["last_output_at_ms"], &fresh["last_input_at_ms"]), (&Value::Null, &Value::Null));

    let typing = now_ms();
    coop.types("x").await;
    coop.shows("one").await;
    let busy = coop.status().await;
    let (input, output) = (at(&busy, "last_input_at_ms"), at(&busy, "last_output_at_ms"));
    assert!(typing <= input && input <= output && output <= now_ms(), "{typing} {busy}");
    assert_eq!(at(&busy, "started_at_ms"), started);

    let restarting = now_ms();
    coop.post("/api/v1/session/restart", json!({})).await.ok();
    let again = coop.status().await;
    assert!(at(&again, "started_at_ms") >= restarting, "{again}");
    assert_eq!(at(&again, "last_input_at_ms"), input, "activity is the session's, not the child's");
}

#[tokio::test]
async fn keys_and_raw_bytes_are_activity_and_reading_is_not() {
    let coop = Coop::run(&["cat"]);
    coop.get("/api/v1/screen").await.ok();
    assert_eq!(coop.status().await["last_input_at_ms"], Value::Null);
    for (path, body) in [("input/keys", json!({"keys": ["a"]})), ("input/raw", json!({"data": "Yg=="}))] {
        let before = now_ms();
        coop.post(&format!("/api/v1/{path}"), body).await.ok();
        assert!(at(&coop.status().await, "last_input_at_ms") >= before, "{path}");
    }
}
