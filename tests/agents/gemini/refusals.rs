//! What cannot be done is not done, and the answer says why.

use super::GeminiCli;
use crate::promises::keeps;
use crate::promises::refusals::{
    asking, has_nothing_to_answer, takes_no_answer_without_content, takes_no_nudge_at_work,
    takes_no_nudge_while_asking, takes_no_option_that_is_not_there, takes_one_of_two_answers,
    takes_only_the_answer_to_its_prompt, working,
};

keeps!(GeminiCli: refusals {
    an_answer_to_an_old_prompt_does_not_hit_the_new_one,
    the_second_of_two_answers_is_refused,
    what_was_expected_must_hold,
    another_writer_is_not_disturbed,
    nobody_answers_after_the_end,
});

#[tokio::test]
async fn a_nudge_to_a_prompt_types_nothing_and_a_wrong_answer_leaves_it() {
    let (gemini, prompt) = asking::<GeminiCli>().await;
    takes_no_nudge_while_asking(&gemini, &prompt).await;
    takes_no_option_that_is_not_there(&gemini, &prompt).await;
    takes_no_answer_without_content(&gemini, &prompt).await;
    takes_only_the_answer_to_its_prompt(&gemini, &prompt).await;
    takes_one_of_two_answers(&gemini, &prompt).await;
}

#[tokio::test]
async fn a_working_agent_takes_neither_a_nudge_nor_an_answer() {
    let (gemini, gate) = working::<GeminiCli>().await;
    takes_no_nudge_at_work(&gemini).await;
    has_nothing_to_answer(&gemini).await;
    gate.open();
    gemini.goes(["idle"]).await;
    has_nothing_to_answer(&gemini).await;
    gemini.rests().await;
    assert_eq!(gemini.model.heard(), ["Work"]);
}
