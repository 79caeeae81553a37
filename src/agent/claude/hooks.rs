//! The hooks that coop asks of Claude Code, and the settings that ask for them.
//!
//! Versions before 2.1.101 skip a settings file as a whole when it names an event that they do not know; later ones
//! leave that event out, but stop at a "Settings Warning" dialog (seen in 2.1.197). So each event is asked of versions
//! that have it only. Since when they do was read in the published packages and in the changelog.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::version::RELEASE;
use crate::agent::shell;
use crate::agent::start::{BadSettings, object, shape};
use crate::agent::version::Version;

/// The first version that leaves out an event which it does not know, and not all of the file.
const LENIENT_SINCE: Version = Version(2, 1, 101);

/// The first version that takes a file of settings by `--settings`.
pub const SETTINGS_SINCE: Version = Version(1, 0, 61);

/// Events that coop may hold open, until somebody answers a dialog or lets the agent stop: a day.
const HELD_OPEN_SECS: u32 = 24 * 3600;

/// Events that are answered at once; longer than `coop hook` itself waits.
const AT_ONCE_SECS: u32 = 15;

/// A start may run a script of the operator's, for as long as `hook_script.rs` lets it.
const START_SECS: u32 = 45;

struct Hook {
    event: &'static str,
    since: Version,
    timeout_secs: u32,
}

const fn hook(event: &'static str, since: Version, timeout_secs: u32) -> Hook {
    Hook { event, since, timeout_secs }
}

/// Not `MessageDisplay`: it would start a process for every piece of text.
const HOOKS: [Hook; 14] = [
    hook("PreToolUse", Version(1, 0, 38), AT_ONCE_SECS),
    hook("PostToolUse", Version(1, 0, 38), AT_ONCE_SECS),
    hook("Notification", Version(1, 0, 38), AT_ONCE_SECS),
    hook("Stop", Version(1, 0, 38), HELD_OPEN_SECS),
    hook("SubagentStop", Version(1, 0, 41), AT_ONCE_SECS),
    hook("PreCompact", Version(1, 0, 48), AT_ONCE_SECS),
    hook("UserPromptSubmit", Version(1, 0, 54), AT_ONCE_SECS),
    hook("SessionStart", Version(1, 0, 62), START_SECS),
    hook("SessionEnd", Version(1, 0, 85), AT_ONCE_SECS),
    hook("SubagentStart", Version(2, 0, 43), AT_ONCE_SECS),
    hook("PermissionRequest", Version(2, 0, 45), HELD_OPEN_SECS),
    hook("PostToolUseFailure", Version(2, 0, 56), AT_ONCE_SECS),
    hook("PostCompact", Version(2, 1, 76), AT_ONCE_SECS),
    hook("StopFailure", Version(2, 1, 78), AT_ONCE_SECS),
];

/// The others of 2.1.197, which an operator may ask for. Since when the last three are there does not matter: every
/// version without them only leaves them out.
const OTHERS: [(&str, Version); 16] = [
    ("Setup", Version(2, 1, 10)),
    ("TeammateIdle", Version(2, 1, 33)),
    ("TaskCompleted", Version(2, 1, 33)),
    ("ConfigChange", Version(2, 1, 49)),
    ("WorktreeCreate", Version(2, 1, 50)),
    ("WorktreeRemove", Version(2, 1, 50)),
    ("InstructionsLoaded", Version(2, 1, 69)),
    ("Elicitation", Version(2, 1, 76)),
    ("ElicitationResult", Version(2, 1, 76)),
    ("CwdChanged", Version(2, 1, 83)),
    ("FileChanged", Version(2, 1, 83)),
    ("TaskCreated", Version(2, 1, 84)),
    ("PermissionDenied", Version(2, 1, 89)),
    ("UserPromptExpansion", LENIENT_SINCE),
    ("PostToolBatch", LENIENT_SINCE),
    ("MessageDisplay", LENIENT_SINCE),
];

/// The hooks that this version has; of an unknown one, those that every version with `--settings` has.
fn known(version: Option<Version>) -> impl Iterator<Item = &'static Hook> {
    let version = version.unwrap_or(SETTINGS_SINCE);
    HOOKS.iter().filter(move |hook| hook.since <= version)
}

/// Settings with coop's hooks in them.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    pub settings: Value,
    /// What is wrong with the events that the settings ask for.
    pub warnings: Vec<String>,
}

/// Since when there is an event, as far as it is known.
fn since(event: &str) -> Option<Version> {
    let ours = HOOKS.iter().map(|hook| (hook.event, hook.since));
    ours.chain(OTHERS).find(|(known, _)| *known == event).map(|(_, since)| since)
}

/// What is wrong with asking this version for an event, and whether it is asked all the same.
fn objection(event: &str, version: Option<Version>) -> Option<(String, bool)> {
    match (since(event), version) {
        (Some(since), Some(version)) if version < since => {
            let told = format!("Claude Code {version} has no hook {event} ({since} is the first)");
            Some((format!("{told}: settings.hooks.{event} is left out"), false))
        }
        (Some(_), _) => None,
        // It may be newer than this coop.
        (None, Some(version)) if version > RELEASE.measured => {
            Some((format!("coop knows of no hook {event}: settings.hooks.{event} is passed on as it is"), true))
        }
        (None, _) => Some((format!("Claude Code has no hook {event}: settings.hooks.{event} is left out"), false)),
    }
}

/// The orchestrator's settings with coop's hooks after its own; all else passes as it is, but for events that this
/// version does not have.
pub fn settings(version: Option<Version>, coop: &Path, orchestrator: Option<&Value>) -> Result<Made, BadSettings> {
    let program = coop.to_str().ok_or_else(|| BadSettings::Program(coop.to_owned()))?;
    let program = shell::quote(program);
    let mut settings = orchestrator.map_or_else(|| Ok(Map::new()), |given| object("settings", given))?;
    let given = settings.remove("hooks").filter(|hooks| !hooks.is_null());
    let mut hooks = given.map_or_else(|| Ok(Map::new()), |given| object("settings.hooks", &given))?;
    for (event, asked) in &hooks {
        if !asked.is_array() {
            return Err(shape(format!("settings.hooks.{event}"), "array", asked));
        }
    }
    let mut warnings = Vec::new();
    hooks.retain(|event, _| match objection(event, version) {
        Some((told, is_asked)) => {
            warnings.push(told);
            is_asked
        }
        None => true,
    });
    for Hook { event, timeout_secs, .. } in known(version) {
        let command = format!("{program} hook {event}");
        let ours = json!({"matcher": "", "hooks": [{"type": "command", "command": command, "timeout": timeout_secs}]});
        if let Value::Array(list) = hooks.entry(*event).or_insert_with(|| json!([])) {
            list.push(ours);
        }
    }
    settings.insert("hooks".to_owned(), Value::Object(hooks));
    Ok(Made { settings: Value::Object(settings), warnings })
}

/// Lays settings over others as Claude Code does with its own files: objects join, arrays follow each other, and of two
/// other values the upper one counts.
pub fn lay_over(base: &mut Value, upper: &Value) {
    match (base, upper) {
        (Value::Object(base), Value::Object(upper)) => {
            for (key, value) in upper {
                lay_over(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (Value::Array(base), Value::Array(upper)) => {
            let new: Vec<Value> = upper.iter().filter(|value| !base.contains(value)).cloned().collect();
            base.extend(new);
        }
        (base, upper) => *base = upper.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(version: Option<Version>, orchestrator: Value) -> Value {
        settings(version, Path::new("/opt/coop"), Some(&orchestrator)).unwrap().settings
    }

    fn names(version: Option<Version>) -> Vec<&'static str> {
        known(version).map(|hook| hook.event).collect()
    }

    #[test]
    fn only_events_that_a_version_has_are_asked_of_it() {
        assert_eq!(names(Some(RELEASE.measured)).len(), HOOKS.len());
        assert_eq!(names(Some(Version(1, 0, 40))), ["PreToolUse", "PostToolUse", "Notification", "Stop"]);
        let (before, after) = (names(Some(Version(2, 1, 77))), names(Some(Version(2, 1, 78))));
        assert!(before.contains(&"PostCompact") && !before.contains(&"StopFailure") && after.contains(&"StopFailure"));
        assert_eq!(names(None), names(Some(SETTINGS_SINCE)));
        assert!(names(None).contains(&"UserPromptSubmit") && !names(None).contains(&"SessionStart"));
    }

    #[test]
    fn an_entry_runs_coop_with_a_limit_of_time() {
        let made = settings(Some(RELEASE.measured), Path::new("/opt/my coop/it's"), None).unwrap().settings;
        let entry = |event: &str| made["hooks"][event][0]["hooks"][0].clone();
        assert_eq!(
            entry("PermissionRequest"),
            json!({"type": "command", "command": r"'/opt/my coop/it'\''s' hook PermissionRequest", "timeout": 86400})
        );
        assert_eq!(entry("Stop")["timeout"], 86400);
        assert_eq!(entry("PostToolUse")["timeout"], 15);
    }

    #[test]
    fn the_orchestrators_hooks_come_first_and_all_else_passes_unchanged() {
        let theirs = json!([{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard"}]}]);
        let given = json!({
            "hooks": {"PreToolUse": theirs, "WorktreeCreate": []},
            "permissions": {"allow": ["Read"]}, "env": {"A": "1"}, "unknown": null,
        });
        let made = made(Some(RELEASE.measured), given.clone());
        assert_eq!(made["hooks"]["PreToolUse"][0], theirs[0]);
        assert_eq!(made["hooks"]["PreToolUse"][1]["hooks"][0]["command"], "/opt/coop hook PreToolUse");
        assert_eq!(made["hooks"]["WorktreeCreate"], json!([]));
        for key in ["permissions", "env", "unknown"] {
            assert_eq!(made[key], given[key]);
        }
    }

    #[test]
    fn events_that_a_version_does_not_have_are_named_and_left_out() {
        let asked = json!({"hooks": {"Stop": [], "Stopp": [], "TaskCreated": [], "PostToolBatch": []}});
        let passed = |version: Option<Version>| {
            let made = settings(version, Path::new("/opt/coop"), Some(&asked)).unwrap();
            let hooks = made.settings["hooks"].as_object().unwrap().clone();
            let theirs =
                ["Stopp", "TaskCreated", "PostToolBatch"].into_iter().filter(|event| hooks.contains_key(*event));
            (theirs.collect::<Vec<_>>(), made.warnings)
        };
        let (old, told) = passed(Some(Version(2, 1, 83)));
        assert_eq!((old.as_slice(), told.len()), (&[][..], 3), "one of them would disable the whole file: {told:?}");
        let (measured, told) = passed(Some(RELEASE.measured));
        assert_eq!(measured, ["TaskCreated", "PostToolBatch"]);
        assert_eq!(told, ["Claude Code has no hook Stopp: settings.hooks.Stopp is left out"]);
        let (newer, told) = passed(Some(Version(9, 0, 0)));
        assert_eq!((newer.len(), told.len()), (3, 1), "it may know what coop does not: {told:?}");
        assert_eq!(passed(None).0, ["TaskCreated", "PostToolBatch"], "of a version that is not known");
    }

    #[test]
    fn settings_of_a_wrong_shape_are_named() {
        let told = |given: Value| settings(None, Path::new("/c"), Some(&given)).unwrap_err().to_string();
        assert_eq!(told(json!([])), "settings must be a JSON object, but is []");
        assert_eq!(told(json!({"hooks": "x"})), "settings.hooks must be a JSON object, but is \"x\"");
        assert_eq!(told(json!({"hooks": {"Stop": {}}})), "settings.hooks.Stop must be a JSON array, but is {}");
        assert!(settings(None, Path::new("/c"), Some(&json!({"hooks": null}))).is_ok());
    }

    #[test]
    fn settings_lie_over_others_as_files_of_claude_do() {
        let mut base = json!({"a": 1, "list": ["x", "y"], "deep": {"b": 1, "c": 2}});
        lay_over(&mut base, &json!({"a": 2, "list": ["y", "z"], "deep": {"c": 3}, "new": true}));
        assert_eq!(base, json!({"a": 2, "list": ["x", "y", "z"], "deep": {"b": 1, "c": 3}, "new": true}));
    }
}
