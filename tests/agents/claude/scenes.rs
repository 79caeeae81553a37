//! Scripts and surroundings that several suites use.

use serde_json::{Value, json};

use super::House;
use crate::model::Script;

/// When the limit of [`limit`] ends, in seconds since 1970: 2030-01-16 13:20 UTC.
pub const LIMIT_ENDS: u64 = 1_894_800_000;

/// How often Claude Code 2.1.197 asks for the rest of a message that was too long before it gives up, the first time included.
pub const MAX_TOKENS_TRIES: usize = 4;

/// The limit of a subscription is used up, as its service says it.
pub fn limit() -> Script {
    let headers = [
        ("x-should-retry", "false"),
        ("anthropic-ratelimit-unified-status", "rejected"),
        ("anthropic-ratelimit-unified-representative-claim", "five_hour"),
        ("anthropic-ratelimit-unified-reset", "1894800000"),
        ("retry-after", "3600"),
    ];
    Script::new().error(429, &headers, "rate_limit_error", "This request would exceed your account's rate limit.")
}

/// A file where the agent wants a directory of status files, so that it cannot write one; works for root too.
pub fn without_status(house: &House) {
    std::fs::create_dir_all(house.config()).unwrap();
    std::fs::write(house.config().join("sessions"), "in the way").unwrap();
}

/// The same for its logs.
pub fn without_log(house: &House) {
    std::fs::create_dir_all(house.config()).unwrap();
    std::fs::write(house.config().join("projects"), "in the way").unwrap();
}

/// Sends a subagent with this prompt.
pub fn helper(prompt: &str) -> Value {
    json!({"description": "A part of it", "prompt": prompt, "subagent_type": "general-purpose"})
}
