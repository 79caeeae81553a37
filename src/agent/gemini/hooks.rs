//! The hooks that coop asks of Gemini CLI (0.61.0), and the two ways to ask for them.
//!
//! A file of system settings is taken only when root owns it and every directory above it; it may hold anything, and
//! goes with the session. Everybody can have an extension: it stays in the user's directory, so that its hooks end at
//! once, in a shell that was not started by coop, when the variable is missing that names coop's program.
//!
//! MCP servers of the operator are not in the extension, although it could hold some: their names stand in its file, which
//! all Geminis of the user read. Each would start the servers of another's session, or show one that ended at once as
//! broken; nothing in that file can be made to be there for one session only.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::agent::shell;
use crate::agent::start::{BadSettings, object, shape};

/// Names coop's program to the extension; not set where the system settings hold the hooks.
pub const PROGRAM_VARIABLE: &str = "COOP_GEMINI_HOOKS";

/// The extension's name and directory.
pub const EXTENSION: &str = "coop";

/// An event that coop may hold open until the agent is let stop: a day.
const HELD_OPEN_MS: u32 = 24 * 3600 * 1000;

/// Events that are answered at once; longer than `coop hook` itself waits.
const AT_ONCE_MS: u32 = 15_000;

/// A start may run a script of the operator's, for as long as `hook_script.rs` lets it.
const START_MS: u32 = 45_000;

/// Gemini waits for each of them. Not those around the model's requests (`BeforeModel`, `AfterModel`,
/// `BeforeToolSelection`), which would start a process for every piece of text; not `PreCompress`, which in spite of its
/// name comes with every request, compressed or not.
const HOOKS: [(&str, u32); 7] = [
    ("SessionStart", START_MS),
    ("SessionEnd", AT_ONCE_MS),
    ("BeforeAgent", AT_ONCE_MS),
    ("AfterAgent", HELD_OPEN_MS),
    ("BeforeTool", AT_ONCE_MS),
    ("AfterTool", AT_ONCE_MS),
    ("Notification", AT_ONCE_MS),
];

/// The orchestrator's settings with coop's hooks after its own; all else passes as it is.
pub fn settings(coop: &Path, orchestrator: Option<&Value>) -> Result<Value, BadSettings> {
    let program = coop.to_str().ok_or_else(|| BadSettings::Program(coop.to_owned()))?;
    // A Gemini that runs inside this one's shell has its variables, and is not the agent.
    let command = |event: &str| format!("[ -n \"$GEMINI_CLI\" ] || exec {} hook {event}", shell::quote(program));
    let mut settings = orchestrator.map_or_else(|| Ok(Map::new()), |given| object("settings", given))?;
    let given = settings.remove("hooks").filter(|hooks| !hooks.is_null());
    let mut hooks = given.map_or_else(|| Ok(Map::new()), |given| object("settings.hooks", &given))?;
    for (event, asked) in &hooks {
        if !asked.is_array() {
            return Err(shape(format!("settings.hooks.{event}"), "array", asked));
        }
    }
    for (event, timeout_ms) in HOOKS {
        if let Value::Array(list) = hooks.entry(event).or_insert_with(|| json!([])) {
            list.push(hook(&command(event), timeout_ms));
        }
    }
    settings.insert("hooks".to_owned(), Value::Object(hooks));
    Ok(Value::Object(settings))
}

/// The files of the extension, by their names within its directory.
pub fn extension() -> [(&'static str, Value); 2] {
    let description = "Tells coop what this agent does. Without coop it does nothing.";
    let about = json!({"name": EXTENSION, "version": "1.0.0", "description": description});
    // Braces would be filled in by Gemini.
    let command = |event: &str| {
        format!("[ -z \"${PROGRAM_VARIABLE}\" ] || [ -n \"$GEMINI_CLI\" ] || exec \"${PROGRAM_VARIABLE}\" hook {event}")
    };
    let hooks: Map<String, Value> = HOOKS
        .iter()
        .map(|(event, timeout_ms)| ((*event).to_owned(), json!([hook(&command(event), *timeout_ms)])))
        .collect();
    [("gemini-extension.json", about), ("hooks/hooks.json", json!({ "hooks": hooks }))]
}

fn hook(command: &str, timeout_ms: u32) -> Value {
    json!({"matcher": "*", "hooks": [{"type": "command", "name": "coop", "command": command, "timeout": timeout_ms}]})
}

/// Lays settings over others as Gemini does with its own files: objects join, hooks follow each other, and of two other
/// values the upper one counts.
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
    use std::process::Command;

    use super::*;

    #[test]
    fn coops_hooks_come_after_the_orchestrators_and_all_else_passes_as_it_is() {
        let theirs = json!([{"matcher": "write_file", "hooks": [{"type": "command", "command": "check"}]}]);
        let given = json!({"hooks": {"BeforeTool": theirs, "AfterModel": []}, "ui": {"theme": "x"}, "unknown": null});
        let made = settings(Path::new("/opt/my coop"), Some(&given)).unwrap();
        assert_eq!(made["hooks"]["BeforeTool"][0], theirs[0]);
        let ours = &made["hooks"]["BeforeTool"][1]["hooks"][0];
        assert_eq!(ours["command"], "[ -n \"$GEMINI_CLI\" ] || exec '/opt/my coop' hook BeforeTool");
        assert_eq!(ours["timeout"], 15_000);
        assert_eq!((&made["hooks"]["AfterModel"], &made["ui"]), (&json!([]), &given["ui"]));
        assert!(made["hooks"]["AfterAgent"][0]["hooks"][0]["timeout"].as_u64() > Some(3_600_000));
    }

    #[test]
    fn settings_of_a_wrong_shape_are_named() {
        let told = |given: Value| settings(Path::new("/c"), Some(&given)).unwrap_err().to_string();
        assert_eq!(told(json!([])), "settings must be a JSON object, but is []");
        assert_eq!(told(json!({"hooks": "x"})), "settings.hooks must be a JSON object, but is \"x\"");
        assert_eq!(
            told(json!({"hooks": {"AfterAgent": {}}})),
            "settings.hooks.AfterAgent must be a JSON array, but is {}"
        );
    }

    /// What the extension's command does under these variables.
    fn said(variables: &[(&str, &str)]) -> String {
        let [_, (_, hooks)] = extension();
        let command = hooks["hooks"]["BeforeTool"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
        let mut run = Command::new("bash");
        run.args(["-c", &command]).env_remove("GEMINI_CLI").envs(variables.iter().copied());
        let output = run.output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn the_extension_does_nothing_without_coop_nor_in_a_gemini_inside_the_agents_shell() {
        assert_eq!(said(&[]), "");
        assert_eq!(said(&[(PROGRAM_VARIABLE, "echo")]), "hook BeforeTool\n");
        assert_eq!(said(&[(PROGRAM_VARIABLE, "echo"), ("GEMINI_CLI", "1")]), "");
    }
}
