//! How Claude Code is started so that it tells coop what it does. Pure: files are named, not written.
//!
//! Where arguments go was tried with 2.1.197. They stand at the end, where orchestrators expect them and where a shell's
//! `"$@"` hands them on; but before `--`, behind which everything is text, and right behind the program's name when there
//! is a verb such as `mcp list`, which knows none of them. They are written `--name=value`, because some options take
//! every word that follows for one more value. Of two `--settings` only the last one counts, without a word about it:
//! those of the user are read, and become the base of the ones that coop gives.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::hooks::{SETTINGS_SINCE, lay_over, settings};
use crate::agent::start::{BadSettings, Given, Plan, Reading, object};
use crate::agent::wrapped::{Wrapped, wrapped};
use crate::config::Groom;

const SETTINGS_FILE: &str = "settings.json";
const MCP_FILE: &str = "mcp.json";

/// What the program is called.
const NAMES: [&str; 2] = ["claude", "claude.exe"];

/// Plans the start. `read` reads a file that the user's command names, relative to where the child starts.
pub fn prepare(given: &Given<'_>, read: Reading<'_>) -> Result<Plan, BadSettings> {
    let Some(launcher) = given.launcher(&NAMES) else {
        let own = if given.again { Arguments(given.argv).without_conversation() } else { given.argv.to_vec() };
        let draft = draft(&Given { argv: &own, ..*given }, read)?;
        let place = Arguments(&draft.plan.argv).place_for_more();
        return Ok(draft.added_at(place));
    };
    let Some(Wrapped { agent, lacks_name }) = wrapped(given.argv) else {
        let plan = Plan { session_id: Arguments(given.argv).conversation(), ..Plan::plain(given.argv) };
        return Ok(if given.groom == Groom::Pristine { plan } else { plan.warn(not_claude(&launcher)) });
    };
    let mut draft = draft(&Given { argv: &agent, ..*given }, read)?;
    draft.plan.argv = given.argv.to_vec();
    draft.plan.argv.extend(lacks_name.then(|| launcher.into()));
    let end = draft.plan.argv.len();
    Ok(draft.added_at(end))
}

/// A plan, and the words that are to be added to its command.
struct Draft {
    plan: Plan,
    added: Vec<OsString>,
}

impl Draft {
    fn added_at(self, place: usize) -> Plan {
        let mut plan = self.plan;
        plan.argv.splice(place..place, self.added);
        plan
    }

    fn warn(mut self, warning: impl Into<String>) -> Self {
        self.plan.warnings.push(warning.into());
        self
    }

    fn add(&mut self, option: &str, value: &OsStr) {
        let mut word = OsString::from(format!("{option}="));
        word.push(value);
        self.added.push(word);
    }

    fn add_file(&mut self, given: &Given<'_>, option: &str, name: &'static str, contents: &Value) {
        self.plan.files.push((name, contents.to_string().into_bytes()));
        self.add(option, given.run_dir.join(name).as_os_str());
    }
}

fn draft(given: &Given<'_>, read: Reading<'_>) -> Result<Draft, BadSettings> {
    let plan = Plan { session_id: Arguments(given.argv).conversation(), ..Plan::plain(given.argv) };
    let draft = Draft { plan, added: Vec::new() };
    if given.groom == Groom::Pristine {
        return Ok(with_conversation(draft, given, false));
    }
    if let Some(old) = given.version.filter(|version| *version < SETTINGS_SINCE) {
        let why = format!("Claude Code {old} takes no settings from coop ({SETTINGS_SINCE} is the first that does)");
        return Ok(with_conversation(draft, given, false).warn(format!("{why}: its hooks stay silent")));
    }
    with_settings(draft, given, read)
}

fn with_settings(mut draft: Draft, given: &Given<'_>, read: Reading<'_>) -> Result<Draft, BadSettings> {
    let orchestrator = given.config("settings");
    let servers = given.config("mcp").map(|servers| object("mcp", servers)).transpose()?;
    // Checked by itself, so that a mistake is told as the orchestrator's.
    settings(given.version, given.coop, orchestrator)?;
    let arguments = Arguments(given.argv);
    match arguments.settings().map(|word| own_settings(word, read)).transpose() {
        Ok(base) => {
            draft.plan.argv = arguments.without_settings();
            let made = settings(given.version, given.coop, together(base, orchestrator).as_ref())?;
            draft.plan.warnings.extend(made.warnings);
            let all = made.settings;
            draft.add_file(given, "--settings", SETTINGS_FILE, &all);
            let off = arguments.without_hooks().or((all["disableAllHooks"] == true).then_some("disableAllHooks"));
            draft.plan.hooks = off.is_none();
            let told = off.map(|cause| format!("{cause} turns all hooks off: coop sees less of the agent"));
            draft.plan.warnings.extend(told);
        }
        Err(why) => {
            let warning = format!("--settings of the command cannot be read ({why}): coop's hooks are not added");
            draft.plan.warnings.push(warning);
        }
    }
    if let Some(servers) = servers {
        draft.add_file(given, "--mcp-config", MCP_FILE, &json!({ "mcpServers": servers }));
    }
    Ok(with_conversation(draft, given, true))
}

/// The user's settings with the orchestrator's over them.
fn together(base: Option<Value>, orchestrator: Option<&Value>) -> Option<Value> {
    let Some(mut base) = base else { return orchestrator.cloned() };
    if let Some(upper) = orchestrator {
        lay_over(&mut base, upper);
    }
    Some(base)
}

/// The conversation to go on with, or a new one of a known name, unless the user has chosen.
fn with_conversation(mut draft: Draft, given: &Given<'_>, name_new: bool) -> Draft {
    let chosen = Arguments(given.argv).chooses_conversation();
    let (option, id) = match given.resume {
        Some(_) if chosen => return draft.warn("the command chooses a conversation itself: --resume changes nothing"),
        Some(id) => ("--resume", id),
        None if chosen || !name_new => return draft,
        None => ("--session-id", given.session_id),
    };
    draft.add(option, OsStr::new(id));
    draft.plan.session_id = Some(id.to_owned());
    draft
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
         (coop -- claude), or let a shell hand its words on (sh -c 'claude \"$@\"' _), or coop sees less of what it does"
    )
}

#[cfg(test)]
mod tests;
