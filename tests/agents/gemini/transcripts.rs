//! The log can be read while it grows, and what a conversation cost is counted once.
//!
//! No transcript is kept when Gemini CLI 0.61.0 sums up: no hook tells of it alone.

use super::GeminiCli;
use crate::promises::keeps;

keeps!(GeminiCli: transcripts {
    the_live_log_is_caught_up_with_by_line,
    usage_is_counted_once_for_each_message,
    a_new_session_has_neither_transcripts_nor_cost,
});
