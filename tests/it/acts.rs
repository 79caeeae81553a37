//! The verbs that change a session or end it, and those that tell of a conversation.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::support::{Claude, Coop, PATIENCE, Scratch, alive, descendants, finished, run_coop, sh};

#[tokio::test]
async fn the_terminal_takes_another_size() {
    let coop = Coop::run(&sh("read line; stty size; read line"));
    assert_eq!(coop.verb(&["resize", "100x30"]).await.ok(), "100x30\n");
    coop.types("").await;
    coop.shows("30 100").await;
    assert_eq!(coop.verb(&["resize", "90x20", "--json"]).await.json(), json!({"cols": 90, "rows": 20}));
    assert!(coop.verb(&["resize", "0x20"]).await.complaint().contains("0x20"));
}

#[tokio::test]
async fn a_signal_reaches_the_program() {
    let coop = Coop::run(&sh("trap 'echo caught' USR1; echo ready; while :; do read line; done"));
    coop.shows("ready").await;
    assert_eq!(coop.verb(&["signal", "usr1"]).await.ok(), "signalled the process group: usr1\n");
    coop.shows("caught").await;
    assert_eq!(coop.verb(&["signal", "10", "--json"]).await.json(), json!({"delivered": true}));
    assert!(coop.verb(&["signal", "nonsense"]).await.complaint().contains("SIGINT"), "what would do is named");
}

#[tokio::test]
async fn variables_are_shown_and_changed_and_a_restart_brings_them() {
    let coop = Coop::start(&["--port", "0", "--env", "KEY=old"], &sh("echo \"<$KEY $MORE $LAST>\"; read line"));
    coop.shows("<old  >").await;
    assert_eq!(coop.verb(&["env"]).await.ok(), "KEY=old\n");
    assert_eq!(coop.verb(&["env", "set", "KEY=new", "MORE=a b"]).await.ok(), "KEY=new\nMORE=a b\n");
    assert_eq!(coop.verb(&["env", "show", "MORE"]).await.ok(), "MORE=a b\n");
    assert!(coop.verb(&["env", "show", "NOPE"]).await.complaint().contains("NOPE"), "it is not set");
    let again = coop.verb(&["restart", "--env", "LAST=z"]).await.ok();
    assert!(again.starts_with("started again (pid "), "{again}");
    coop.shows("<new a b z>").await;
    let unset = coop.verb(&["env", "unset", "KEY", "--json"]).await.json();
    assert_eq!(unset, json!({"variables": {"LAST": "z", "MORE": "a b"}, "unset": ["KEY"]}));
    assert_eq!(coop.verb(&["env"]).await.ok(), "LAST=z\nMORE=a b\n-KEY\n");
    let answer = coop.verb(&["restart", "--json"]).await.json();
    assert_eq!(answer["pid"], coop.status().await["pid"]);
    coop.shows("< a b z>").await;
    assert!(coop.verb(&["env", "set", "COOP=2"]).await.complaint().contains("COOP is coop's own"));
}

#[tokio::test]
async fn stop_ends_the_program_with_its_processes_and_says_so() {
    let coop = Coop::run(&sh("sleep 1000 & sleep 1000 & echo ready; wait"));
    coop.shows("ready").await;
    let pid = coop.child_pid().await;
    let all = descendants(pid);
    assert!(all.len() >= 2, "{all:?}");
    let told = coop.verb(&["stop"]).await.ok();
    assert!(told.starts_with("stopped ") && told.ends_with(&format!(" (pid {pid})  ended by signal 1\n")), "{told}");
    assert!(coop.left().await.success());
    assert!(all.into_iter().chain([pid]).all(|pid| !alive(pid)), "nothing is left");
}

#[tokio::test]
async fn what_does_not_want_to_end_is_killed_by_stop_now() {
    let coop = Coop::run(&sh("trap '' HUP TERM; echo ready; while :; do sleep 1000; done"));
    coop.shows("ready").await;
    let slow = coop.verb(&["stop", "--timeout", "0.2"]).await;
    assert!(slow.code == Some(124) && slow.err.contains("coop stop --now") && slow.out.is_empty(), "{slow:?}");
    // Sooner than the grace of 10 seconds, after which it would be killed anyhow.
    let ended = coop.verb(&["stop", "--now", "--json", "--timeout", "6"]).await;
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{ended:?}");
    assert_eq!(json!([ended.json()["left"], ended.json()["exit"]["signal"]]), json!([true, 9]), "{ended:?}");
    assert!(coop.left().await.success());
}

#[tokio::test]
async fn ready_tells_without_a_token_whether_the_session_can_be_used() {
    let scratch = Scratch::new();
    let socket = scratch.path("s").display().to_string();
    let early = tokio::spawn({
        let socket = socket.clone();
        async move { run_coop(&["ready", "--wait", "15", "--socket", &socket], &[]).await }
    });
    let flags = ["--socket", &socket, "--port", "0", "--auth-token", "correct-horse"];
    let coop = Coop::start(&flags, &sh("read line; exit 3"));
    assert_eq!(early.await.unwrap().ok(), "ready\n", "who waits may come before it");
    assert_eq!(coop.verb(&["ready", "--json"]).await.json(), json!({"ready": true, "reason": null}));
    coop.types("").await;
    coop.exited().await;
    let ended = coop.verb(&["ready"]).await;
    assert_eq!(ended.complaint(), "not ready: the child has exited");
    assert_eq!(coop.verb(&["ready", "--wait", "0.1"]).await.code, Some(124));
    assert_eq!(run_coop(&["ready", "--socket", "/no/such/socket", "--wait", "0"], &[]).await.code, Some(124));
    run_coop(&["ready", "--socket", "/no/such/socket"], &[]).await.complaint();
}

#[tokio::test]
async fn the_page_is_opened_with_the_users_browser_which_alone_gets_the_token() {
    let scratch = Scratch::new();
    let opened = scratch.path("opened");
    let browser = scratch.file("browser", format!("#!/bin/sh\nprintf '%s' \"$*\" > {}\n", opened.display()));
    std::fs::set_permissions(&browser, PermissionsExt::from_mode(0o755)).unwrap();
    let coop = Coop::start(&["--port", "0", "--auth-token", "correct+horse"], &["cat"]);
    let url = format!("{}/", coop.listening["url"].as_str().unwrap());
    let open = async |words: &[&str], browser: &str| {
        let mut command = coop.verb_command(words);
        command.env("BROWSER", browser);
        finished(command.into()).await
    };
    let token = ["--token", "correct+horse"];
    let list = format!("/no/such/browser:{browser} --new %s");
    assert_eq!(open(&["open", token[0], token[1]], &list).await.ok(), format!("{url}\n"));
    let address = std::fs::read_to_string(&opened).unwrap();
    assert_eq!(address, format!("--new {url}#token=correct%2Bhorse"), "no browser sends what is behind the #");
    assert_eq!(open(&["open", "--no-token", token[0], token[1]], &list).await.ok(), format!("{url}\n"));
    assert_eq!(std::fs::read_to_string(&opened).unwrap(), format!("--new {url}"));
    std::fs::remove_file(&opened).unwrap();
    assert_eq!(open(&["open", "--print", "--json", token[0], token[1]], &list).await.json(), json!({"url": url}));
    assert!(!opened.exists(), "only printed");
    let without = open(&["open", token[0], token[1]], "false").await;
    assert!(without.code == Some(1) && without.text() == format!("{url}\n"), "{without:?}");
    assert!(without.err.contains("what BROWSER names") && !without.err.contains("horse"), "{without:?}");
    let by_url = run_coop(&["open", "--url", &url], &[("BROWSER", &browser)]).await;
    assert_eq!((by_url.code, std::fs::read_to_string(&opened).unwrap()), (Some(0), url), "the page asks for the token");
    let on_socket = Coop::start(&["--socket", scratch.path("s").to_str().unwrap()], &["cat"]);
    assert!(on_socket.verb(&["open"]).await.complaint().contains("--port"));
}

#[tokio::test]
async fn usage_and_transcripts_are_told_as_the_calls_do() {
    let claude = Claude::start(&[]).await;
    let line = |n: usize| format!("{}\n", json!({"type": "user", "message": {"content": format!("line {n}")}}));
    let log = claude.home.file("talk.jsonl", line(1));
    let payload = json!({"session_id": "talk", "transcript_path": log, "trigger": "manual", "source": "startup"});
    let mut events = claude.call("GET", "/api/v1/stream/transcripts").stream().await;
    claude.hook("PreCompact", payload).await;
    let taken = events.value().await;
    std::fs::write(&log, line(1) + &line(2)).unwrap();

    let usage = claude.verb(&["usage"]).await.ok();
    assert!(usage.starts_with("0 requests  0 tokens in, 0 out"), "{usage}");
    assert_eq!(claude.verb(&["usage", "--json"]).await.json(), claude.get("/api/v1/session/usage").await.ok());

    let at = taken["timestamp"].as_str().unwrap();
    let listed = format!("1  {at}  1 lines, {} bytes\n", line(1).len());
    assert_eq!(claude.verb(&["transcripts"]).await.ok(), listed);
    assert_eq!(claude.verb(&["transcripts", "list"]).await.ok(), listed);
    assert_eq!(claude.verb(&["transcripts", "show", "1"]).await.ok(), line(1));
    assert_eq!(claude.verb(&["transcripts", "catchup"]).await.ok(), line(1) + &line(1) + &line(2));
    let words = ["transcripts", "catchup", "--since-transcript", "1", "--since-line", "1"];
    assert_eq!(claude.verb(&words).await.ok(), line(2));
    let answer: Value = claude.get("/api/v1/transcripts/catchup?since_transcript=1&since_line=1").await.ok();
    assert_eq!(claude.verb(&[&words[..], &["--json"]].concat()).await.json(), answer);
    assert!(claude.verb(&["transcripts", "show", "7"]).await.complaint().contains('7'));
    let first = claude.first_line(&["transcripts", "catchup", "--follow", "--since-transcript", "1"]).await;
    assert_eq!((first.code, first.text()), (Some(0), line(1)), "it goes when its reader does");
}

#[tokio::test]
async fn who_follows_a_conversation_gets_the_next_one_from_its_beginning() {
    let claude = Claude::start(&[]).await;
    let line = |n: usize| format!("{}\n", json!({"type": "user", "message": {"content": format!("line {n}")}}));
    let begins = async |name: &str, text: String| {
        let log = claude.home.file(name, text);
        claude.hook("SessionStart", json!({"session_id": name, "transcript_path": log, "source": "clear"})).await;
    };
    begins("before", line(1)).await;
    claude.is("idle").await;
    let mut verb = tokio::process::Command::from(claude.verb_command(&["transcripts", "catchup", "--follow"]));
    let mut verb = verb.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut told = BufReader::new(verb.stdout.take().unwrap()).lines();
    let mut next = async || {
        let next = tokio::time::timeout(PATIENCE, told.next_line()).await;
        next.expect("a line is told in time").unwrap().expect("it follows on") + "\n"
    };
    assert_eq!(next().await, line(1));
    // Longer than the one before: its lines alone do not tell that it is another.
    begins("after", line(8) + &line(9)).await;
    assert_eq!([next().await, next().await], [line(8), line(9)]);
}
