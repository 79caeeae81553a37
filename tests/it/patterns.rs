//! Programs that coop does not know, told by the operator's patterns.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::support::{Coop, Scratch, run_coop};

/// Waits for input at `ask> `, works until the next line, fails or not.
const PROGRAM: &str = r#"stty -echo
while printf 'ask> '; read -r task; do
    echo "$task"; echo 'Thinking'
    read -r end; clear
    case $end in fail) echo 'Error: the service is away';; *) echo 'Done.';; esac
done"#;

fn config(home: &Scratch, screen: Value) -> String {
    home.file("agent.json", json!({ "screen": screen }).to_string())
}

async fn watched(screen: Value) -> (Coop, Arc<Scratch>) {
    let home = Arc::new(Scratch::new());
    let config = config(&home, screen);
    let coop = Coop::start(&["--port", "0", "--agent-config", &config], &["sh", "-c", PROGRAM]);
    (coop, home)
}

async fn becomes(coop: &Coop, state: &str) -> Value {
    let waited = coop.post("/api/v1/wait", json!({"states": [state], "timeout_ms": 30_000})).await.ok();
    assert_eq!(waited["matched"], true, "never {state}: {}", coop.get("/api/v1/agent/state").await.ok());
    coop.get("/api/v1/agent/state?explain=true").await.ok()
}

async fn types(coop: &Coop, line: &str) {
    coop.post("/api/v1/input", json!({"text": line, "enter": true})).await.ok();
}

#[tokio::test]
async fn patterns_tell_whether_a_program_waits_works_or_has_failed() {
    let (coop, _home) = watched(json!({"prompt": ["^ask> $"], "working": ["^Thinking"], "error": ["^Error: "]})).await;
    let idle = becomes(&coop, "idle").await;
    assert_eq!(json!([idle["detection_cause"], idle["detection_tier"]]), json!(["screen: prompt[0]", "screen"]));
    types(&coop, "build it").await;
    becomes(&coop, "working").await;
    types(&coop, "fail").await;
    let failed = becomes(&coop, "error").await;
    assert_eq!(failed["error_detail"], "Error: the service is away");
    types(&coop, "again").await;
    becomes(&coop, "working").await;
    types(&coop, "").await;
    becomes(&coop, "idle").await;
    let nudge = coop.post("/api/v1/agent/nudge", json!({"message": "hi"})).await.refused();
    assert_eq!(nudge, (404, "NO_DRIVER".to_owned()), "nobody would see that it arrived");
    coop.post("/api/v1/signal", json!({"signal": "KILL"})).await.ok();
    becomes(&coop, "exited").await;
}

#[tokio::test]
async fn a_restarted_program_is_told_anew() {
    let (coop, _home) = watched(json!({"prompt": ["^ask> $"]})).await;
    becomes(&coop, "idle").await;
    types(&coop, "build it").await;
    assert_eq!(becomes(&coop, "working").await["detection_cause"], "screen: no prompt");
    coop.post("/api/v1/session/restart", json!({})).await.ok();
    becomes(&coop, "idle").await;
}

#[tokio::test]
async fn a_pattern_that_cannot_be_read_is_named() {
    let home = Scratch::new();
    for (screen, named) in [
        (json!({"working": ["ok", "("]}), "screen.working[1]"),
        (json!({"promt": []}), "screen.promt"),
        (json!({"rules": [{}]}), "screen.rules"),
    ] {
        let config = config(&home, screen);
        let ended = run_coop(&["--port", "0", "--agent-config", &config, "--", "true"], &[]).await;
        assert!(ended.code != Some(0) && ended.err.contains(named), "{named}: {}", ended.err);
    }
}
