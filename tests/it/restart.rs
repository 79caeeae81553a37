//! A new child in the same session: readers stay, numbers go on, and nothing of the old one is left in it.

use serde_json::{Value, json};

use crate::support::{Coop, Scratch, alive, sh};

const RESTART: &str = "/api/v1/session/restart";

#[tokio::test]
async fn sequence_offsets_size_and_readers_survive_a_restart() {
    let coop = Coop::run(&sh("stty size; echo \"I am $$\"; sleep 1000"));
    coop.shows("I am").await;
    coop.post("/api/v1/resize", json!({"cols": 100, "rows": 30})).await.ok();
    let before = coop.status().await;
    let mut ws = coop.place.ws("/ws?mode=state").await;
    let mut output = coop.call("GET", "/api/v1/stream/output").stream().await;
    ws.next_event("transition").await;
    let restarted = coop.post(RESTART, json!({})).await.ok();
    assert_ne!(restarted["pid"], before["pid"]);
    coop.shows("30 100").await;

    let mut words = Vec::new();
    while words.last() != Some(&"unknown".to_owned()) {
        let event = ws.hear().await.event();
        assert_ne!(event["event"], "exit", "a requested restart is no exit");
        if event["event"] == "transition" {
            assert!(event["seq"].as_u64() > before["seq"].as_u64(), "{event}");
            words.push(event["next"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(words, ["restarting", "starting", "unknown"]);

    let mut end = 0;
    let mut bytes = Vec::new();
    while String::from_utf8_lossy(&bytes).matches("I am").count() < 2 {
        let chunk = output.value().await;
        assert_eq!(chunk["offset"], end, "no gap and no double");
        bytes.extend(crate::output::data(&chunk));
        end = bytes.len() as u64;
    }
    let after = coop.status().await;
    assert_eq!((&after["restarts"], &after["state"], &after["pid"]), (&json!(1), &json!("running"), &restarted["pid"]));
    assert_eq!(after["terminal"], json!({"cols": 100, "rows": 30}));
    assert!(after["bytes_read"].as_u64() > before["bytes_read"].as_u64());
    assert!(!alive(i32::try_from(before["pid"].as_i64().unwrap()).unwrap()), "the old one is gone");
}

#[tokio::test]
async fn changed_variables_stay_for_later_restarts() {
    let coop = Coop::start(&["--port", "0", "--env", "KEY=old"], &sh("echo \"<$KEY $MORE>\"; sleep 1000"));
    coop.shows("<old >").await;
    coop.post(RESTART, json!({"env": {"KEY": "new", "MORE": "yes"}})).await.ok();
    coop.shows("<new yes>").await;
    coop.post(RESTART, json!({"env": {"MORE": "again"}})).await.ok();
    coop.shows("<new again>").await;
}

#[tokio::test]
async fn a_child_that_has_exited_can_be_started_again() {
    let coop = Coop::run(&sh("echo once; exit 4"));
    assert_eq!(coop.exited().await["code"], 4);
    let seq = coop.status().await["seq"].as_u64();
    coop.post(RESTART, json!({})).await.ok();
    coop.wait(json!({"offset": "once\r\nonce\r\n".len()})).await;
    assert_eq!(coop.exited().await["code"], 4);
    assert!(coop.status().await["seq"].as_u64() > seq);
}

#[tokio::test]
async fn a_restart_that_fails_says_why() {
    let scratch = Scratch::new();
    let program = scratch.file("program", "#!/bin/sh\nread line\n");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let coop = Coop::run(&[&program]);
    coop.status().await;
    std::fs::remove_file(&program).unwrap();
    let (status, code, message) = coop.post(RESTART, json!({})).await.error();
    assert_eq!((status, code.as_str()), (500, "INTERNAL"));
    assert!(message.contains(&program), "{message}");
    assert_eq!(coop.status().await["exit_code"], 127);
}

#[tokio::test]
async fn input_for_a_dead_child_never_reaches_the_next() {
    let scratch = Scratch::new();
    let script = format!(
        "if [ -e {flag} ]; then stty -echo; echo second; cat -v; else : > {flag}; stty raw -echo; echo first; sleep 1000; fi",
        flag = scratch.path("flag").display()
    );
    let coop = Coop::run(&sh(&script));
    coop.shows("first").await;
    let ghosts = "ghost\n".repeat(50_000);
    let sent = coop.post("/api/v1/input", json!({"text": ghosts, "wait_for": "queued"})).await.ok();
    assert_eq!(sent["receipt"]["phase"], "queued");
    assert!(coop.status().await["input_queued"].as_u64() > Some(0));
    let mut ws = coop.place.ws("/ws?mode=state").await;
    ws.next_event("transition").await;
    coop.post(RESTART, json!({})).await.ok();
    let receipt = ws.next_event("receipt").await;
    assert_eq!((&receipt["id"], &receipt["phase"]), (&sent["receipt"]["id"], &json!("refused")));
    coop.shows("second").await;
    coop.types("alive").await;
    coop.shows("alive").await;
    assert_eq!(coop.status().await["input_queued"], 0);
    let output = coop.output().await;
    assert!(!String::from_utf8_lossy(&output).contains("ghost"));
}

#[tokio::test]
async fn what_the_last_program_left_of_its_terminal_is_undone() {
    let scratch = Scratch::new();
    let flag = scratch.path("flag");
    let script = format!(
        "if [ -e {flag} ]; then echo second; cat -v; else : > {flag}; printf '\\033[?1049h\\033[?1h\\033[?2004hfirst'; sleep 1000; fi",
        flag = flag.display()
    );
    let coop = Coop::run(&sh(&script));
    coop.shows("first").await;
    assert_eq!(coop.get("/api/v1/screen").await.ok()["alt_screen"], true);
    coop.post(RESTART, json!({})).await.ok();
    coop.shows("second").await;
    assert_eq!(coop.get("/api/v1/screen").await.ok()["alt_screen"], false);
    coop.post("/api/v1/input/keys", json!({"keys": ["up", "enter"]})).await.ok();
    coop.shows("^[[A").await;
}

#[tokio::test]
async fn two_restarts_at_once_start_one_child_each_or_say_so() {
    let coop = Coop::run(&sh("echo up; sleep 1000"));
    coop.shows("up").await;
    let (one, other) = tokio::join!(coop.post(RESTART, json!({})), coop.post(RESTART, json!({})));
    let done: Vec<u16> = [&one, &other].map(|answer| answer.status).into();
    assert!(done.contains(&200), "{done:?}");
    for answer in [one, other] {
        assert!(answer.status == 200 || answer.refused() == (503, "NOT_READY".to_owned()), "{}", answer.text());
    }
    let status = coop.status().await;
    assert_eq!(status["state"], "running");
    assert_ne!(status["pid"], Value::Null);
}

#[tokio::test]
async fn the_next_child_begins_below_what_the_last_one_left() {
    // The first leaves margins, mouse reports and half a line behind.
    let first = "printf '\\033[2;9r\\033[H1\\n2\\n3\\n\\033[?1000hleft'";
    let coop = Coop::run(&sh(&format!("if [ -n \"$AGAIN\" ]; then echo new; else {first}; fi; sleep 1000")));
    coop.shows("left").await;
    coop.post("/api/v1/signal", json!({"signal": "KILL"})).await.ok();
    coop.exited().await;
    coop.post(RESTART, json!({"env": {"AGAIN": "yes"}})).await.ok();
    coop.shows("new").await;
    let screen = coop.get("/api/v1/screen").await.ok();
    assert_eq!(screen["lines"].as_array().unwrap()[..5], ["1", "2", "3", "left", "new"]);
}

#[tokio::test]
async fn what_follows_from_an_end_is_known_with_it_and_whoever_starts_by_hand_gives_another_chance() {
    let coop = Coop::start(&["--port", "0", "--restart", "always"], &sh("read -r line"));
    let mut ws = coop.place.ws("/ws?mode=state").await;
    for end in 1..=5 {
        coop.wait(json!({"states": ["unknown"]})).await;
        coop.post("/api/v1/input", json!({"text": "", "enter": true})).await.ok();
        ws.next_event("exit").await;
        let status = coop.status().await;
        let told = (status["parked"] == true, status["restarts_at_ms"].is_u64());
        assert_eq!(told, (end == 5, end < 5), "after end {end}: {status}");
    }
    coop.post(RESTART, json!({})).await.ok();
    assert_eq!(coop.status().await["parked"], false);
    coop.post("/api/v1/signal", json!({"signal": "KILL"})).await.ok();
    ws.next_event("exit").await;
    let status = coop.status().await;
    assert!(status["restarts_at_ms"].is_u64() && status["parked"] == false, "{status}");
}

#[tokio::test]
async fn a_program_that_ends_before_anybody_listens_is_started_again_all_the_same() {
    let scratch = Scratch::new();
    let counts = format!("echo x >>{0}; echo \"start $(wc -l <{0})\"", scratch.path("starts").display());
    let coop = Coop::start(&["--port", "0", "--restart", "always"], &sh(&counts));
    coop.shows("start 3").await;
}
