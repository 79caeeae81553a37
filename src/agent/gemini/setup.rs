//! How Gemini CLI is started so that it tells coop what it does (0.61.0). Pure: files are named, not written.
//!
//! The program that is started is a launcher which runs the real one and starts it anew when a folder was trusted. It is
//! left as it is (`GEMINI_CLI_NO_RELAUNCH` would spare a process): without it, an answer to the trust dialog ends
//! Gemini. That it passes no signal on does no harm, because coop ends all processes of its session.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;
use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::hooks::{self, EXTENSION, PROGRAM_VARIABLE};
use crate::agent::start::{BadSettings, Given, Plan, Reading, object};
use crate::config::Groom;

const SETTINGS_FILE: &str = "settings.json";

/// Where Gemini looks for the settings of the whole machine.
const SYSTEM_VARIABLE: &str = "GEMINI_CLI_SYSTEM_SETTINGS_PATH";
const SYSTEM_SETTINGS: &str = "/etc/gemini-cli/settings.json";

/// Their defaults are looked for beside them, unless this says where they are.
const DEFAULTS_VARIABLE: &str = "GEMINI_CLI_SYSTEM_DEFAULTS_PATH";
const DEFAULTS_NAME: &str = "system-defaults.json";

/// What the program is called.
const NAMES: [&str; 1] = ["gemini"];

/// Bits of a file's mode that let somebody else write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Plans the start.
pub fn prepare(given: &Given<'_>, read: Reading<'_>) -> Result<Plan, BadSettings> {
    let is_first = !given.again || given.launcher(&NAMES).is_some();
    let own = if is_first { given.argv.to_vec() } else { Arguments(given.argv).without_conversation() };
    let given = &Given { argv: &own, ..*given };
    let arguments = Arguments(given.argv);
    let plan = Plan { session_id: arguments.conversation(), ..Plan::plain(given.argv) };
    let pristine = given.groom == Groom::Pristine;
    if let Some(launcher) = given.launcher(&NAMES) {
        return Ok(if pristine { plan } else { plan.warn(not_gemini(&launcher)) });
    }
    if arguments.is_verb() {
        return Ok(plan);
    }
    if pristine {
        return Ok(with_conversation(plan, given, false));
    }
    Ok(with_conversation(with_hooks(plan, given, read)?, given, true))
}

fn with_hooks(plan: Plan, given: &Given<'_>, read: Reading<'_>) -> Result<Plan, BadSettings> {
    let orchestrator = given.config("settings").map(|settings| object("settings", settings)).transpose()?;
    let servers = given.config("mcp").map(|servers| object("mcp", servers)).transpose()?;
    let wants_more = orchestrator.is_some() || servers.is_some();
    let mut wanted = orchestrator.unwrap_or_default();
    if let Some(servers) = servers {
        hooks::lay_over(wanted.entry("mcpServers").or_insert_with(|| json!({})), &Value::Object(servers));
    }
    let wanted = Value::Object(wanted);
    // Checked by itself, so that a mistake is told as the orchestrator's.
    hooks::settings(given.coop, Some(&wanted))?;
    let machines = machines_settings(given);
    let why = match refusal(given.run_dir) {
        Some(why) => why,
        None => match read_settings(&machines, read) {
            Ok(theirs) => return with_settings(plan, given, &machines, wanted, theirs),
            Err(error) => format!("{}: {error}", machines.display()),
        },
    };
    let plan = with_extension(plan, given);
    Ok(if wants_more { plan.warn(not_delivered(&why)) } else { plan })
}

/// The file with the settings of the machine, which those of coop take the place of.
fn machines_settings(given: &Given<'_>) -> PathBuf {
    let named = (given.variables.0)(SYSTEM_VARIABLE).filter(|path| !path.is_empty());
    named.map_or_else(|| SYSTEM_SETTINGS.into(), PathBuf::from)
}

/// Those settings; none when there is no such file.
fn read_settings(path: &Path, read: Reading<'_>) -> Result<Value, String> {
    match read(path) {
        Ok(text) => {
            let value: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
            if value.is_object() { Ok(value) } else { Err("it is no JSON object".to_owned()) }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Value::Object(Map::new())),
        Err(error) => Err(error.to_string()),
    }
}

/// Gives hooks, settings and servers in the machine's place, with what the machine's own say over them.
fn with_settings(
    mut plan: Plan,
    given: &Given<'_>,
    machines: &Path,
    mut wanted: Value,
    theirs: Value,
) -> Result<Plan, BadSettings> {
    hooks::lay_over(&mut wanted, &theirs);
    let all = hooks::settings(given.coop, Some(&wanted))?;
    plan.files.push((SETTINGS_FILE, all.to_string().into_bytes()));
    plan.env.push((SYSTEM_VARIABLE, given.run_dir.join(SETTINGS_FILE).into()));
    if (given.variables.0)(DEFAULTS_VARIABLE).is_none_or(|path| path.is_empty()) {
        plan.env.push((DEFAULTS_VARIABLE, machines.with_file_name(DEFAULTS_NAME).into()));
    }
    plan.hooks = all["hooksConfig"]["enabled"] != false;
    Ok(plan)
}

/// Gives hooks by an extension, which stays and does nothing without coop.
fn with_extension(mut plan: Plan, given: &Given<'_>) -> Plan {
    let Some(config_dir) = given.config_dir else {
        return plan.warn("nothing in the environment, such as HOME, says where Gemini keeps its files: no hooks");
    };
    let dir = config_dir.join("extensions").join(EXTENSION);
    let files = hooks::extension().map(|(name, contents)| (dir.join(name), format!("{contents:#}\n").into_bytes()));
    plan.placed.extend(files);
    plan.env.push((PROGRAM_VARIABLE, given.coop.into()));
    if Arguments(given.argv).chooses_extensions() {
        // Only those that are named are loaded.
        insert(&mut plan.argv, "--extensions", OsStr::new(EXTENSION));
    }
    plan.hooks = true;
    plan
}

/// Why Gemini would not take system settings from this directory; `None` when it would: root owns it and every
/// directory above it, and nobody else can write there.
fn refusal(dir: &Path) -> Option<String> {
    if !geteuid().is_root() {
        return Some("coop does not run as root".to_owned());
    }
    let real = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let unsafe_place = [dir, &real].into_iter().flat_map(Path::ancestors).find(|place| {
        let is_safe = |found: std::fs::Metadata| found.uid() == 0 && found.mode() & WRITABLE_BY_OTHERS == 0;
        !place.as_os_str().is_empty() && !place.metadata().is_ok_and(is_safe)
    });
    unsafe_place.map(|place| format!("others than root can write to {}", place.display()))
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

fn not_gemini(launcher: &str) -> String {
    format!(
        "{launcher} starts Gemini CLI with arguments of its own, where coop cannot add its hooks: run gemini itself \
         (coop -- gemini), or coop sees less of what it does"
    )
}

fn not_delivered(why: &str) -> String {
    format!(
        "settings and mcp of --agent-config are not given to Gemini CLI, which takes them for one session only from a \
         file that is root's alone ({why}): run coop as root with XDG_STATE_HOME in such a place, or put them into \
         .gemini/settings.json of the workspace"
    )
}

#[cfg(test)]
mod tests;
