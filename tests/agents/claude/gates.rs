//! Gates: what an agent is told at its start, and that it does not leave without a word.

use std::sync::Arc;

use serde_json::json;

use super::{Claude, ClaudeCode, House, Options};
use crate::model::Script;
use crate::promises::gates::SERVER;
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

#[tokio::test]
async fn servers_of_the_orchestrator_reach_this_session() {
    let house = Arc::new(House::new());
    std::fs::write(house.beside("server.py"), SERVER).unwrap();
    let server = json!({"command": "python3", "args": [house.beside("server.py"), house.beside("answered")]});
    let script = Script::new().text("Here.").tool("mcp__test__poke", json!({"what": "it"})).text("Done.");
    let options = Options::script(script).house(&house).agent_config(json!({"mcp": {"test": server}}));
    let claude = Claude::ready(options).await;
    // Claude takes messages before its servers have told what they can; a whole turn after that it has heard them.
    claude.eventually("/api/v1/agent/state", |_| house.beside("answered").exists()).await;
    claude.told("Are you there?").await;
    claude.goes(["working", "idle"]).await;
    claude.told("Poke it").await;
    let prompt = claude.prompt("permission").await;
    assert_eq!(prompt["subtype"], "tool", "{prompt}");
    // On a busy machine the dialog may be drawn before its hook has told which tool asks.
    claude.eventually("/api/v1/agent/state", |state| state["prompt"]["tool"] == "mcp__test__poke").await;
    claude.answered(json!({"accept": true})).await;
    claude.goes(["working", "idle"]).await;
    let results = claude.model.results();
    assert!(results[0].text.contains("poked it"), "{results:?}");
}
