//! How Codex is started so that it tells coop what it does. Pure: nothing is written, all of it goes by flags.
//!
//! Options stand behind the verb (`codex resume --last --no-daemon`), before the user's own: of two that set the same,
//! the later one counts. Without `--no-daemon` Codex 0.166.0 starts a server that all sessions share, that outlives them,
//! and that runs their hooks with the environment of the one who started it.

use std::ffi::OsString;

use serde_json::{Map, Value};

use super::arguments::{Arguments, Verb};
use super::version::RELEASE;
use super::{hooks, toml};
use crate::agent::start::{BadSettings, Given, Plan, object};
use crate::config::Groom;

/// What the program is called.
const NAMES: [&str; 1] = ["codex"];

/// Without it a shared server is started.
const NO_DAEMON: &str = "--no-daemon";

/// Plans the start.
pub fn prepare(given: &Given<'_>) -> Result<Plan, BadSettings> {
    let is_first = !given.again || given.launcher(&NAMES).is_some();
    let own = if is_first { given.argv.to_vec() } else { Arguments::read(given.argv).without_conversation(given.argv) };
    let given = &Given { argv: &own, ..*given };
    let arguments = Arguments::read(given.argv);
    let plan = Plan { session_id: arguments.conversation(), ..Plan::plain(given.argv) };
    let pristine = given.groom == Groom::Pristine;
    if let Some(launcher) = given.launcher(&NAMES) {
        return Ok(if pristine { plan } else { plan.warn(not_codex(&launcher)) });
    }
    if arguments.verb == Verb::Other {
        return Ok(plan);
    }
    let plan = with_conversation(plan, given, &arguments);
    if pristine {
        return Ok(untouched(plan, &arguments));
    }
    if let Some(old) = given.version.filter(|version| *version < RELEASE.measured) {
        let why = format!("Codex {old} is older than any that was tried ({} is the first)", RELEASE.measured);
        return Ok(
            untouched(plan, &arguments).warn(format!("{why}: it is started as it is, and its hooks stay silent"))
        );
    }
    with_flags(plan, given, &arguments)
}

fn with_flags(mut plan: Plan, given: &Given<'_>, arguments: &Arguments<'_>) -> Result<Plan, BadSettings> {
    let mut settings = given.config("settings").map_or_else(|| Ok(Map::new()), |given| object("settings", given))?;
    let servers = given.config("mcp").map_or_else(|| Ok(Map::new()), |given| object("mcp", given))?;
    let operators_hooks = settings.remove("hooks").filter(|hooks| !hooks.is_null());
    let hooks = hooks::flag(given.coop, operators_hooks.as_ref())?;
    let mut overrides = Vec::new();
    match arguments.about_hooks() {
        None => {
            overrides.push(hooks);
            plan.hooks = true;
        }
        Some(word) => {
            let told = format!("the command itself says what hooks there are ({word}): coop's are not added");
            plan.warnings.push(format!("{told}, and it sees less of the agent"));
        }
    }
    if arguments.draws() {
        // An update would be one Enter away.
        overrides.push("check_for_update_on_startup=false".to_owned());
    }
    overrides.extend(toml::overrides("", &Value::Object(settings)));
    for (name, server) in &servers {
        overrides.push(server_flag(name, server)?);
    }
    let mut flags: Vec<OsString> = Vec::new();
    if arguments.draws() && !arguments.has(NO_DAEMON) {
        flags.push(NO_DAEMON.into());
    }
    flags.extend(overrides.into_iter().flat_map(|value| ["-c".into(), value.into()]));
    // The conversation may have added a verb.
    let at = Arguments::read(&plan.argv).options_at;
    plan.argv.splice(at..at, flags);
    Ok(plan)
}

/// One MCP server. The words of other agents for the same are understood too.
fn server_flag(name: &str, server: &Value) -> Result<String, BadSettings> {
    let mut server = object(&format!("mcp.{name}"), server)?;
    // What it is follows from `command` or `url`.
    server.remove("type");
    if let Some(headers) = server.remove("headers") {
        server.entry("http_headers").or_insert(headers);
    }
    let value = Value::Object(server);
    if toml::is_bare(name) {
        return Ok(format!("mcp_servers.{name}={}", toml::written(&value)));
    }
    let table = Map::from_iter([(name.to_owned(), value)]);
    Ok(format!("mcp_servers={}", toml::written(&Value::Object(table))))
}

/// The conversation to go on with, unless the user has chosen one.
fn with_conversation(mut plan: Plan, given: &Given<'_>, arguments: &Arguments<'_>) -> Plan {
    let Some(id) = given.resume else { return plan };
    let at = match arguments.verb {
        Verb::Talk => arguments.options_at,
        // What `exec` is given besides is not all known to its `resume`, and stays before it.
        Verb::Exec => arguments.first_word_at.unwrap_or(plan.argv.len()),
        Verb::Review => return plan.warn("codex review goes on with no conversation: --resume changes nothing"),
        _ => return plan.warn("the command chooses a conversation itself: --resume changes nothing"),
    };
    plan.argv.splice(at..at, ["resume".into(), id.into()]);
    plan.session_id = Some(id.to_owned());
    plan
}

/// Not one word is added; what that means is told.
fn untouched(plan: Plan, arguments: &Arguments<'_>) -> Plan {
    // Any configuration by words keeps it from the shared server as well.
    if !arguments.draws() || arguments.has(NO_DAEMON) || arguments.configures() {
        return plan;
    }
    plan.warn(
        "codex without --no-daemon starts a server in the background, which goes on when this session has ended: give \
         --no-daemon yourself if that is not wanted",
    )
}

fn not_codex(launcher: &str) -> String {
    format!(
        "{launcher} starts Codex with arguments of its own, where coop cannot add its hooks: run codex itself \
         (coop -- codex), or coop sees less of what it does"
    )
}

#[cfg(test)]
mod tests;
