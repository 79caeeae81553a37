//! Directories of coop's own, open to their user only.
//!
//! ```text
//! $XDG_STATE_HOME/coop, or $HOME/.local/state/coop
//!   runs/PID-RANDOM/   what one run of coop gives to its agent; goes with it
//!   sessions/ID/       what is kept of a conversation
//! ```

use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::kill;
use nix::unistd::{Pid, geteuid};

use super::random;

/// The file in a run's directory that its coop holds a lock on.
const LOCK: &str = "lock";

/// A run that has no lock yet is about to get one; one that has none for so long was interrupted there.
const LOCKED_WITHIN: Duration = Duration::from_secs(60);

/// As long as file names may be, with room for what is put behind them.
const NAME_BYTES_MAX: usize = 128;

/// Why there is no directory. The session can go on without, and knows less.
#[derive(Debug, thiserror::Error)]
pub enum NoPlace {
    #[error("there is no place for coop's files: set HOME or XDG_STATE_HOME to a directory of your own")]
    NoHome,
    #[error("coop's files cannot be put into {}: {why}", path.display())]
    Unusable { path: PathBuf, why: String },
    #[error("{0:?} cannot be the name of a conversation: use letters, digits, - and _")]
    BadName(String),
}

/// Where coop keeps its files.
#[derive(Clone, Debug)]
pub struct StateDir(PathBuf);

/// The directory of one run, which goes when this is dropped.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    _lock: Flock<File>,
}

impl StateDir {
    /// Finds the place, and makes it if need be. `variable` reads the environment.
    pub fn open(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, NoPlace> {
        let dir = |name| variable(name).map(PathBuf::from).filter(|dir| dir.is_absolute());
        let state = dir("XDG_STATE_HOME").or_else(|| Some(dir("HOME")?.join(".local/state")));
        let path = state.ok_or(NoPlace::NoHome)?.join("coop");
        make_private(&path, true)?;
        Ok(Self(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A new directory for this run. What dead ones left is swept.
    pub fn new_run(&self) -> Result<RunDir, NoPlace> {
        let runs = self.0.join("runs");
        make_private(&runs, false)?;
        sweep(&runs);
        let unusable = |error: io::Error| NoPlace::Unusable { path: runs.clone(), why: error.to_string() };
        let name = format!("{}-{}", std::process::id(), random::hex::<8>().map_err(unusable)?);
        let path = runs.join(name);
        DirBuilder::new().mode(0o700).create(&path).map_err(unusable)?;
        let lock = new_file(&path.join(LOCK)).map_err(unusable)?;
        let lock = Flock::lock(lock, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| unusable(errno.into()))?;
        Ok(RunDir { path, _lock: lock })
    }

    /// The directory of a conversation, made if need be.
    pub fn session(&self, id: &str) -> Result<PathBuf, NoPlace> {
        if !is_plain_name(id) {
            return Err(NoPlace::BadName(id.chars().take(NAME_BYTES_MAX).collect()));
        }
        let sessions = self.0.join("sessions");
        make_private(&sessions, false)?;
        let path = sessions.join(id);
        make_private(&path, false)?;
        Ok(path)
    }
}

impl RunDir {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a new file that only its user can read.
    pub fn write(&self, name: &str, contents: &[u8]) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        new_file(&path)?.write_all(contents)?;
        Ok(path)
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.path) {
            tracing::warn!(%error, path = %self.path.display(), "the files of this run stay behind");
        }
    }
}

/// Whether an agent's name for its conversation is a name, and no way out of our directory.
fn is_plain_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(plain)
}

fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Makes a directory for the user alone, or sees to it that the one that is there is theirs.
fn make_private(path: &Path, with_parents: bool) -> Result<(), NoPlace> {
    let unusable = |why: String| NoPlace::Unusable { path: path.to_owned(), why };
    match DirBuilder::new().mode(0o700).recursive(with_parents).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(unusable(error.to_string())),
        _ => {}
    }
    let own = geteuid().as_raw();
    let stranger = path.ancestors().skip(1).find(|part| {
        let link = part.symlink_metadata().ok().filter(|found| found.is_symlink());
        link.is_some_and(|link| ![own, 0].contains(&link.uid()))
    });
    if let Some(link) = stranger {
        return Err(unusable(format!("{} is a link that another user made", link.display())));
    }
    let found = path.symlink_metadata().map_err(|error| unusable(error.to_string()))?;
    if !found.is_dir() {
        return Err(unusable("it is not a directory".to_owned()));
    }
    if found.uid() != own {
        return Err(unusable(format!("it belongs to the user with id {}", found.uid())));
    }
    if found.mode() & 0o077 != 0 {
        std::fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(|error| unusable(error.to_string()))?;
    }
    Ok(())
}

/// Removes what killed runs left behind.
fn sweep(runs: &Path) {
    let Ok(entries) = std::fs::read_dir(runs) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let pid = name.split_once('-').and_then(|(pid, _)| pid.parse().ok());
        if pid.is_some_and(is_dead) && is_abandoned(&path) {
            // Another coop may sweep at the same time.
            let _ = std::fs::remove_dir_all(path);
        }
    }
}

fn is_dead(pid: i32) -> bool {
    pid > 0 && kill(Pid::from_raw(pid), None) == Err(Errno::ESRCH)
}

/// The same home may be seen from several containers, in which the same processes have other ids, or none.
fn is_abandoned(run: &Path) -> bool {
    match OpenOptions::new().write(true).open(run.join(LOCK)) {
        Ok(lock) => Flock::lock(lock, FlockArg::LockExclusiveNonblock).is_ok(),
        Err(_) => {
            let made = run.symlink_metadata().and_then(|found| found.modified()).ok();
            made.and_then(|made| made.elapsed().ok()).is_some_and(|age| age > LOCKED_WITHIN)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::config::Scratch;

    fn open(name: &str, value: &Path) -> Result<StateDir, NoPlace> {
        StateDir::open(|asked| (asked == name).then(|| value.into()))
    }

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o777
    }

    #[test]
    fn a_run_has_a_directory_of_its_own_that_goes_with_it() {
        let scratch = Scratch::fresh();
        let state = open("HOME", &scratch.path("home")).unwrap();
        let (one, two) = (state.new_run().unwrap(), state.new_run().unwrap());
        let path = one.path().to_owned();
        assert_ne!(path, two.path());
        assert!(path.starts_with(scratch.path("home/.local/state/coop/runs")));
        let file = one.write("settings.json", b"{}").unwrap();
        assert_eq!((mode(&path), mode(&file)), (0o700, 0o600));
        assert!(one.write("settings.json", b"{}").is_err(), "nothing is written over");
        drop(one);
        assert!(!path.exists() && two.path().exists());
    }

    #[test]
    fn runs_of_the_dead_are_swept_unless_somebody_holds_them() {
        let scratch = Scratch::fresh();
        let state = open("XDG_STATE_HOME", &scratch.path("")).unwrap();
        let living = state.new_run().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let make = |name: String| {
            let path = living.path().with_file_name(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join(LOCK), "").unwrap();
            path
        };
        let [dead, held, other] = [format!("{}-a", child.id()), format!("{}-b", child.id()), "x".into()].map(make);
        let lock = File::open(held.join(LOCK)).unwrap();
        let _lock = Flock::lock(lock, FlockArg::LockExclusiveNonblock).unwrap();
        let new = state.new_run().unwrap();
        let there = [&dead, &held, &other, living.path(), new.path()].map(Path::exists);
        assert_eq!(there, [false, true, true, true, true]);
    }

    #[test]
    fn a_conversation_keeps_its_directory() {
        let scratch = Scratch::fresh();
        let state = open("XDG_STATE_HOME", &scratch.path("")).unwrap();
        let id = random::uuid().unwrap();
        let path = state.session(&id).unwrap();
        assert_eq!((mode(&path), state.session(&id).unwrap()), (0o700, path));
        for bad in ["", ".", "..", "a/b", "../x", ".hidden", "a\0b", "a b", &"x".repeat(NAME_BYTES_MAX + 1)] {
            assert!(matches!(state.session(bad), Err(NoPlace::BadName(_))), "{bad:?}");
        }
    }

    #[test]
    fn without_a_place_the_reason_is_told() {
        let scratch = Scratch::fresh();
        assert!(matches!(StateDir::open(|_| None), Err(NoPlace::NoHome)));
        assert!(matches!(open("HOME", Path::new("relative")), Err(NoPlace::NoHome)));
        scratch.file("file", "");
        let error = open("HOME", &scratch.path("file")).unwrap_err().to_string();
        assert!(error.contains("cannot be put into") && error.contains("Not a directory"), "{error}");
    }

    #[test]
    fn a_directory_of_ours_is_closed_to_others_and_a_link_is_no_directory() {
        let scratch = Scratch::fresh();
        let dir = scratch.path("coop");
        std::fs::create_dir(&dir).unwrap();
        std::fs::set_permissions(&dir, Permissions::from_mode(0o755)).unwrap();
        open("XDG_STATE_HOME", &scratch.path("")).unwrap();
        assert_eq!(mode(&dir), 0o700);
        std::fs::create_dir(scratch.path("other")).unwrap();
        symlink(&dir, scratch.path("other/coop")).unwrap();
        let error = open("XDG_STATE_HOME", &scratch.path("other")).unwrap_err().to_string();
        assert!(error.contains("not a directory"), "{error}");
    }
}
