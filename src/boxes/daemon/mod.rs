//! The daemon: one process for each user, which knows all boxes and passes calls on to them. Sessions outlive it.

mod leaving;
mod seat;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing_subscriber::EnvFilter;

use super::home::Home;
use super::index::Index;
use super::lifecycle::Boxes;
use super::log::CappedLog;
use super::prepare::now_ms;
use crate::api::{BoxesApi, DaemonAbout, Gate, Secret};
use crate::child;
use crate::config;
use crate::serve::{self, Connections, Policy};
use leaving::{Leaving, linger};
use seat::Seat;

/// Threads for the network: the daemon only passes on.
const THREADS: usize = 2;

/// How long open connections may take to finish, and what is being done with a box.
const FAREWELL: Duration = Duration::from_secs(2);
const FINISHES_WITHIN: Duration = Duration::from_secs(20);

/// Runs the daemon until nobody needs it. If there is one already, there is nothing to do.
pub fn run() -> anyhow::Result<ExitCode> {
    let home = Home::open()?;
    let runtime_dir = config::private_runtime_dir()?;
    let Some(seat) = Seat::take(&runtime_dir)? else { return Ok(ExitCode::SUCCESS) };
    begin_log(&home);
    if let Err(error) = child::raise_open_files_limit() {
        tracing::warn!(%error, "the limit of open files stays as it is");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
    let done = runtime.block_on(serve(home, &seat));
    runtime.shutdown_background();
    if let Err(error) = &done {
        tracing::error!("{error:#}");
    }
    done.map(|()| ExitCode::SUCCESS)
}

async fn serve(home: Home, seat: &Seat) -> anyhow::Result<()> {
    let linger = linger()?;
    let listener = seat.listen()?;
    // From here on the socket answers, and whoever started us need not be told more.
    let index = Index::open(home.clone(), seat.dir().to_owned()).await;
    let boxes = Boxes::new(home.clone(), index);
    let (leave, connections) = (CancellationToken::new(), Connections::default());
    let about = DaemonAbout { socket: seat.socket(), started_at_ms: now_ms() };
    let api = BoxesApi::new(boxes.clone(), about, leave.clone());
    let app = serve::daemon_application(&api, open_gate(), Policy::default(), &connections)?;
    tracing::info!(pid = std::process::id(), version = env!("CARGO_PKG_VERSION"), home = %home.path().display(), "began");
    let serving = TaskTracker::new();
    serving.spawn(serve::serve(listener, app, connections.clone()));
    serving.close();
    release_stdio().context("stdio could not be let go of")?;

    let why = Leaving::new(leave, linger)?.wait(&connections, &boxes).await;
    tracing::info!(why, "leaves; sessions run on");
    connections.closing.cancel();
    if tokio::time::timeout(FINISHES_WITHIN, boxes.finish()).await.is_err() {
        tracing::warn!("something that is being done with a box did not finish in time");
    }
    if tokio::time::timeout(FAREWELL, serving.wait()).await.is_err() {
        tracing::info!("some connections did not finish in time");
    }
    Ok(())
}

/// Only the user reaches the socket, who may do everything.
fn open_gate() -> Gate {
    Gate { token: None, hook_token: Secret::new(""), anonymous_read: false }
}

/// Whoever started us reads our complaints until we serve, and must not be kept waiting for more.
fn release_stdio() -> std::io::Result<()> {
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    nix::unistd::dup2_stdout(&null)?;
    nix::unistd::dup2_stderr(&null)?;
    Ok(())
}

fn begin_log(home: &Home) {
    let log = CappedLog::new(home.daemon_log());
    let filter = EnvFilter::new("off,coop=info");
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(log).init();
}
