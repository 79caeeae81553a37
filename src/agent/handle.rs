//! An agent, for all who use it: what it is doing, messages to it, answers to its dialogs, its gates.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};

use super::asks::Ask;
use super::claims::{Claimed, Claims};
use super::driver::Driver;
use super::explain::Explained;
use super::gates::{StartGate, StopGate};
use super::hook_call::HookCall;
use super::relaunch::{Again, Last, Relaunch};
use super::resume::Found;
use super::rules::Rules;
use super::talk::{Failure, Nudge, Nudged};
use super::transcripts::Transcripts;
use super::view::View;
use super::watch::{Inlets, Watch};
use crate::borrowed::process;
use crate::config::{self, Groom};
use crate::session::{Life, Resume, Session, Wants};

/// Questions to the watch that wait at once.
const ASKS_MAX: usize = 256;

/// How long the watch may take to answer; it does nothing that takes long.
const ASK_TIMEOUT: Duration = Duration::from_secs(5);

/// How long after the session has told a state the watch may take to publish it; it is the next thing it does.
const PUBLISHED_WITHIN: Duration = Duration::from_millis(500);

/// What was settled before the child started.
#[derive(Clone, Debug)]
pub struct Setup {
    pub driver: &'static dyn Driver,
    /// Where the child starts.
    pub workspace: PathBuf,
    pub groom: Groom,
    /// The operator's own command line asked for the mode without permissions.
    pub bypass_was_asked: bool,
    /// The conversation that coop named, where it did.
    pub conversation: Option<String>,
    pub resumed: Option<Found>,
    pub idle_grace_ms: u64,
    /// Why its hooks will not call; `None` when they will.
    pub hooks_off: Option<String>,
    /// Why it may behave otherwise than what coop was measured with.
    pub doubt: Option<String>,
    /// The child prints JSON lines instead of drawing.
    pub prints_jsonl: bool,
    /// Where transcripts are kept, under the conversation's name.
    pub state_dir: Option<PathBuf>,
    /// What the screen's pictures mean.
    pub rules: Arc<Rules>,
    /// Where what the sources bring is written down.
    pub record_to: Option<PathBuf>,
    /// The agent was not started by coop but found running.
    pub found: Option<Lent>,
    /// How the command line of another child of the same session is made.
    pub relaunch: Relaunch,
}

/// An agent that runs on a terminal which coop serves but did not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lent {
    pub agent: config::Agent,
    /// The operator named it, and no process showed it: it may run elsewhere and only be shown there.
    pub unseen: bool,
}

impl Setup {
    /// Whether this process is to be watched; on a borrowed terminal it may be the shell that an agent left behind.
    fn is_watched(&self, pid: u32, is_first: bool) -> bool {
        self.found.is_none_or(|lent| process::agent_of(pid) == lent.agent || lent.unseen && is_first)
    }

    /// Where the agent that is this process keeps its files, by the environment that it was started with; `None` when that
    /// does not tell.
    pub fn config_dir(&self, session: &Session, pid: u32) -> Option<PathBuf> {
        match session.vitals().launched.as_ref().filter(|_| self.found.is_none()) {
            Some(launch) => self.driver.config_dir(&|name| launch.variable(name)),
            None => self.driver.config_dir(&|name| process::variable(pid, name).or_else(|| std::env::var_os(name))),
        }
    }
}

/// The gates at an agent's start and stop.
#[derive(Debug)]
pub struct Gates {
    pub stop: StopGate,
    pub start: StartGate,
}

/// What the watches over all children of a session share with those who use the agent.
pub struct Shared {
    pub setup: Setup,
    pub view: watch::Sender<Arc<View>>,
    pub prompt_numbers: Arc<AtomicU64>,
    claims: Claims,
    gates: Mutex<Gates>,
    /// The present child was started with what the user's own words say of a conversation.
    by_own_words: AtomicBool,
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
        let dir = self.setup.state_dir.as_ref().ok_or_else(|| {
            io::Error::other("there is no directory for them: set XDG_STATE_HOME to one that can be written")
        })?;
        Transcripts::open(dir, conversation)
    }

    pub fn agent(self: &Arc<Self>, session: &Session) -> Agent {
        Agent { session: session.clone(), shared: self.clone() }
    }
}

/// Begins to watch the agent in a session, through all its restarts.
pub fn watch_agent(session: Session, setup: Setup, gates: Gates, hooks: mpsc::Receiver<HookCall>) -> Agent {
    let (asks, asked) = mpsc::channel(ASKS_MAX);
    let view = watch::Sender::new(Arc::new(View::of_nobody()));
    let shared = Arc::new(Shared {
        setup,
        view,
        prompt_numbers: Arc::default(),
        claims: Claims::default(),
        gates: Mutex::new(gates),
        by_own_words: AtomicBool::new(true),
        asks,
    });
    let agent = Agent { session: session.clone(), shared: shared.clone() };
    tokio::spawn(keep_watching(session, shared, Inlets { hooks, asks: asked }));
    agent
}

/// One watch after the other, each over one child.
async fn keep_watching(session: Session, shared: Arc<Shared>, mut inlets: Inlets) {
    const STATES: Wants = Wants { output: false, screen: false, state: true, messages: false };
    let Ok(mut changes) = session.subscribe_uncounted(STATES, Resume::default()) else { return };
    let mut watched = None;
    loop {
        let life = session.vitals().life.clone();
        match life {
            Life::Running { pid } if watched != Some(pid) && shared.setup.is_watched(pid, watched.is_none()) => {
                let is_first = watched.replace(pid).is_none();
                Watch::new(session.clone(), shared.clone(), pid, is_first).run(&mut inlets).await;
            }
            // Between children: nobody can be asked, and hooks of the last one are let go. Whether there is a new one is
            // looked at first, because its hooks may call at once.
            _ => tokio::select! {
                biased;
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

    pub fn driver(&self) -> &'static dyn Driver {
        self.shared.setup.driver
    }

    pub fn gates(&self) -> MutexGuard<'_, Gates> {
        self.shared.gates()
    }

    /// The agent as it was seen last.
    pub fn view(&self) -> Arc<View> {
        self.shared.view.borrow().clone()
    }

    /// The same, as new as what the session tells of it: a caller may act on that before the watch has published.
    pub async fn view_as_told(&self) -> Arc<View> {
        let mut views = self.views();
        let as_told = views.wait_for(|view| view.state == self.session.vitals().state);
        let _ = tokio::time::timeout(PUBLISHED_WITHIN, as_told).await;
        self.view()
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

    /// Whether the agent may stop; the reason when it may not.
    pub async fn decide_stop(&self, already_held: bool) -> Result<Option<String>, Gone> {
        self.ask(|reply| Ask::Stop { already_held, reply }).await
    }

    /// What the agent is told at this kind of start, as a shell script.
    pub async fn decide_start(&self, source: &str) -> Result<String, Gone> {
        let source = source.to_owned();
        self.ask(|reply| Ask::Start { source, reply }).await
    }

    /// The right to answer a prompt, unless somebody else has it.
    pub fn claim(&self, prompt_id: &str) -> Option<Claimed> {
        self.shared.claims.claim(prompt_id)
    }

    /// Whether nobody has tried to answer the prompt since this try.
    pub fn is_last_try(&self, prompt_id: &str, number: u64) -> bool {
        self.shared.claims.is_last(prompt_id, number)
    }

    /// Gives the agent a message.
    pub async fn nudge(&self, nudge: Nudge) -> Result<Nudged, Failure> {
        super::nudge::nudge(self, nudge).await
    }

    /// How the next child is started, which is given this too: with the same conversation if that is wanted.
    pub async fn again(&self, resume: bool, env: &BTreeMap<String, String>) -> Option<Again> {
        // What is wrong with it, the restart itself will tell.
        let next = self.session.next_launch(env.clone()).await.ok()?;
        let (shared, last) = (self.shared.clone(), self.last());
        let planned = tokio::task::spawn_blocking(move || shared.setup.relaunch.again(resume, &last, &next));
        let again = planned.await.ok()?;
        self.shared.by_own_words.store(again.by_own_words, Ordering::Relaxed);
        Some(again)
    }

    /// What is known of the present child, or of the last one.
    fn last(&self) -> Last {
        let (vitals, view) = (self.session.vitals(), self.view());
        let is_seen = vitals.conversation.is_some() && view.conversation == vitals.conversation;
        let launched = vitals.launched.as_ref();
        Last {
            conversation: vitals.conversation.clone(),
            log: view.log.clone().filter(|_| is_seen),
            has_begun: is_seen && view.has_begun,
            config_dir: launched.and_then(|launch| self.driver().config_dir(&|name| launch.variable(name))),
            by_own_words: self.shared.by_own_words.load(Ordering::Relaxed),
        }
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
