//! Several attached terminals: whose size the program sees, and what the others show.

use serde_json::json;

use crate::support::{Coop, Heard, Seat, bash, sh};

/// Tells its size whenever it changes.
const TELLS_SIZE: &str = "trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done";

async fn sizes(coop: &Coop) -> (u64, u64) {
    let status = coop.status().await;
    let side = |name: &str| status["terminal"][name].as_u64().unwrap();
    (side("cols"), side("rows"))
}

fn session(policy: &str) -> Coop {
    Coop::start(
        &["--port", "0", "--attach-size", policy, "--label", "name=s", "--cols", "80", "--rows", "24"],
        &bash(TELLS_SIZE),
    )
}

#[tokio::test]
async fn the_latest_terminal_has_its_size_and_frees_it_when_it_leaves() {
    let coop = session("latest");
    coop.shows("ready").await;
    let mut wide = Seat::attached(&coop, 100, 31, &[]);
    wide.shows("30 100").await;
    let mut small = Seat::attached(&coop, 60, 21, &[]);
    small.shows("20 60").await;
    wide.until("blank beside the smaller session", |seat| seat.rows()[20..30].iter().all(String::is_empty)).await;
    wide.shows_the_session(&coop).await;
    // Who types is the latest.
    wide.types("x").await;
    coop.wait(json!({"regex": "30 100$"})).await;
    small.shows("60x20 of 100x30").await;
    wide.resize(90, 29);
    wide.shows("28 90").await;
    small.types("\x1d").await;
    assert_eq!(small.ended().await.code(), Some(0));
    assert_eq!(sizes(&coop).await, (90, 28));
    let mut brief = Seat::attached(&coop, 50, 16, &[]);
    brief.shows("15 50").await;
    let mut watcher = coop.place.ws("/ws?mode=state").await;
    brief.types("\x1d").await;
    let freed = watcher.next_event("resize").await;
    assert_eq!((&freed["cols"], &freed["rows"]), (&json!(90), &json!(28)));
    wide.shows_the_session(&coop).await;
}

#[tokio::test]
async fn the_smallest_terminal_is_seen_whole_by_all() {
    let coop = session("smallest");
    coop.shows("ready").await;
    let mut wide = Seat::attached(&coop, 100, 21, &[]);
    wide.shows("20 100").await;
    let mut high = Seat::attached(&coop, 60, 31, &[]);
    high.shows("20 60").await;
    wide.types("x").await;
    wide.shows_the_session(&coop).await;
    high.shows_the_session(&coop).await;
    assert_eq!(sizes(&coop).await, (60, 20));
    wide.types("\x1d").await;
    assert_eq!(wide.ended().await.code(), Some(0));
    high.shows("30 60").await;
}

#[tokio::test]
async fn a_fixed_size_stays_and_a_smaller_terminal_shows_the_part_with_the_cursor() {
    let script = "for i in $(seq 1 24); do printf \"\\r\\nrow $i\"; done; printf '\\033[20;70Hfar'; sleep 1000";
    let coop = Coop::start(
        &["--port", "0", "--attach-size", "fixed", "--label", "name=s", "--cols", "80", "--rows", "24"],
        &sh(script),
    );
    coop.shows("far").await;
    let mut small = Seat::attached(&coop, 40, 11, &[]);
    small.shows("far").await;
    small.shows("40x10 of 80x24").await;
    assert!(!small.rows().iter().any(|row| row.contains("row")), "the left part is not seen");
    let mut large = Seat::attached(&coop, 100, 40, &[]);
    large.shows_the_session(&coop).await;
    assert_eq!(sizes(&coop).await, (80, 24));
}

#[tokio::test]
async fn two_terminals_that_answer_by_themselves_do_not_both_answer() {
    let script = "stty -icanon -echo; echo ready; while IFS= read -r -d R answer; do printf 'answer %q\\r\\n' \"${answer#*[}\"; done";
    let coop = Coop::run(&bash(script));
    coop.shows("ready").await;
    let mut first = coop.place.ws("/api/v1/attach").await;
    first.say(json!({"event": "hello", "cols": 80, "rows": 24})).await;
    first.next_event("ready").await;
    let mut second = coop.place.ws("/api/v1/attach").await;
    second.say(json!({"event": "hello", "cols": 80, "rows": 24})).await;
    second.next_event("ready").await;
    second.say_bytes(&b"\x1b[20;20R"[..]).await;
    second.say_bytes(&b"typed\x1b[21;21R"[..]).await;
    first.say_bytes(&b"\x1b[10;10R"[..]).await;
    coop.shows("10\\;10").await;
    let screen = coop.screen().await;
    assert!(!screen.contains("20\\;20") && !screen.contains("21\\;21"), "{screen}");
    first.close().await;
    second.say_bytes(&b"\x1b[22;22R"[..]).await;
    coop.shows("22\\;22").await;
    while !matches!(second.hear().await, Heard::Bytes(_)) {}
}

#[tokio::test]
async fn a_window_that_says_it_is_in_front_does_not_take_the_size() {
    let coop = Coop::run(&sh("stty -icanon -echo; echo ready; exec cat -v"));
    coop.shows("ready").await;
    let attach = async |cols: u32| {
        let mut terminal = coop.place.ws("/api/v1/attach").await;
        terminal.say(json!({"event": "hello", "cols": cols, "rows": 20})).await;
        terminal.next_event("ready").await;
        terminal
    };
    let (mut first, _second) = (attach(100).await, attach(60).await);
    first.say_bytes(&b"\x1b[I"[..]).await;
    coop.shows("^[[I").await;
    assert_eq!(sizes(&coop).await, (60, 20));
    first.say_bytes(&b"key"[..]).await;
    coop.shows("key").await;
    assert_eq!(sizes(&coop).await, (100, 20));
}
