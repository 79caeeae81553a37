//! Hooks: what an agent tells through them is its state, nothing of it is lost, and they never disturb the agent.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::support::{Claude, Hook, Lines, Scratch, binary};

/// A hook that finds nobody ends long before it would run out of time.
const AT_ONCE: Duration = Duration::from_secs(4);

/// Reads lines and runs them.
const RUNS_WHAT_IT_READS: &str = "stty -echo; echo ready; while read -r line; do eval \"$line\"; done";

/// The next state and what it rests on.
async fn next(states: &mut Lines) -> (String, String) {
    let event = states.value().await;
    let word = |name: &str| event[name].as_str().unwrap().to_owned();
    (word("next"), word("cause"))
}

fn is(state: &str, cause: &str) -> (String, String) {
    (state.to_owned(), format!("hooks: {cause}"))
}

/// Words for the pipe, written as one.
fn write_to_pipe(claude: &Claude, lines: &str) {
    let pipe = std::fs::OpenOptions::new().write(true).open(claude.variable("COOP_HOOK_PIPE"));
    pipe.unwrap().write_all(lines.as_bytes()).unwrap();
}

#[tokio::test]
async fn each_hook_moves_the_state_and_is_its_cause() {
    let claude = Claude::start(&[]).await;
    let mut states = claude.states().await;
    assert_eq!(next(&mut states).await.0, "starting");
    assert_eq!(claude.hook("SessionStart", json!({"source": "startup", "session_id": "s-1"})).await, "");
    assert_eq!(next(&mut states).await, is("idle", "SessionStart"));
    assert_eq!(claude.hook("UserPromptSubmit", json!({"prompt": "go"})).await, "");
    assert_eq!(next(&mut states).await, is("working", "UserPromptSubmit"));

    let asked = json!({"tool_name": "Bash", "tool_input": {"command": "touch one", "description": "first"}});
    let hook = claude.begin("PermissionRequest", &asked);
    assert_eq!(next(&mut states).await, is("prompt", "PermissionRequest"));
    let state = claude.state().await;
    assert_eq!((&state["session_id"], &state["detection_tier"]), (&json!("s-1"), &json!("hooks")));
    let prompt = &state["prompt"];
    assert_eq!(json!([prompt["type"], prompt["subtype"], prompt["tool"]]), json!(["permission", "tool", "Bash"]));
    let input: Value = serde_json::from_str(prompt["input"].as_str().unwrap()).unwrap();
    assert_eq!(input, asked["tool_input"]);
    assert!(!prompt["id"].as_str().unwrap().is_empty());

    assert_eq!(claude.hook("PostToolUse", asked).await, "");
    assert_eq!(next(&mut states).await, is("working", "PostToolUse"));
    assert_eq!(hook.ended().await, "", "its question is over, and it is let go without an answer");
    assert_eq!(claude.hook("Stop", json!({"last_assistant_message": "Done."})).await, "");
    assert_eq!(next(&mut states).await, is("idle", "Stop"));
    assert_eq!(claude.state().await["last_message"], "Done.");
}

#[tokio::test]
async fn each_kind_of_request_is_its_kind_of_prompt() {
    let claude = Claude::start(&[]).await;
    let question = json!({"questions": [{"question": "Which?", "header": "H", "multiSelect": true,
        "options": [{"label": "A", "description": "first"}, {"label": "B", "description": "second"}]}]});
    let long = "x".repeat(5000);
    for (tool, input, expected) in [
        ("Write", json!({"file_path": "/f", "content": long}), json!({"type": "permission", "subtype": "edit"})),
        ("ExitPlanMode", json!({"plan": "# Plan\n1. Step"}), json!({"type": "plan", "summary": "# Plan\n1. Step"})),
        (
            "AskUserQuestion",
            question,
            json!({"type": "question", "options": ["A", "B"], "ready": true, "questions": [{
                "question": "Which?", "header": "H", "multi_select": true,
                "options": ["A", "B"], "descriptions": ["first", "second"],
            }]}),
        ),
    ] {
        let (hook, prompt) = claude.asks(tool, input.clone()).await;
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(prompt[field], *value, "{tool}: {field}");
        }
        assert!(prompt["input"].as_str().unwrap().chars().count() <= 201, "{tool}");
        claude.hook("PostToolUse", json!({"tool_name": tool, "tool_input": input})).await;
        hook.ended().await;
    }
}

#[tokio::test]
async fn a_stop_with_a_message_behind_it_is_never_idle() {
    let claude = Claude::start(&[]).await;
    claude.hook("UserPromptSubmit", json!({"prompt": "one"})).await;
    claude.is("working").await;
    let mut states = claude.states().await;
    assert_eq!(next(&mut states).await, is("working", "UserPromptSubmit"));
    let (stop, submit) = (json!({"event": "stop"}), json!({"event": "user_prompt_submit", "data": {"prompt": "two"}}));
    write_to_pipe(&claude, &format!("{stop}\n{submit}\n"));
    claude.hook("StopFailure", json!({"error": "billing_error", "last_assistant_message": "Credit"})).await;
    assert_eq!(next(&mut states).await, is("error", "StopFailure"));
}

#[tokio::test]
async fn a_failure_has_its_category() {
    let claude = Claude::start(&[]).await;
    for (word, state, category) in [
        ("authentication_failed", "error", "unauthorized"),
        ("billing_error", "error", "out_of_credits"),
        ("invalid_request", "error", "other"),
        ("max_output_tokens", "error", "other"),
        ("rate_limit", "parked", "rate_limited"),
        ("server_error", "error", "server_error"),
        ("unknown", "error", "other"),
    ] {
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/claude/hooks");
        let recorded = std::fs::read_to_string(format!("{dir}/StopFailure-{word}.json")).unwrap();
        let payload: Value = serde_json::from_str(&recorded).unwrap();
        claude.hook("UserPromptSubmit", json!({"prompt": "again"})).await;
        claude.is("working").await;
        claude.hook("StopFailure", payload.clone()).await;
        let failed = claude.is(state).await;
        assert_eq!(failed["error_category"], category, "{word}");
        let told = if state == "error" { &failed["error_detail"] } else { &failed["parked_reason"] };
        assert_eq!(told, &payload["last_assistant_message"], "{word}");
    }
    claude.hook("UserPromptSubmit", json!({"prompt": "again"})).await;
    let state = claude.is("working").await;
    assert_eq!((&state["error_category"], &state["error_detail"]), (&Value::Null, &Value::Null), "a new turn");
}

#[tokio::test]
async fn a_limit_is_parked_until_it_ends() {
    let claude = Claude::start(&[]).await;
    let text = "You've hit your weekly limit · resets Oct 16, 2036, 5:50am (UTC)";
    claude.hook("StopFailure", json!({"error": "rate_limit", "last_assistant_message": text})).await;
    let state = claude.is("parked").await;
    assert_eq!(state["parked_reason"], text);
    assert_eq!(state["resume_at_epoch_ms"], 2_107_749_000_000_u64, "{state}");
}

#[tokio::test]
async fn hooks_need_neither_a_port_nor_the_sessions_token() {
    let home = Arc::new(Scratch::new());
    let socket = home.path("s").display().to_string();
    let flags = ["--socket", &socket, "--auth-token", "correct-horse-battery"];
    let claude = Claude::start_in(&home, &flags, RUNS_WHAT_IT_READS).await;
    assert_eq!(claude.listening["url"], Value::Null);
    claude.hook("SessionStart", json!({"source": "startup"})).await;
    claude.is("idle").await;
    let (hook, _) = claude.asks("Bash", json!({"command": "ls"})).await;
    claude.post("/api/v1/agent/respond", json!({"accept": true, "timeout_ms": 0})).await.ok();
    assert_eq!(hook.told().await["hookSpecificOutput"]["decision"]["behavior"], "allow");
}

#[tokio::test]
async fn large_payloads_at_once_all_arrive() {
    let claude = Claude::start(&[]).await;
    let mut starts = claude.call("GET", "/api/v1/stream/start").stream().await;
    let payload = |n: usize| {
        let text = format!("{n}").repeat(200 * 1024);
        json!({"source": "startup", "session_id": format!("s-{n}"), "text": text})
    };
    let hooks: Vec<Hook> = (0..8).map(|n| claude.begin("SessionStart", &payload(n))).collect();
    for hook in hooks {
        assert_eq!(hook.ended().await, "");
    }
    let mut told = Vec::new();
    for _ in 0..8 {
        told.push(starts.value().await["session_id"].as_str().unwrap().to_owned());
    }
    told.sort();
    assert_eq!(told, (0..8).map(|n| format!("s-{n}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn five_megabytes_arrive() {
    let claude = Claude::start(&[]).await;
    let huge =
        json!({"tool_name": "Read", "tool_input": {}, "tool_response": "é".repeat(5 << 19), "session_id": "huge"});
    claude.hook("PostToolUse", huge).await;
    assert_eq!(claude.is("working").await["session_id"], "huge");
}

#[tokio::test]
async fn a_payload_that_is_no_json_is_told_and_nothing_else_is_lost() {
    let claude = Claude::start(&[]).await;
    claude.hook("UserPromptSubmit", json!({"prompt": "go"})).await;
    claude.is("working").await;
    let mut states = claude.states().await;
    assert_eq!(next(&mut states).await.0, "working");
    assert_eq!(claude.begin_with("Notification", "{\"message\": oh no").ended().await, "");
    let explained = claude.get("/api/v1/agent/state?explain=true").await.ok();
    let told = explained["disagreement"].as_str().unwrap_or_default();
    for part in ["hooks", "Notification", "not JSON", "oh no"] {
        assert!(told.contains(part), "says nothing of {part:?}: {told}");
    }
    for payload in ["{", "null", "[]"] {
        assert_eq!(claude.begin_with("Stop", payload).ended().await, "");
    }
    claude.hook("Stop", json!({})).await;
    assert_eq!(next(&mut states).await, is("idle", "Stop"), "only the one that can be read counts");
    let explained = claude.get("/api/v1/agent/state?explain=true").await.ok();
    assert!(!explained["disagreement"].to_string().contains("not JSON"), "{explained}");
}

#[tokio::test]
async fn an_agent_without_hooks_is_explained_with_the_reason() {
    for (flags, reason) in [(&[][..], "arguments of its own"), (&["--groom", "pristine"], "pristine")] {
        let claude = Claude::start(flags).await;
        let explained = claude.get("/api/v1/agent/state?explain=true").await.ok();
        let evidence = explained["evidence"].as_array().unwrap().iter().find(|one| one["source"] == "hooks");
        let told = evidence.map(|one| one["detail"].to_string()).unwrap_or_default();
        assert!(told.contains(reason), "{reason}: {explained}");
        claude.hook("SessionStart", json!({})).await;
        claude.is("idle").await;
        let explained = claude.get("/api/v1/agent/state?explain=true").await.ok();
        assert!(!explained["evidence"].to_string().contains(reason), "one was heard: {explained}");
    }
}

#[tokio::test]
async fn a_hook_that_finds_nobody_ends_at_once_without_a_word() {
    let claude = Claude::start(&[]).await;
    let payload = json!({"tool_name": "Bash", "tool_input": {}, "text": "x".repeat(1 << 20)});
    let (held, _) = claude.asks("Bash", json!({"command": "ls"})).await;
    let ends_at_once = async |change: fn(&mut Command) -> &mut Command, why: &str| {
        let mut command = claude.command(binary());
        command.args(["hook", "PermissionRequest"]);
        change(&mut command);
        let begun = Instant::now();
        assert_eq!(Hook::begin(command, why, payload.to_string().into()).ended().await, "", "{why}");
        assert!(begun.elapsed() < AT_ONCE, "{why} took {:?}", begun.elapsed());
    };
    ends_at_once(|command| command.env_remove("COOP_HOOK_SOCKET"), "outside of a session").await;
    ends_at_once(|command| command.env("COOP_HOOK_SOCKET", ""), "an empty variable").await;
    ends_at_once(|command| command.env("COOP_HOOK_SOCKET", "/no/such"), "no socket").await;
    let begun = Instant::now();
    claude.signal(Signal::SIGKILL);
    claude.left().await;
    assert_eq!(held.ended().await, "", "its coop was killed");
    assert!(begun.elapsed() < AT_ONCE);
    assert!(std::path::Path::new(claude.variable("COOP_HOOK_SOCKET")).exists(), "a socket that nobody serves");
    ends_at_once(|command| command, "a coop that was killed").await;
}

#[tokio::test]
async fn a_hook_that_waits_ends_when_coop_leaves() {
    let claude = Claude::start(&[]).await;
    let (held, _) = claude.asks("Bash", json!({"command": "ls"})).await;
    claude.signal(Signal::SIGTERM);
    assert_eq!(held.ended().await, "");
    assert!(claude.left().await.success());
    assert!(!std::path::Path::new(claude.variable("COOP_HOOK_SOCKET")).exists());
}

#[tokio::test]
async fn a_hook_without_stdin_ends_at_once_and_changes_nothing() {
    let claude = Claude::start(&[]).await;
    let mut command = claude.command("bash");
    command.args(["--norc", "-c", "\"$0\" hook SessionStart <&-"]).arg(binary());
    let begun = Instant::now();
    assert_eq!(Hook::begin(command, "a closed stdin", Vec::new()).ended().await, "");
    assert!(begun.elapsed() < AT_ONCE);
    let state = claude.get("/api/v1/agent/state?explain=true").await.ok();
    assert_eq!(state["state"], "starting");
    let told = state["evidence"].to_string();
    assert!(told.contains("SessionStart") && told.contains("not JSON"), "that it came is told: {told}");
}

#[tokio::test]
async fn scripts_inside_tell_through_the_pipe() {
    let home = Arc::new(Scratch::new());
    let claude = Claude::start_in(&home, &[], RUNS_WHAT_IT_READS).await;
    claude.types(r#"echo '{"event":"user_prompt_submit","data":{"prompt":"go"}}' > "$COOP_HOOK_PIPE""#).await;
    claude.is("working").await;
    claude.types(r#"echo '{"event":"stop"}' > "$COOP_HOOK_PIPE""#).await;
    claude.is("idle").await;
    claude.types(r#"echo '{"event":"PreToolUse"}' > "$COOP_HOOK_PIPE""#).await;
    claude.is("working").await;
    claude.types(r#"echo 'nonsense' > "$COOP_HOOK_PIPE""#).await;
    claude.types(r#"echo '{"event":"stop","data":{"last_assistant_message":"Bye."}}' > "$COOP_HOOK_PIPE""#).await;
    assert_eq!(claude.is("idle").await["last_message"], "Bye.");
    claude.log_says("a line on the hook pipe was dropped").await;
}

#[tokio::test]
async fn a_hook_with_a_wrong_token_is_not_heard() {
    let claude = Claude::start(&[]).await;
    let mut states = claude.states().await;
    assert_eq!(next(&mut states).await.0, "starting");
    for token in ["", "wrong"] {
        let mut command = claude.command(binary());
        command.args(["hook", "UserPromptSubmit"]).env("COOP_HOOK_TOKEN", token);
        assert_eq!(Hook::begin(command, "a wrong token", b"{}".into()).ended().await, "");
    }
    claude.log_says("wrong token").await;
    claude.hook("SessionStart", json!({})).await;
    assert_eq!(next(&mut states).await, is("idle", "SessionStart"));
}

#[tokio::test]
async fn subagents_neither_begin_nor_end_a_turn() {
    let claude = Claude::start(&[]).await;
    let of_subagent = ["SubagentStart", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStop"];
    let payload = json!({"agent_id": "a5", "agent_type": "general-purpose", "tool_name": "Bash", "tool_input": {}});
    let mut states = claude.states().await;
    next(&mut states).await;
    for (event, payload_of_turn, state) in [
        ("SessionStart", json!({"source": "startup"}), "idle"),
        ("UserPromptSubmit", json!({"prompt": "go"}), "working"),
        ("StopFailure", json!({"error": "unknown", "last_assistant_message": "oops"}), "error"),
        ("UserPromptSubmit", json!({"prompt": "on"}), "working"),
    ] {
        claude.hook(event, payload_of_turn).await;
        assert_eq!(next(&mut states).await, is(state, event));
        for event in of_subagent {
            claude.hook(event, payload.clone()).await;
        }
    }
}

#[tokio::test]
async fn two_questions_at_once_are_two_prompts() {
    let claude = Claude::start(&[]).await;
    let url = |name: &str| json!({"url": format!("http://{name}.example")});
    let (first, one) = claude.asks("WebFetch", url("one")).await;
    let (mut second, two) = claude.asks("WebFetch", url("two")).await;
    assert_ne!(one["id"], two["id"]);
    claude.hook("PostToolUse", json!({"tool_name": "WebFetch", "tool_input": url("one")})).await;
    assert_eq!(first.ended().await, "");
    let state = claude.state().await;
    assert_eq!((&state["state"], &state["prompt"]), (&json!("prompt"), &two), "the other one stays as it is");
    assert!(second.waits());
    claude.post("/api/v1/agent/respond", json!({"accept": true, "prompt_id": two["id"], "timeout_ms": 0})).await.ok();
    assert_eq!(second.told().await["hookSpecificOutput"]["decision"]["behavior"], "allow");
    claude.hook("PostToolUse", json!({"tool_name": "WebFetch", "tool_input": url("two")})).await;
    claude.is("working").await;
}

#[tokio::test]
async fn after_one_of_two_questions_the_older_is_shown() {
    let claude = Claude::start(&[]).await;
    let (mut first, one) = claude.asks("Bash", json!({"command": "one"})).await;
    let (second, two) = claude.asks("Bash", json!({"command": "two"})).await;
    let mut states = claude.states().await;
    assert_eq!(states.value().await["prompt"]["id"], two["id"]);
    claude.hook("PostToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "two"}})).await;
    second.ended().await;
    let event = states.value().await;
    assert_eq!(json!([event["prev"], event["next"]]), json!(["prompt", "prompt"]));
    assert_eq!(event["prompt"]["id"], one["id"], "under the name that it had before");
    assert!(first.waits());
}

#[tokio::test]
async fn a_dialog_whose_hook_has_left_does_not_stay_for_ever() {
    let claude = Claude::start(&[]).await;
    let (hook, _) = claude.asks("Bash", json!({"command": "ls"})).await;
    let mut states = claude.states().await;
    next(&mut states).await;
    hook.kill().await;
    assert_eq!(next(&mut states).await, ("working".to_owned(), "screen: the dialog is gone".to_owned()));
}

#[tokio::test]
async fn a_restart_forgets_what_the_last_child_said() {
    let claude = Claude::start(&[]).await;
    claude.hook("Stop", json!({"last_assistant_message": "Old words."})).await;
    claude.is("idle").await;
    let (hook, old) = claude.asks("Bash", json!({"command": "ls"})).await;
    claude.post("/api/v1/session/restart", json!({})).await.ok();
    assert_eq!(hook.ended().await, "");
    let state = claude.get("/api/v1/agent/state?explain=true").await.ok();
    assert_eq!((&state["state"], &state["prompt"]), (&json!("starting"), &Value::Null), "{state}");
    let evidence = state["evidence"].as_array().unwrap();
    assert!(evidence.iter().all(|one| one["tier"] != "hooks" || one["claim"] == "unspecified"), "{state}");
    assert_eq!(state["last_message"], Value::Null, "{state}");
    let answer = claude.post("/api/v1/agent/respond", json!({"accept": true, "prompt_id": old["id"]})).await.ok();
    assert_eq!(json!([answer["delivered"], answer["reason"]]), json!([false, "no_prompt"]));
    let (_hook, new) = claude.asks("Bash", json!({"command": "ls"})).await;
    assert_ne!(new["id"], old["id"], "no name is given twice");
}

#[tokio::test]
async fn the_conversation_of_the_last_child_is_the_next_ones_only_if_it_goes_on() {
    let claude = Claude::start(&[]).await;
    for (resume, known) in [(true, json!("first")), (false, Value::Null)] {
        claude.hook("SessionStart", json!({"session_id": "first"})).await;
        claude.hook("UserPromptSubmit", json!({"session_id": "first", "prompt": "Go"})).await;
        claude.is("working").await;
        claude.post("/api/v1/session/restart", json!({"resume": resume})).await.ok();
        assert_eq!(claude.state().await["session_id"], known, "{resume}");
    }
}

#[tokio::test]
async fn a_conversation_is_known_as_soon_as_it_is_told_to_have_begun() {
    let claude = Claude::start(&[]).await;
    claude.hook("Stop", json!({"session_id": "first"})).await;
    assert_eq!(claude.is("idle").await["session_id"], "first");
    let mut starts = claude.call("GET", "/api/v1/stream/start").stream().await;
    claude.hook("SessionStart", json!({"source": "clear", "session_id": "second"})).await;
    assert_eq!(starts.value().await["session_id"], "second");
    assert_eq!(claude.state().await["session_id"], "second");
}

#[tokio::test]
async fn every_child_is_watched_from_its_first_hook_on() {
    let claude = Claude::start(&[]).await;
    let mut states = claude.states().await;
    next(&mut states).await;
    for _ in 0..5 {
        claude.post("/api/v1/session/restart", json!({})).await.ok();
        claude.hook("SessionStart", json!({"source": "startup"})).await;
        let words = [next(&mut states).await.0, next(&mut states).await.0];
        assert_eq!(words, ["restarting", "starting"]);
        assert_eq!(next(&mut states).await, is("idle", "SessionStart"));
    }
}

#[tokio::test]
async fn an_event_that_nobody_knows_is_taken_in_silence() {
    let claude = Claude::start(&[]).await;
    for event in ["EventOfTomorrow", "Notification", "SessionEnd", "--wait", ""] {
        assert_eq!(claude.hook(event, json!({"session_id": "s-2"})).await, "", "{event}");
    }
    claude.hook("SessionStart", json!({})).await;
    assert_eq!(claude.is("idle").await["session_id"], "s-2");
}

#[tokio::test]
async fn the_grace_of_an_agent_that_has_stopped_can_be_seen_to_run() {
    let claude = Claude::start(&["--idle-grace", "600"]).await;
    claude.hook("SessionStart", json!({"source": "startup"})).await;
    claude.hook("UserPromptSubmit", json!({"prompt": "go"})).await;
    let working = claude.is("working").await;
    assert_eq!(json!([working["state"], working["idle_grace_remaining_secs"]]), json!(["working", null]));
    claude.hook("Stop", json!({})).await;
    let stopped = claude.state().await;
    let remaining = stopped["idle_grace_remaining_secs"].as_f64().unwrap_or_default();
    assert_eq!(stopped["state"], "working", "it is not idle before the grace is over");
    assert!(remaining > 500.0 && remaining <= 600.0, "{stopped}");
}
