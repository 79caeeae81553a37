//! Messages to an agent that has an input box: each arrives whole, alone, and once.

use serde_json::{Value, json};

use crate::compatibility::stand_in::{at_rest, prompts};
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
