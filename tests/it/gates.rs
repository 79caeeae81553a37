//! Gates: what an agent is told at its start, and whether it may stop.

use std::io::Write;

use coop::proto::v1;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::support::{Answer, Claude, Coop, Ended, Hook, Lines, Place, binary, finished};

const CONFIG_STOP: &str = "/api/v1/config/stop";
const CONFIG_START: &str = "/api/v1/config/start";

async fn gated(stop: Value) -> Claude {
    Claude::configured(json!({ "stop": stop })).await
}

async fn stops(claude: &Claude) -> Lines {
    claude.call("GET", "/api/v1/stream/stop").stream().await
}

async fn put(claude: &Claude, path: &str, config: Value) -> Answer {
    claude.call("PUT", path).json(&config).send().await
}

/// The agent wants to stop; why it may not, unless it may.
async fn stop(claude: &Claude, already_held: bool) -> Option<String> {
    let printed = claude.hook("Stop", json!({"stop_hook_active": already_held})).await;
    if printed.is_empty() {
        return None;
    }
    let told: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((told["decision"].as_str(), told.as_object().unwrap().len()), (Some("block"), 2), "{told}");
    Some(told["reason"].as_str().unwrap().to_owned())
}

/// `coop send` with these words, as the child runs it.
async fn send(claude: &Claude, words: &[&str]) -> Ended {
    let mut command = claude.command(binary());
    command.arg("send").args(words);
    finished(command).await
}

/// The same coop, for somebody who knows only what the child was told.
fn from_inside(claude: &Claude) -> Place {
    Place { token: Some(claude.variable("COOP_HOOK_TOKEN").to_owned()), ..claude.place.clone() }
}

#[tokio::test]
async fn without_a_gate_every_stop_is_allowed_and_told_on_every_face() {
    let claude = Claude::start(&[]).await;
    let mut lines = stops(&claude).await;
    let mut ws = claude.place.ws("/ws?mode=state").await;
    let mut grpc = claude.place.grpc().await;
    let streamed = grpc.stream_stop_events(v1::StreamStopEventsRequest::default()).await;
    let mut streamed = streamed.unwrap().into_inner();
    for _ in 0..2 {
        assert_eq!(stop(&claude, false).await, None);
        let event = lines.value().await;
        assert_eq!(json!([event["type"], event["signal"], event["error_detail"]]), json!(["allowed", null, null]));
        let heard = ws.next_event("stop").await;
        assert_eq!(json!([heard["type"], heard["seq"]]), json!(["allowed", event["seq"]]));
        let message = claude.place.within("a stop event", streamed.message()).await.unwrap().unwrap();
        assert_eq!((message.r#type(), json!(message.seq)), (v1::StopType::Allowed, event["seq"].clone()));
    }
    let mut again = claude.call("GET", "/api/v1/stream/stop?after_seq=0").stream().await;
    let seqs = [again.value().await["seq"].as_u64(), again.value().await["seq"].as_u64()];
    assert!(seqs[0] < seqs[1], "whoever comes back gets all: {seqs:?}");
}

#[tokio::test]
async fn the_command_that_a_held_agent_is_told_opens_the_gate() {
    let claude = gated(json!({"mode": "auto", "prompt": "Run the tests first."})).await;
    claude.hook("UserPromptSubmit", json!({"prompt": "go"})).await;
    claude.is("working").await;
    let mut events = stops(&claude).await;
    let reason = stop(&claude, false).await.unwrap();
    assert!(reason.starts_with("Run the tests first."), "{reason}");
    assert_eq!(events.value().await["type"], "blocked");
    assert_eq!(claude.state().await["state"], "working", "it goes on");
    let told = reason.lines().find_map(|line| line.strip_prefix("    ")).unwrap();
    let mut shell = claude.command("sh");
    shell.args(["-c", told]);
    assert!(finished(shell).await.ok().contains("you may stop now"));
    assert_eq!(stop(&claude, true).await, None);
    let event = events.value().await;
    assert_eq!(json!([event["type"], event["signal"]]), json!(["signaled", {"status": "done"}]));
    claude.is("idle").await;
}

#[tokio::test]
async fn a_gate_says_the_operators_words_and_opens_once() {
    let words = "  Nicht jetzt: \"später\"\n\nBitte.\n";
    let claude = gated(json!({"mode": "gate", "prompt": words})).await;
    assert_eq!(stop(&claude, false).await.as_deref(), Some(words));
    let taken = send(&claude, &["--json", r#"{"a":[1,null]}"#]).await;
    assert_eq!((taken.code, taken.json()), (Some(0), json!({"accepted": true})));
    assert_eq!(stop(&claude, true).await, None);
    claude.hook("UserPromptSubmit", json!({"prompt": "more"})).await;
    assert_eq!(stop(&claude, false).await.as_deref(), Some(words), "the signal is used up");
}

#[tokio::test]
async fn a_signal_that_does_not_fit_is_refused_with_what_would() {
    let schema = json!({"fields": {
        "status": {"required": true, "enum": ["done", "stuck"], "descriptions": {"done": "all tests pass"}},
        "summary": {"required": true, "description": "what was done"},
    }});
    let claude = gated(json!({"mode": "auto", "schema": schema, "max_blocks": 9})).await;
    let reason = stop(&claude, false).await.unwrap();
    for part in ["status (required)", "done: all tests pass", "stuck", "summary (required): what was done"] {
        assert!(reason.contains(part), "says nothing of {part:?}: {reason}");
    }
    for (signal, parts) in [
        (r#"{"status":"finished","summary":"x"}"#, &["\"status\"", "\"finished\"", "\"done\", \"stuck\""][..]),
        (r#"{"status":"done"}"#, &["\"summary\" is missing", "what was done"]),
        (r#"{"status":"done","summary":"x","extra":1}"#, &["no field \"extra\""]),
        (r#"["done"]"#, &["an array", "JSON object"]),
        ("{status:done}", &["not JSON", "single quotes"]),
    ] {
        let ended = send(&claude, &[signal]).await;
        assert_eq!((ended.code, ended.text().as_str()), (Some(1), ""), "{signal}");
        for part in parts {
            assert!(ended.err.contains(part), "{signal}: says nothing of {part:?}: {}", ended.err);
        }
        let over_http = from_inside(&claude).call("POST", "/api/v1/stop/resolve").bytes(signal.to_owned()).send().await;
        let (status, code, message) = over_http.error();
        assert_eq!((status, code.as_str()), (400, "BAD_REQUEST"), "{signal}: {message}");
        assert!(signal.starts_with("{st") || parts.iter().all(|part| message.contains(part)), "{signal}: {message}");
    }
    assert!(stop(&claude, true).await.is_some(), "the gate is still closed");
    assert!(send(&claude, &[r#"{"status":"stuck","summary":"no network"}"#]).await.ok().contains("taken"));
    assert_eq!(stop(&claude, true).await, None);
}

#[tokio::test]
async fn an_agent_is_held_so_often_and_no_more() {
    for (max_blocks, held) in [(Value::Null, 1), (json!(3), 3)] {
        let claude = gated(json!({"mode": "auto", "max_blocks": max_blocks})).await;
        let mut events = stops(&claude).await;
        for turn in 0..2 {
            claude.hook("UserPromptSubmit", json!({"prompt": "go"})).await;
            for block in 0..held {
                assert!(stop(&claude, block > 0).await.is_some(), "turn {turn}, block {block}");
                assert_eq!(events.value().await["type"], "blocked");
            }
            assert_eq!(stop(&claude, true).await, None);
            assert_eq!(events.value().await["type"], "safety_valve");
        }
        // As after an interrupt, when the second stop never came.
        assert!(stop(&claude, false).await.is_some());
        claude.hook("UserPromptSubmit", json!({"prompt": "go"})).await;
        assert!(stop(&claude, false).await.is_some(), "a new turn counts anew");
    }
}

#[tokio::test]
async fn an_agent_that_met_an_error_is_not_held() {
    let claude = gated(json!({"mode": "auto"})).await;
    let mut events = stops(&claude).await;
    claude.hook("StopFailure", json!({"error": "billing_error", "last_assistant_message": "No credit"})).await;
    claude.is("error").await;
    assert_eq!(stop(&claude, false).await, None);
    let event = events.value().await;
    assert_eq!(json!([event["type"], event["error_detail"]]), json!(["error", "No credit"]));
}

#[tokio::test]
async fn a_stop_that_cannot_be_read_is_held_as_well() {
    let claude = gated(json!({"mode": "gate", "prompt": "Not yet."})).await;
    for payload in ["{", "[]"] {
        claude.hook("UserPromptSubmit", json!({"prompt": "go"})).await;
        let mut events = stops(&claude).await;
        let told = claude.begin_with("Stop", payload).told().await;
        assert_eq!(told, json!({"decision": "block", "reason": "Not yet."}), "{payload}");
        assert_eq!(events.value().await["type"], "blocked");
        assert_eq!(claude.begin_with("Stop", payload).ended().await, "", "it is not held for ever");
        assert_eq!(events.value().await["type"], "safety_valve");
    }
}

#[tokio::test]
async fn a_stop_that_is_only_told_leaves_the_gate_to_the_one_that_asks() {
    let claude = gated(json!({"mode": "gate", "prompt": "Not yet."})).await;
    let tell = || {
        let pipe = std::fs::OpenOptions::new().write(true).open(claude.variable("COOP_HOOK_PIPE"));
        pipe.unwrap().write_all(b"{\"event\":\"Stop\",\"data\":{\"session_id\":\"told\"}}\n").unwrap();
    };
    claude.hook("UserPromptSubmit", json!({"prompt": "go"})).await;
    tell();
    claude.is("idle").await;
    assert_eq!(stop(&claude, false).await.as_deref(), Some("Not yet."), "the one block was not used up");
    claude.is("working").await;
    send(&claude, &[r#"{"status":"done"}"#]).await.ok();
    tell();
    claude.is("idle").await;
    let mut events = stops(&claude).await;
    assert_eq!(stop(&claude, false).await, None);
    assert_eq!(events.value().await["type"], "signaled", "nor was the signal");
}

#[tokio::test]
async fn the_gate_can_be_asked_and_opened_over_http_with_the_childs_token_alone() {
    let flags = ["--auth-token", "correct-horse-battery"];
    let claude = Claude::start(&flags).await;
    let inside = from_inside(&claude);
    let stranger = Place { token: None, ..claude.place.clone() };
    put(&claude, CONFIG_STOP, json!({"mode": "gate", "prompt": "Not yet."})).await.ok();
    put(&claude, CONFIG_START, json!({"text": "Welcome."})).await.ok();
    let mut events = stops(&claude).await;

    let asked = inside.call("POST", "/api/v1/hooks/stop").bytes(r#"{"stop_hook_active":false}"#).send().await.ok();
    assert_eq!(asked, json!({"decision": "block", "reason": "Not yet."}));
    assert_eq!(events.value().await["type"], "blocked");
    let resolved = inside.call("POST", "/api/v1/stop/resolve").bytes(r#"{"status":"done","n":7}"#).send().await.ok();
    assert_eq!(resolved, json!({"accepted": true}));
    let asked = inside.call("POST", "/api/v1/hooks/stop").send().await.ok();
    assert_eq!(asked, json!({"decision": null, "reason": null}));
    assert_eq!(events.value().await["signal"], json!({"status": "done", "n": 7}));
    let script = inside.call("POST", "/api/v1/hooks/start").bytes(r#"{"source":"startup"}"#).send().await;
    assert_eq!((script.status, script.header("content-type").split(';').next()), (200, Some("text/plain")));
    let mut shell = Command::new("sh");
    shell.args(["-c", &script.text()]);
    assert_eq!(finished(shell).await.ok(), "Welcome.");

    for path in ["/api/v1/hooks/stop", "/api/v1/hooks/start", "/api/v1/stop/resolve"] {
        let answer = stranger.call("POST", path).bytes("{}").send().await;
        assert_eq!(answer.refused(), (401, "UNAUTHORIZED".to_owned()), "{path}");
    }
    for (verb, path) in [
        ("GET", CONFIG_STOP),
        ("PUT", CONFIG_STOP),
        ("PUT", CONFIG_START),
        ("GET", "/api/v1/stream/stop"),
        ("GET", "/api/v1/agent/state"),
        ("POST", "/api/v1/agent/respond"),
        ("POST", "/api/v1/input"),
        ("GET", "/api/v1/transcripts"),
    ] {
        let answer = inside.call(verb, path).bytes("{}").send().await;
        assert_eq!(answer.refused(), (403, "FORBIDDEN".to_owned()), "{verb} {path}");
    }
}

#[tokio::test]
async fn a_configuration_can_be_read_and_replaced() {
    let claude = gated(json!({"mode": "auto", "max_blocks": 2})).await;
    let config = claude.get(CONFIG_STOP).await.ok();
    assert_eq!(config, json!({"mode": "auto", "prompt": null, "schema": null, "max_blocks": 2}));
    let new = json!({"mode": "gate", "prompt": "No.", "max_blocks": null, "schema": {"fields": {"a": {
        "required": true, "enum": ["x"], "descriptions": {"x": "y"}, "description": "z"}}}});
    assert_eq!(put(&claude, CONFIG_STOP, new.clone()).await.ok(), new);
    assert_eq!(claude.get(CONFIG_STOP).await.ok(), new, "what is read can be written back");
    assert_eq!(stop(&claude, false).await.as_deref(), Some("No."));
    send(&claude, &[r#"{"a":"x"}"#]).await.ok();
    put(&claude, CONFIG_STOP, json!({"mode": "gate", "prompt": "New."})).await.ok();
    assert_eq!(stop(&claude, false).await.as_deref(), Some("New."), "a signal for the old gate does not open this one");
    put(&claude, CONFIG_STOP, json!({})).await.ok();
    assert_eq!(claude.get(CONFIG_STOP).await.ok()["mode"], "allow");
    assert_eq!(stop(&claude, false).await, None);

    let start = json!({"text": "a", "shell": ["date"], "event": {"clear": {"text": null, "shell": ["id"]}}});
    assert_eq!(put(&claude, CONFIG_START, start.clone()).await.ok(), start);
    assert_eq!(claude.get(CONFIG_START).await.ok(), start);
}

#[tokio::test]
async fn a_wrong_configuration_is_refused_by_its_field_and_changes_nothing() {
    let claude = gated(json!({"mode": "auto"})).await;
    let before = claude.get(CONFIG_STOP).await.ok();
    for (path, config, parts) in [
        (CONFIG_STOP, json!({"mode": "never"}), &["mode", "never"][..]),
        (CONFIG_STOP, json!({"mode": "gate"}), &["prompt", "gate"]),
        (CONFIG_STOP, json!({"mode": "gate", "prompt": " "}), &["prompt"]),
        (CONFIG_STOP, json!({"mode": "auto", "max_blocks": 0}), &["max_blocks", "1 or more"]),
        (CONFIG_STOP, json!({"max_blocks": -1}), &["max_blocks"]),
        (CONFIG_STOP, json!({"mod": "auto"}), &["mod"]),
        (CONFIG_STOP, json!({"schema": {"fields": {"a": {"requird": true}}}}), &["requird"]),
        (CONFIG_STOP, json!({"schema": {"fields": {"a": {"enum": ["x"], "descriptions": {"y": ""}}}}}), &["a", "y"]),
        (CONFIG_STOP, json!([]), &["object"]),
        (CONFIG_START, json!({"shell": "date"}), &["shell"]),
        (CONFIG_START, json!({"txt": "x"}), &["txt"]),
        (CONFIG_START, json!({"event": {"clear": {"text": 1}}}), &["text"]),
        (CONFIG_START, json!({"event": {"cleared": {"text": "x"}}}), &["event.cleared", "clear"]),
    ] {
        let (status, code, message) = put(&claude, path, config.clone()).await.error();
        assert_eq!((status, code.as_str()), (400, "BAD_REQUEST"), "{config}: {message}");
        for part in parts {
            assert!(message.contains(part), "{config}: says nothing of {part:?}: {message}");
        }
    }
    assert_eq!(claude.get(CONFIG_STOP).await.ok(), before);
    let coop = Coop::run(&["cat"]);
    for path in [CONFIG_STOP, CONFIG_START] {
        assert_eq!(coop.get(path).await.refused(), (404, "NO_DRIVER".to_owned()));
    }
}

#[tokio::test]
async fn an_agent_is_told_at_its_start_what_the_operator_wants() {
    let text = "it's $HOME `id` \"é\"";
    let start = json!({"text": text, "shell": ["echo $((6 * 7))", "echo oops >&2"], "event": {
        "clear": {"shell": ["echo cleared"]}, "resume": {}, "compact": {"text": "again\n"}}});
    let claude = Claude::configured(json!({ "start": start })).await;
    let mut starts = claude.call("GET", "/api/v1/stream/start").stream().await;
    let mut ws = claude.place.ws("/ws?mode=state").await;
    for (source, told) in
        [("startup", format!("{text}\n42\n").as_str()), ("clear", "cleared\n"), ("resume", ""), ("compact", "again\n")]
    {
        let printed = claude.hook("SessionStart", json!({"source": source, "session_id": source})).await;
        assert_eq!(printed, told, "{source}");
        let event = starts.value().await;
        let expected = json!([source, source, !told.is_empty()]);
        assert_eq!(json!([event["source"], event["session_id"], event["injected"]]), expected);
        assert_eq!(ws.next_event("start").await["seq"], event["seq"]);
    }
    put(&claude, CONFIG_START, json!({})).await.ok();
    assert_eq!(claude.hook("SessionStart", json!({"source": "startup"})).await, "");
    assert_eq!(starts.value().await["injected"], false);
}

#[tokio::test]
async fn hooks_and_signals_work_inside_the_child() {
    let home = std::sync::Arc::new(crate::support::Scratch::new());
    let config = json!({"start": {"text": "[welcome]"}, "stop": {"mode": "gate", "prompt": "[not yet]"}});
    let (file, program) = (home.file("agent.json", config.to_string()), format!("COOP_BIN={}", binary().display()));
    let script = "stty -echo; echo ready; while read -r line; do eval \"$line\"; done";
    let claude = Claude::start_in(&home, &["--agent-config", &file, "--env", &program], script).await;
    claude.types(r#"echo '{"source":"startup","session_id":"s"}' | "$COOP_BIN" hook SessionStart; echo"#).await;
    claude.shows("[welcome]").await;
    claude.types(r#"echo '{}' | "$COOP_BIN" hook Stop; echo"#).await;
    claude.shows(r#""reason":"[not yet]""#).await;
    claude.types(r#""$COOP_BIN" send '{"status":"done"}' && echo '{}' | "$COOP_BIN" hook Stop; echo "over: $?""#).await;
    claude.shows("you may stop now").await;
    claude.shows("over: 0").await;
    claude.is("idle").await;
}

#[tokio::test]
async fn a_signal_outside_of_a_session_says_that_there_is_none() {
    let claude = Claude::start(&[]).await;
    let mut command = claude.command(binary());
    command.args(["send", "{}"]);
    claude.signal(nix::sys::signal::Signal::SIGKILL);
    claude.left().await;
    let ended = finished(command).await;
    assert!(ended.complaint().contains("has it ended?"), "{}", ended.err);
}

#[tokio::test]
async fn a_slow_start_does_not_hold_up_the_session() {
    let claude =
        Claude::configured(json!({"start": {"shell": ["echo begun; read line < \"$HOME/door\"; echo $line"]}}));
    let claude = claude.await;
    let door = claude.home.path("door");
    nix::unistd::mkfifo(&door, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut command = claude.command(binary());
    command.args(["hook", "SessionStart"]).env("HOME", claude.home.dir());
    let hook = Hook::begin(command, "SessionStart", b"{\"source\":\"startup\"}".into());
    claude.is("idle").await;
    claude.hook("UserPromptSubmit", json!({"prompt": "go"})).await;
    claude.is("working").await;
    // Open for reading as well, so that this waits for nobody.
    let mut door = std::fs::OpenOptions::new().read(true).write(true).open(door).unwrap();
    door.write_all(b"opened\n").unwrap();
    assert_eq!(hook.ended().await, "begun\nopened\n");
}
