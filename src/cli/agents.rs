//! The agent's side of a session: what is prepared before the child starts, and watched while it runs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use tokio::sync::mpsc;

use super::itself::own_path;
use crate::agent::driver::{self, Driver};
use crate::agent::fence;
use crate::agent::gates::{StartGate, StopGate, from_agent_config};
use crate::agent::hook_call::{self, HookCall};
use crate::agent::hook_pipe::HookPipe;
use crate::agent::hook_socket::HookSocket;
use crate::agent::placing::place_all;
use crate::agent::relaunch::Relaunch;
use crate::agent::resume::{self, Found, Places};
use crate::agent::run_dir::{RunDir, StateDir};
use crate::agent::shell::quote;
use crate::agent::start::{Given, Plan, Variables};
use crate::agent::wrapped::agents_words;
use crate::agent::{Agent as Watched, EpochMs, Gates, Lent, Patterns, Setup, random, version, watch_agent};
use crate::api::Secret;
use crate::borrowed::process;
use crate::child::Launch;
use crate::config::{self, Agent, Groom, Sidecar};
use crate::session::Session;

/// Why the hooks of an agent that was found running do not call.
const FOUND_RUNNING: &str = "coop did not start this agent and could give it no hooks; its files, title and screen are \
                             all there is to go by";

/// The patterns for a program that coop does not know; `None` when there are none, or it is known.
pub fn patterns(config: &Sidecar) -> anyhow::Result<Option<Patterns>> {
    if driver::of(config.agent).is_some() {
        return Ok(None);
    }
    let patterns = Patterns::of_operator(config.agent_config.as_ref()).context("--agent-config")?;
    Ok(Some(patterns).filter(|patterns| !patterns.is_empty()))
}

/// Where an agent is to live, if not simply on this machine.
#[derive(Default)]
pub struct House {
    /// Where the directory with its settings is made.
    pub state_home: Option<PathBuf>,
    /// Where its hooks call.
    pub hook_socket: Option<PathBuf>,
    /// How its version is found out.
    pub elsewhere: version::Elsewhere,
    /// Why its hooks could not call: coop does not run there.
    pub mute: Option<String>,
}

impl House {
    fn variable(&self, launch: &Launch, name: &str) -> Option<OsString> {
        match &self.state_home {
            Some(path) if name == "XDG_STATE_HOME" => Some(path.into()),
            _ => launch.variable(name),
        }
    }
}

/// What is held for as long as the session lives; sockets and files go with it.
pub struct Prepared {
    setup: Setup,
    gates: Gates,
    calls: mpsc::Receiver<HookCall>,
    /// Keeps the way open even when there is no socket, so that the watch does not spin.
    _calling: mpsc::Sender<HookCall>,
    _socket: Option<HookSocket>,
    _pipe: Option<HookPipe>,
    _run: Option<RunDir>,
}

/// What stays when the watch has begun.
pub struct Held {
    _calling: mpsc::Sender<HookCall>,
    _socket: Option<HookSocket>,
    _pipe: Option<HookPipe>,
    _run: Option<RunDir>,
}

/// Prepares what the agent needs, and adds to the launch what tells it; `None` for a program that coop has no driver
/// for. What cannot be had is told in the log, and the session knows less.
pub async fn ready(
    config: &Sidecar,
    launch: &mut Launch,
    token: &Secret,
    house: &House,
) -> anyhow::Result<Option<Prepared>> {
    let Some(driver) = driver::of(config.agent) else { return Ok(None) };
    let (stop, start) = from_agent_config(config.agent_config.as_ref()).context("--agent-config")?;
    let (calling, calls) = hook_call::channel();
    let state = or_warn(StateDir::open(|name| house.variable(launch, name)), "the agent's files");
    let run = state.as_ref().and_then(|state| or_warn(state.new_run(), "the agent's files"));
    let socket = hook_socket(token, &calling, house);
    let pipe = run.as_ref().and_then(|run| {
        or_warn(HookPipe::open(run.path().join("hooks.pipe"), calling.clone()), "the pipe for hooks of scripts")
    });
    if let Some(socket) = &socket {
        launch.env.push(("COOP_HOOK_SOCKET".into(), socket.path().into()));
    }
    if let Some(pipe) = &pipe {
        launch.env.push(("COOP_HOOK_PIPE".into(), pipe.path().into()));
    }
    // A shell may stand before the agent.
    let agents_words = agents_words(&launch.argv);
    let as_agent = Launch { argv: agents_words.clone(), ..launch.clone() };
    let found = version::detect(&as_agent, driver.release(), &house.elsewhere).await;
    let doctor = format!("coop doctor --agent {}", config.agent);
    let doubt = version::doubt(driver.name(), &found, driver.release().measured, &doctor);
    if let Some(doubt) = &doubt {
        tracing::warn!("{doubt}");
    }
    let version = found.ok();
    let workspace = workspace(config);
    let config_dir = driver.config_dir(&|name| launch.variable(name));
    let resumed = resumed(config, driver, config_dir.as_deref(), &workspace).await?;
    let session_id = random::uuid().context("/dev/urandom")?;
    let coop = own_path()?;
    let relaunch = Relaunch {
        driver,
        argv: launch.argv.clone(),
        named: Agent::of_program(&launch.argv[0]) != config.agent,
        // Without a directory nothing can be handed over.
        groom: if run.is_some() && socket.is_some() && house.mute.is_none() { config.groom } else { Groom::Pristine },
        agent_config: config.agent_config.clone(),
        version,
        coop,
        run_dir: run.as_ref().map(|run| run.path().to_owned()).unwrap_or_default(),
        cwd: workspace.clone(),
    };
    let given = Given {
        argv: &relaunch.argv,
        named: relaunch.named,
        groom: relaunch.groom,
        agent_config: relaunch.agent_config.as_ref(),
        version,
        coop: &relaunch.coop,
        run_dir: &relaunch.run_dir,
        again: false,
        session_id: &session_id,
        resume: resumed.as_ref().map(|found| found.session_id.as_str()),
        config_dir: config_dir.as_deref(),
        variables: Variables(&|name| launch.variable(name)),
    };
    let mut plan =
        driver.prepare(&given, &|path| fence::read_to_string(&workspace.join(path))).context("--agent-config")?;
    for warning in &plan.warnings {
        tracing::warn!("{warning}");
    }
    for (name, contents) in &plan.files {
        if let Some(run) = &run {
            run.write(name, contents).with_context(|| format!("{name} for the agent could not be written"))?;
        }
    }
    if let Err(why) = place_all(&plan.placed) {
        tracing::warn!("{why}");
        plan.hooks = false;
        plan.warnings.push(why.to_string());
    }
    let hooks_off = house.mute.clone().or_else(|| hooks_off(&plan, config.groom));
    launch.argv = plan.argv;
    launch.env.extend(plan.env.into_iter().map(|(name, value)| (name.into(), value)));
    let bypass_was_asked = driver.asks_for_bypass(&agents_words);
    let prints_jsonl = driver.prints_jsonl(&agents_words);
    let setup = Setup {
        driver,
        workspace,
        groom: config.groom,
        bypass_was_asked,
        conversation: plan.session_id,
        resumed,
        idle_grace_ms: u64::try_from(config.idle_grace.as_millis()).unwrap_or(u64::MAX),
        hooks_off,
        doubt,
        prints_jsonl,
        state_dir: state.map(|state| state.path().to_owned()),
        rules: Arc::new(driver.rules(config.agent_config.as_ref()).context("--agent-config")?),
        record_to: config.agent_record.clone(),
        found: None,
        relaunch,
    };
    let send = format!("{} send", quote(&setup.relaunch.coop.to_string_lossy()));
    let gates = Gates { stop: StopGate::new(stop).with_send(send), start: StartGate::new(start) };
    Ok(Some(Prepared { setup, gates, calls, _calling: calling, _socket: socket, _pipe: pipe, _run: run }))
}

/// Why the agent's hooks will not call, as those are told who ask why a state is believed.
fn hooks_off(plan: &Plan, groom: Groom) -> Option<String> {
    if plan.hooks {
        return None;
    }
    Some(match groom {
        Groom::Pristine => "--groom pristine gives the agent nothing, and so no hooks".to_owned(),
        _ if plan.warnings.is_empty() => "the agent was given no hooks".to_owned(),
        _ => plan.warnings.join("; "),
    })
}

/// The same for an agent that runs already: it can be given nothing, so that only what it shows and writes is gone by.
pub fn found(config: &Sidecar, driver: &'static dyn Driver, lent: Lent, pid: u32) -> anyhow::Result<Prepared> {
    let (stop, start) = from_agent_config(config.agent_config.as_ref()).context("--agent-config")?;
    let (calling, calls) = hook_call::channel();
    let state = or_warn(StateDir::open(|name| std::env::var_os(name)), "the agent's files");
    let workspace = process::cwd(pid).unwrap_or_else(|| workspace(config));
    let argv = process::argv(pid);
    let groom_is_chosen = config.borrow.as_ref().is_some_and(|borrow| borrow.groom_is_chosen);
    let relaunch = Relaunch {
        driver,
        argv: argv.clone(),
        named: true,
        groom: Groom::Pristine,
        agent_config: config.agent_config.clone(),
        version: None,
        coop: own_path()?,
        run_dir: PathBuf::new(),
        cwd: workspace.clone(),
    };
    let setup = Setup {
        driver,
        workspace,
        // Somebody else's dialogs are theirs to answer, unless the operator says otherwise.
        groom: if groom_is_chosen { config.groom } else { Groom::Pristine },
        bypass_was_asked: driver.asks_for_bypass(&argv),
        conversation: None,
        resumed: None,
        idle_grace_ms: u64::try_from(config.idle_grace.as_millis()).unwrap_or(u64::MAX),
        hooks_off: Some(FOUND_RUNNING.to_owned()),
        doubt: None,
        prints_jsonl: false,
        state_dir: state.map(|state| state.path().to_owned()),
        rules: Arc::new(driver.rules(config.agent_config.as_ref()).context("--agent-config")?),
        record_to: config.agent_record.clone(),
        found: Some(lent),
        relaunch,
    };
    let gates = Gates { stop: StopGate::new(stop), start: StartGate::new(start) };
    Ok(Prepared { setup, gates, calls, _calling: calling, _socket: None, _pipe: None, _run: None })
}

impl Prepared {
    /// Begins to watch the agent of a session.
    pub fn watch(self, session: Session) -> (Watched, Held) {
        let agent = watch_agent(session, self.setup, self.gates, self.calls);
        (agent, Held { _calling: self._calling, _socket: self._socket, _pipe: self._pipe, _run: self._run })
    }
}

fn hook_socket(token: &Secret, calling: &mpsc::Sender<HookCall>, house: &House) -> Option<HookSocket> {
    let path = match &house.hook_socket {
        Some(path) => path.clone(),
        None => or_warn(config::hook_socket_path(std::process::id()), "the socket for hooks")?,
    };
    or_warn(HookSocket::bind(path, token.reveal().to_owned(), calling.clone()), "the socket for hooks")
}

/// What could be had; what could not is told.
fn or_warn<T>(had: Result<T, impl std::fmt::Display>, what: &str) -> Option<T> {
    had.inspect_err(|error| tracing::warn!(%error, "{what} could not be made: coop sees less of the agent")).ok()
}

fn workspace(config: &Sidecar) -> PathBuf {
    let cwd = config.cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    std::path::absolute(&cwd).unwrap_or(cwd)
}

/// The conversation that `--resume` means.
async fn resumed(
    config: &Sidecar,
    driver: &'static dyn Driver,
    config_dir: Option<&Path>,
    workspace: &Path,
) -> anyhow::Result<Option<Found>> {
    let Some(hint) = config.resume.clone() else { return Ok(None) };
    let dir = config_dir.context("--resume: nothing in the environment, such as HOME, says where conversations are")?;
    let (dir, workspace) = (dir.to_owned(), workspace.to_owned());
    let find = move || {
        let places = Places { driver, config_dir: &dir, cwd: &workspace };
        resume::find(&hint, places, EpochMs::now())
    };
    Ok(Some(tokio::task::spawn_blocking(find).await?.context("--resume")?))
}
