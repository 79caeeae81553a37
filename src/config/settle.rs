//! From flags that are fine by themselves to a choice that is fine as a whole.

use std::path::Path;
use std::time::Duration;

use super::choices::{Agent, LogFormat};
use super::flags::{AgentFlags, Borrowing, Flags, Listening, Security, Terminal};
use super::{Borrow, Given, Mistake, Sidecar, listeners, read_text, token};
use crate::api::Secret;
use crate::borrowed::parse_target;
use crate::child::Size;
use crate::session::SizePolicy;

/// Patterns are a few lines; more is the wrong file.
const AGENT_CONFIG_BYTES_MAX: usize = 1024 * 1024;

/// What an agent's configuration may speak of.
const AGENT_CONFIG_FIELDS: [&str; 5] = ["settings", "mcp", "stop", "start", "screen"];

/// Checks everything together.
pub fn settle(flags: Flags, given: Given) -> Result<Sidecar, Mistake> {
    let Flags { borrowing, listening, security, terminal, agent, lifetime, logging, boxed, command } = flags;
    let mut warnings = Vec::new();
    let borrow = choose_borrowed(&borrowing, &agent, command.is_empty(), given)?;
    if borrow.is_some() {
        warn_of_idle_flags(&terminal, &mut warnings);
    }
    let token = choose_token(&security, given, &mut warnings)?;
    listeners::check(&listening, token.is_some(), security.insecure_no_auth)?;
    warn_of_contradictions(&security, token.is_some(), &mut warnings);
    warn_of_deaf_host(&listening, &mut warnings);
    let (size, agent_config) = (check_terminal(&terminal)?, read_agent_config(&agent)?);
    let program = command.first().map(|program| Agent::of_program(program)).unwrap_or_default();
    let agent_kind = agent.agent.unwrap_or(program);
    check_resume(agent.resume.as_ref(), agent_kind)?;
    Ok(Sidecar {
        port: listening.port,
        host: listening.host,
        socket: listening.socket,
        grpc_port: listening.grpc_port,
        health_port: listening.health_port,
        token,
        anonymous_read: security.anonymous_read,
        insecure_no_auth: security.insecure_no_auth,
        allow_origins: security.allow_origin,
        allow_hosts: security.allow_host,
        agent: agent_kind,
        agent_config,
        resume: agent.resume,
        agent_record: agent.agent_record,
        nudge_timeout_ms: agent.nudge_timeout_ms,
        idle_grace: agent.idle_grace,
        size,
        attach_size: terminal.attach_size.unwrap_or_else(|| whose_size(borrow.is_some())),
        ring_bytes: terminal.ring_size,
        term: terminal.term,
        idle_timeout: Some(lifetime.idle_timeout).filter(|timeout| *timeout > Duration::ZERO),
        log_format: logging.log_format.unwrap_or_else(LogFormat::for_stderr),
        log_level: logging.log_level,
        groom: agent.groom,
        labels: lifetime.label.into_iter().collect(),
        cwd: terminal.cwd,
        env: terminal.env,
        exit_with_child: lifetime.exit_with_child,
        restart: lifetime.restart,
        command,
        borrow,
        boxed,
        warnings,
    })
}

/// What is to be served instead of a command, if anything is.
fn choose_borrowed(
    borrowing: &Borrowing,
    agent: &AgentFlags,
    no_command: bool,
    given: Given,
) -> Result<Option<Borrow>, Mistake> {
    let spec = match (&borrowing.attach, no_command) {
        (None, true) => {
            let ways = "put a command after --, such as `coop -- bash`, or give --attach tmux:NAME";
            return Err(Mistake::new(format!("nothing to run: {ways}")));
        }
        (Some(_), false) => {
            let way_out = "leave out one of them";
            return Err(Mistake::new(format!("--attach serves what runs already, a command starts anew: {way_out}")));
        }
        (None, false) if borrowing.tmux_socket.is_some() => {
            return Err(Mistake::new("--tmux-socket is for --attach tmux:NAME: leave it out"));
        }
        (None, false) => return Ok(None),
        (Some(spec), true) => spec,
    };
    if agent.resume.is_some() {
        let why = "--resume starts an agent anew, --attach serves one that runs already";
        return Err(Mistake::new(format!("{why}: leave out one of them")));
    }
    let target = parse_target(spec, borrowing.tmux_socket.as_deref()).map_err(Mistake::new)?;
    let (size_is_chosen, groom_is_chosen) = (given.size, given.groom);
    Ok(Some(Borrow { target, agent: agent.agent, size_is_chosen, groom_is_chosen }))
}

/// Whose size counts where nobody has said: looking at somebody else's session changes nothing for them.
fn whose_size(is_borrowed: bool) -> SizePolicy {
    if is_borrowed { SizePolicy::Fixed } else { SizePolicy::Latest }
}

/// What only a program that coop starts can be given.
fn warn_of_idle_flags(terminal: &Terminal, warnings: &mut Vec<String>) {
    if !terminal.env.is_empty() || terminal.cwd.is_some() {
        warnings.push("--cwd and --env change nothing for a session that already runs".to_owned());
    }
}

/// Only the conversations of an agent that coop knows can be found again.
fn check_resume(resume: Option<&String>, agent: Agent) -> Result<(), Mistake> {
    match resume {
        Some(hint) if hint.is_empty() => Err(Mistake::new("--resume: use an id, a log, a directory, or latest")),
        Some(_) if agent == Agent::Unknown => {
            let way_out = "say --agent claude, codex or gemini, or give the program its own flag after --";
            Err(Mistake::new(format!("--resume needs an agent whose conversations coop knows: {way_out}")))
        }
        _ => Ok(()),
    }
}

/// A flag wins over a variable; two of the same kind are a mistake, because one of them would be ignored unseen.
fn choose_token(security: &Security, given: Given, warnings: &mut Vec<String>) -> Result<Option<Secret>, Mistake> {
    let from_text = security.auth_token.as_deref().map(|text| token::check_token("--auth-token", text));
    let Some(path) = &security.auth_token_file else { return from_text.transpose() };
    if let Some(secret) = from_text {
        if given.token == given.token_file {
            let both = "--auth-token and --auth-token-file (or their variables) are both given";
            return Err(Mistake::new(format!("{both}: leave out one of them")));
        }
        if given.token {
            return secret.map(Some);
        }
    }
    let secret = token::token_in_file("--auth-token-file", path)?;
    warnings.extend(token::exposure(path));
    Ok(Some(secret))
}

fn warn_of_contradictions(security: &Security, has_token: bool, warnings: &mut Vec<String>) {
    if security.anonymous_read && !has_token {
        warnings.push("--anonymous-read changes nothing without a token: everything is open already".to_owned());
    }
    if security.insecure_no_auth && has_token {
        warnings.push("--insecure-no-auth changes nothing with a token: it is asked for all the same".to_owned());
    }
}

fn warn_of_deaf_host(listening: &Listening, warnings: &mut Vec<String>) {
    let ports = [listening.port, listening.grpc_port, listening.health_port];
    if !listening.host.is_loopback() && ports.iter().all(Option::is_none) {
        let host = listening.host;
        warnings.push(format!("--host {host} changes nothing without a port: give --port, or leave it out"));
    }
}

fn check_terminal(terminal: &Terminal) -> Result<Size, Mistake> {
    if let Some(cwd) = &terminal.cwd {
        check_directory(cwd).map_err(|why| Mistake::new(format!("--cwd {}: {why}", cwd.display())))?;
    }
    let size = Size::new(terminal.cols, terminal.rows);
    size.map_err(|error| Mistake::new(format!("--cols {} --rows {}: {error}", terminal.cols, terminal.rows)))
}

fn check_directory(path: &Path) -> Result<(), String> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err("is not a directory".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn read_agent_config(agent: &AgentFlags) -> Result<Option<serde_json::Value>, Mistake> {
    let Some(path) = &agent.agent_config else { return Ok(None) };
    let text = read_text("--agent-config", path, AGENT_CONFIG_BYTES_MAX)?;
    let wrong = |why: String| Mistake::new(format!("--agent-config {}: {why}", path.display()));
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| wrong(format!("is not JSON: {error}")))?;
    let fields = value.as_object().ok_or_else(|| wrong("must be a JSON object".to_owned()))?;
    // What is in them is looked at by those who use them; one that nobody uses would be ignored unseen.
    if let Some(unknown) = fields.keys().find(|name| !AGENT_CONFIG_FIELDS.contains(&name.as_str())) {
        return Err(wrong(format!("there is no field {unknown:?}: use {}", AGENT_CONFIG_FIELDS.join(", "))));
    }
    Ok(Some(value))
}
