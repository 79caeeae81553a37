//! The hooks that coop asks of Codex, and the trust that lets them run (0.166.0).
//!
//! Codex runs no hook that its user has not seen: it would stop at a dialog, "Hooks need review". What it keeps of a
//! hook that was trusted is a hash, and that can be given together with the hook: coop vouches for its own, and for those
//! of the operator, and for none that a repository brings.

use std::path::Path;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::toml;
use crate::agent::shell;
use crate::agent::start::{BadSettings, object, shape};

/// Events that coop may hold open, until somebody answers a dialog or lets the agent stop: a day.
const HELD_OPEN_SECS: u64 = 24 * 3600;

/// Events that are answered at once; longer than `coop hook` itself waits.
const AT_ONCE_SECS: u64 = 15;

/// A start may run a script of the operator's, for as long as `hook_script.rs` lets it.
const START_SECS: u64 = 45;

/// Codex cuts what these may take, and hashes the time that is left.
const SHORT_SECS_MAX: u64 = 3;
const SHORT: [&str; 2] = ["SessionEnd", "Interrupt"];

/// What a hook may take that says nothing about it.
const DEFAULT_SECS: u64 = 600;
const DEFAULT_SESSION_END_SECS: u64 = 1;

/// What a user reads beside the sign of work while a hook is waited for.
const WAITS: &str = "waiting for an answer through coop";

/// Not `PreModelRequest`, which would start a process for each step of the model and tells nothing more, nor those of
/// subagents, who are no sign of the conversation.
const HOOKS: [(&str, u64); 10] = [
    ("SessionStart", START_SECS),
    ("UserPromptSubmit", AT_ONCE_SECS),
    ("PreToolUse", AT_ONCE_SECS),
    ("PermissionRequest", HELD_OPEN_SECS),
    ("PostToolUse", AT_ONCE_SECS),
    ("PreCompact", AT_ONCE_SECS),
    ("PostCompact", AT_ONCE_SECS),
    ("Stop", HELD_OPEN_SECS),
    ("Interrupt", SHORT_SECS_MAX),
    ("SessionEnd", SHORT_SECS_MAX),
];

/// What Codex calls the place of hooks that came by `-c`.
const PLACE: &str = "/<session-flags>/config.toml";

/// The value of `-c hooks=`: the operator's hooks, coop's after them, and the trust for both.
pub fn flag(coop: &Path, operator: Option<&Value>) -> Result<String, BadSettings> {
    let program = coop.to_str().ok_or_else(|| BadSettings::Program(coop.to_owned()))?;
    let program = shell::quote(program);
    let mut hooks = operator.map_or_else(|| Ok(Map::new()), |given| object("settings.hooks", given))?;
    for (event, timeout) in HOOKS {
        let mut ours = json!({"type": "command", "command": format!("{program} hook {event}"), "timeout": timeout});
        if event == "PermissionRequest" {
            ours["statusMessage"] = WAITS.into();
        }
        match hooks.entry(event).or_insert_with(|| json!([])) {
            Value::Array(groups) => groups.push(json!({ "hooks": [ours] })),
            other => return Err(shape(format!("settings.hooks.{event}"), "array", other)),
        }
    }
    let trust = trust(&hooks)?;
    hooks.insert("state".to_owned(), Value::Object(trust));
    Ok(format!("hooks={}", toml::written(&Value::Object(hooks))))
}

/// The hash of every hook, under the name of its place.
fn trust(hooks: &Map<String, Value>) -> Result<Map<String, Value>, BadSettings> {
    let mut state = Map::new();
    for (event, groups) in hooks {
        let groups = groups.as_array().ok_or_else(|| shape(format!("settings.hooks.{event}"), "array", groups))?;
        for (group_at, group) in groups.iter().enumerate() {
            let handlers = group.get("hooks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            for (handler_at, handler) in handlers.iter().enumerate() {
                let name = format!("{PLACE}:{}:{group_at}:{handler_at}", snake(event));
                state.insert(name, json!({ "trusted_hash": trusted_hash(event, group.get("matcher"), handler) }));
            }
        }
    }
    Ok(state)
}

/// The hash by which Codex knows a hook again: that of JSON without blanks whose keys are in order, which is how
/// `serde_json` writes its maps.
fn trusted_hash(event: &str, matcher: Option<&Value>, handler: &Value) -> String {
    let given = |name: &str| handler.get(name).filter(|value| !value.is_null());
    let default = if event == "SessionEnd" { DEFAULT_SESSION_END_SECS } else { DEFAULT_SECS };
    let mut timeout = given("timeout").and_then(Value::as_u64).unwrap_or(default);
    if SHORT.contains(&event) {
        timeout = timeout.min(SHORT_SECS_MAX);
    }
    let mut known = json!({
        "type": "command", "command": given("command"), "timeout": timeout,
        "async": given("async").unwrap_or(&Value::Bool(false)),
    });
    if let Some(message) = given("statusMessage") {
        known["statusMessage"] = message.clone();
    }
    let mut all = json!({"event_name": snake(event), "hooks": [known]});
    if let Some(matcher) = matcher.filter(|matcher| !matcher.is_null()) {
        all["matcher"] = matcher.clone();
    }
    let digest = Sha256::digest(all.to_string());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// `PreToolUse` as Codex writes it in names: `pre_tool_use`.
fn snake(event: &str) -> String {
    let mut name = String::new();
    for (at, letter) in event.char_indices() {
        if letter.is_ascii_uppercase() && at > 0 {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_one_that_codex_keeps() {
        // Codex 0.166.0 takes these for its own.
        let plain = json!({"type": "command", "command": "cat > /dev/null", "timeout": 3});
        let expected = "sha256:5ab5452f81d88cb2159c0ffd0053fa85b4f63d1fca7ceb0661970642995277c1";
        assert_eq!(trusted_hash("Stop", None, &plain), expected);
        let full =
            json!({"command": "'/opt/my coop' hook PermissionRequest", "timeout": 86400, "statusMessage": "waiting"});
        let expected = "sha256:66921d9115e5c80314b097cd3013c1022cde6ee58203f6a3b39cea18c6f4a033";
        assert_eq!(trusted_hash("PermissionRequest", None, &full), expected);
        let expected = "sha256:baba224a671d2c743e6867a65c33c78be6a59352f7812eb8518d16b588c6cc6a";
        let matched = json!({"command": "x", "async": true});
        assert_eq!(trusted_hash("PreToolUse", Some(&json!("Bash")), &matched), expected);
    }

    #[test]
    fn a_time_that_codex_cuts_is_hashed_as_cut() {
        let long = json!({"command": "x", "timeout": 60});
        let short = json!({"command": "x", "timeout": 3, "async": false, "type": "command"});
        assert_eq!(trusted_hash("Interrupt", None, &long), trusted_hash("Interrupt", None, &short));
        assert_ne!(trusted_hash("Stop", None, &long), trusted_hash("Stop", None, &short));
        let unsaid = json!({"command": "x"});
        assert_eq!(
            trusted_hash("Stop", None, &unsaid),
            trusted_hash("Stop", None, &json!({"command": "x", "timeout": 600}))
        );
    }

    #[test]
    fn every_hook_runs_coop_and_is_trusted() {
        let flag = flag(Path::new("/opt/my coop"), None).unwrap();
        assert!(flag.starts_with("hooks={") && flag.ends_with('}'), "{flag}");
        for (event, timeout) in HOOKS {
            let command = format!("\"'/opt/my coop' hook {event}\"");
            assert!(flag.contains(&command) && flag.contains(&format!("timeout={timeout}")), "{flag}");
            assert!(flag.contains(&format!("\"{PLACE}:{}:0:0\"={{trusted_hash=\"sha256:", snake(event))), "{flag}");
        }
    }

    #[test]
    fn the_operators_hooks_come_first_and_are_trusted_as_well() {
        let theirs =
            json!({"Stop": [{"hooks": [{"type": "command", "command": "a"}, {"type": "command", "command": "b"}]}]});
        let flag = flag(Path::new("/c"), Some(&theirs)).unwrap();
        for place in ["stop:0:0", "stop:0:1", "stop:1:0", "session_start:0:0"] {
            assert!(flag.contains(&format!("{PLACE}:{place}\"")), "{place} in {flag}");
        }
        assert!(flag.find("command=\"a\"").unwrap() < flag.find("/c hook Stop").unwrap());
    }

    #[test]
    fn hooks_of_a_wrong_shape_are_named() {
        let told = |given: Value| flag(Path::new("/c"), Some(&given)).unwrap_err().to_string();
        assert_eq!(told(json!([])), "settings.hooks must be a JSON object, but is []");
        assert_eq!(told(json!({"Stop": 7})), "settings.hooks.Stop must be a JSON array, but is 7");
        assert_eq!(told(json!({"Other": {}})), "settings.hooks.Other must be a JSON array, but is {}");
    }
}
