//! The child: how it is started, what it finds, what reaches it, and what is left when it has gone.

use coop::proto::v1;
use serde_json::{Value, json};
use tonic::Code;

use crate::support::{Coop, Scratch, alive, environment, reason_of, run_to_its_end, sh};

#[tokio::test]
async fn the_program_gets_its_arguments_as_they_are_without_a_shell() {
    let coop = Coop::run(&["printf", "%s|", "a b", "$HOME", "*", ";", "", "it's"]);
    coop.shows("a b|$HOME|*|;||it's|").await;
    assert_eq!(coop.status().await["command"][3], "$HOME");
}

#[tokio::test]
async fn the_child_finds_its_own_terminal_and_the_way_to_coop_but_not_the_token() {
    let scratch = Scratch::new();
    let socket = scratch.path("coop.sock");
    let flags =
        ["--port", "0", "--socket", socket.to_str().unwrap(), "--auth-token-file", &scratch.file("token", "s3cret\n")];
    let coop = Coop::start_with(&flags, &["cat"], |command| {
        command.env("TERM", "dumb").env("COLUMNS", "7").env("TMUX", "/tmp/x").env("KEPT", "yes");
        command.env("COOP_AUTH_TOKEN", "s3cret").env("COOP_URL", "http://elsewhere");
    });
    // The child's own id needs no token.
    let health = coop.get("/api/v1/health").await.ok();
    let found = environment(i32::try_from(health["pid"].as_i64().unwrap()).unwrap());
    let has = |entry: &str| found.iter().any(|known| known == entry);
    assert!(has("TERM=xterm-256color") && has("COOP=1") && has("KEPT=yes"), "{found:?}");
    assert!(has(&format!("COOP_URL={}", coop.listening["url"].as_str().unwrap())), "{found:?}");
    assert!(has(&format!("COOP_SOCKET={}", socket.display())), "{found:?}");
    let hook = found.iter().find_map(|entry| entry.strip_prefix("COOP_HOOK_TOKEN=")).unwrap();
    assert!(hook.len() >= 32, "{hook}");
    let foreign = ["COLUMNS=", "TMUX=", "COOP_AUTH_TOKEN"];
    assert!(!found.iter().any(|entry| foreign.iter().any(|name| entry.starts_with(name))), "{found:?}");
    assert!(!found.iter().any(|entry| entry.contains("s3cret")), "{found:?}");
}

#[tokio::test]
async fn without_a_port_the_child_is_told_no_url() {
    let scratch = Scratch::new();
    let coop = Coop::start(&["--socket", scratch.path("s").to_str().unwrap()], &["cat"]);
    let found = environment(coop.child_pid().await);
    assert!(!found.iter().any(|entry| entry.starts_with("COOP_URL=")), "{found:?}");
    assert!(found.iter().any(|entry| entry.starts_with("COOP_SOCKET=/")), "{found:?}");
}

#[tokio::test]
async fn directory_variables_and_terminal_are_the_operators_choice() {
    let scratch = Scratch::new();
    let dir = scratch.dir().canonicalize().unwrap();
    let flags = [
        "--port",
        "0",
        "--cwd",
        dir.to_str().unwrap(),
        "--env",
        "COLOUR=red=blue",
        "--env",
        "EMPTY=",
        "--term",
        "vt220",
    ];
    let coop = Coop::start(&flags, &sh("pwd; echo \"<$COLOUR|${EMPTY-unset}|$TERM>\"; stty size; sleep 1000"));
    coop.shows("<red=blue||vt220>").await;
    coop.shows("24 80").await;
    coop.shows(dir.to_str().unwrap()).await;
    assert_eq!(coop.status().await["cwd"], dir.to_str().unwrap());
}

#[tokio::test]
async fn a_program_that_cannot_run_is_an_exit_with_the_reason() {
    let scratch = Scratch::new();
    let plain = scratch.file("plain", "no program");
    for (program, code) in [("no-such-bsah", 127), ("/no/such/program", 127), (plain.as_str(), 126), ("/tmp", 126)] {
        let coop = Coop::run(&[program]);
        let exit = coop.exited().await;
        assert_eq!((&exit["code"], &exit["signal"]), (&json!(code), &Value::Null), "{program}");
        let status = coop.status().await;
        assert_eq!((&status["state"], &status["exit_code"]), (&json!("exited"), &json!(code)), "{program}");
        assert!(status["error"].as_str().unwrap().contains(program), "{status}");
        coop.log_says("could not be started").await;
        let ready = coop.get("/api/v1/ready").await;
        assert!(ready.status == 503 && ready.text().contains(program), "{}", ready.text());
    }
}

#[tokio::test]
async fn a_missing_directory_is_refused_before_anything_starts() {
    let (code, out, err) = run_to_its_end(&["--port", "0", "--cwd", "/no/such/dir"], &["cat"]);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
    assert!(err.contains("/no/such/dir"), "{err}");
}

#[tokio::test]
async fn an_exit_is_told_as_a_code_or_as_a_signal_and_never_as_both() {
    for (script, code, signal) in [("exit 3", json!(3), Value::Null), ("kill -TERM $$", Value::Null, json!(15))] {
        let coop = Coop::run(&sh(script));
        let exit = coop.exited().await;
        assert_eq!((&exit["code"], &exit["signal"]), (&code, &signal), "{script}");
        let status = coop.status().await;
        assert_eq!((&status["exit_code"], &status["exit_signal"], &status["pid"]), (&code, &signal, &Value::Null));
    }
}

#[tokio::test]
async fn the_last_output_is_there_when_the_exit_is_told() {
    let coop = Coop::run(&sh("seq 1 20000; echo last words"));
    let exit = coop.exited().await;
    assert_eq!(exit["code"], 0);
    assert!(coop.screen().await.ends_with("20000\nlast words"));
    assert!(coop.output().await.ends_with(b"20000\r\nlast words\r\n"));
    assert!(coop.get("/api/v1/screen/text").await.text().trim_end().ends_with("last words"));
}

#[tokio::test]
async fn after_the_exit_nothing_can_be_written_and_everything_read() {
    let coop = Coop::run(&sh("echo bye; exit 0"));
    coop.exited().await;
    for (path, body) in [
        ("input", json!({"text": "x"})),
        ("input/raw", json!({"data": "eA=="})),
        ("input/keys", json!({"keys": ["enter"]})),
        ("resize", json!({"cols": 90, "rows": 30})),
        ("signal", json!({"signal": "KILL"})),
    ] {
        let refused = coop.post(&format!("/api/v1/{path}"), body).await.refused();
        assert_eq!(refused, (410, "EXITED".to_owned()), "{path}");
    }
    let mut grpc = coop.place.grpc().await;
    let exited = (Code::NotFound, "EXITED".to_owned(), "coop".to_owned());
    let input = v1::SendInputRequest { text: "x".into(), ..Default::default() };
    assert_eq!(reason_of(&grpc.send_input(input).await.unwrap_err()), exited);
    let signal = v1::SendSignalRequest { signal: "TERM".into() };
    assert_eq!(reason_of(&grpc.send_signal(signal).await.unwrap_err()), exited);
    let nudge = coop.post("/api/v1/agent/nudge", json!({"message": "hi"})).await.refused();
    assert_eq!(nudge, (404, "NO_DRIVER".to_owned()), "also after the exit");
    assert_eq!(coop.screen().await, "bye");
    assert_eq!(coop.get("/api/v1/agent/state").await.ok()["state"], "exited");
    let mut late = coop.place.ws("/ws").await;
    let exit = late.next_event("exit").await;
    assert_eq!((&exit["code"], &exit["signal"]), (&json!(0), &Value::Null), "a late reader is told, too");
}

#[tokio::test]
async fn a_resize_reaches_the_child_and_the_screen() {
    let coop = Coop::run(&sh("trap 'stty size' WINCH; sleep 1000 & echo ready; while :; do wait; done"));
    coop.shows("ready").await;
    let resized = coop.post("/api/v1/resize", json!({"cols": 101, "rows": 33})).await.ok();
    assert_eq!(resized, json!({"cols": 101, "rows": 33}));
    coop.shows("33 101").await;
    let screen = coop.get("/api/v1/screen").await.ok();
    assert_eq!((&screen["cols"], &screen["rows"]), (&json!(101), &json!(33)));
    assert_eq!(screen["lines"].as_array().unwrap().len(), 33);
    assert_eq!(coop.get("/api/v1/health").await.ok()["terminal"], json!({"cols": 101, "rows": 33}));
}

#[tokio::test]
async fn a_burst_of_resizes_ends_with_the_last() {
    let coop = Coop::run(&sh("trap 'stty size' WINCH; sleep 1000 & echo ready; while :; do wait; done"));
    coop.shows("ready").await;
    let mut ws = coop.place.ws("/ws?mode=state").await;
    for n in 0..100 {
        ws.say(json!({"event": "resize", "cols": 40 + n, "rows": 20 + n % 7})).await;
    }
    ws.say(json!({"event": "resize", "cols": 123, "rows": 45})).await;
    coop.shows("45 123").await;
    let screen = coop.get("/api/v1/screen").await.ok();
    assert_eq!((&screen["cols"], &screen["rows"]), (&json!(123), &json!(45)));
}

#[tokio::test]
async fn the_smallest_and_the_largest_size_are_borne() {
    let coop = Coop::run(&["cat"]);
    for (cols, rows) in [(1, 1), (1000, 1000), (1, 1000), (1000, 1), (80, 24)] {
        coop.post("/api/v1/resize", json!({"cols": cols, "rows": rows})).await.ok();
        coop.types("wörld 日本語 ééé").await;
        let screen = coop.get("/api/v1/screen").await.ok();
        assert_eq!(screen["lines"].as_array().unwrap().len(), rows);
    }
}

#[tokio::test]
async fn a_signal_reaches_the_whole_group() {
    let script = "trap 'echo caught' TERM; sleep 1000 & echo \"<$!>\"; wait; wait; echo woken; read line";
    let coop = Coop::run(&sh(script));
    let line = coop.shows(">").await;
    let grandchild: i32 = line.trim_matches(['<', '>']).parse().unwrap();
    assert!(alive(grandchild));
    assert_eq!(coop.post("/api/v1/signal", json!({"signal": "SIGTERM"})).await.ok(), json!({"delivered": true}));
    coop.shows("caught").await;
    // The shell is still there; its child died of the signal itself.
    coop.shows("woken").await;
    assert!(!alive(grandchild));
    assert_eq!(coop.status().await["state"], "running");
}
