//! With one witness taken away, coop still tells the truth: what works goes on working, what is not known is said.

use serde_json::json;

use super::scenes::without_log;
use super::{Gemini, GeminiCli, Options, SMALL};
use crate::model::Script;
use crate::promises::degraded::{does_its_work, is_said_to_ail, says_nothing_that_is_not_known};
use crate::promises::gates::{decided, gated};
use crate::promises::keeps;

keeps!(GeminiCli: degraded {
    without_hooks,
    in_a_tmux_that_coop_has_not_started,
    hooks_that_stop_coming_do_not_stop_the_rest,
});

#[tokio::test]
async fn without_hooks_that_were_expected() {
    let options = Options::new().setting("hooksConfig", "enabled", json!(false)).size(SMALL);
    let gemini = Gemini::ready(options).await;
    does_its_work(&gemini, "hooks").await;
    is_said_to_ail(&gemini, "hooks").await;
}

#[tokio::test]
async fn without_the_title() {
    let options = Options::new().setting("ui", "hideWindowTitle", json!(true));
    let gemini = Gemini::ready(options).await;
    does_its_work(&gemini, "title").await;
    is_said_to_ail(&gemini, "title").await;
}

#[tokio::test]
async fn without_the_log() {
    let gemini = Gemini::ready(Options::new()).await;
    without_log(&gemini.house);
    does_its_work(&gemini, "log").await;
    is_said_to_ail(&gemini, "log").await;
}

#[tokio::test]
async fn an_agent_that_fails_without_a_log_is_known_by_its_screen_and_not_held_back() {
    let gemini = Gemini::ready(gated(Script::new(), json!({"mode": "gate", "prompt": "Not yet."}))).await;
    without_log(&gemini.house);
    for _ in 0..2 {
        gemini.model.plays(Script::new().error(401, &[], "UNAUTHENTICATED", "Nobody knows this key"));
        gemini.told("Go").await;
        gemini.goes(["working", "error"]).await;
        gemini.rests().await;
        let state = gemini.state().await;
        assert_eq!(state["error_category"], "unauthorized", "{state}");
        assert!(state["error_detail"].as_str().unwrap().contains("Nobody knows this key"), "{state}");
    }
    assert_eq!(decided(&gemini), ["error", "error"]);
    gemini.model.plays(Script::new().text("Done.").text("Really."));
    gemini.told("And now?").await;
    gemini.goes(["working", "idle"]).await;
    gemini.rests().await;
    assert_eq!(decided(&gemini)[2..], ["blocked", "safety_valve"], "who does not fail is held back");
}

#[tokio::test]
async fn with_nothing_but_the_screen_no_message_is_said_to_be_delivered_that_was_not() {
    let options = Options::new().groom("pristine").setting("ui", "hideWindowTitle", json!(true));
    let gemini = Gemini::ready(options).await;
    // Its screen looks ready before it is; it begins its log when it can be talked to.
    gemini.eventually("/api/v1/agent/state", |_| !gemini.house.logs().is_empty()).await;
    without_log(&gemini.house);
    says_nothing_that_is_not_known(&gemini).await;
}
