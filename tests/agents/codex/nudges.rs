//! Nudges: said to be delivered exactly when the model got exactly that message.

use super::{Codex, CodexCli};
use crate::model::Script;
use crate::promises::keeps;
use crate::promises::nudges::heard;

keeps!(CodexCli: nudges {
    a_message_arrives_as_it_was_given,
    decomposed_characters_arrive,
    a_message_that_looks_like_a_command_is_a_message,
    a_command_that_does_not_exist_is_not_said_to_be_delivered,
    what_was_left_in_the_input_box_does_not_go_along,
    a_message_cannot_break_out_of_the_input_box,
    two_nudges_at_once_do_not_mix,
    ten_nudges_one_after_the_other_are_ten_messages,
    a_confirmation_that_comes_late_still_comes,
    a_nudge_is_the_same_over_every_face,
    the_receipt_says_who_saw_it,
});

#[tokio::test]
async fn a_command_runs_when_it_is_asked_for() {
    let codex = Codex::ready(Script::new().text("I see.")).await;
    codex.commanded("!touch marker").await;
    codex.shows("You ran touch marker").await;
    codex.settles().await;
    assert!(codex.has("marker"));
    assert_eq!(heard(&codex, "And now a message").await, "And now a message");
    codex.commanded("/compact").await;
    codex.goes(["working", "idle"]).await;
}
