//! Metrics: what Prometheus is told is well-formed, true, bounded, and costs the session nothing.

mod page;

use std::collections::BTreeMap;
use std::time::Instant;

use coop::proto::v1;
use serde_json::json;

use crate::support::{Claude, Coop, PATIENCE, Place, sh};
use page::Page;

const METRICS: &str = "/metrics";

async fn told(place: &Place) -> Page {
    let answer = place.call("GET", METRICS).send().await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    assert_eq!(
        (answer.header("cache-control"), answer.header("content-length")),
        ("no-store", &*answer.body.len().to_string())
    );
    Page::read(&answer.text())
}

/// Asks until it is so: what is counted when a stream is closed is known when coop has noticed.
async fn until(place: &Place, what: &str, is_so: impl Fn(&Page) -> bool) -> Page {
    let begun = Instant::now();
    loop {
        let page = told(place).await;
        if is_so(&page) {
            return page;
        }
        assert!(begun.elapsed() < PATIENCE, "{what} never came true: {page:#?}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_plain_session_tells_of_itself_in_prometheus_own_format() {
    let coop = Coop::run(&sh("printf hello; read line; exit 3"));
    coop.shows("hello").await;
    let page = told(&coop.place).await;
    assert_eq!(page.of("coop_build_info", &[("version", env!("CARGO_PKG_VERSION"))]), 1.0);
    assert_eq!(page.of("coop_session_info", &[("agent", "unknown")]), 1.0);
    assert_eq!(json!([page.of("coop_child_up", &[]), page.of("coop_restarts_total", &[])]), json!([1.0, 0.0]));
    assert_eq!(page.of("coop_state", &[("state", "unknown")]), 1.0);
    assert_eq!((page.of("coop_state", &[("state", "idle")]), page.series("coop_state")), (0.0, 9));
    assert_eq!(page.of("coop_output_bytes_total", &[]), 5.0);
    assert!(page.of("coop_uptime_seconds", &[]) > 0.0);
    for name in ["process_resident_memory_bytes", "process_open_fds", "process_max_fds", "process_start_time_seconds"] {
        assert!(page.of(name, &[]) > 0.0, "{name}");
    }
    assert_eq!(page.kind("process_cpu_seconds_total"), Some("counter"));
    assert_eq!(page.value("coop_agent_requests_total", &[]), None, "there is no agent");
    coop.types("").await;
    coop.exited().await;
    let after = told(&coop.place).await;
    assert_eq!((after.of("coop_child_up", &[]), after.of("coop_state", &[("state", "exited")])), (0.0, 1.0));
    assert_eq!(after.of("coop_state_transitions_total", &[("state", "exited")]), 1.0);
    coop.post("/api/v1/session/restart", json!({})).await.ok();
    assert_eq!(told(&coop.place).await.of("coop_restarts_total", &[]), 1.0);
}

#[tokio::test]
async fn inputs_are_counted_by_kind_and_how_far_they_got() {
    let coop = Coop::run(&sh("stty raw -echo; echo ready; cat"));
    coop.shows("ready").await;
    coop.post("/api/v1/input", json!({"text": "abc", "wait_for": "echoed"})).await.ok();
    coop.post("/api/v1/input/keys", json!({"keys": ["up", "enter"]})).await.ok();
    coop.post("/api/v1/input/raw", json!({"data": "AAE="})).await.ok();
    let count =
        |page: &Page, kind, outcome| page.value("coop_receipt_seconds_count", &[("kind", kind), ("outcome", outcome)]);
    let page = until(&coop.place, "each is counted once", |page| {
        let counted = [count(page, "input", "echoed"), count(page, "keys", "written"), count(page, "raw", "written")];
        counted == [Some(1.0); 3]
    });
    let page = page.await;
    assert_eq!(page.value("coop_receipt_seconds_count", &[("kind", "nudge"), ("outcome", "accepted")]), None);
    assert_eq!(page.of("coop_input_bytes_total", &[]), 3.0 + 4.0 + 2.0);
    assert_eq!(page.of("coop_input_queued_bytes", &[]), 0.0);
}

#[tokio::test]
async fn an_agents_states_dialogs_and_hooks_are_counted() {
    let claude = Claude::start(&[]).await;
    claude.hook("UserPromptSubmit", json!({"prompt": "go"})).await;
    claude.is("working").await;
    let input = json!({"command": "ls"});
    let (hook, _) = claude.asks("Bash", input.clone()).await;
    let page = told(&claude.place).await;
    assert!(page.of("coop_prompt_waiting_seconds", &[("type", "permission")]) >= 0.0);
    assert_eq!(page.of("coop_prompt_wait_seconds_count", &[("type", "permission")]), 0.0);
    assert_eq!(page.of("coop_state", &[("state", "prompt")]), 1.0);
    let agent = async {
        hook.told().await;
        claude.hook("PostToolUse", json!({"tool_name": "Bash", "tool_input": input})).await;
    };
    let answer =
        claude.post("/api/v1/agent/respond", json!({"accept": true, "timeout_ms": crate::support::PATIENCE_MS}));
    let (answer, ()) = tokio::join!(answer, agent);
    assert_eq!(answer.ok()["delivered"], true);
    claude.hook("Stop", json!({"stop_hook_active": false})).await;
    claude.is("idle").await;
    let page = told(&claude.place).await;
    assert_eq!(page.value("coop_prompt_waiting_seconds", &[("type", "permission")]), None);
    assert_eq!(page.of("coop_prompt_wait_seconds_count", &[("type", "permission")]), 1.0);
    assert_eq!(page.of("coop_prompt_wait_seconds_count", &[("type", "plan")]), 0.0);
    assert_eq!(page.of("coop_receipt_seconds_count", &[("kind", "respond"), ("outcome", "accepted")]), 1.0);
    for (event, count) in [("UserPromptSubmit", 1.0), ("PermissionRequest", 1.0), ("PostToolUse", 1.0), ("Stop", 1.0)] {
        assert_eq!(page.of("coop_hook_events_total", &[("event", event)]), count, "{event}");
    }
    assert!(page.of("coop_state_transitions_total", &[("state", "working")]) >= 1.0);
    let spent = |page: &Page| page.of("coop_state_seconds_total", &[("state", "idle")]);
    let later = until(&claude.place, "time passes in the present state", |later| spent(later) > spent(&page)).await;
    let prompt = [("state", "prompt")];
    assert_eq!(
        later.of("coop_state_seconds_total", &prompt),
        page.of("coop_state_seconds_total", &prompt),
        "and in no other"
    );
    claude.begin_with("Stop", "no json").ended().await;
    until(&claude.place, "an unreadable call", |page| page.of("coop_hook_events_unreadable_total", &[]) == 1.0).await;
}

/// The first two columns of the table in the documentation: names, and what kind of numbers they are where that is said.
fn documented() -> BTreeMap<String, Option<String>> {
    let text = include_str!("../../../docs/metrics.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" | "));
    let named = rows.flat_map(|(names, rest)| {
        let kind = rest.split([' ', ',', '|']).next().filter(|kind| !kind.is_empty()).map(str::to_owned);
        names.split(", ").map(move |name| (name.trim_matches('`').to_owned(), kind.clone()))
    });
    named.collect()
}

#[tokio::test]
async fn the_documentation_names_what_is_told_and_nothing_else() {
    let claude = Claude::start(&[]).await;
    let page = told(&claude.place).await;
    let documented = documented();
    let names: Vec<&String> = documented.keys().collect();
    assert_eq!(page.kinds().keys().collect::<Vec<_>>(), names);
    for (name, kind) in documented {
        assert!(kind.is_none() || page.kind(&name) == kind.as_deref(), "{name} is no {kind:?}");
    }
}

#[tokio::test]
async fn names_that_hooks_invent_do_not_become_series_without_end() {
    let claude = Claude::start(&[]).await;
    for n in 0..40 {
        claude.hook(&format!("Invented{n}"), json!({})).await;
    }
    let page = until(&claude.place, "all are counted together", |page| {
        page.value("coop_hook_events_total", &[("event", "other")]).is_some_and(|other| other >= 8.0)
    });
    assert!(page.await.series("coop_hook_events_total") <= 33);
}

#[tokio::test]
async fn who_follows_is_counted_by_face_for_as_long_as_it_follows() {
    let coop = Coop::run(&["cat"]);
    let followers = |page: &Page| {
        ["grpc", "http", "websocket", "terminal"].map(|face| page.of("coop_subscribers", &[("face", face)]))
    };
    assert_eq!(followers(&told(&coop.place).await), [0.0; 4]);
    let lines = coop.call("GET", "/api/v1/stream/state").stream().await;
    let ws = coop.place.ws("/ws?mode=state").await;
    let mut terminal = coop.place.ws("/api/v1/attach").await;
    terminal.say(json!({"event": "hello", "cols": 80, "rows": 24})).await;
    let mut grpc = coop.place.grpc().await;
    let stream = grpc.stream_output(v1::StreamOutputRequest::default()).await.unwrap();
    until(&coop.place, "one of each", |page| followers(page) == [1.0; 4]).await;
    drop((lines, stream));
    ws.close().await;
    terminal.close().await;
    until(&coop.place, "nobody", |page| followers(page) == [0.0; 4]).await;
}

#[tokio::test]
async fn a_reader_that_missed_something_is_counted() {
    let coop = Coop::start(&["--port", "0", "--ring-size", "4096"], &sh("seq 1 5000; echo ready; cat"));
    coop.shows("ready").await;
    assert_eq!(told(&coop.place).await.of("coop_gaps_total", &[("kind", "output")]), 0.0);
    let mut lines = coop.call("GET", "/api/v1/stream/output?from_offset=0").stream().await;
    assert!(lines.value().await["gap"].is_object());
    assert_eq!(told(&coop.place).await.of("coop_gaps_total", &[("kind", "output")]), 1.0);
}

#[tokio::test]
async fn the_token_is_asked_for_on_the_main_port_and_not_on_the_health_port() {
    let flags = ["--port", "0", "--health-port", "0", "--auth-token", "correct-horse-battery", "--label", "team=red"];
    let coop = Coop::start(&flags, &["cat"]);
    let stranger = Place { token: None, ..coop.place.clone() };
    assert_eq!(stranger.call("GET", METRICS).send().await.refused(), (401, "UNAUTHORIZED".to_owned()));
    let page = told(&coop.place).await;
    assert_eq!(page.labels("coop_session_info")["label_team"], "red");
    let probe = Place { token: None, ..coop.at("health_url") };
    let by_pod_address = probe.call("GET", METRICS).header("host", "10.1.2.3:9090").send().await;
    Page::read(&by_pod_address.text());
    let posted = probe.call("POST", METRICS).send().await.refused();
    assert_eq!(posted, (405, "METHOD_NOT_ALLOWED".to_owned()));
    let (_, _, message) = probe.call("GET", "/api/v1/screen").send().await.error();
    assert!(message.contains("/metrics"), "{message}");
    assert_eq!(probe.call("HEAD", METRICS).send().await.status, 200);
}

#[tokio::test]
async fn labels_of_a_session_are_escaped_and_told_apart() {
    let flags = ["--port", "0", "--label", "a-b=1\"2\\3\n4", "--label", "a.b=two", "--label", "ü=é"];
    let coop = Coop::start(&flags, &["cat"]);
    let page = told(&coop.place).await;
    let labels = page.labels("coop_session_info");
    assert_eq!((labels["label_a_b"].as_str(), labels["label_a_b_2"].as_str()), ("1\"2\\3\n4", "two"));
    assert_eq!(labels["label__"], "é");
}

#[tokio::test]
async fn taking_statistics_does_not_keep_an_idle_session_from_leaving() {
    let coop = Coop::start(&["--port", "0", "--idle-timeout", "1"], &["sleep", "1000"]);
    let place = coop.place.clone();
    let asking = async {
        loop {
            if let Ok(Ok(answer)) = tokio::spawn(ask(place.clone())).await.map(|answer| answer.ok_or(())) {
                assert_eq!(answer, 200);
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        () = asking => {}
        status = coop.left() => assert!(status.success(), "{status}"),
    }
}

/// Asks once; nothing when coop has left.
async fn ask(place: Place) -> Option<u16> {
    Some(place.call("GET", METRICS).send_within().await.status)
}

#[tokio::test]
async fn a_flood_of_output_keeps_nobody_waiting_who_asks() {
    let coop = Coop::run(&["sh", "-c", "yes 'some output that does not end'"]);
    coop.wait(json!({"offset": 1_000_000})).await;
    let mut before = told(&coop.place).await.of("coop_output_bytes_total", &[]);
    for _ in 0..20 {
        let begun = Instant::now();
        let page = told(&coop.place).await;
        assert!(begun.elapsed() < PATIENCE / 4, "{:?}", begun.elapsed());
        let now = page.of("coop_output_bytes_total", &[]);
        assert!(now >= before, "a counter never goes back");
        before = now;
    }
    assert!(before > 1_000_000.0);
}
