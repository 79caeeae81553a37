//! Wakes a reader when files change: by inotify where that works, by the clock where it does not.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{EventKind, RecursiveMode, Watcher};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::fence;

/// How often files are looked at while inotify tells of changes: only against what it misses, such as network disks.
const SELDOM: Duration = Duration::from_secs(2);

/// How often while they cannot be watched.
const OFTEN: Duration = Duration::from_millis(250);

/// Directories that are watched.
pub struct Files {
    watcher: Option<notify::RecommendedWatcher>,
    changed: Arc<Notify>,
    wanted: BTreeSet<PathBuf>,
    /// Those of them that are there, and for the others what is there above them.
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

    /// Watches these directories, now or as soon as they exist, and no others.
    pub fn want(&mut self, dirs: Vec<PathBuf>) {
        self.wanted = dirs.iter().map(|dir| fence::outside(dir)).collect();
        self.try_watch();
    }

    /// Waits until something may have changed.
    pub async fn changed(&mut self) {
        self.try_watch();
        let wait = if self.wanted.iter().all(|dir| self.is_watched(dir)) { SELDOM } else { OFTEN };
        // The clock running out is as good as a change.
        let _ = tokio::time::timeout_at(self.told + wait, self.changed.notified()).await;
        self.told = Instant::now();
    }

    /// Whether a change in this directory would be told, or that it is made.
    fn is_watched(&self, dir: &Path) -> bool {
        nearest(dir).is_some_and(|nearest| self.watched.contains(nearest))
    }

    fn try_watch(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        let needed: BTreeSet<PathBuf> = self.wanted.iter().filter_map(|dir| nearest(dir)).map(Path::to_owned).collect();
        for dir in needed.difference(&self.watched.clone()) {
            if watcher.watch(dir, RecursiveMode::NonRecursive).is_ok() {
                self.watched.insert(dir.clone());
                // Something may have been made there in the meantime.
                self.changed.notify_one();
            }
        }
        for dir in self.watched.clone().difference(&needed) {
            // One that is gone is not watched any more either.
            let _ = watcher.unwatch(dir);
            self.watched.remove(dir);
        }
    }
}

/// The directory itself, or what there is above one that is not made yet.
fn nearest(dir: &Path) -> Option<&Path> {
    dir.ancestors().find(|above| above.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Scratch;

    /// Waits until it is woken, and says whether that was before the clock ran out.
    async fn told(files: &mut Files) -> bool {
        let asked = Instant::now();
        files.changed().await;
        asked.elapsed() < SELDOM / 2
    }

    #[tokio::test]
    async fn a_directory_that_is_not_there_is_waited_for_without_the_clock() {
        let scratch = Scratch::fresh();
        let dir = scratch.path("a/b");
        let mut files = Files::new();
        files.want(vec![dir.clone()]);
        while told(&mut files).await {}
        std::fs::create_dir_all(&dir).unwrap();
        assert!(told(&mut files).await, "it was made");
        while told(&mut files).await {}
        std::fs::write(dir.join("log"), "line").unwrap();
        assert!(told(&mut files).await, "something was written there");
        assert_eq!(files.watched, BTreeSet::from([dir]), "nothing else is watched any more");
    }
}
