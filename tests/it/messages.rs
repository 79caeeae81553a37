//! Messages to an agent that has an input box: each arrives whole, alone, and once.

use serde_json::{Value, json};

use crate::compatibility::stand_in::{TAKES_MESSAGES, at_rest, at_rest_with, prompts};
use crate::support::{Claude, PATIENCE_MS};

async fn nudged(claude: &Claude, message: &str, queue: bool) -> Value {
    let nudge = json!({"message": message, "queue": queue, "timeout_ms": PATIENCE_MS});
    claude.post("/api/v1/agent/nudge", nudge).await.ok()
}

#[tokio::test]
async fn what_stood_in_the_box_is_not_sent_with_a_message() {
    let claude = at_rest().await;
    claude.post("/api/v1/input", json!({"text": "half a thought"})).await.ok();
    claude.shows("half a thought").await;
    let nudge = nudged(&claude, "the message", false).await;
    assert_eq!(nudge["delivered"], true, "{nudge}");
    assert_eq!(prompts(&claude.home), ["the message"]);
}

#[tokio::test]
async fn two_messages_at_once_are_given_one_after_the_other() {
    let claude = at_rest().await;
    let mut ws = claude.place.ws("/ws?mode=state").await;
    let (one, other) = ("the first of two messages", "the second of two messages");
    let told = tokio::join!(nudged(&claude, one, true), nudged(&claude, other, true));
    let mut ids = vec![told.0["receipt"]["id"].clone(), told.1["receipt"]["id"].clone()];
    assert_ne!(ids[0], ids[1]);
    while !ids.is_empty() {
        let receipt = ws.next_event("receipt").await;
        if receipt["phase"] == "accepted" {
            ids.retain(|id| *id != receipt["id"]);
        }
    }
    let mut prompts = prompts(&claude.home);
    prompts.sort();
    assert_eq!(prompts, [one, other], "neither is mixed with the other, nor sent twice");
}

#[tokio::test]
async fn a_message_is_refused_at_once_while_something_else_is_looked_at_and_nobodys_keys_wait_for_it() {
    let view = "\\033[H\\033[2Jready\\r\\n%s\\r\\n  Showing detailed transcript · ctrl+o to toggle";
    let looks = TAKES_MESSAGES.replace("$'\\025')", &format!("$'\\017') printf '{view}' \"$bar\";;\n  $'\\025')"));
    let claude = at_rest_with(&looks).await;
    claude.post("/api/v1/input/keys", json!({"keys": ["ctrl-o"]})).await.ok();
    claude.shows("Showing detailed").await;
    claude.wait(json!({"quiet_ms": 200})).await;
    let before = claude.status().await["bytes_written"].clone();
    let nudge = nudged(&claude, "the message", false).await;
    assert_eq!(json!([nudge["delivered"], nudge["reason"]]), json!([false, "no_input_box"]), "{nudge}");
    let strict = claude.post("/api/v1/agent/nudge", json!({"message": "the message", "strict": true})).await;
    assert_eq!(strict.refused(), (409, "AGENT_BUSY".to_owned()));
    assert_eq!(claude.status().await["bytes_written"], before, "nothing was typed");
    claude.post("/api/v1/input/keys", json!({"keys": ["ctrl-u"]})).await.ok();
    claude.shows("for shortcuts").await;
    assert_eq!(nudged(&claude, "the message", false).await["delivered"], true);
}

#[tokio::test]
async fn a_message_that_a_dialog_came_before_does_not_stay_in_the_box() {
    // It shows what it was given only when it is told to.
    let paused = r#"*) text+=$c; [ "$text" != go ] || { printf '\0337\033[1;20Hpaused\0338'; until [ -e "$HOME/go" ]; do sleep 0.05; done; }; draw;;"#;
    let claude = at_rest_with(&TAKES_MESSAGES.replace("*) text+=$c; draw;;", paused)).await;
    let opens = async {
        claude.shows("paused").await;
        let (hook, prompt) = claude.asks("Bash", json!({"command": "ls"})).await;
        claude.home.file("go", "");
        claude.shows("❯\u{a0}go").await;
        (hook, prompt)
    };
    let (nudge, (hook, prompt)) = tokio::join!(nudged(&claude, "go", false), opens);
    assert_eq!(json!([nudge["delivered"], nudge["reason"]]), json!([false, "a dialog opened"]), "{nudge}");
    claude.post("/api/v1/agent/respond", json!({"accept": true, "prompt_id": prompt["id"]})).await.ok();
    hook.ended().await;
    claude.hook("Stop", json!({"stop_hook_active": false})).await;
    claude.wait(json!({"regex": "^❯\u{a0}?$"})).await;
    assert!(!claude.home.path("prompts").exists(), "it was not sent");
}

#[tokio::test]
async fn a_command_does_not_take_the_witness_of_a_message_with_the_same_words() {
    // Nobody tells of a command.
    let runs = TAKES_MESSAGES.replace("$'\\n') ", "$'\\n') case $text in /*) text=; draw; continue;; esac; ");
    let claude = at_rest_with(&runs).await;
    let command = json!({"message": "/model x", "command": true, "timeout_ms": PATIENCE_MS});
    assert_eq!(claude.post("/api/v1/agent/nudge", command).await.ok()["delivered"], true);
    let nudge = nudged(&claude, "/model x", false).await;
    assert_eq!(nudge["delivered"], true, "{nudge}");
    assert_eq!(prompts(&claude.home), [" /model x"]);
}

/// An agent that shows the message `go`, and then reads nothing until the file `$HOME/go` is there. What comes while no
/// character is read stays as it is.
fn stalls() -> String {
    let stalled = r#"*) text+=$c; draw; [ "$text" != go ] || { printf '\0337\033[1;20Hpaused\0338'; until [ -e "$HOME/go" ]; do sleep 0.05; done; draw; };;"#;
    TAKES_MESSAGES.replace("$'\\n')", "$'\\n' | $'\\r')").replace("*) text+=$c; draw;;", stalled)
}

#[tokio::test]
async fn a_message_whose_turn_does_not_come_in_time_is_refused_and_never_given() {
    let claude = at_rest_with(&stalls()).await;
    let other = async {
        claude.shows("paused").await;
        let nudge = json!({"message": "the other", "timeout_ms": 300});
        let told = claude.post("/api/v1/agent/nudge", nudge.clone()).await.ok();
        let mut strict = nudge;
        strict["strict"] = true.into();
        let refused = claude.post("/api/v1/agent/nudge", strict).await.refused();
        assert_eq!(refused, (409, "WRITER_BUSY".to_owned()));
        claude.home.file("go", "");
        told
    };
    let (one, other) = tokio::join!(nudged(&claude, "go", false), other);
    assert_eq!(one["delivered"], true, "{one}");
    assert_eq!(json!([other["delivered"], other["reason"], other["receipt"]]), json!([false, "writer_busy", null]));
    claude.hook("Stop", json!({"stop_hook_active": false})).await;
    claude.is("idle").await;
    assert_eq!(nudged(&claude, "and on", false).await["delivered"], true);
    assert_eq!(prompts(&claude.home), ["go", "and on"]);
}

#[tokio::test]
async fn a_conversation_goes_on_while_its_keys_wait_for_somebodys_turn_and_they_stay_in_order() {
    let claude = at_rest_with(&stalls()).await;
    let mut ws = claude.place.ws("/ws").await;
    let types = async {
        claude.shows("paused").await;
        for (id, text) in ["a", "b", "c"].iter().enumerate() {
            ws.say(json!({"event": "input", "text": text, "request_id": id})).await;
        }
        assert_eq!(ws.ask(json!({"event": "ping"})).await["event"], "pong", "they wait, and hold up nothing");
        claude.home.file("go", "");
        ws.answer("2").await
    };
    let (nudge, last) = tokio::join!(nudged(&claude, "go", false), types);
    assert_eq!(nudge["delivered"], true, "{nudge}");
    assert_eq!(last["event"], "input:result", "{last}");
    claude.shows("❯\u{a0}abc").await;
}

#[tokio::test]
async fn what_waits_behind_a_turn_does_not_outlive_the_child_it_was_for() {
    let claude = at_rest_with(&stalls()).await;
    let types = async {
        claude.shows("paused").await;
        let ends = async {
            claude.wait(json!({"quiet_ms": 300})).await;
            claude.post("/api/v1/session/restart", json!({})).await.ok();
        };
        tokio::join!(claude.post("/api/v1/input", json!({"text": "ghost", "enter": false})), ends).0
    };
    let (nudge, typed) = tokio::join!(nudged(&claude, "go", false), types);
    assert_eq!(json!([nudge["delivered"], nudge["reason"]]), json!([false, "exited"]), "{nudge}");
    assert_eq!(typed.refused(), (503, "NOT_READY".to_owned()));
    claude.wait(json!({"regex": "^❯\u{a0}?$"})).await;
    claude.post("/api/v1/input", json!({"text": "alive"})).await.ok();
    claude.shows("❯\u{a0}alive").await;
}

#[tokio::test]
async fn a_command_is_not_confirmed_by_an_end_that_a_restart_brought() {
    // It is read, and nothing comes of it.
    let ignores = TAKES_MESSAGES.replace("$'\\n') ", "$'\\n') case $text in /*) text=; draw; sleep 1000;; esac; ");
    let claude = at_rest_with(&ignores).await;
    let command = json!({"message": "/exit", "command": true, "timeout_ms": PATIENCE_MS});
    let restarts = async {
        claude.wait(json!({"regex": "/exit"})).await;
        claude.wait(json!({"regex": "^❯\u{a0}?$"})).await;
        claude.post("/api/v1/session/restart", json!({})).await.ok();
    };
    let (told, ()) = tokio::join!(claude.post("/api/v1/agent/nudge", command), restarts);
    let told = told.ok();
    assert_eq!(json!([told["delivered"], told["reason"]]), json!([false, "exited"]), "{told}");
}
