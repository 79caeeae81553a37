//! The sandbox of a running box: made when its session starts, and made anew when its first process is gone.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use nix::libc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::network;
use crate::boxes::first;
use crate::child::{Enclosed, Enclosure, Exit, Launch, Pipes, SpawnError};
use crate::egress::{AllowList, Denial, Published};
use crate::sandbox::{Ended, Ending, Piped, Replaced, Run, RunError, Sandbox, SandboxError, Spec, Started};

/// Re-executed as the first process of a sandbox.
const COOP: &str = "/proc/self/exe";

/// What was replaced outside and waits to be told; it is in the log besides.
const REPLACED_MAX: usize = 64;

/// Makes sandboxes of one kind, one at a time.
#[derive(Debug)]
pub struct BoxEnclosure {
    spec: Spec,
    allow: AllowList,
    /// Hears whom each of its sandboxes was kept from.
    denials: mpsc::Sender<Denial>,
    /// Hears what was replaced that is hidden or protected in them.
    replaced: mpsc::Sender<Replaced>,
    /// Where programs start when they do not say.
    cwd: PathBuf,
    /// The box's own directory, where its first process is written down.
    dir: PathBuf,
    live: Mutex<Option<Live>>,
}

/// What a box tells while it runs, whichever sandbox it has.
#[derive(Debug)]
pub struct News {
    /// Whom it was kept from.
    pub denied: mpsc::Receiver<Denial>,
    /// What was replaced outside that is hidden or protected in it.
    pub replaced: mpsc::Receiver<Replaced>,
}

#[derive(Debug)]
struct Live {
    sandbox: Arc<Sandbox>,
    /// Ends its proxy.
    cancel: CancellationToken,
}

impl Drop for Live {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl BoxEnclosure {
    /// Makes the first sandbox, so that what is wrong with it is told at once; and gives the news of this one and of those
    /// after it. Must be called inside a tokio runtime.
    pub fn start(spec: Spec, allow: AllowList, cwd: PathBuf, dir: PathBuf) -> Result<(Arc<Self>, News), SandboxError> {
        let (denials, denied) = mpsc::channel(network::DENIALS_MAX);
        let (tell_replaced, replaced) = mpsc::channel(REPLACED_MAX);
        let enclosure = Self { spec, allow, denials, replaced: tell_replaced, cwd, dir, live: Mutex::new(None) };
        enclosure.sandbox()?;
        Ok((Arc::new(enclosure), News { denied, replaced }))
    }

    /// What was asked for and is not enforced on this machine.
    pub fn warnings(&self) -> Vec<String> {
        self.sandbox().map(|sandbox| sandbox.warnings().to_vec()).unwrap_or_default()
    }

    /// Serves a port of the machine for as long as this lives.
    pub fn publish(self: &Arc<Self>, published: Published) {
        let enclosure = Arc::downgrade(self);
        let gone = || io::Error::new(io::ErrorKind::NotConnected, "the box is gone");
        let dial = move |port| {
            let enclosure = enclosure.upgrade().ok_or_else(gone)?;
            let sandbox = enclosure.sandbox().map_err(io::Error::other)?;
            sandbox.dial(port)
        };
        network::serve_published(published, dial, CancellationToken::new());
    }

    /// Runs a program without a terminal, and returns what it prints: at most so many bytes. Blocks.
    pub fn ask(&self, launch: &Launch, bytes_max: u64) -> io::Result<Vec<u8>> {
        use io::Read;
        let started = self.run(launch, None, Sandbox::run).map_err(|error| io::Error::other(error.to_string()))?;
        let mut printed = Vec::new();
        std::fs::File::from(started.terminal).take(bytes_max).read_to_end(&mut printed)?;
        Ok(printed)
    }

    fn run<T>(
        &self,
        launch: &Launch,
        size: Option<(u16, u16)>,
        start: fn(&Sandbox, &Run) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let run = Run {
            argv: launch.argv.clone(),
            cwd: launch.cwd.clone().unwrap_or_else(|| self.cwd.clone()),
            env: last_of_each(&launch.env),
            size,
        };
        let standing = |error: SandboxError| RunError::Talk(io::Error::other(error.to_string()));
        let sandbox = self.sandbox().map_err(standing)?;
        match start(&sandbox, &run) {
            // Its first process was killed: everything in it is gone, and a new one takes its place.
            Err(RunError::BoxGone) => {
                // Two of them would write into the same layer.
                if !sandbox.ends() {
                    return Err(RunError::Talk(io::Error::other(
                        "what runs in the box does not end, not even by SIGKILL",
                    )));
                }
                self.forget(&sandbox);
                start(&*self.sandbox().map_err(standing)?, &run)
            }
            result => result,
        }
    }

    /// The sandbox that stands, made if there is none.
    fn sandbox(&self) -> Result<Arc<Sandbox>, SandboxError> {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(live) = &*live {
            return Ok(live.sandbox.clone());
        }
        let sandbox = Arc::new(Sandbox::start_telling(&self.spec, COOP.as_ref(), self.replaced.clone())?);
        // A full disk is no reason not to start: who ends the box then waits for its session, and not for its first process.
        if let Err(error) = first::note(&self.dir, sandbox.pid()) {
            tracing::warn!(%error, "who the first process of the box is could not be written down");
        }
        tracing::info!(pid = sandbox.pid(), "the box stands");
        let cancel = CancellationToken::new();
        if let Err(error) = network::serve_proxy(&sandbox, &self.allow, self.denials.clone(), cancel.clone()) {
            tracing::error!(%error, "the box reaches nothing: its proxy could not be served");
        }
        *live = Some(Live { sandbox: sandbox.clone(), cancel });
        Ok(sandbox)
    }

    fn forget(&self, gone: &Arc<Sandbox>) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if live.as_ref().is_some_and(|live| Arc::ptr_eq(&live.sandbox, gone)) {
            *live = None;
        }
    }
}

impl Enclosure for BoxEnclosure {
    fn start(&self, launch: &Launch) -> Result<Enclosed<OwnedFd>, SpawnError> {
        let size = (launch.size.cols(), launch.size.rows());
        let started = self.run(launch, Some(size), Sandbox::run).map_err(|error| explain(launch, error))?;
        let Started { pid, terminal, exit, .. } = started;
        Ok(Enclosed { pid, line: terminal, exit: Box::pin(told(exit)) })
    }

    fn start_piped(&self, launch: &Launch) -> Result<Enclosed<Pipes>, SpawnError> {
        let started = self.run(launch, None, Sandbox::run_piped).map_err(|error| explain(launch, error))?;
        let Piped { pid, stdin, stdout, stderr, exit } = started;
        Ok(Enclosed { pid, line: Pipes { stdin, stdout, stderr }, exit: Box::pin(told(exit)) })
    }
}

async fn told(exit: Ending) -> Exit {
    match exit.ended().await {
        Ended::Code(code) => Exit::Code(code),
        Ended::Signal(number) => Exit::Signal(number),
        Ended::BoxGone => Exit::Signal(libc::SIGKILL),
    }
}

/// The system takes a name twice, and programs disagree about which counts.
fn last_of_each(env: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let is_last = |index: usize, name: &OsString| !env[index + 1..].iter().any(|(later, _)| later == name);
    let kept = env.iter().enumerate().filter(|(index, (name, _))| is_last(*index, name));
    kept.map(|(_, pair)| pair.clone()).collect()
}

fn explain(launch: &Launch, error: RunError) -> SpawnError {
    let program = launch.argv.first().cloned().unwrap_or_default();
    match error {
        RunError::NothingToRun => SpawnError::NothingToRun,
        RunError::NotFound { program } => SpawnError::NotFoundInBox { program },
        error => SpawnError::Other { program, source: io::Error::other(error.to_string()) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_variable_that_is_set_twice_the_last_counts() {
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let env = [pair("A", "1"), pair("B", "2"), pair("A", "3")];
        assert_eq!(last_of_each(&env), [pair("B", "2"), pair("A", "3")]);
    }
}
