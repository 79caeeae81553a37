//! Nudges: said to be delivered exactly when the model got exactly that message.

use super::{Claude, ClaudeCode};
use crate::model::Script;
use crate::promises::keeps;

keeps!(ClaudeCode: nudges {
    a_message_arrives_as_it_was_given,
    decomposed_characters_arrive,
    a_message_that_looks_like_a_command_is_a_message,
    a_command_that_does_not_exist_is_not_said_to_be_delivered,
    what_was_left_in_the_input_box_does_not_go_along,
    a_message_cannot_break_out_of_the_input_box,
    two_nudges_at_once_do_not_mix,
    ten_nudges_one_after_the_other_are_ten_messages,
    a_confirmation_that_comes_late_still_comes,
    a_queued_message_that_is_taken_back_is_not_delivered_and_can_be_given_again,
    a_nudge_is_the_same_over_every_face,
    the_receipt_says_who_saw_it,
});

#[tokio::test]
async fn a_command_runs_when_it_is_asked_for() {
    let claude = Claude::ready(Script::new().text("I see.")).await;
    claude.commanded("!touch marker").await;
    claude.goes(["working", "idle"]).await;
    assert!(claude.has("marker"));
    let before = claude.state().await["session_id"].clone();
    claude.commanded("/clear").await;
    claude.told_of("start", |event| event["source"] == "clear").await;
    assert_ne!(claude.state().await["session_id"], before);
}
