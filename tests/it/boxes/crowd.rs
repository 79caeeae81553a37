//! A hundred boxes at once: all are there, all answer, none costs anything while nothing happens, all leave.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream;
use serde_json::{Value, json};

use super::user::{User, pid_of, session_of};
use crate::support::{PATIENCE, alive, cpu_ticks, descendants, wakeups};

const BOXES: usize = 100;
/// Made and ended at the same time; more would only wait for the processors.
const AT_ONCE: usize = 8;
/// How long the crowd is watched.
const WINDOW: Duration = Duration::from_secs(2);
/// What all of them together may take of a processor meanwhile, in hundredths of a second: 1 %.
const TICKS_MAX: u64 = 2;
/// How often each may wake up in a second, on average.
const WAKEUPS_MAX: u64 = 1;

#[tokio::test]
async fn a_hundred_boxes_answer_rest_and_leave() {
    let user = User::new();
    let daemon = user.daemon().await;
    let names: Vec<String> = (0..BOXES).map(|number| format!("crowd-{number}")).collect();
    let make = |name: &String| {
        let mut source = user.source(name, &["cat"]);
        source["network"] = "none".into();
        daemon.create(source)
    };
    let made: Vec<Value> =
        stream::iter(&names).map(make).buffer_unordered(AT_ONCE).map(|made| made.ok()).collect().await;
    let pids: BTreeSet<i32> = made.iter().map(pid_of).collect();
    assert_eq!(pids.len(), BOXES, "each has a session of its own");

    let answer = async |told: &Value| {
        let place = session_of(told);
        place.call("POST", "/api/v1/input").json(&json!({"text": told["name"], "enter": true})).send().await.ok();
        let wait = json!({"text": told["name"], "timeout_ms": 15_000});
        place.call("POST", "/api/v1/wait").json(&wait).send().await.ok()["matched"] == true
    };
    let answered: Vec<bool> = stream::iter(&made).map(answer).buffer_unordered(AT_ONCE).collect().await;
    assert_eq!(answered, vec![true; BOXES]);

    let everybody: Vec<i32> =
        pids.iter().flat_map(|pid| descendants(*pid)).chain(pids.iter().copied()).chain([daemon.pid]).collect();
    assert!(everybody.len() > 3 * BOXES, "a session, a first process and a program each: {}", everybody.len());
    rest(&everybody).await;

    let stop = async |told: &Value| {
        let path = format!("/api/v1/boxes/{}/stop", told["name"].as_str().unwrap());
        daemon.post(&path, json!({})).await
    };
    let stopped: Vec<Value> =
        stream::iter(&made).map(stop).buffer_unordered(AT_ONCE).map(|told| told.ok()).collect().await;
    assert!(stopped.iter().all(|told| told["state"] == "stopped"));
    let left: Vec<i32> = everybody.into_iter().filter(|pid| *pid != daemon.pid && alive(*pid)).collect();
    assert!(left.is_empty(), "{left:?}");
    let boxes = daemon.get("/api/v1/boxes").await.ok();
    assert_eq!(boxes["boxes"].as_array().unwrap().len(), BOXES, "their files stay");
}

/// Watches until a window has passed in which next to nothing was done. What was begun before may end first.
async fn rest(pids: &[i32]) {
    let deadline = Instant::now() + PATIENCE;
    let so_far = || pids.iter().map(|pid| [cpu_ticks(*pid), wakeups(*pid)]).collect::<Vec<_>>();
    let allowed = WAKEUPS_MAX * WINDOW.as_secs() * BOXES as u64;
    loop {
        let before = so_far();
        tokio::time::sleep(WINDOW).await;
        let after = so_far();
        // A thread that has ended takes its count along.
        let more =
            |what: usize| before.iter().zip(&after).map(|(one, two)| two[what].saturating_sub(one[what])).sum::<u64>();
        let (ticks, woken) = (more(0), more(1));
        if ticks <= TICKS_MAX && woken <= allowed {
            return;
        }
        assert!(Instant::now() < deadline, "{ticks} ticks and {woken} wake-ups in {WINDOW:?} of {BOXES} idle boxes");
    }
}
