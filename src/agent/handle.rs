//! An agent, for all who use it: what it is doing, messages to it, answers to its dialogs, its gates.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};

use super::asks::Ask;
use super::claude::paths::Paths;
use super::claude::resume::Found;
use super::claude::screen::Look;
use super::explain::Explained;
use super::gates::{StartGate, StopGate};
use super::transcripts::Transcripts;
use super::usage::Usage;
use super::view::View;
use super::watch::{Inlets, Watch};
use crate::config::Groom;
use crate::session::{Life, Resume, Session, State, Wants};

/// Questions to the watch that wait at once.
const ASKS_MAX: usize = 256;

/// How long the watch may take to answer; it does nothing that takes long.
const ASK_TIMEOUT: Duration = Duration::from_secs(5);

/// What was settled before the child started.
#[derive(Clone, Debug)]
pub struct Setup {
    pub paths: Paths,
    pub groom: Groom,
    /// The operator's own command line asked for the mode without permissions.
    pub bypass_was_asked: bool,
    /// The conversation that coop named, where it did.
    pub conversation: Option<String>,
    pub resumed: Option<Found>,
    pub idle_grace_ms: u64,
    /// The child prints JSON lines instead of drawing.
    pub prints_jsonl: bool,
    /// Where transcripts are kept, under the conversation's name.
    pub sessions_dir: Option<PathBuf>,
    /// How the command line of another child of the same session is made.
    pub relaunch: Relaunch,
}

/// The parts from which a command line is made again.
#[derive(Clone, Debug, Default)]
pub struct Relaunch {
    pub argv: Vec<OsString>,
    /// What coop adds besides the choice of a conversation.
    pub added: Vec<OsString>,
    /// Whether the operator's own arguments choose the conversation.
    pub chooses_conversation: bool,
    pub injects: bool,
}

/// The gates at an agent's start and stop.
#[derive(Debug, Default)]
pub struct Gates {
    pub stop: StopGate,
    pub start: StartGate,
}

/// What the watches over all children of a session share with those who use the agent.
pub struct Shared {
    pub setup: Setup,
    pub view: watch::Sender<Arc<View>>,
    pub prompt_numbers: Arc<AtomicU64>,
    gates: Mutex<Gates>,
    asks: mpsc::Sender<Ask>,
}

/// An agent. Cheap to clone.
#[derive(Clone)]
pub struct Agent {
    session: Session,
    shared: Arc<Shared>,
}

/// The watch over the agent is gone, because its child is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the agent is gone")]
pub struct Gone;

impl Shared {
    pub fn gates(&self) -> MutexGuard<'_, Gates> {
        self.gates.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn transcripts(&self, conversation: &str) -> io::Result<Transcripts> {
        let dir = self.setup.sessions_dir.as_ref().ok_or_else(|| {
            io::Error::other("there is no directory for them: set XDG_STATE_HOME to one that can be written")
        })?;
        Transcripts::open(dir, conversation)
    }

    pub fn agent(self: &Arc<Self>, session: &Session) -> Agent {
        Agent { session: session.clone(), shared: self.clone() }
    }
}

/// Begins to watch the agent in a session, through all its restarts.
pub fn watch_agent(
    session: Session,
    setup: Setup,
    gates: Gates,
    hooks: mpsc::Receiver<super::hook_socket::HookCall>,
) -> Agent {
    let (asks, asked) = mpsc::channel(ASKS_MAX);
    let nothing = View {
        pid: None,
        state: State::Starting,
        look: Look::default(),
        open_question: false,
        hooks_speak: false,
        log_speaks: false,
        conversation: None,
        log: None,
        version: 0,
    };
    let view = watch::Sender::new(Arc::new(nothing));
    let shared =
        Arc::new(Shared { setup, view, prompt_numbers: Arc::default(), gates: Mutex::new(gates), asks });
    let agent = Agent { session: session.clone(), shared: shared.clone() };
    tokio::spawn(keep_watching(session, shared, Inlets { hooks, asks: asked }));
    agent
}

/// One watch after the other, each over one child.
async fn keep_watching(session: Session, shared: Arc<Shared>, mut inlets: Inlets) {
    const STATES: Wants = Wants { output: false, screen: false, state: true };
    let Ok(mut changes) = session.subscribe_uncounted(STATES, Resume::default()) else { return };
    let mut watched = None;
    loop {
        let life = session.vitals().life.clone();
        match life {
            Life::Running { pid } if watched != Some(pid) => {
                watched = Some(pid);
                Watch::new(session.clone(), shared.clone(), pid).run(&mut inlets).await;
            }
            // Between children: nobody can be asked, and hooks of the last one are let go.
            _ => tokio::select! {
                change = changes.next() => if change.is_none() { return },
                Some(_) = inlets.hooks.recv() => {}
                Some(_) = inlets.asks.recv() => {}
            },
        }
    }
}

impl Agent {
    pub fn session(&self) -> &Session {
        &self.session
    }

    pub fn setup(&self) -> &Setup {
        &self.shared.setup
    }

    pub fn gates(&self) -> MutexGuard<'_, Gates> {
        self.shared.gates()
    }

    /// The agent as it was seen last.
    pub fn view(&self) -> Arc<View> {
        self.shared.view.borrow().clone()
    }

    pub fn views(&self) -> watch::Receiver<Arc<View>> {
        self.shared.view.subscribe()
    }

    pub fn transcripts(&self, conversation: &str) -> io::Result<Transcripts> {
        self.shared.transcripts(conversation)
    }

    pub async fn explain(&self) -> Result<Explained, Gone> {
        self.ask(|reply| Ask::Explain { reply }).await
    }

    pub async fn usage(&self) -> Result<Usage, Gone> {
        self.ask(|reply| Ask::Usage { reply }).await
    }

    pub async fn ask<T>(&self, ask: impl FnOnce(oneshot::Sender<T>) -> Ask) -> Result<T, Gone> {
        let (reply, answer) = oneshot::channel();
        self.shared.asks.send(ask(reply)).await.map_err(|_| Gone)?;
        tokio::time::timeout(ASK_TIMEOUT, answer).await.map_err(|_| Gone)?.map_err(|_| Gone)
    }

    /// Tells the watch something that needs no answer.
    pub async fn tell(&self, ask: Ask) {
        // A watch that is gone need not know.
        let _ = self.shared.asks.send(ask).await;
    }
}
