//! The file in which Claude Code keeps its status, whoever has started it.

use std::sync::Arc;

use serde_json::json;

use crate::support::{Claude, Scratch};

/// Something in Claude's place that keeps a status, and changes it with each line that it reads.
const KEEPS_A_STATUS: &str = r#"
mkdir -p "$HOME/.claude/sessions"
for word in idle busy; do
    printf '{"pid":%s,"status":"%s"}' $$ "$word" > "$HOME/.claude/sessions/$$.json"
    echo ready
    read -r _
done
"#;

#[tokio::test]
async fn a_claude_that_a_wrapper_has_started_is_found_by_its_status() {
    let home = Arc::new(Scratch::new());
    let program = home.file("agent.sh", KEEPS_A_STATUS);
    // The shell stays, as one does that has something to do afterwards.
    let wrapper = format!("(exec -a claude bash {program}); echo over; cat");
    let claude = Claude::start_in(&home, &[], &wrapper).await;
    assert_eq!(claude.is("idle").await["detection_cause"], "status: idle");
    claude.post("/api/v1/input", json!({"text": "\n"})).await.ok();
    assert_eq!(claude.is("working").await["detection_cause"], "status: busy");
}
