//! Watches the names of what a box must not see or change, and has it covered again when it was replaced outside.
//!
//! One thread for a box that has such things, none for another. It sleeps until the kernel tells of a change of names in
//! a directory above one of them, and leaves with the box.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    fs::File,
    io,
    mem::MaybeUninit,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::process::CommandExt,
    },
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use tokio::sync::mpsc;

use super::{
    channel::Channel,
    covers::{self, Cover, Ground, Kind, Look},
    wire::{CoverAgain, Covered},
};

/// The hidden verb of who covers: coop anew, because a namespace of users is joined by a process without threads.
pub const COVER_VERB: &str = "box-cover";

/// How long covering may take. It takes milliseconds; a machine that swaps takes longer.
const PATIENCE: Duration = Duration::from_secs(30);
/// The stack of the thread: some paths and the kernel's news.
const STACK_BYTES: usize = 128 * 1024;
/// Room for the kernel's news, some hundred at a time.
const NEWS_BYTES: usize = 16 * 1024;
/// Everything that puts another file under a name or takes it away.
const CHANGES: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::ONLYDIR);

/// Why a link stays bare.
pub(super) const LINK: &str = "a link is there, which can not be covered: put a plain file there";
/// Why something is as good as bare that is not seen yet.
const LATER: &str = "it came to be under the overlay, and may come to be seen";

/// For each directory that is watched, the names in it that lead to what is covered.
type Names = HashMap<i32, BTreeSet<Vec<u8>>>;

/// What became of something that somebody replaced outside, while the box runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    pub path: PathBuf,
    /// Whether it is to be hidden; it is to be protected otherwise.
    pub is_hidden: bool,
    /// Why it lies bare; it is covered again otherwise.
    pub bare: Option<String>,
}

impl fmt::Display for Replaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        let (is_so, can) = if self.is_hidden { ("hidden", "be read") } else { ("protected", "be changed") };
        match &self.bare {
            None => write!(f, "{path} was replaced outside, and is {is_so} again"),
            Some(why) => write!(
                f,
                "{path} was replaced outside, is NOT {is_so} any more and may {can} inside: {why} (`coop restart` covers \
                 what is there then; with workspace.mode = \"overlay\" nothing that is replaced is seen)"
            ),
        }
    }
}

/// A mount of the box with what is covered in it, and the ways there.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) ground: Ground,
    /// The directory, in the box's own mounts.
    pub(super) inside: OwnedFd,
    /// The namespaces of the box, held open: a number could come to mean another's.
    pub(super) users: OwnedFd,
    pub(super) mounts: OwnedFd,
}

/// What the thread works with.
pub(super) struct Warden {
    /// Of the box, for errors and for the title of who covers.
    pub(super) name: String,
    /// The program that knows the verb.
    pub(super) coop: PathBuf,
    pub(super) kept: Vec<Kept>,
    /// Ready when PID 1 has ended.
    pub(super) pidfd: OwnedFd,
    /// Hears what was replaced. Whoever does not listen finds it in the log.
    pub(super) tell: mpsc::Sender<Replaced>,
}

impl Warden {
    /// Begins to watch, and looks once: something may have been replaced since the box was built.
    pub(super) fn begin(self) -> io::Result<()> {
        let links = self.links();
        let thread = std::thread::Builder::new().name("box-warden".into()).stack_size(STACK_BYTES);
        thread.spawn(move || {
            let mut news = [MaybeUninit::uninit(); NEWS_BYTES];
            if let Err(error) = self.watch(&mut news, links) {
                tracing::error!(name = self.name, %error, "what is replaced outside is not noticed any more");
                self.tell_all(&format!("changes outside are not noticed ({error})"));
            }
        })?;
        Ok(())
    }

    fn watch(&self, news: &mut [MaybeUninit<u8>], mut bare: HashMap<PathBuf, String>) -> io::Result<()> {
        let changes = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let under = self.kept.iter().map(|kept| kept.under()).collect::<io::Result<Vec<_>>>()?;
        let mut names = Names::new();
        let mut is_news = true;
        loop {
            if is_news {
                // First the watch, then the look: nothing is missed between them.
                for (kept, under) in self.kept.iter().zip(&under) {
                    kept.watch(&changes, under, &mut names)?;
                }
                self.look(&under, &mut bare);
            }
            let mut both =
                [PollFd::new(changes.as_fd(), PollFlags::POLLIN), PollFd::new(self.pidfd.as_fd(), PollFlags::POLLIN)];
            match poll(&mut both, PollTimeout::NONE) {
                Err(Errno::EINTR) => continue,
                other => other?,
            };
            if both[1].revents().is_some_and(|events| !events.is_empty()) {
                return Ok(());
            }
            is_news = concerns(&changes, news, &mut names)?;
        }
    }

    /// What was a link when the box was built: what it led to was covered then, and the plan has a warning.
    fn links(&self) -> HashMap<PathBuf, String> {
        let all = self.kept.iter().flat_map(|kept| kept.ground.covers.iter().map(move |cover| (kept, cover)));
        let links = all.filter(|(kept, cover)| matches!(covers::look(&kept.inside, cover), Ok(Look::Link)));
        links.map(|(kept, cover)| (kept.place(cover), LINK.to_owned())).collect()
    }

    /// Looks at every place and covers what lies bare. What could not be covered is told once, until it could: a program
    /// inside that makes links and takes them away does not fill the log.
    fn look(&self, under: &[OwnedFd], bare: &mut HashMap<PathBuf, String>) {
        for (kept, under) in self.kept.iter().zip(under) {
            let (mut wanted, mut failed) = (Vec::new(), Vec::new());
            for cover in &kept.ground.covers {
                match covers::look(&kept.inside, cover) {
                    // What was moved away has come back, with what was over it.
                    Ok(Look::Covered) if bare.remove(&kept.place(cover)).is_some() => self.told(kept, cover, None),
                    Ok(Look::Covered) => {}
                    Ok(Look::NotThere) if !kept.comes_later(under, cover) => {}
                    Ok(Look::NotThere) => failed.push((cover, LATER.to_owned())),
                    Ok(Look::Bare) => wanted.push(cover),
                    Ok(Look::Link) => failed.push((cover, LINK.to_owned())),
                    Err(error) => failed.push((cover, error.to_string())),
                }
            }
            let covered = if wanted.is_empty() { Ok(Vec::new()) } else { self.cover(kept, &wanted) };
            let answers = covered.unwrap_or_else(|error| vec![Some(error.to_string()); wanted.len()]);
            for (cover, why) in wanted.into_iter().zip(answers) {
                match why {
                    // What was taken away in between is nothing to tell: there is news of it by now.
                    None if matches!(covers::look(&kept.inside, cover), Ok(Look::Covered)) => {
                        bare.remove(&kept.place(cover));
                        self.told(kept, cover, None);
                    }
                    None => {}
                    Some(why) => failed.push((cover, why)),
                }
            }
            for (cover, why) in failed {
                if bare.insert(kept.place(cover), why.clone()).as_ref() != Some(&why) {
                    self.told(kept, cover, Some(why));
                }
            }
        }
    }

    /// Has these covered by a process in the box's namespaces; for each, why it could not be.
    fn cover(&self, kept: &Kept, covers: &[&Cover]) -> io::Result<Vec<Option<String>>> {
        let (ours, theirs) = Channel::pair()?;
        ours.set_timeout(PATIENCE)?;
        let order = CoverAgain { covers: covers.iter().map(|cover| (*cover).clone()).collect() };
        ours.send(&order, &[kept.inside.as_fd(), kept.users.as_fd(), kept.mounts.as_fd()])?;
        let helper = Command::new(&self.coop)
            .arg0("coop")
            .args([COVER_VERB, &self.name])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let _helper = Helper(helper);
        let silent = || io::Error::other("who should cover it ended without a word");
        let answers = ours.receive::<Covered>()?.ok_or_else(silent)?.message.failures;
        if answers.len() == covers.len() { Ok(answers) } else { Err(silent()) }
    }

    fn told(&self, kept: &Kept, cover: &Cover, bare: Option<String>) {
        let replaced = Replaced { path: kept.place(cover), is_hidden: cover.kind == Kind::Hidden, bare };
        match &replaced.bare {
            None => tracing::info!(name = self.name, "{replaced}"),
            Some(_) => tracing::error!(name = self.name, "{replaced}"),
        }
        // One who is slow to listen has the log.
        let _ = self.tell.try_send(replaced);
    }

    fn tell_all(&self, why: &str) {
        for kept in &self.kept {
            for cover in &kept.ground.covers {
                let is_hidden = cover.kind == Kind::Hidden;
                let _ = self.tell.try_send(Replaced { path: kept.place(cover), is_hidden, bare: Some(why.to_owned()) });
            }
        }
    }
}

impl Kept {
    fn place(&self, cover: &Cover) -> PathBuf {
        self.ground.to.join(&cover.below)
    }

    /// The directory in which names are changed from outside.
    fn under(&self) -> io::Result<OwnedFd> {
        match &self.ground.under {
            None => self.inside.try_clone(),
            Some(path) => Ok(covers::beneath(&File::open("/")?, path.strip_prefix("/").unwrap_or(path))?),
        }
    }

    /// Whether something that the box does not see has come to be under an overlay: the kernel may show it at any time.
    fn comes_later(&self, under: &OwnedFd, cover: &Cover) -> bool {
        self.ground.under.is_some() && covers::beneath(under, &cover.below).is_ok()
    }

    /// Watches every directory above what is covered, as they are now. One that is watched already stays so.
    fn watch(&self, changes: &OwnedFd, under: &OwnedFd, names: &mut Names) -> io::Result<()> {
        let covers = self.ground.covers.iter();
        let steps = covers
            .flat_map(|cover| cover.below.ancestors())
            .filter_map(|path| Some((path.parent()?, path.file_name()?)));
        for (path, name) in steps.collect::<BTreeSet<_>>() {
            // What is not there yet is told by the directory above it.
            let Ok(directory) = covers::beneath(under, path) else { continue };
            let by_number = format!("/proc/self/fd/{}", directory.as_raw_fd());
            match inotify::add_watch(changes, by_number, CHANGES) {
                Ok(number) => {
                    names.entry(number).or_default().insert(name.as_encoded_bytes().to_vec());
                }
                Err(rustix::io::Errno::NOTDIR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Takes all news; whether one of them is about a name on the way to what is covered.
fn concerns(changes: &OwnedFd, news: &mut [MaybeUninit<u8>], names: &mut Names) -> io::Result<bool> {
    let mut reader = Reader::new(changes, news);
    let mut concerns = false;
    loop {
        match reader.next() {
            // Of a directory that is gone, and where news were lost, there is no name.
            Ok(event) if event.events().intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::IGNORED) => {
                concerns = true;
                names.remove(&event.wd());
            }
            Ok(event) => {
                let known = names.get(&event.wd());
                concerns |= known.zip(event.file_name()).is_some_and(|(known, name)| known.contains(name.to_bytes()));
            }
            Err(rustix::io::Errno::AGAIN) => return Ok(concerns),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Who covers. It ends by itself when it has answered; dropped, it is gone.
struct Helper(Child);

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
