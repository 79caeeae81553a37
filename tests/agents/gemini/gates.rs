//! Gates: what an agent is told at its start, and that it does not leave without a word.

use serde_json::json;

use super::scenes::blocked;
use super::{Gemini, GeminiCli};
use crate::model::Script;
use crate::promises::gates::{decided, gated};
use crate::promises::keeps;

keeps!(GeminiCli: gates {
    an_ungated_agent_stops_when_it_likes,
    an_agent_is_held_back_once_and_then_let_go,
    a_signal_given_before_the_stop_counts,
    the_agent_needs_no_token_of_a_caller_to_give_its_signal,
    stops_and_starts_can_be_followed_over_http,
    a_gated_agent_is_told_how_to_give_its_signal_and_leaves_with_it,
    a_gated_agent_hears_the_operators_own_words,
    an_agent_can_be_held_back_longer,
    a_signal_must_fit_its_schema,
    a_signal_counts_once,
    the_gate_can_be_changed_while_the_agent_runs,
    words_at_the_start_reach_the_model,
});

#[tokio::test]
async fn an_agent_that_fails_is_not_held_back() {
    let gemini = Gemini::ready(gated(Script::new(), json!({"mode": "gate", "prompt": "Not yet."}))).await;
    for script in [Script::new().error(401, &[], "UNAUTHENTICATED", "Nobody knows this key"), blocked()] {
        gemini.model.plays(script);
        gemini.told("Go").await;
        gemini.goes(["working", "error"]).await;
        gemini.rests().await;
    }
    assert_eq!(decided(&gemini), ["error", "error"]);
}
