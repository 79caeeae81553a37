//! Gates: what an agent is told at its start, and that it does not leave without a word.

use serde_json::json;

use super::{Claude, ClaudeCode, Options};
use crate::model::Script;
use crate::promises::keeps;

keeps!(ClaudeCode: gates {
    an_ungated_agent_stops_when_it_likes,
    a_gated_agent_is_told_how_to_give_its_signal_and_leaves_with_it,
    a_gated_agent_hears_the_operators_own_words,
    an_agent_is_held_back_once_and_then_let_go,
    an_agent_can_be_held_back_longer,
    a_signal_must_fit_its_schema,
    a_signal_given_before_the_stop_counts,
    a_signal_counts_once,
    the_gate_can_be_changed_while_the_agent_runs,
    the_agent_needs_no_token_of_a_caller_to_give_its_signal,
    stops_and_starts_can_be_followed_over_http,
    words_at_the_start_reach_the_model,
});

#[tokio::test]
async fn another_kind_of_start_has_its_own_words() {
    let start = json!({"text": "Said at the beginning.", "event": {"clear": {"text": "Said after a clearing."}}});
    let script = Script::new().text("One.").text("Two.");
    let claude = Claude::ready(Options::script(script).agent_config(json!({"start": start}))).await;
    claude.told("First").await;
    claude.goes(["working", "idle"]).await;
    assert!(claude.model.last().mentions("Said at the beginning."));
    claude.commanded("/clear").await;
    claude.told_of("start", |event| event["source"] == "clear").await;
    claude.settles().await;
    claude.told("Second").await;
    claude.goes(["working", "idle"]).await;
    let request = claude.model.last();
    assert!(request.mentions("Said after a clearing.") && !request.mentions("Said at the beginning."));
}

#[tokio::test]
async fn the_operators_own_hooks_and_settings_still_work() {
    let hook =
        |name: &str| json!([{"matcher": "", "hooks": [{"type": "command", "command": format!("touch {name}")}]}]);
    let settings = json!({
        "hooks": {"SessionStart": hook("hook-start"), "Stop": hook("hook-stop")},
        "permissions": {"allow": ["Bash(touch allowed)"]},
        "env": {"FROM_SETTINGS": "yes"},
    });
    let script = Script::new().bash("touch allowed").text("Done.");
    let claude = Claude::ready(Options::script(script).agent_config(json!({"settings": settings}))).await;
    claude.told("Go").await;
    claude.goes(["working", "idle"]).await;
    claude.rests().await;
    for file in ["hook-start", "hook-stop", "allowed"] {
        assert!(claude.has(file), "{file}");
    }
}
