//! Gates: what an agent is told at its start, and that it does not leave without a word.

use serde_json::json;

use super::{Codex, CodexCli, Options};
use crate::model::Script;
use crate::promises::keeps;

keeps!(CodexCli: gates {
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
    let start = json!({"text": "Said at the beginning.", "event": {"resume": {"text": "Said when it goes on."}}});
    let codex = Codex::ready(Options::script(Script::new().text("One.")).agent_config(json!({ "start": start }))).await;
    codex.told("First").await;
    codex.goes(["working", "idle"]).await;
    assert!(codex.model.last().mentions("Said at the beginning."));
    codex.commanded("/quit").await;
    codex.ended().await;
    let options = Options::script(Script::new().text("Two.")).house(&codex.house).flag("--resume", "latest");
    let again = Codex::ready(options.agent_config(json!({ "start": start }))).await;
    again.told("Second").await;
    again.goes(["working", "idle"]).await;
    assert!(again.model.last().mentions("Said when it goes on."));
}

#[tokio::test]
async fn the_operators_own_hooks_settings_and_servers_still_work() {
    let hook = |name: &str| json!([{"hooks": [{"type": "command", "command": format!("touch {name}")}]}]);
    let settings = json!({
        "hooks": {"SessionStart": hook("hook-start"), "Stop": hook("hook-stop")},
        "tools": {"update_plan": {"enabled": true}},
    });
    let plan = json!({"plan": [{"step": "A step of the plan", "status": "in_progress"}]});
    let server = json!({"type": "stdio", "command": "sh", "args": ["-c", "touch \"$0\"; exec cat >/dev/null", "asked"], "env": {"A": "1"}});
    let script = Script::new().tool("update_plan", plan).text("Done.");
    let config = json!({"settings": settings, "mcp": {"far": server}});
    let codex = Codex::ready(Options::script(script).agent_config(config)).await;
    codex.told("Go").await;
    codex.goes(["working", "idle"]).await;
    codex.shows("A step of the plan").await;
    for file in ["hook-start", "hook-stop", "asked"] {
        assert!(codex.has(file), "{file}");
    }
}
