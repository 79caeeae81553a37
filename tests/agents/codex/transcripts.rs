//! What an agent said before it forgot can still be read, and what it cost is counted once.

use super::CodexCli;
use crate::promises::keeps;

keeps!(CodexCli: transcripts {
    a_transcript_is_kept_when_the_agent_forgets,
    transcripts_are_numbered_and_caught_up_with,
    the_live_log_is_caught_up_with_by_line,
    usage_is_counted_once_for_each_message,
    a_new_session_has_neither_transcripts_nor_cost,
});
