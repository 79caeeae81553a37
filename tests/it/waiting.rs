//! Waiting: for text, a pattern, silence, bytes, states, the end; a timeout is an ordinary answer.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Coop, sh};

#[tokio::test]
async fn each_condition_comes_true_and_says_which_it_was() {
    let coop = Coop::run(&sh("stty -echo; echo 'hello world 42'; read line; exit 3"));
    let met = async |what: Value| coop.wait(what).await;
    let text = met(json!({"text": "world"})).await;
    assert_eq!((&text["condition"], &text["line"]), (&json!("text"), &json!("hello world 42")));
    let regex = met(json!({"regex": "^hello .* [0-9]+$"})).await;
    assert_eq!((&regex["condition"], &regex["line"]), (&json!("regex"), &json!("hello world 42")));
    assert_eq!(met(json!({"offset": 16})).await["condition"], "offset");
    assert_eq!(met(json!({"quiet_ms": 50})).await["condition"], "quiet");
    let state = met(json!({"states": ["idle", "unknown"]})).await;
    assert_eq!(
        (&state["condition"], &state["state"], &state["exit"]),
        (&json!("state"), &json!("unknown"), &Value::Null)
    );
    let any = met(json!({"text": "never", "exited": true, "offset": 3})).await;
    assert_eq!(any["condition"], "offset");
    let end = coop.wait(json!({"exited": true}));
    let (end, ()) = tokio::join!(end, coop.types(""));
    assert_eq!((&end["condition"], &end["state"]), (&json!("exited"), &json!("exited")));
    assert_eq!((&end["exit"]["code"], &end["exit"]["signal"]), (&json!(3), &Value::Null));
    assert_eq!(met(json!({"states": ["exited"]})).await["condition"], "state");
}

#[tokio::test]
async fn all_means_all_at_once() {
    let coop =
        Coop::run(&sh("stty -echo; printf one; read line; printf '\\rtwo'; read line; printf ' one'; sleep 1000"));
    let both = json!({"text": "one", "regex": "two", "all": true, "timeout_ms": 300});
    coop.shows("one").await;
    assert_eq!(coop.post("/api/v1/wait", both.clone()).await.ok()["matched"], false);
    coop.types("").await;
    coop.shows("two").await;
    assert_eq!(
        coop.post("/api/v1/wait", both.clone()).await.ok()["matched"],
        false,
        "one after the other is not enough"
    );
    let waiting = coop.wait(both);
    let (met, ()) = tokio::join!(waiting, coop.types(""));
    assert_eq!((&met["condition"], &met["line"]), (&json!("all"), &json!("two one")));
}

#[tokio::test]
async fn a_timeout_is_an_ordinary_answer() {
    let coop = Coop::run(&["cat"]);
    let asked = Instant::now();
    let answer = coop.post("/api/v1/wait", json!({"text": "never", "timeout_ms": 200})).await.ok();
    assert!(asked.elapsed() >= Duration::from_millis(200));
    assert_eq!(
        (&answer["matched"], &answer["condition"], &answer["line"]),
        (&json!(false), &Value::Null, &Value::Null)
    );
    assert!(answer["elapsed_ms"].as_u64().unwrap() >= 200, "{answer}");
    assert_eq!(answer["state"], "unknown");
    let at_once = coop.post("/api/v1/wait", json!({"text": "never", "timeout_ms": 0})).await.ok();
    assert_eq!(at_once["matched"], false);
}

#[tokio::test]
async fn what_is_true_already_is_answered_at_once() {
    let coop = Coop::run(&sh("echo here; exit 0"));
    coop.exited().await;
    for what in ["text=here", "regex=h.re", "offset=2", "exited=true", "states=exited", "quiet_ms=1"] {
        let answer = coop.get(&format!("/api/v1/wait?{what}&timeout_ms=15000")).await.ok();
        assert_eq!(answer["matched"], true, "{what}");
    }
    let together = coop.get("/api/v1/wait?text=here&states=idle,exited&all=true").await.ok();
    assert_eq!(together["condition"], "all");
}

#[tokio::test]
async fn quiet_is_told_when_the_child_has_paused_not_before() {
    let script = "stty -echo; read go; for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.1; done; echo paused; sleep 1000";
    let coop = Coop::run(&sh(script));
    coop.types("").await;
    coop.shows("1").await;
    coop.wait(json!({"quiet_ms": 400})).await;
    assert!(coop.screen().await.ends_with("paused"));
}

#[tokio::test]
async fn a_wait_that_cannot_be_is_refused_with_the_reason() {
    let coop = Coop::run(&["cat"]);
    for (body, named) in [
        (json!({}), "nothing to wait for"),
        (json!({"all": true, "timeout_ms": 5}), "nothing to wait for"),
        (json!({"regex": "("}), "regex"),
        (json!({"regex": "a{1000}{1000}{1000}"}), "regex"),
        (json!({"text": ""}), "text"),
        (json!({"text": "x".repeat(5000)}), "text"),
        (json!({"states": ["asleep"]}), "asleep"),
        (json!({"exited": true, "timeout_ms": 600_001}), "600000"),
        (json!({"exited": "perhaps"}), "exited"),
    ] {
        let (status, code, message) = coop.post("/api/v1/wait", body.clone()).await.error();
        assert_eq!((status, code.as_str()), (400, "BAD_REQUEST"), "{body}");
        assert!(message.contains(named), "{body}: {message}");
    }
}

#[tokio::test]
async fn many_wait_at_once_and_all_are_answered() {
    let coop = Coop::run(&sh("stty -echo; read line; echo done; sleep 1000"));
    let mut ws = coop.place.ws("/ws?mode=state").await;
    for n in 0..100 {
        ws.say(json!({"event": "wait", "text": "done", "timeout_ms": 15_000, "request_id": n.to_string()})).await;
    }
    ws.until_pong().await;
    coop.types("").await;
    let mut answered = std::collections::BTreeSet::new();
    while answered.len() < 100 {
        let result = ws.next_event("wait:result").await;
        assert_eq!(result["matched"], true);
        answered.insert(result["request_id"].as_str().unwrap().to_owned());
    }
}

#[tokio::test]
async fn a_prompt_is_found_with_the_blank_that_ends_it() {
    let coop = Coop::run(&sh("printf 'name? '; sleep 1000"));
    for what in [json!({"text": "name? "}), json!({"regex": r"\\? $"}), json!({"regex": r"\\?$"})] {
        assert_eq!(coop.wait(what.clone()).await["line"], "name?", "{what}");
    }
}

#[tokio::test]
async fn nobody_waits_for_what_a_dead_child_cannot_print() {
    let coop = Coop::run(&sh("stty -echo; printf ready; read line; exit 5"));
    coop.shows("ready").await;
    let hopeless = coop.post("/api/v1/wait", json!({"text": "never", "timeout_ms": 600_000}));
    let (hopeless, ()) = tokio::join!(hopeless, coop.types(""));
    let hopeless = hopeless.ok();
    assert_eq!((&hopeless["matched"], &hopeless["exit"]["code"]), (&json!(false), &json!(5)));
    let quiet = coop.wait(json!({"text": "never", "quiet_ms": 300})).await;
    assert_eq!(quiet["condition"], "quiet", "silence still comes");
}
