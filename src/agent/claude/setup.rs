//! How Claude Code is started so that it tells coop what it does. Pure: files are named, not written.
//!
//! Where arguments go was tried with 2.1.197. Behind the user's own they are text after `--`, and errors after a verb
//! such as `mcp list`; `--mcp-config FILE` takes every word that follows for one more file. So they are put right behind
//! the program's name, as `--name=value`. Of two `--settings` only the last one counts, without a word about it: those
//! of the user are read, and become the base of the ones that coop gives.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::hooks::{SETTINGS_SINCE, lay_over, settings};
use crate::agent::start::{BadSettings, Given, Plan, Reading, object};
use crate::config::Groom;

const SETTINGS_FILE: &str = "settings.json";
const MCP_FILE: &str = "mcp.json";

/// What the program is called.
const NAMES: [&str; 2] = ["claude", "claude.exe"];

/// Plans the start. `read` reads a file that the user's command names, relative to where the child starts.
pub fn prepare(given: &Given<'_>, read: Reading<'_>) -> Result<Plan, BadSettings> {
    let plan = Plan { session_id: Arguments(given.argv).conversation(), ..Plan::plain(given.argv) };
    let pristine = given.groom == Groom::Pristine;
    if let Some(launcher) = given.launcher(&NAMES) {
        return Ok(if pristine { plan } else { plan.warn(not_claude(&launcher)) });
    }
    if pristine {
        return Ok(with_conversation(plan, given, false));
    }
    if let Some(old) = given.version.filter(|version| *version < SETTINGS_SINCE) {
        let why = format!("Claude Code {old} takes no settings from coop ({SETTINGS_SINCE} is the first that does)");
        return Ok(with_conversation(plan, given, false).warn(format!("{why}: its hooks stay silent")));
    }
    with_settings(plan, given, read)
}

fn with_settings(mut plan: Plan, given: &Given<'_>, read: Reading<'_>) -> Result<Plan, BadSettings> {
    let orchestrator = given.config("settings");
    let servers = given.config("mcp").map(|servers| object("mcp", servers)).transpose()?;
    // Checked by itself, so that a mistake is told as the orchestrator's.
    settings(given.version, given.coop, orchestrator)?;
    let arguments = Arguments(given.argv);
    match arguments.settings().map(|word| own_settings(word, read)).transpose() {
        Ok(base) => {
            plan.argv = arguments.without_settings();
            let all = settings(given.version, given.coop, together(base, orchestrator).as_ref())?;
            plan = add_file(plan, given, "--settings", SETTINGS_FILE, &all);
            let off = arguments.without_hooks().or((all["disableAllHooks"] == true).then_some("disableAllHooks"));
            plan.hooks = off.is_none();
            plan.warnings.extend(off.map(|cause| format!("{cause} turns all hooks off: coop sees less of the agent")));
        }
        Err(why) => {
            let warning = format!("--settings of the command cannot be read ({why}): coop's hooks are not added");
            plan.warnings.push(warning);
        }
    }
    if let Some(servers) = servers {
        plan = add_file(plan, given, "--mcp-config", MCP_FILE, &json!({ "mcpServers": servers }));
    }
    Ok(with_conversation(plan, given, true))
}

/// The user's settings with the orchestrator's over them.
fn together(base: Option<Value>, orchestrator: Option<&Value>) -> Option<Value> {
    let Some(mut base) = base else { return orchestrator.cloned() };
    if let Some(upper) = orchestrator {
        lay_over(&mut base, upper);
    }
    Some(base)
}

fn add_file(mut plan: Plan, given: &Given<'_>, option: &str, name: &'static str, contents: &Value) -> Plan {
    plan.files.push((name, contents.to_string().into_bytes()));
    insert(&mut plan.argv, option, given.run_dir.join(name).as_os_str());
    plan
}

/// The conversation to go on with, or a new one of a known name, unless the user has chosen.
fn with_conversation(mut plan: Plan, given: &Given<'_>, name_new: bool) -> Plan {
    let chosen = Arguments(given.argv).chooses_conversation();
    let (option, id) = match given.resume {
        Some(_) if chosen => return plan.warn("the command chooses a conversation itself: --resume changes nothing"),
        Some(id) => ("--resume", id),
        None if chosen || !name_new => return plan,
        None => ("--session-id", given.session_id),
    };
    insert(&mut plan.argv, option, OsStr::new(id));
    plan.session_id = Some(id.to_owned());
    plan
}

fn insert(argv: &mut Vec<OsString>, option: &str, value: &OsStr) {
    let mut word = OsString::from(format!("{option}="));
    word.push(value);
    argv.insert(argv.len().min(1), word);
}

/// The settings that the user's command names, as a file or as JSON.
fn own_settings(word: &OsStr, read: Reading<'_>) -> Result<Value, String> {
    let text = match word.to_str().filter(|text| text.trim_start().starts_with('{')) {
        Some(json) => json.to_owned(),
        None => read(Path::new(word)).map_err(|error| format!("{}: {error}", PathBuf::from(word).display()))?,
    };
    let value: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    settings(None, Path::new("/"), Some(&value)).map(|_| value).map_err(|error| error.to_string())
}

fn not_claude(launcher: &str) -> String {
    format!(
        "{launcher} starts Claude Code with arguments of its own, where coop cannot add its hooks: run claude itself \
         (coop -- claude), or coop sees less of what it does"
    )
}

#[cfg(test)]
mod tests;
