//! `coop -- COMMAND`: one session in the foreground, served until it is told to leave.

use std::ffi::OsString;
use std::io::{IsTerminal, Read, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;
use tracing_subscriber::EnvFilter;

use super::{agents, boxed, lent, namesakes};
use crate::agent::watch_patterns;
use crate::api::{About, Api, Gate, Secret, Service, Side, SideTerminals, Warnings, keep};
use crate::boxes::interior::News;
use crate::child::{self, Launch};
use crate::config::{self, LogFormat, Sidecar};
use crate::log::LogTail;
use crate::serve::{self, Connections, Listener, Policy};
use crate::session::{self, Given, InputFilter, Outcome, Plan, Program, RestartPolicy, Session};

/// Threads for the network. The session has its own; more than these only cost memory.
const NETWORK_THREADS_MAX: usize = 4;

/// By then all has run that runs only at the start.
#[cfg(target_os = "linux")]
const STARTED_AFTER: Duration = Duration::from_secs(2);

/// How long open connections may take to finish after the session has ended.
const FAREWELL: Duration = Duration::from_secs(2);

/// Variables that speak of the terminal coop itself runs in, and would lie about the child's.
const FOREIGN_TERMINAL: [&str; 7] =
    ["COLUMNS", "LINES", "TMUX", "TMUX_PANE", "STY", "TERM_PROGRAM", "TERM_PROGRAM_VERSION"];

/// Runs a session; the exit code is the child's where the operator asked for that.
pub fn run(config: Sidecar) -> anyhow::Result<ExitCode> {
    let log = LogTail::default();
    begin_log(&config, log.clone());
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
    if let Err(error) = child::raise_open_files_limit() {
        tracing::warn!(%error, "the limit of open files stays as it is");
    }
    let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, NETWORK_THREADS_MAX);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    let exit_with_child = config.exit_with_child;
    let outcome = runtime.block_on(serve(config, log));
    // Whatever still waits for the network has had its time.
    runtime.shutdown_background();
    let code = outcome?.ended.filter(|_| exit_with_child).map_or(0, |ended| ended.shell_code());
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

async fn serve(mut config: Sidecar, log: LogTail) -> anyhow::Result<Outcome> {
    let mut signals = Signals::new()?;
    let places = Places::bind(&config).await?;
    let hook_token = random_token()?;
    let (mut published, mut input_filter) = (Vec::new(), InputFilter::default());
    let warnings;
    let (mut news, mut inside) = (None, None);
    let (program, prepared, side) = match &config.borrow {
        Some(borrow) => {
            let lent = lent::ready(&config, borrow).await?;
            config.agent = lent.agent;
            config.command = lent.command;
            config.cwd = lent.cwd;
            warnings = lent.warnings;
            (Program::Lent(lent.loan), lent.prepared, None)
        }
        None => {
            let mut launch = launch(&config, &places, &hook_token);
            let house = match &config.boxed {
                Some(record) => boxed::ready(record, &mut launch).await?,
                None => boxed::on_the_machine()?,
            };
            (warnings, published, input_filter) = (house.warnings, house.published, house.input_filter);
            (news, inside) = (house.news, house.inside);
            let (ground, own_variables) = (house.ground, launch.env.len());
            let prepared = agents::ready(&config, &mut launch, &hook_token, &house.agents).await?;
            // What the agent's driver has added is how coop hears of the agent, and no more to be changed than coop's own.
            let of_driver = launch.env[own_variables..].iter().map(|(name, _)| name.clone());
            let reserved = config::told_to_children().chain(of_driver);
            let given = Given::new(config.env.iter().map(|(name, _)| name.clone()), reserved);
            let side = Side { launch: launch.clone(), ground: ground.clone(), shell: house.shell };
            (Program::Own { launch, given, ground }, prepared, Some(side))
        }
    };
    let patterns = agents::patterns(&config)?;
    let (session, outcome) = session::start(Plan {
        program,
        ring_bytes_max: config.ring_bytes,
        attach_size: config.attach_size,
        idle_timeout: config.idle_timeout,
        exit_with_child: config.exit_with_child,
        restart: config.restart,
        is_watched: prepared.is_some(),
        input_filter,
        called: "the child",
    });
    let warnings = Warnings::new(warnings);
    if let Some(News { denied, replaced }) = news {
        tokio::spawn(boxed::tell_denials(denied, session.clone()));
        tokio::spawn(boxed::tell_bare(replaced, warnings.clone()));
    }
    if let Some(patterns) = patterns {
        watch_patterns(session.clone(), patterns, config.idle_grace);
    }
    if let Some(borrow) = config.borrow.as_ref().filter(|borrow| borrow.size_is_chosen) {
        let (size, target) = (config.size, borrow.target.backend());
        if let Err(error) = session.resize(size).await {
            tracing::warn!(%error, "the {target} session keeps its size");
        }
    }
    // Sockets and files of the agent's hooks stay as long as the session.
    let (agent, _held) = prepared.map(|prepared| prepared.watch(session.clone())).unzip();
    let gate = Gate { token: config.token.clone(), hook_token, anonymous_read: config.anonymous_read };
    let api = Api(Arc::new(Service::new(
        session.clone(),
        agent,
        About { warnings, published, ..about(&config, &places) },
        gate,
        log,
        SideTerminals::new(side),
    )));
    if config.restart != RestartPolicy::No {
        tokio::spawn(keep(api.0.clone()));
    }
    let policy = Policy { allow_origins: config.allow_origins.clone(), allow_hosts: config.allow_hosts.clone() };
    let app = serve::application(&api, policy)?;
    tokio::spawn(serve::follow_life(session.clone(), app.health));

    let connections = Connections::default();
    let serving = TaskTracker::new();
    places.announce()?;
    if let Some(socket) = places.socket.clone() {
        tokio::spawn(namesakes::warn(config.labels.get("name").cloned(), socket, config.token.clone()));
    }
    for listener in places.listeners {
        serving.spawn(serve::serve(listener, app.router.clone(), connections.clone()));
    }
    if let Some(listener) = inside {
        serving.spawn(serve::serve(listener, serve::inside_application(&app.router), connections.clone()));
    }
    if let Some(listener) = places.health {
        serving.spawn(serve::serve(listener, serve::health_application(&api), connections.clone()));
    }
    serving.close();
    #[cfg(target_os = "linux")]
    tokio::spawn(async {
        tokio::time::sleep(STARTED_AFTER).await;
        crate::sandbox::let_go_of_code();
    });

    let outcome = signals.until_over(&session, outcome, &connections).await?;
    if let Some(record) = config.boxed.as_deref().filter(|_| !signals.came) {
        // Whoever asked it to end did not ask the daemon, which would call it lost.
        boxed::stands_still(record);
    }
    tokio::join!(api.terminals.close_all(), api.commands.close_all());
    connections.closing.cancel();
    // Whoever follows the log has the whole of it.
    api.log.close();
    app.sockets.0.close();
    let farewell = async {
        app.sockets.0.wait().await;
        serving.wait().await;
    };
    if tokio::time::timeout(FAREWELL, farewell).await.is_err() {
        tracing::info!("some connections did not finish in time");
    }
    Ok(outcome)
}

/// Where coop listens.
struct Places {
    listeners: Vec<Listener>,
    health: Option<Listener>,
    http: Option<SocketAddr>,
    grpc: Option<SocketAddr>,
    health_address: Option<SocketAddr>,
    socket: Option<PathBuf>,
}

impl Places {
    async fn bind(config: &Sidecar) -> anyhow::Result<Self> {
        let mut listeners = Vec::new();
        let tcp = async |port: Option<u16>| -> anyhow::Result<Option<(Listener, SocketAddr)>> {
            match port {
                Some(port) => Ok(Some(serve::bind_tcp(config.host, port).await?)),
                None => Ok(None),
            }
        };
        let http = tcp(config.port).await?;
        let grpc = tcp(config.grpc_port).await?;
        let health = tcp(config.health_port).await?;
        let socket = match (&config.socket, config.port) {
            (Some(path), _) => Some(bind_socket(std::path::absolute(path)?)?),
            (None, None) => Some(bind_own_socket()?),
            // Verbs find the session by it; a port without it is still what was asked for.
            (None, Some(_)) => match bind_own_socket() {
                Ok(bound) => Some(bound),
                Err(error) => {
                    tracing::debug!("there is only the port, and verbs need --url: {error:#}");
                    None
                }
            },
        };
        let socket = socket.map(|(listener, path)| {
            listeners.push(listener);
            path
        });
        let http = http.map(|(listener, address)| {
            listeners.push(listener);
            address
        });
        let grpc = grpc.map(|(listener, address)| {
            listeners.push(listener);
            address
        });
        let (health, health_address) = health.unzip();
        Ok(Self { listeners, health, http, grpc, health_address, socket })
    }

    /// One line to stdout, the only one ever: JSON for programs, a sentence for people.
    fn announce(&self) -> anyhow::Result<()> {
        let mut stdout = std::io::stdout();
        let url = |address: Option<SocketAddr>| address.map(serve::url_of);
        if stdout.is_terminal() {
            let url = url(self.http).into_iter();
            let places: Vec<String> = url.chain(self.socket.iter().map(|path| path.display().to_string())).collect();
            let way = if self.socket.is_some() { "`coop attach` shows it" } else { "open it in a browser" };
            writeln!(stdout, "coop {} ({way}) listens on {}", env!("CARGO_PKG_VERSION"), places.join(" and "))?;
        } else {
            let line = json!({
                "event": "listening",
                "url": url(self.http),
                "grpc_url": url(self.grpc),
                "health_url": url(self.health_address),
                "socket": self.socket,
                "pid": std::process::id(),
            });
            writeln!(stdout, "{line}")?;
        }
        stdout.flush()?;
        Ok(())
    }
}

/// A socket where verbs look for sessions.
fn bind_own_socket() -> anyhow::Result<(Listener, PathBuf)> {
    bind_socket(config::default_socket_path(std::process::id())?)
}

fn bind_socket(path: PathBuf) -> anyhow::Result<(Listener, PathBuf)> {
    Ok((serve::bind_unix(&path)?, path))
}

fn launch(config: &Sidecar, places: &Places, hook_token: &Secret) -> Launch {
    let mut env: Vec<(OsString, OsString)> = vec![
        ("TERM".into(), config.term.clone().into()),
        ("COOP".into(), "1".into()),
        ("COOP_HOOK_TOKEN".into(), hook_token.reveal().into()),
    ];
    if let Some(path) = &places.socket {
        env.push(("COOP_SOCKET".into(), path.into()));
    }
    if let Some(address) = places.http {
        env.push(("COOP_URL".into(), serve::url_of(address).into()));
    }
    env.extend(config.env.iter().cloned());
    let mut env_remove = config::own_variables();
    env_remove.extend(FOREIGN_TERMINAL.map(OsString::from));
    let (argv, cwd, size) = (config.command.clone(), config.cwd.clone(), config.size);
    Launch { argv, cwd, env, env_remove, bare: false, size }
}

fn about(config: &Sidecar, places: &Places) -> About {
    let cwd = config.cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    About {
        agent: config.agent.to_string(),
        command: config.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        cwd: std::path::absolute(&cwd).unwrap_or(cwd).display().to_string(),
        labels: config.labels.clone(),
        version: env!("CARGO_PKG_VERSION"),
        backend: config.borrow.as_ref().map_or("pty", |borrow| borrow.target.backend()),
        url: places.http.map(serve::url_of),
        nudge_timeout_ms: config.nudge_timeout_ms,
        warnings: Warnings::default(),
        published: Vec::new(),
    }
}

/// What the operator says by signal.
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
    /// One has come.
    came: bool,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
            came: false,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }

    /// Waits for the end of the session: its own, or by a signal. The second signal allows no grace.
    async fn until_over(
        &mut self,
        session: &Session,
        mut outcome: oneshot::Receiver<Outcome>,
        connections: &Connections,
    ) -> anyhow::Result<Outcome> {
        loop {
            tokio::select! {
                outcome = &mut outcome => return outcome.context("the session's own thread failed; see the log"),
                () = self.next() => {
                    connections.closing.cancel();
                    if self.came {
                        tracing::info!("told twice: the child is killed");
                        session.kill_now().await;
                    } else {
                        session.shutdown().await;
                    }
                    self.came = true;
                }
            }
        }
    }
}

fn begin_log(config: &Sidecar, tail: LogTail) {
    let filter = EnvFilter::new(format!("off,coop={}", config.log_level));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(tail);
    match config.log_format {
        LogFormat::Json => log.json().flatten_event(true).init(),
        LogFormat::Text => log.with_ansi(std::io::stderr().is_terminal()).init(),
    }
}

/// A token for the child's hooks, from the system's own source of randomness.
pub fn random_token() -> anyhow::Result<Secret> {
    let mut bytes = [0u8; 16];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut bytes))
        .context("/dev/urandom could not be read")?;
    Ok(Secret::new(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
}
