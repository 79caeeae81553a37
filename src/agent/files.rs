//! Wakes a reader when files change: by inotify where that works, by the clock where it does not.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{EventKind, RecursiveMode, Watcher};
use tokio::sync::Notify;
use tokio::time::Instant;

/// How often files are looked at while inotify tells of changes: only against what it misses, such as network disks.
const SELDOM: Duration = Duration::from_secs(2);

/// How often while a directory cannot be watched, because it is not there yet.
const OFTEN: Duration = Duration::from_millis(250);

/// Directories that are watched.
pub struct Files {
    watcher: Option<notify::RecommendedWatcher>,
    changed: Arc<Notify>,
    wanted: BTreeSet<PathBuf>,
    watched: BTreeSet<PathBuf>,
    /// When a change was told last. The clock runs from here, because whoever waits is called away again and again.
    told: Instant,
}

impl Files {
    pub fn new() -> Self {
        let changed = Arc::new(Notify::new());
        let wake = changed.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Our own reading is told as well, and would wake us for ever.
            if !event.is_ok_and(|event| matches!(event.kind, EventKind::Access(_))) {
                wake.notify_one();
            }
        });
        if let Err(error) = &watcher {
            tracing::warn!(%error, "files are looked at by the clock, because they cannot be watched");
        }
        Self { watcher: watcher.ok(), changed, wanted: BTreeSet::new(), watched: BTreeSet::new(), told: Instant::now() }
    }

    /// Watches a directory, now or as soon as it exists.
    pub fn want(&mut self, dir: &Path) {
        self.wanted.insert(dir.to_owned());
        self.try_watch();
    }

    /// Waits until something may have changed.
    pub async fn changed(&mut self) {
        self.try_watch();
        let wait = if self.watched.len() == self.wanted.len() { SELDOM } else { OFTEN };
        // The clock running out is as good as a change.
        let _ = tokio::time::timeout_at(self.told + wait, self.changed.notified()).await;
        self.told = Instant::now();
    }

    fn try_watch(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        for dir in self.wanted.difference(&self.watched.clone()) {
            if watcher.watch(dir, RecursiveMode::NonRecursive).is_ok() {
                self.watched.insert(dir.clone());
            }
        }
    }
}
