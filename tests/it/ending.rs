//! Every way out: whichever coop takes, nothing of its child stays behind, and it does not take long.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::json;

use crate::support::{Coop, Heard, bash, descendants, run_to_its_end, session_members, sh};

/// How long anything of the child may live after coop was killed.
const AFTER_KILL: Duration = Duration::from_secs(2);

/// Looks until there is nothing left to see; for processes that are not ours to wait for.
async fn gone(what: &str, deadline: Instant, left: impl Fn() -> Vec<i32>) {
    while !left().is_empty() {
        assert!(Instant::now() < deadline, "{what} is still there: {:?}", left());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Jobs that survive an ordinary hang-up.
const STUBBORN: &str = "set -m; (trap '' HUP TERM INT; echo deaf; exec sleep 1000) & nohup sleep 1000 >/dev/null 2>&1 & \
                        disown; echo up; read line";

#[tokio::test]
async fn nothing_of_the_child_outlives_a_kill_of_coop() {
    let coop = Coop::run(&bash(STUBBORN));
    coop.shows("deaf").await;
    coop.shows("up").await;
    let child = coop.child_pid().await;
    let session = session_members(child);
    assert!(session.len() >= 3, "{session:?}");
    let guardians: Vec<i32> = descendants(coop.pid).difference(&session).copied().collect();
    assert_eq!(guardians.len(), 1, "one process beside the child's: {guardians:?}");
    let killed = Instant::now();
    coop.signal(Signal::SIGKILL);
    gone("the child's session", killed + AFTER_KILL, || session_members(child).into_iter().collect()).await;
    let alive = || guardians.iter().copied().filter(|pid| crate::support::alive(*pid)).collect();
    gone("the guardian", killed + AFTER_KILL, alive).await;
}

#[tokio::test]
async fn nothing_of_the_child_outlives_an_orderly_end() {
    let coop = Coop::run(&bash(STUBBORN));
    coop.shows("deaf").await;
    coop.shows("up").await;
    let child = coop.child_pid().await;
    let kin = descendants(coop.pid);
    coop.signal(Signal::SIGTERM);
    coop.log_says("asked to end").await;
    coop.signal(Signal::SIGTERM);
    assert!(coop.left().await.success());
    assert_eq!(session_members(child).len(), 0);
    let alive = || kin.iter().copied().filter(|pid| crate::support::alive(*pid)).collect();
    gone("a helper", Instant::now() + AFTER_KILL, alive).await;
}

#[tokio::test]
async fn a_child_that_leaves_jobs_behind_leaves_none() {
    let coop = Coop::run(&bash("set -m; sleep 1000 & nohup sleep 1000 >/dev/null 2>&1 & echo up; exit 0"));
    coop.exited().await;
    // All that is left below coop is its guardian.
    gone("a job", Instant::now() + Duration::from_secs(15), || {
        let kin = descendants(coop.pid);
        if kin.len() > 1 { kin.into_iter().collect() } else { Vec::new() }
    })
    .await;
    assert_eq!(coop.screen().await, "up");
}

#[tokio::test]
async fn sigterm_ends_coop_in_bounded_time_with_streams_open() {
    let coop = Coop::run(&sh("echo up; sleep 1000"));
    coop.shows("up").await;
    let mut ws = coop.place.ws("/ws").await;
    let mut state = coop.place.ws("/ws?mode=state").await;
    let mut lines = coop.call("GET", "/api/v1/stream/output").stream().await;
    let mut grpc = coop.place.grpc().await;
    let request = coop::proto::v1::StreamScreenRequest::default();
    let mut screens = grpc.stream_screen(request).await.unwrap().into_inner();
    lines.value().await;
    screens.message().await.unwrap().unwrap();
    let told = Instant::now();
    coop.signal(Signal::SIGTERM);
    for socket in [&mut ws, &mut state] {
        assert_eq!(socket.next_event("exit").await["signal"], 1, "SIGHUP ended it");
        assert!(matches!(socket.hear().await, Heard::Closed(Some(1001))));
    }
    assert_eq!(lines.next().await, None);
    coop.place.within("the gRPC stream ends", async { while let Ok(Some(_)) = screens.message().await {} }).await;
    assert!(coop.left().await.success());
    assert!(told.elapsed() < Duration::from_secs(5), "{:?}", told.elapsed());
}

#[tokio::test]
async fn a_reader_that_reads_nothing_does_not_hold_up_the_end() {
    let coop = Coop::run(&["yes"]);
    let sockets = [coop.place.ws("/ws").await, coop.place.ws("/ws?mode=raw").await];
    let stream = coop.call("GET", "/api/v1/stream/output").stream().await;
    coop.wait(json!({"offset": 8_000_000})).await;
    coop.signal(Signal::SIGTERM);
    coop.log_says("asked to end").await;
    let told = Instant::now();
    assert!(coop.left().await.success());
    assert!(told.elapsed() < Duration::from_secs(8), "{:?}", told.elapsed());
    drop((sockets, stream));
}

#[tokio::test]
async fn a_second_sigterm_allows_no_grace() {
    let coop = Coop::run(&sh("trap '' HUP TERM; echo deaf; while :; do sleep 1000; done"));
    coop.shows("deaf").await;
    let told = Instant::now();
    coop.signal(Signal::SIGTERM);
    coop.log_says("asked to end").await;
    assert!(!coop.has_left());
    coop.signal(Signal::SIGTERM);
    assert!(coop.left().await.success());
    assert!(told.elapsed() < Duration::from_secs(5), "{:?}: the grace is 10 s", told.elapsed());
}

#[tokio::test]
async fn shutdown_over_the_api_ends_child_and_coop() {
    let coop = Coop::run(&sh("trap 'echo goodbye; exit 5' HUP; echo up; while :; do read line; done"));
    coop.shows("up").await;
    let child = coop.child_pid().await;
    let mut ws = coop.place.ws("/ws").await;
    assert_eq!(coop.post("/api/v1/shutdown", json!({})).await.ok(), json!({"accepted": true}));
    assert_eq!(ws.next_event("exit").await["code"], 5, "it had time to say goodbye");
    assert_eq!(ws.closed().await, Some(1001));
    assert!(coop.left().await.success(), "the child's code is the child's own");
    assert!(session_members(child).is_empty());
}

#[test]
fn with_exit_with_child_coop_leaves_with_its_code() {
    let flags = ["--port", "0", "--exit-with-child"];
    let cases: [(&[&str], i32); 5] = [
        (&sh("exit 7"), 7),
        (&sh("exit 0"), 0),
        (&sh("kill -KILL $$"), 137),
        (&sh("kill -TERM $$"), 143),
        (&["no-such-bsah"], 127),
    ];
    for (program, code) in cases {
        let (left_with, out, err) = run_to_its_end(&flags, program);
        assert_eq!(left_with, Some(code), "{program:?}\n{err}");
        assert_eq!(out.lines().count(), 1, "one line on stdout: {out}");
    }
}

#[tokio::test]
async fn without_it_coop_stays_with_the_last_screen() {
    let coop = Coop::run(&sh("echo last; exit 7"));
    coop.exited().await;
    assert_eq!(coop.screen().await, "last");
    assert!(!coop.has_left());
}

#[tokio::test]
async fn an_idle_coop_leaves_after_its_timeout() {
    let coop = Coop::start(&["--port", "0", "--idle-timeout", "0.3"], &["sleep", "1000"]);
    assert!(coop.left().await.success());
    assert!(coop.place.log.text().contains("idle"), "{}", coop.place.log.text());
}

#[tokio::test]
async fn output_keeps_an_idle_coop() {
    let begun = Instant::now();
    let script = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $i; sleep 0.15; done; sleep 1000";
    let coop = Coop::start(&["--port", "0", "--idle-timeout", "0.8"], &sh(script));
    assert!(coop.left().await.success());
    // The last line comes after eleven pauses.
    assert!(begun.elapsed() > Duration::from_millis(11 * 150 + 800), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn an_open_stream_and_a_call_under_way_keep_an_idle_coop() {
    let coop = Coop::start(&["--port", "0", "--idle-timeout", "0.5"], &["sleep", "1000"]);
    let mut lines = coop.call("GET", "/api/v1/stream/state").stream().await;
    lines.value().await;
    // Three times the timeout, over a connection that counts as no call.
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(coop.get("/api/v1/health").await.status, 200);
    }
    drop(lines);
    let waited = coop.post("/api/v1/wait", json!({"text": "never", "timeout_ms": 1500})).await.ok();
    assert_eq!(waited["matched"], false, "a wait is answered in its own time");
    assert!(coop.left().await.success());
}
