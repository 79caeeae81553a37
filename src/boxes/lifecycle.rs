//! Makes, starts, stops and removes boxes: one request at a time for each, and each step such that a crash after it leaves
//! something that the next daemon understands.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;

use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::failure::BoxError;
use super::files::remove_if_there;
use super::first;
use super::foundation::{self, Told};
use super::furnish::{WORKSPACE_UPPER, furnish, give_login_again, renew_baseline, take_baseline};
use super::home::Home;
use super::index::{Index, has_ended, is_live};
use super::locks::Locks;
use super::name::Name;
use super::prepare::{self, PrepareError, Prepared};
use super::record::{self, Record};
use super::sidecar;
use crate::boxfile::WorkspaceMode;
use crate::config::check_socket_path;
use crate::images::remove_tree;
use crate::proto::v1::{self, BoxState};
use crate::review::{Options, Overlay, Selection};

/// How directories begin that are not boxes yet, or not any more.
const NEW: &str = ".new-";
const GONE: &str = ".gone-";

/// A box's own HOME, made with it.
const HOME_DIR: &str = "home";
/// What was written over an image.
const IMAGE_UPPER: &str = "upper";
const LOG: &str = "coop.log";
/// Beside the session's socket: the directory of the socket for its agent's hooks.
const HOOKS_EXTENSION: &str = "d";

/// All boxes of one user. Cheap to clone.
#[derive(Clone)]
pub struct Boxes(Arc<Inner>);

struct Inner {
    home: Home,
    index: Index,
    locks: Locks,
    tasks: TaskTracker,
    /// Nothing that takes its time is waited for any more.
    leaving: CancellationToken,
}

impl Boxes {
    /// Also clears away what a killed daemon left half made or half removed; there must be no other daemon.
    pub fn new(home: Home, index: Index) -> Self {
        let (locks, tasks, leaving) = (Locks::default(), TaskTracker::new(), CancellationToken::new());
        let boxes = Self(Arc::new(Inner { home, index, locks, tasks, leaving }));
        // Little, and before any other could be made.
        boxes.sweep(NEW);
        let sweeper = boxes.clone();
        boxes.0.tasks.spawn_blocking(move || sweeper.sweep(GONE));
        boxes
    }

    pub fn index(&self) -> &Index {
        &self.0.index
    }

    pub fn home(&self) -> &Home {
        &self.0.home
    }

    pub fn get(&self, name: &str) -> Result<v1::Box, BoxError> {
        let name = Name::parse(name)?;
        self.0.index.get(&name).map(|told| (*told).clone()).ok_or(BoxError::NoSuchBox(name))
    }

    /// Makes a box and starts it. One that is there is started again if its program does not run, with what it was made
    /// with where nothing else is asked for, and told as it is if it runs.
    pub async fn create(&self, source: v1::BoxSource) -> Result<v1::Box, BoxError> {
        let boxes = self.clone();
        self.unbroken(async move {
            let nobody: Told = Arc::new(|_| {});
            loop {
                let prepared = boxes.prepare(source.clone(), &nobody).await?;
                if let Some(told) = boxes.create_prepared(prepared).await? {
                    return Ok(told);
                }
            }
        })
        .await
    }

    /// Makes ready what such a box stands on, and tells how far it is. Whoever stops waiting ends it; what was fetched
    /// stays.
    pub async fn build(&self, source: v1::BoxSource, told: Told) -> Result<(), BoxError> {
        self.0.tasks.track_future(self.prepare(source, &told)).await.map(drop)
    }

    async fn prepare(&self, source: v1::BoxSource, told: &Told) -> Result<Prepared, BoxError> {
        tokio::select! {
            prepared = prepare::prepare(source, &self.0.home, told) => Ok(prepared?),
            () = self.0.leaving.cancelled() => Err(BoxError::Leaving),
        }
    }

    /// Fetches an image as it is now where it comes from, and tells how far it is.
    pub async fn pull(&self, image: String, told: Told) -> Result<(), BoxError> {
        let boxes = self.clone();
        self.unbroken(async move {
            foundation::pull(&image, &boxes.0.home, &told).await.map_err(PrepareError::from)?;
            Ok(())
        })
        .await
    }

    /// `None` if the box has become another since this was prepared, so that what was kept of it does not hold any more.
    async fn create_prepared(&self, mut prepared: Prepared) -> Result<Option<v1::Box>, BoxError> {
        let name = prepared.record.name.clone();
        let _alone = self.0.locks.of(&name).await;
        check_socket_path(&self.0.index.own_socket(&name))?;
        let dir = self.0.home.session(&name);
        if dir.is_dir() {
            let before = Record::read(&dir)?;
            let workspace = &before.plan.workspace.path;
            if *workspace != prepared.record.plan.workspace.path {
                return Err(BoxError::Taken { name, workspace: workspace.clone() });
            }
            let live = self.0.index.look_afresh(&name).await.filter(|told| is_live(told));
            if let Some(told) = live.as_ref().filter(|told| !has_ended(told)) {
                return Ok(Some((**told).clone()));
            }
            if before.asked != prepared.earlier {
                return Ok(None);
            }
            let had_no_login = before.plan.login != prepared.record.plan.login;
            let (boxes, now) = (self.clone(), prepared.record.clone());
            let fits = spawn_blocking(move || boxes.fit(&before, &now).map(|()| before.created_at_ms)).await;
            prepared.record.created_at_ms = fits.map_err(|error| BoxError::Broken(error.to_string()))??;
            // First: where the disk is full, the session and its last screen are still there.
            prepared.record.write(&dir).map_err(BoxError::file(Record::path(&dir), "written"))?;
            if live.is_some() {
                self.stop_sidecar(&name, false).await?;
            }
            self.ended(&name).await?;
            let (record, home) = (prepared.record.clone(), self.0.home.clone());
            let given = spawn_blocking(move || give_login_again(&record, &dir, &home, had_no_login)).await;
            let mut told = self.start_again(&name, &prepared).await?;
            told.warnings.extend(given.map_err(|error| BoxError::Broken(error.to_string()))?);
            Ok(Some(told))
        } else if prepared.earlier.is_some() {
            Ok(None)
        } else {
            let (boxes, name, record) = (self.clone(), name.clone(), prepared.record.clone());
            let made = spawn_blocking(move || boxes.make(&name, &record)).await;
            made.map_err(|error| BoxError::Broken(error.to_string()))??;
            let started = self.start(&prepared.record.name, &prepared).await;
            started.map(Some).map_err(|error| match error {
                BoxError::NotStarted { name, why } => BoxError::NeverStarted { name, why },
                error => error,
            })
        }
    }

    /// Sees to it that what a box has written so far still means the same when it becomes another.
    fn fit(&self, before: &Record, now: &Record) -> Result<(), BoxError> {
        let (name, dir) = (&now.name, self.0.home.session(&now.name));
        let is_overlay = |record: &Record| record.plan.workspace.mode == WorkspaceMode::Overlay;
        if !is_overlay(now) && has_unapplied_changes(&dir) {
            return Err(BoxError::Unseen(name.clone()));
        }
        let ground = |record: &Record| {
            let image = record.image.as_ref().map(|image| image.digest.clone());
            (image, record.setup_build.clone(), record.plan.uidmap)
        };
        if now.image.is_some() && ground(before) != ground(now) && holds_something(&dir.join(IMAGE_UPPER)) {
            return Err(BoxError::OtherGround(name.clone()));
        }
        if is_overlay(now) && !is_overlay(before) {
            take_baseline(now, &dir).map_err(BoxError::file(&dir, "written to"))?;
        }
        Ok(())
    }

    /// Starts a box that was there before and whose session is gone.
    async fn start_again(&self, name: &Name, prepared: &Prepared) -> Result<v1::Box, BoxError> {
        // A session that was killed leaves its box to end by itself; two of them would write into the same layers.
        self.ended(name).await?;
        let (boxes, record) = (self.clone(), prepared.record.clone());
        let renewed = spawn_blocking(move || boxes.go_on_from_the_project(&record)).await;
        renewed.map_err(|error| BoxError::Broken(error.to_string()))?;
        self.start(name, prepared).await
    }

    /// Ends what a session that is gone has left of its box, if it does not end by itself.
    async fn ended(&self, name: &Name) -> Result<(), BoxError> {
        let ended = first::end(&self.0.home.session(name)).await;
        ended.map_err(|pid| BoxError::Unended { name: name.clone(), pid })
    }

    /// What the project became while a box stood still is what the box now starts from. With the older record more than
    /// is true would count as changed on both sides, and nothing would be lost: no reason not to start.
    fn go_on_from_the_project(&self, record: &Record) {
        let dir = self.0.home.session(&record.name);
        if record.plan.workspace.mode == WorkspaceMode::Overlay {
            if let Err(error) = renew_baseline(record, &dir) {
                tracing::warn!(name = %record.name, %error, "how the project is now could not be written down");
            }
            return;
        }
        let overlay = Overlay { lower: record.plan.workspace.path.clone(), upper: dir.join(WORKSPACE_UPPER) };
        // Copies that are as in the project would hide what becomes of it, should there be an overlay again.
        if holds_something(&overlay.upper)
            && !has_unapplied_changes(&dir)
            && let Err(error) = overlay.discard(&Selection::All)
        {
            tracing::warn!(name = %record.name, %error, "what is left of its overlay could not be removed");
        }
    }

    /// Makes a box's directory; it is there with all that belongs into it, or not at all.
    fn make(&self, name: &Name, record: &Record) -> Result<(), BoxError> {
        let (new, dir) = (self.0.home.sessions().join(format!("{NEW}{name}")), self.0.home.session(name));
        let made = (|| {
            // What a killed daemon left half made.
            remove_tree(&new)?;
            let mut private = DirBuilder::new();
            private.mode(0o700).create(&new)?;
            private.create(new.join(HOME_DIR))?;
            furnish(record, &new, &self.0.home)?;
            record.write(&new)?;
            fs::rename(&new, &dir)
        })();
        made.map_err(|error| {
            // Where the disk is full, it would be in the way.
            let _ = remove_tree(&new);
            BoxError::file(dir, "made")(error)
        })
    }

    /// Starts the sidecar of a box that has none.
    async fn start(&self, name: &Name, prepared: &Prepared) -> Result<v1::Box, BoxError> {
        let dir = self.0.home.session(name);
        let (index, socket) = (&self.0.index, self.0.index.own_socket(name));
        let not_started = |why: String| BoxError::NotStarted { name: name.clone(), why };
        record::set_wanted(&dir, Some(&socket)).map_err(BoxError::file(&dir, "written to"))?;
        let starting = index.starting(name);
        // The program's own variables are in the record; the session needs only to find the program.
        let env = prepared.record.path.iter().map(|path| (OsString::from("PATH"), OsString::from(path))).collect();
        let start = sidecar::Start { args: &prepared.sidecar_args, env, socket: &socket, log: dir.join(LOG) };
        let why = match sidecar::start(start).await {
            Err(why) => why,
            Ok(mut child) => {
                // So that it does not stay as a zombie; the index hears of its end by itself.
                tokio::spawn(async move { child.wait().await });
                let told = index.look_afresh(name).await.ok_or_else(|| BoxError::NoSuchBox(name.clone()))?;
                match &told.error {
                    // The session is there, its program could not be started at all.
                    Some(why) if told.state() == BoxState::Ended => {
                        let why = why.clone();
                        let _ = sidecar::stop(&socket, true).await;
                        why
                    }
                    _ => {
                        tracing::info!(%name, pid = told.pid, "started");
                        record::set_last_error(&dir, None);
                        return Ok((*told).clone());
                    }
                }
            }
        };
        tracing::warn!(%name, why, "did not start");
        record::set_last_error(&dir, Some(&why));
        if let Err(error) = record::set_wanted(&dir, None) {
            tracing::warn!(%name, %error, "a box that did not start will be told as lost");
        }
        drop(starting);
        index.look_afresh(name).await;
        Err(not_started(why))
    }

    /// Ends all that runs in a box. Its files stay.
    pub async fn stop(&self, name: &str, now: bool) -> Result<v1::Box, BoxError> {
        let (boxes, name) = (self.clone(), Name::parse(name)?);
        self.unbroken(async move {
            let _alone = boxes.0.locks.of(&name).await;
            boxes.check_there(&name)?;
            boxes.stop_sidecar(&name, now).await?;
            let told = boxes.0.index.look_afresh(&name).await;
            told.map(|told| (*told).clone()).ok_or(BoxError::NoSuchBox(name))
        })
        .await
    }

    async fn stop_sidecar(&self, name: &Name, now: bool) -> Result<(), BoxError> {
        let (dir, socket) = (self.0.home.session(name), self.0.index.socket(name));
        // First: a daemon that is killed in between must not call it lost.
        record::set_wanted(&dir, None).map_err(BoxError::file(&dir, "written to"))?;
        let stopped = sidecar::stop(&socket, now).await;
        stopped.map_err(|pid| BoxError::Undying { name: name.clone(), pid })?;
        self.ended(name).await?;
        tracing::info!(%name, now, "stopped");
        Ok(())
    }

    /// Ends what runs in a box and starts it again with the files that it has.
    pub async fn restart(&self, name: &str) -> Result<v1::Box, BoxError> {
        let (boxes, name) = (self.clone(), Name::parse(name)?);
        self.unbroken(async move {
            let _alone = boxes.0.locks.of(&name).await;
            boxes.check_there(&name)?;
            let record = Record::read(&boxes.0.home.session(&name))?;
            let has_other_file = prepare::has_other_file(&record, &boxes.0.home);
            boxes.stop_sidecar(&name, false).await?;
            let mut told = boxes.start_again(&name, &prepare::again(record, &boxes.0.home)).await?;
            if has_other_file {
                told.warnings.push(format!("coop.toml has changed since: `coop stop {name}` and `coop up` use it"));
            }
            Ok(told)
        })
        .await
    }

    /// Removes a box and its files.
    pub async fn delete(&self, name: &str, force: bool) -> Result<(), BoxError> {
        let (boxes, name) = (self.clone(), Name::parse(name)?);
        self.unbroken(async move {
            let _alone = boxes.0.locks.of(&name).await;
            boxes.check_there(&name)?;
            let dir = boxes.0.home.session(&name);
            if !force {
                if boxes.0.index.look_afresh(&name).await.is_some_and(|told| is_live(&told) && !has_ended(&told)) {
                    return Err(BoxError::Running(name));
                }
                let looked = dir.clone();
                let unapplied = spawn_blocking(move || has_unapplied_changes(&looked)).await;
                if unapplied.map_err(|error| BoxError::Broken(error.to_string()))? {
                    return Err(BoxError::Unapplied(name));
                }
            }
            let socket = boxes.0.index.socket(&name);
            boxes.stop_sidecar(&name, true).await?;
            // Whoever listened there has left, or was killed and could not take them along.
            let cleared = remove_if_there(&socket).and_then(|()| remove_tree(&socket.with_extension(HOOKS_EXTENSION)));
            cleared.map_err(BoxError::file(&socket, "removed"))?;
            let gone = boxes.0.home.sessions().join(format!("{GONE}{name}-{}", prepare::now_ms()));
            fs::rename(&dir, &gone).map_err(BoxError::file(&dir, "removed"))?;
            boxes.0.index.look_afresh(&name).await;
            tracing::info!(%name, "removed");
            // From here on the box is gone; a daemon that is killed leaves the rest to the next.
            let removed = spawn_blocking(move || remove_tree(&gone).map_err(BoxError::file(&gone, "removed"))).await;
            removed.map_err(|error| BoxError::Broken(error.to_string()))?
        })
        .await
    }

    /// Keeps others from doing anything with a box.
    pub(super) async fn locked(&self, name: &Name) -> impl Sized + use<> {
        self.0.locks.of(name).await
    }

    /// Waits for what is being done, but for no image and no setup; nothing new may come.
    pub async fn finish(&self) {
        self.0.leaving.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    /// Whether something is being done.
    pub fn is_busy(&self) -> bool {
        !self.0.tasks.is_empty()
    }

    /// Done to its end, even if the caller goes away meanwhile.
    pub(super) async fn unbroken<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, BoxError>> + Send + 'static,
    ) -> Result<T, BoxError> {
        let done = self.0.tasks.spawn(work).await;
        done.unwrap_or_else(|error| Err(BoxError::Broken(error.to_string())))
    }

    fn check_there(&self, name: &Name) -> Result<(), BoxError> {
        if self.0.home.session(name).is_dir() { Ok(()) } else { Err(BoxError::NoSuchBox(name.clone())) }
    }

    fn sweep(&self, beginning: &str) {
        let Ok(entries) = fs::read_dir(self.0.home.sessions()) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let is_left = name.to_str().is_some_and(|name| name.starts_with(beginning));
            if is_left && let Err(error) = remove_tree(&entry.path()) {
                tracing::warn!(path = %entry.path().display(), %error, "what is left of a box could not be removed");
            }
        }
    }
}

/// Whether an agent has changed something that nobody has looked at. A file that was only touched is in its layer, and
/// as in the project. What cannot be looked at may be a change.
fn has_unapplied_changes(dir: &Path) -> bool {
    let upper = dir.join(WORKSPACE_UPPER);
    if !holds_something(&upper) {
        return false;
    }
    let Ok(record) = Record::read(dir) else { return true };
    let overlay = Overlay { lower: record.plan.workspace.path, upper };
    // One is enough to know.
    let changes = overlay.changes(&Options { changes_max: 1, ..Options::default() });
    changes.map_or(true, |changes| !changes.is_empty() || !changes.unreadable.is_empty())
}

/// Whether there is anything in a directory. What cannot be looked into may hold something.
fn holds_something(dir: &Path) -> bool {
    dir.exists() && fs::read_dir(dir).map_or(true, |mut entries| entries.next().is_some())
}
