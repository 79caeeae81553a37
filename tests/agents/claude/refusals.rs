//! What cannot be done is not done, and the answer says why.

use super::ClaudeCode;
use crate::promises::keeps;

keeps!(ClaudeCode: refusals {
    a_nudge_to_a_prompt_types_nothing,
    a_nudge_to_a_working_agent_waits_for_no_one,
    what_was_expected_must_hold,
    an_answer_expects_its_prompt,
    an_option_that_is_not_there_is_refused,
    an_answer_without_content_is_refused,
    an_answer_to_an_old_prompt_does_not_hit_the_new_one,
    the_second_of_two_answers_is_refused,
    of_two_answers_at_once_one_is_taken,
    there_is_nothing_to_answer_when_nothing_is_asked,
    another_writer_is_not_disturbed,
    nobody_answers_after_the_end,
    a_malformed_call_names_what_is_wrong,
});
