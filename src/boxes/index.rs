//! How all boxes stand: their directories, who listens on their sockets, and what these say. Woken by changes alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use notify::{RecursiveMode, Watcher};
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout};

use super::home::Home;
use super::locks::Locks;
use super::name::Name;
use super::record::{self, Record};
use super::{log, sidecar};
use crate::boxfile::{NetworkMode, WorkspaceMode};
use crate::client::{Client, Credentials, Target, connect};
use crate::proto::v1::{
    self, AgentState, BoxState, GetAgentStateRequest, GetStatusRequest, GetStatusResponse, SessionState,
    StreamStateRequest,
};

/// A session that hangs must not keep the others from being listed.
const TELLS_WITHIN: Duration = Duration::from_secs(3);

/// When a session that is there but does not tell is asked again.
const AGAIN_AFTER: Duration = Duration::from_secs(5);

/// Between two looks whether it is still there: one that was killed is gone a moment after its connections.
const BETWEEN_PROBES: Duration = Duration::from_millis(250);

/// Several changes of a moment are one: a start alone makes four files.
const SETTLES_WITHIN: Duration = Duration::from_millis(20);

/// All boxes by name, as they are told.
pub type Known = Arc<BTreeMap<Name, Arc<v1::Box>>>;

/// How all boxes stand. Cheap to clone.
#[derive(Clone)]
pub struct Index(Arc<Inner>);

struct Inner {
    home: Home,
    runtime_dir: PathBuf,
    known: watch::Sender<Known>,
    held: Mutex<BTreeMap<Name, Held>>,
    /// Two looks at one box would follow it twice.
    looks: Locks,
    /// Something has changed somewhere.
    changed: Arc<Notify>,
    _watcher: Option<notify::RecommendedWatcher>,
}

/// What is known of a box beside its directory.
#[derive(Default)]
struct Held {
    /// It is being started.
    starting: bool,
    /// What its session said last.
    told: Option<Told>,
    follower: Option<AbortHandle>,
    /// Counts the followers: one that was replaced has nothing to say any more.
    follows: u64,
}

#[derive(Clone, Debug)]
struct Told {
    pid: Option<u32>,
    /// None if it is there and does not answer.
    said: Option<(GetStatusResponse, AgentState)>,
}

/// A box is being started for as long as this lives.
pub struct Starting<'a>(&'a Index, Name);

impl Index {
    /// Looks at all boxes, and follows them from now on.
    pub async fn open(home: Home, runtime_dir: PathBuf) -> Self {
        let changed = Arc::new(Notify::new());
        let watcher = watcher(&[&home.sessions(), &runtime_dir], changed.clone());
        let index = Self(Arc::new(Inner {
            home,
            runtime_dir,
            known: watch::Sender::new(Known::default()),
            held: Mutex::default(),
            looks: Locks::default(),
            changed,
            _watcher: watcher,
        }));
        index.look_at_all().await;
        tokio::spawn(index.clone().follow_changes());
        index
    }

    /// All boxes as they are known now, and each change.
    pub fn subscribe(&self) -> watch::Receiver<Known> {
        self.0.known.subscribe()
    }

    pub fn known(&self) -> Known {
        self.0.known.borrow().clone()
    }

    pub fn get(&self, name: &Name) -> Option<Arc<v1::Box>> {
        self.0.known.borrow().get(name).cloned()
    }

    /// Where a box's session listens; where it would, if it stands still.
    pub fn socket(&self, name: &Name) -> PathBuf {
        record::wanted_at(&self.0.home.session(name)).unwrap_or_else(|| self.own_socket(name))
    }

    /// Where a session that we start listens.
    pub fn own_socket(&self, name: &Name) -> PathBuf {
        self.0.runtime_dir.join(format!("box-{name}.sock"))
    }

    /// Tells everybody that a box is being started.
    pub fn starting(&self, name: &Name) -> Starting<'_> {
        self.0.held().entry(name.clone()).or_default().starting = true;
        self.publish(name);
        Starting(self, name.clone())
    }

    async fn follow_changes(self) {
        loop {
            self.0.changed.notified().await;
            sleep(SETTLES_WITHIN).await;
            self.look_at_all().await;
        }
    }

    async fn look_at_all(&self) {
        let mut names: Vec<Name> = self.known().keys().cloned().collect();
        let entries = std::fs::read_dir(self.0.home.sessions());
        names.extend(entries.into_iter().flatten().flatten().filter_map(|entry| Name::of_entry(&entry.path())));
        names.sort();
        names.dedup();
        join_all(names.iter().map(|name| self.look(name))).await;
    }

    /// Looks at one box again, and tells how it stands. What its session said before does not count: it may be another.
    pub async fn look_afresh(&self, name: &Name) -> Option<Arc<v1::Box>> {
        let alone = self.0.looks.of(name).await;
        if let Some(held) = self.0.held().get_mut(name) {
            held.told = None;
            held.follows += 1;
            if let Some(follower) = held.follower.take() {
                follower.abort();
            }
        }
        drop(alone);
        self.look(name).await
    }

    /// Looks at one box, if its session does not tell by itself.
    async fn look(&self, name: &Name) -> Option<Arc<v1::Box>> {
        let _alone = self.0.looks.of(name).await;
        if !self.0.home.session(name).is_dir() {
            if let Some(Held { follower: Some(follower), .. }) = self.0.held().remove(name) {
                follower.abort();
            }
            self.publish(name);
            return None;
        }
        let is_followed = self.0.held().get(name).is_some_and(|held| held.told.is_some());
        if !is_followed {
            self.ask(name).await;
        }
        log::empty_if_large(&self.0.home.session(name).join("coop.log"));
        self.publish(name);
        self.get(name)
    }

    /// Asks a box's session how it stands, if there is one, and follows it.
    async fn ask(&self, name: &Name) {
        let socket = self.socket(name);
        let Some(live) = sidecar::probe(&socket).await else { return };
        let answer = async {
            let client = connect(Target::Socket(socket), Credentials::default()).await.ok()?;
            let said = tell(&client).await?;
            Some((client, said))
        };
        let (client, said) = timeout(TELLS_WITHIN, answer).await.ok().flatten().unzip();
        let mut all = self.0.held();
        let held = all.entry(name.clone()).or_default();
        held.told = Some(Told { pid: live.pid, said });
        held.follows += 1;
        let follower = tokio::spawn(self.clone().follow(name.clone(), held.follows, client));
        if let Some(earlier) = held.follower.replace(follower.abort_handle()) {
            earlier.abort();
        }
    }

    /// Asks again whenever the session says that something has changed, until it is gone. Boxed, as a look may lead to the
    /// next follower.
    fn follow(self, name: Name, number: u64, client: Option<Client>) -> BoxFuture<'static, ()> {
        async move {
            if let Some(client) = client {
                self.follow_states(&name, number, &client).await;
            }
            // It hangs, is on its way out, or is of a version that tells nothing.
            let asked_again = Instant::now() + AGAIN_AFTER;
            while Instant::now() < asked_again && sidecar::probe(&self.socket(&name)).await.is_some() {
                sleep(BETWEEN_PROBES).await;
            }
            let is_over = self.0.while_following(&name, number, |held| {
                held.told = None;
                // Or the look would end us, who make it.
                held.follower = None;
            });
            if is_over {
                self.look(&name).await;
            }
        }
        .boxed()
    }

    async fn follow_states(&self, name: &Name, number: u64, client: &Client) {
        let Ok(states) = client.calls().stream_state(StreamStateRequest::default()).await else { return };
        let mut states = states.into_inner();
        while let Ok(Some(_)) = states.message().await {
            let Ok(Some(said)) = timeout(TELLS_WITHIN, tell(client)).await else { return };
            self.0.while_following(name, number, |held| {
                if let Some(told) = held.told.as_mut() {
                    told.said = Some(said);
                }
            });
            self.publish(name);
        }
    }

    /// Tells how a box stands, if that is news.
    fn publish(&self, name: &Name) {
        let dir = self.0.home.session(name);
        // Held meanwhile, so that what is told later was also found later.
        let held = self.0.held();
        let told = dir.is_dir().then(|| {
            let (starting, told) = held.get(name).map_or((false, None), |held| (held.starting, held.told.clone()));
            describe(name, &dir, self.socket(name), starting, told)
        });
        self.0.known.send_if_modified(|known| {
            if known.get(name).map(Arc::as_ref) == told.as_ref() {
                return false;
            }
            let all = Arc::make_mut(known);
            match told {
                Some(told) => all.insert(name.clone(), Arc::new(told)),
                None => all.remove(name),
            };
            true
        });
    }
}

impl Inner {
    fn held(&self) -> MutexGuard<'_, BTreeMap<Name, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is held of a box, if this follower is still the one that counts.
    fn while_following(&self, name: &Name, number: u64, change: impl FnOnce(&mut Held)) -> bool {
        let mut all = self.held();
        let held = all.get_mut(name).filter(|held| held.follows == number);
        held.map(change).is_some()
    }
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        if let Some(held) = self.0.0.held().get_mut(&self.1) {
            held.starting = false;
        }
        self.0.publish(&self.1);
    }
}

/// Whether a session of it is there, or about to be.
pub fn is_live(told: &v1::Box) -> bool {
    !matches!(told.state(), BoxState::Unspecified | BoxState::Stopped | BoxState::Lost)
}

/// Whether its session is there and its program is not.
pub fn has_ended(told: &v1::Box) -> bool {
    matches!(told.state(), BoxState::Ended | BoxState::Parked)
}

fn watcher(dirs: &[&Path], changed: Arc<Notify>) -> Option<notify::RecommendedWatcher> {
    let hear = move |event: notify::Result<notify::Event>| {
        // Our own looks open the directories, which is told too.
        if !event.is_ok_and(|event| event.kind.is_access()) {
            changed.notify_one();
        }
    };
    let watching = notify::recommended_watcher(hear).and_then(|mut watcher| {
        for dir in dirs {
            watcher.watch(dir, RecursiveMode::NonRecursive)?;
        }
        Ok(watcher)
    });
    watching
        .inspect_err(|error| tracing::warn!(%error, "changes of others are not noticed: inotify does not work"))
        .ok()
}

async fn tell(client: &Client) -> Option<(GetStatusResponse, AgentState)> {
    let status = client.answer(client.calls().get_status(GetStatusRequest {})).await.ok()?;
    let agent = client.answer(client.calls().get_agent_state(GetAgentStateRequest::default())).await.ok()?;
    Some((status, agent))
}

fn describe(name: &Name, dir: &Path, socket: PathBuf, starting: bool, told: Option<Told>) -> v1::Box {
    let mut told_box = match Record::read(dir) {
        Ok(record) => of_record(&record),
        Err(error) => v1::Box { name: name.to_string(), error: Some(error.to_string()), ..Default::default() },
    };
    told_box.socket = socket.display().to_string();
    let state = state_of(told.as_ref(), starting, record::is_wanted(dir));
    told_box.set_state(state);
    if let Some(error) = record::last_error(dir).filter(|_| told.is_none()) {
        told_box.error = Some(error);
    }
    if let Some(Told { pid, said }) = told {
        told_box.pid = pid;
        match said {
            Some((status, agent)) => {
                told_box.version = status.version;
                told_box.error = status.error;
                told_box.command = status.command;
                // Those of the plan, and what the machine could not do.
                told_box.warnings = status.warnings;
                // An older session does not say.
                if !status.published.is_empty() {
                    told_box.published = status.published;
                }
                told_box.agent_state = Some(agent);
            }
            None => told_box.warnings.push("its session does not answer: look at its log, or stop it".to_owned()),
        }
    }
    told_box
}

fn of_record(record: &Record) -> v1::Box {
    let plan = &record.plan;
    let mut told = v1::Box {
        name: record.name.to_string(),
        workspace: plan.workspace.path.display().to_string(),
        image: plan.image.clone(),
        agent: plan.agent.to_string(),
        command: plan.command.clone(),
        labels: plan.session.labels.clone(),
        created_at_ms: record.created_at_ms,
        warnings: plan.warnings.clone(),
        published: plan.network.publish.clone(),
        ..Default::default()
    };
    told.set_workspace_mode(match plan.workspace.mode {
        WorkspaceMode::ReadWrite => v1::WorkspaceMode::Rw,
        WorkspaceMode::ReadOnly => v1::WorkspaceMode::Ro,
        WorkspaceMode::Overlay => v1::WorkspaceMode::Overlay,
    });
    told.set_network(match plan.network.mode {
        NetworkMode::Host => v1::NetworkMode::Host,
        NetworkMode::None => v1::NetworkMode::None,
        NetworkMode::Filtered => v1::NetworkMode::Filtered,
    });
    told
}

fn state_of(told: Option<&Told>, starting: bool, wanted: bool) -> BoxState {
    match told {
        Some(Told { said: Some((status, _)), .. }) => match status.state() {
            SessionState::Exited if status.parked => BoxState::Parked,
            SessionState::Exited => BoxState::Ended,
            SessionState::Starting => BoxState::Starting,
            SessionState::Running | SessionState::Unspecified => BoxState::Running,
        },
        Some(Told { said: None, .. }) => BoxState::Running,
        None if starting => BoxState::Starting,
        None if wanted => BoxState::Lost,
        None => BoxState::Stopped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_stands_as_its_session_says_or_as_it_was_left() {
        let said = |state: SessionState| {
            let mut status = GetStatusResponse::default();
            status.set_state(state);
            Some(Told { pid: None, said: Some((status, AgentState::default())) })
        };
        assert_eq!(state_of(said(SessionState::Running).as_ref(), true, true), BoxState::Running);
        assert_eq!(state_of(said(SessionState::Exited).as_ref(), false, true), BoxState::Ended);
        let mut parked = said(SessionState::Exited).unwrap();
        parked.said.as_mut().unwrap().0.parked = true;
        assert_eq!(state_of(Some(&parked), false, true), BoxState::Parked);
        assert_eq!(state_of(Some(&Told { pid: None, said: None }), false, true), BoxState::Running);
        assert_eq!(state_of(None, true, true), BoxState::Starting);
        assert_eq!(state_of(None, false, true), BoxState::Lost);
        assert_eq!(state_of(None, false, false), BoxState::Stopped);
    }
}
