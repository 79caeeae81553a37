//! Nudges: said to be delivered exactly when the model got exactly that message.
//!
//! A command that Gemini CLI 0.61.0 does not have is a message, and arrives as one.

use super::{Gemini, GeminiCli, Options};
use crate::model::Script;
use crate::promises::keeps;

keeps!(GeminiCli: nudges {
    a_message_arrives_as_it_was_given,
    a_message_that_looks_like_a_command_is_a_message,
    what_was_left_in_the_input_box_does_not_go_along,
    a_message_cannot_break_out_of_the_input_box,
    two_nudges_at_once_do_not_mix,
    decomposed_characters_arrive,
    ten_nudges_one_after_the_other_are_ten_messages,
    a_confirmation_that_comes_late_still_comes,
    a_queued_message_that_is_taken_back_is_not_delivered_and_can_be_given_again,
    a_nudge_is_the_same_over_every_face,
    the_receipt_says_who_saw_it,
});

#[tokio::test]
async fn a_command_runs_when_it_is_asked_for() {
    let gemini = Gemini::ready(Script::new()).await;
    gemini.commanded("/about").await;
    gemini.shows("About Gemini CLI").await;
    gemini.settles().await;
    assert_eq!(gemini.state().await["state"], "idle");
    assert!(gemini.model.heard().is_empty());
}

#[tokio::test]
async fn files_that_a_message_names_go_along() {
    let gemini = Gemini::ready(Options::new().prepare(|house| {
        std::fs::write(house.at("notes.md"), "The word is swordfish.\n").unwrap();
    }))
    .await;
    gemini.told("Read @notes.md").await;
    gemini.goes(["working", "idle"]).await;
    assert!(gemini.model.last().mentions("The word is swordfish."));
}
