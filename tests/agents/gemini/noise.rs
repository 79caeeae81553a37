//! Whatever comes through the hooks, coop stays and tells the truth; and an agent that cannot be started says so.
//!
//! A large result of a tool is not tried: Gemini CLI 0.61.0 was at work with it for more than a minute.

use super::GeminiCli;
use crate::promises::keeps;
use crate::promises::noise::another_program_is_not_taken_for_the_agent;

keeps!(GeminiCli: noise {
    malformed_payloads_change_nothing,
    huge_payloads_are_borne,
    many_hooks_at_once_are_borne,
    a_hook_of_another_session_is_not_believed,
    a_program_that_is_not_there_is_said_to_be_missing,
});

#[tokio::test]
async fn a_program_that_is_no_gemini_is_not_taken_for_one() {
    another_program_is_not_taken_for_the_agent::<GeminiCli>().await;
}
