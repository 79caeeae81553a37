//! One writer at a time for those who need several inputs in a row, and writes that hold only while nothing changed.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Coop, sh};

const INPUT: &str = "/api/v1/input";
const LOCK: &str = "/api/v1/lock";

fn busy() -> (u16, String) {
    (409, "WRITER_BUSY".to_owned())
}

async fn acquire(coop: &Coop, body: Value) -> String {
    coop.post(LOCK, body).await.ok()["lock_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn while_one_holds_the_lock_nobody_else_writes() {
    let coop = Coop::run(&["cat"]);
    let lock = coop.post(LOCK, json!({})).await.ok();
    assert_eq!(lock["expires_in_ms"], 30_000);
    let id = lock["lock_id"].as_str().unwrap();
    for (path, body) in [
        ("input", json!({"text": "x"})),
        ("input/raw", json!({"data": "eA=="})),
        ("input/keys", json!({"keys": ["x"]})),
        ("lock", json!({})),
    ] {
        assert_eq!(coop.post(&format!("/api/v1/{path}"), body).await.refused(), busy(), "{path}");
    }
    let strange = coop.call("POST", INPUT).header("coop-lock", "lock-0-guessed").json(&json!({"text": "x"}));
    assert_eq!(strange.send().await.refused(), busy());
    let own = coop.call("POST", INPUT).header("coop-lock", id).json(&json!({"text": "mine", "enter": true}));
    assert_eq!(own.send().await.ok()["bytes_written"], 5);
    coop.shows("mine").await;
    coop.post("/api/v1/resize", json!({"cols": 81, "rows": 25})).await.ok();
    coop.post("/api/v1/signal", json!({"signal": "WINCH"})).await.ok();
    assert_eq!(coop.status().await["bytes_written"], 5, "nothing of the others was written");
}

#[tokio::test]
async fn only_the_holder_gives_it_back() {
    let coop = Coop::run(&["cat"]);
    let id = acquire(&coop, json!({})).await;
    let release = async |id: &str| coop.call("DELETE", LOCK).header("coop-lock", id).send().await.ok();
    assert_eq!(release("lock-0-guessed").await, json!({"released": false}));
    assert_eq!(coop.post(INPUT, json!({"text": "x"})).await.refused(), busy());
    assert_eq!(release(&id).await, json!({"released": true}));
    assert_eq!(release(&id).await, json!({"released": false}));
    coop.post(INPUT, json!({"text": "x"})).await.ok();
    let late = coop.call("POST", INPUT).header("coop-lock", &id).json(&json!({"text": "y"})).send().await;
    assert_eq!(late.refused(), busy(), "a lock that is not held any more opens nothing");
}

#[tokio::test]
async fn a_lock_that_is_not_used_ends_by_itself() {
    let coop = Coop::run(&["cat"]);
    let id = acquire(&coop, json!({"ttl_secs": 1})).await;
    assert_eq!(coop.post(INPUT, json!({"text": "x"})).await.refused(), busy());
    tokio::time::sleep(Duration::from_millis(600)).await;
    coop.call("POST", INPUT).header("coop-lock", &id).json(&json!({"text": "used"})).send().await.ok();
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!(coop.post(INPUT, json!({"text": "x"})).await.refused(), busy(), "use renews it");
    coop.place
        .within("the lease ends", async {
            while coop.post(INPUT, json!({"text": "x"})).await.status != 200 {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
        .await;
}

#[tokio::test]
async fn a_websocket_holds_its_own_lock_and_loses_it_with_its_connection() {
    let coop = Coop::run(&["cat"]);
    let (mut holder, mut other) = (coop.place.ws("/ws?mode=state").await, coop.place.ws("/ws?mode=state").await);
    let held = holder.ask(json!({"event": "lock"})).await;
    assert_eq!(
        (&held["event"], &held["held"], &held["expires_in_ms"]),
        (&json!("lock:result"), &json!(true), &json!(30_000))
    );
    assert_eq!(other.ask(json!({"event": "lock", "action": "acquire"})).await["code"], "WRITER_BUSY");
    assert_eq!(other.ask(json!({"event": "input", "text": "no"})).await["code"], "WRITER_BUSY");
    assert_eq!(coop.post(INPUT, json!({"text": "no"})).await.refused(), busy());
    assert_eq!(holder.ask(json!({"event": "input", "text": "yes", "enter": true})).await["bytes_written"], 4);
    assert_eq!(holder.ask(json!({"event": "lock", "action": "release"})).await["held"], false);
    assert_eq!(other.ask(json!({"event": "input", "text": "now"})).await["event"], "input:result");
    holder.ask(json!({"event": "lock", "ttl_secs": 300})).await;
    holder.close().await;
    coop.place
        .within("the lock is lost", async {
            while other.ask(json!({"event": "keys", "keys": ["x"]})).await["event"] == "error" {}
        })
        .await;
}

#[tokio::test]
async fn a_write_that_expects_another_screen_writes_nothing() {
    let coop = Coop::run(&sh("stty -echo; echo one; read line; echo two; sleep 1000"));
    coop.shows("one").await;
    let seq = coop.get("/api/v1/screen").await.ok()["seq"].clone();
    coop.types("").await;
    coop.shows("two").await;
    let now = coop.status().await;
    for (path, mut body) in [
        ("input", json!({"text": "x"})),
        ("input/raw", json!({"data": "eA=="})),
        ("input/keys", json!({"keys": ["x"]})),
    ] {
        body["expect"] = json!({"screen_seq": seq});
        let answer = coop.post(&format!("/api/v1/{path}"), body.clone()).await;
        assert_eq!(answer.refused(), (409, "STATE_CHANGED".to_owned()), "{path}");
        let details = &answer.value()["error"]["details"];
        assert_eq!((&details["state"], &details["screen_seq"]), (&json!("unknown"), &now["screen_seq"]));
        body["expect"] = json!({"screen_seq": now["screen_seq"], "state": "unknown"});
        coop.post(&format!("/api/v1/{path}"), body).await.ok();
    }
    let other_state = json!({"text": "x", "expect": {"state": "idle"}});
    assert_eq!(coop.post(INPUT, other_state).await.refused(), (409, "STATE_CHANGED".to_owned()));
    let prompt = json!({"text": "x", "expect": {"prompt_id": "p1"}});
    assert_eq!(coop.post(INPUT, prompt).await.refused(), (409, "STATE_CHANGED".to_owned()));
    assert_eq!(coop.status().await["bytes_written"], 1 + 3, "the enter of before, and what was expected rightly");
}
