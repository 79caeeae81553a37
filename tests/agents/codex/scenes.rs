//! Scripts and surroundings that several suites use.

use serde_json::{Value, json};

use super::House;
use crate::model::Script;

/// When the limit of [`limit`] ends, in seconds since 1970: 2030-01-16 13:20 UTC.
pub const LIMIT_ENDS: u64 = 1_894_800_000;

/// With which commands run without a question, and without a sandbox around them.
pub const BYPASS: &str = "--dangerously-bypass-approvals-and-sandbox";

/// The limit of a subscription is used up, as its service says it; with it comes the offer of another model.
pub fn limit() -> Script {
    let headers = [
        ("x-codex-primary-used-percent", "100.0"),
        ("x-codex-primary-window-minutes", "300"),
        ("x-codex-primary-reset-at", "1894800000"),
    ];
    limit_with(&headers)
}

/// The same, without the numbers that make Codex offer another model.
pub fn plain_limit() -> Script {
    limit_with(&[])
}

fn limit_with(headers: &[(&str, &str)]) -> Script {
    Script::new()
        .error(429, headers, "usage_limit_reached", "The usage limit has been reached")
        .fields(json!({"plan_type": "plus", "resets_at": LIMIT_ENDS, "resets_in_seconds": 18_000}))
}

/// A file where the agent wants a directory of logs, so that it cannot write one; works for root too.
pub fn without_log(house: &House) {
    std::fs::create_dir_all(house.config()).unwrap();
    std::fs::write(house.config().join("sessions"), "in the way").unwrap();
}

/// A command that runs without a question.
pub fn inside(command: &str) -> (&'static str, Value) {
    ("exec_command", json!({ "cmd": command }))
}

/// A command for outside of the sandbox, for which the user is asked.
pub fn outside(command: &str) -> (&'static str, Value) {
    let justification = "Shall the command of the test run?";
    let input = json!({"cmd": command, "sandbox_permissions": "require_escalated", "justification": justification});
    ("exec_command", input)
}
