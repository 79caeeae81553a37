//! What `setup = […]` made, kept by what it was made of, so that it runs once and not for every box.
//!
//! ```text
//! builds/<key>/upper   what the commands changed, to lie between the image and a box's own changes
//! builds/<key>/work    for overlayfs while they run
//! builds/<key>/done    only when all of them went well; without it the rest is worth nothing
//! builds/locks/<key>   held by whoever builds
//! ```
//! The commands are run by the caller, in a sandbox. This is the book-keeping.

use std::collections::HashSet;
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nix::unistd::syncfs;
use serde::{Deserialize, Serialize};

use super::digest::{Digest, Hash};
use super::error::{Context, ImageError};
use super::lock::{Lock, Sharing, lock, try_lock};
use super::records;
use super::trees;

/// What a build is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    /// The image's id, or `host`.
    pub image: String,
    pub commands: Vec<String>,
    /// How users are mapped, since it decides to whom files belong.
    pub uid_map: String,
}

impl Recipe {
    /// The same for the same recipe only: every part is told with its length.
    pub fn key(&self) -> Digest {
        let mut hash = Hash::default();
        let mut add = |part: &str| {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        };
        add("coop setup 1");
        add(&self.image);
        add(&self.uid_map);
        self.commands.iter().for_each(|command| add(command));
        hash.finish()
    }
}

/// A finished build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    pub key: Digest,
    pub upper: PathBuf,
    pub recipe: Recipe,
    /// Milliseconds since 1970.
    pub finished_at_ms: u64,
}

impl Setup {
    /// What it takes on the disk.
    pub fn disk_bytes(&self) -> u64 {
        trees::size(&self.upper)
    }
}

#[derive(Serialize, Deserialize)]
struct Done {
    recipe: Recipe,
    finished_at_ms: u64,
}

/// What came of asking for a build.
#[derive(Debug)]
pub enum Begun {
    /// Somebody made it before.
    Ready(Setup),
    /// It is ours to make.
    Build(Build),
}

/// A build in the making. Dropped without [`Build::finish`], it never was.
#[derive(Debug)]
pub struct Build {
    /// The commands' changes go here.
    pub upper: PathBuf,
    /// Overlayfs works here.
    pub work: PathBuf,
    dir: PathBuf,
    recipe: Recipe,
    finished: bool,
    _lock: Lock,
}

/// How directories begin that hold what could not be removed.
const LEFT: &str = ".left-";
/// Leftovers of one build. Whoever has more must look at why.
const LEFT_MAX: u32 = 1000;

/// The builds of a user.
#[derive(Clone, Debug)]
pub struct Setups {
    root: PathBuf,
}

impl Setups {
    /// Opens `COOP_HOME/builds`, makes it if need be, and sweeps away what was begun and abandoned.
    pub fn open(root: &Path) -> Result<Self, ImageError> {
        let locks = root.join("locks");
        DirBuilder::new().recursive(true).mode(0o700).create(&locks).context("make", &locks)?;
        let setups = Self { root: root.to_owned() };
        setups.sweep()?;
        Ok(setups)
    }

    fn dir(&self, key: &Digest) -> PathBuf {
        self.root.join(key.hex())
    }

    fn lock_path(&self, key: &Digest) -> PathBuf {
        self.root.join("locks").join(key.hex())
    }

    fn keys(&self) -> Result<Vec<Digest>, ImageError> {
        let entries = std::fs::read_dir(&self.root).context("list", &self.root)?;
        Ok(entries.flatten().filter_map(|entry| Digest::from_hex(entry.file_name().to_str()?)).collect())
    }

    /// What nobody holds and was not finished goes; one that cannot be removed is told and stays in nobody's way.
    fn sweep(&self) -> Result<(), ImageError> {
        for key in self.keys()? {
            let Some(_ours) = try_lock(&self.lock_path(&key), Sharing::Alone)? else { continue };
            if self.find(&key).is_none()
                && let Err(error) = trees::remove(&self.dir(&key))
            {
                tracing::warn!(build = key.short(), %error, "an abandoned build cannot be removed");
            }
        }
        Ok(())
    }

    /// A finished build.
    pub fn find(&self, key: &Digest) -> Option<Setup> {
        let dir = self.dir(key);
        let done: Done = records::read(&dir.join("done"))?;
        let upper = dir.join("upper");
        upper.is_dir().then_some(Setup {
            key: key.clone(),
            upper,
            recipe: done.recipe,
            finished_at_ms: done.finished_at_ms,
        })
    }

    /// The finished build, or the right to make it. Waits while somebody else is making the same, and says so.
    pub async fn begin(&self, recipe: &Recipe, waits: impl FnOnce()) -> Result<Begun, ImageError> {
        let key = recipe.key();
        if let Some(ready) = self.find(&key) {
            return Ok(Begun::Ready(ready));
        }
        let path = self.lock_path(&key);
        let lock = match try_lock(&path, Sharing::Alone)? {
            Some(lock) => lock,
            None => {
                waits();
                lock(&path, Sharing::Alone).await?
            }
        };
        if let Some(ready) = self.find(&key) {
            return Ok(Begun::Ready(ready));
        }
        let dir = self.dir(&key);
        self.clear(&dir)?;
        let (upper, work) = (dir.join("upper"), dir.join("work"));
        let make = |dir: &Path, mode| DirBuilder::new().mode(mode).create(dir).context("make", dir);
        make(&dir, 0o700)?;
        let build = Build { upper, work, dir, recipe: recipe.clone(), finished: false, _lock: lock };
        // The upper directory is the root of the box, whose mode others see.
        make(&build.upper, 0o755)?;
        let open_to_all = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&build.upper, open_to_all).context("set the mode of", &build.upper)?;
        make(&build.work, 0o700)?;
        Ok(Begun::Build(build))
    }

    /// Makes room for a build. Files of the users that only a box has cannot be removed by us, but moved out of the way.
    fn clear(&self, dir: &Path) -> Result<(), ImageError> {
        let Err(error) = trees::remove(dir) else { return Ok(()) };
        tracing::warn!(path = %dir.display(), %error, "an abandoned build cannot be removed, and is put aside");
        let name = dir.file_name().unwrap_or_default().to_string_lossy();
        let aside = |number: &u32| self.root.join(format!("{LEFT}{name}-{number}"));
        let free = (0..LEFT_MAX).map(|number| aside(&number)).find(|path| path.symlink_metadata().is_err());
        let aside = free.ok_or_else(|| ImageError::io("remove", dir, error))?;
        std::fs::rename(dir, aside).context("put aside", dir)
    }

    /// All finished builds, newest first.
    pub fn list(&self) -> Result<Vec<Setup>, ImageError> {
        let mut setups: Vec<_> = self.keys()?.iter().filter_map(|key| self.find(key)).collect();
        setups.sort_by(|a, b| b.finished_at_ms.cmp(&a.finished_at_ms).then_with(|| a.key.cmp(&b.key)));
        Ok(setups)
    }

    /// Removes a build; refused while a box uses it or somebody makes it. The bytes that this freed.
    pub fn remove(&self, key: &Digest, in_use: &HashSet<Digest>) -> Result<u64, ImageError> {
        let name = format!("setup {}", key.short());
        if in_use.contains(key) {
            return Err(ImageError::InUse(name));
        }
        let dir = self.dir(key);
        if !dir.exists() {
            return Err(ImageError::Unknown(name));
        }
        let _ours = try_lock(&self.lock_path(key), Sharing::Alone)?.ok_or(ImageError::InUse(name))?;
        let bytes = trees::size(&dir);
        // First what says that it is whole.
        match std::fs::remove_file(dir.join("done")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(ImageError::io("remove", &dir, error));
            }
            _ => {}
        }
        trees::remove(&dir).context("remove", &dir)?;
        Ok(bytes)
    }

    /// Removes all builds that no box uses. The bytes that this freed.
    pub fn gc(&self, in_use: &HashSet<Digest>) -> Result<u64, ImageError> {
        let mut bytes = 0;
        for key in self.keys()?.iter().filter(|key| !in_use.contains(*key)) {
            match self.remove(key, in_use) {
                Ok(freed) => bytes += freed,
                Err(ImageError::InUse(_) | ImageError::Unknown(_)) => {}
                // The others can go all the same.
                Err(error) => tracing::warn!(build = key.short(), %error, "a build cannot be removed"),
            }
        }
        Ok(bytes)
    }
}

impl Build {
    /// All commands went well: what they made is kept.
    pub fn finish(mut self) -> Result<Setup, ImageError> {
        trees::remove(&self.work).context("remove", &self.work)?;
        let directory = std::fs::File::open(&self.upper).context("open", &self.upper)?;
        syncfs(&directory).context("write to", &self.upper)?;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let finished_at_ms = now.as_millis().try_into().unwrap_or(u64::MAX);
        records::write(&self.dir.join("done"), &Done { recipe: self.recipe.clone(), finished_at_ms })?;
        self.finished = true;
        Ok(Setup { key: self.recipe.key(), upper: self.upper.clone(), recipe: self.recipe.clone(), finished_at_ms })
    }
}

impl Drop for Build {
    fn drop(&mut self) {
        if !self.finished
            && let Err(error) = trees::remove(&self.dir)
        {
            tracing::warn!(path = %self.dir.display(), %error, "an abandoned build cannot be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::scratch::Scratch;
    use super::*;

    fn recipe(commands: &[&str]) -> Recipe {
        let commands = commands.iter().map(|command| (*command).to_owned()).collect();
        Recipe { image: "sha256:1".into(), commands, uid_map: "root".into() }
    }

    async fn build(setups: &Setups, recipe: &Recipe) -> Build {
        match setups.begin(recipe, || panic!("nobody else makes it")).await.unwrap() {
            Begun::Build(build) => build,
            Begun::Ready(_) => panic!("it was not made yet"),
        }
    }

    #[test]
    fn the_key_is_the_recipe_and_nothing_but_the_recipe() {
        let key = recipe(&["a", "b"]).key();
        assert_eq!(key, recipe(&["a", "b"]).key());
        assert_ne!(key, recipe(&["ab"]).key());
        assert_ne!(key, recipe(&["b", "a"]).key());
        assert_ne!(key, Recipe { uid_map: "range".into(), ..recipe(&["a", "b"]) }.key());
        assert_ne!(key, Recipe { image: "sha256:2".into(), ..recipe(&["a", "b"]) }.key());
    }

    #[tokio::test]
    async fn a_build_is_made_once_and_is_there_for_all_after() {
        let scratch = Scratch::fresh();
        let setups = Setups::open(&scratch.path("builds")).unwrap();
        let made = build(&setups, &recipe(&["x"])).await;
        assert!(setups.find(&recipe(&["x"]).key()).is_none(), "not before it is finished");
        fs::write(made.upper.join("file"), "made").unwrap();
        let setup = made.finish().unwrap();
        let others = Setups::open(&scratch.path("builds")).unwrap();
        let Begun::Ready(ready) = others.begin(&recipe(&["x"]), || {}).await.unwrap() else { panic!("it is there") };
        assert_eq!(ready, setup);
        assert_eq!(fs::read_to_string(ready.upper.join("file")).unwrap(), "made");
        assert!(!scratch.path("builds").join(setup.key.hex()).join("work").exists());
        assert_eq!(setups.list().unwrap(), [setup]);
    }

    #[tokio::test]
    async fn a_build_that_fails_or_is_abandoned_leaves_nothing() {
        let scratch = Scratch::fresh();
        let setups = Setups::open(&scratch.path("builds")).unwrap();
        let key = recipe(&["x"]).key();
        drop(build(&setups, &recipe(&["x"])).await);
        assert!(!setups.dir(&key).exists());
        // As a crash leaves it, with the directory that overlayfs makes.
        fs::create_dir_all(setups.dir(&key).join("work/work")).unwrap();
        fs::set_permissions(setups.dir(&key).join("work/work"), fs::Permissions::from_mode(0o000)).unwrap();
        Setups::open(&scratch.path("builds")).unwrap();
        assert!(!setups.dir(&key).exists());
    }

    #[tokio::test]
    async fn whoever_wants_what_is_being_made_waits_for_it() {
        let scratch = Scratch::fresh();
        let setups = Setups::open(&scratch.path("builds")).unwrap();
        let made = build(&setups, &recipe(&["x"])).await;
        // Opened by another process meanwhile: what is being made stays.
        let other = Setups::open(&scratch.path("builds")).unwrap();
        assert!(made.upper.is_dir());
        let wanted = recipe(&["x"]);
        let is_said = std::cell::Cell::new(false);
        let mut waiting = Box::pin(other.begin(&wanted, || is_said.set(true)));
        let not_yet = futures_util::future::poll_immediate(&mut waiting).await;
        assert!(not_yet.is_none() && is_said.get(), "it waits, and says so");
        assert!(matches!(other.remove(&wanted.key(), &HashSet::new()), Err(ImageError::InUse(_))));
        let setup = made.finish().unwrap();
        let Begun::Ready(ready) = waiting.await.unwrap() else { panic!("it was made") };
        assert_eq!(ready, setup);
    }

    #[tokio::test]
    async fn what_a_box_uses_stays() {
        let scratch = Scratch::fresh();
        let setups = Setups::open(&scratch.path("builds")).unwrap();
        let used = build(&setups, &recipe(&["used"])).await.finish().unwrap();
        let free = build(&setups, &recipe(&["free"])).await.finish().unwrap();
        let in_use = HashSet::from([used.key.clone()]);
        assert!(matches!(setups.remove(&used.key, &in_use), Err(ImageError::InUse(_))));
        setups.gc(&in_use).unwrap();
        assert_eq!(setups.list().unwrap(), [used]);
        assert!(matches!(setups.remove(&free.key, &in_use), Err(ImageError::Unknown(_))));
    }
}
