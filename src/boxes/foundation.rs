//! What a box stands on: its image, and what the setup commands of its coop.toml make of that. Fetched and made once, kept
//! by content, shared by all boxes that want the same.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::home::Home;
use super::record::ImageRecord;
use crate::boxfile::{BoxPlan, PlannedLimits, UidMap, Word};
use crate::images::{
    BadReference, Begun, Build, ImageError, Logins, Phase, Progress, Recipe, Reference, Report, Setups, Store,
};
use crate::proto::v1;
use crate::sandbox::{self, Ended, Limits, Mount, Network, Root, Run, Sandbox, SandboxError, Spec};

/// Re-executed as the first process of the box in which the commands run.
const COOP: &str = "/proc/self/exe";

/// What a setup command finds besides what the image sets.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The lines of a failed command that are told.
const LINES_TOLD: usize = 12;

/// A longer line of a setup command is told in pieces.
const LINE_BYTES_MAX: u64 = 4096;

/// Lines that wait to be told.
const LINES_WAITING_MAX: usize = 64;

/// What a command printed before its end is there at once; this is for a machine that is slow.
const LAST_WORDS_WITHIN: Duration = Duration::from_millis(500);

/// How long a setup command may take. Compilers and large packages are installed in less; one that waits for somebody to
/// answer would wait for ever.
const ENDS_WITHIN: Duration = Duration::from_secs(60 * 60);

/// Told how far it is.
pub type Told = Arc<dyn Fn(v1::BuildProgress) + Send + Sync>;

/// What a box stands on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Foundation {
    pub image: Option<ImageRecord>,
    /// The key of what its setup made.
    pub setup_build: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum FoundationError {
    #[error(transparent)]
    Reference(#[from] BadReference),
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("setup command {command:?} could not be run: {why}")]
    NotRun { command: String, why: String },
    #[error("setup command {command:?} {how}:\n{printed}")]
    Failed { command: String, how: String, printed: String },
    #[error("{} has a link in it by now, and is not used", .0.display())]
    Turned(PathBuf),
    #[error("the setup was given up: {0}")]
    Lost(String),
}

/// Sees to it that everything is there. Whoever stops waiting loses nothing that was fetched, and ends the setup commands
/// that run for it alone.
pub async fn lay(plan: &BoxPlan, home: &Home, told: &Told) -> Result<Foundation, FoundationError> {
    let Some(image) = image(&plan.image, home, told).await? else { return Ok(Foundation::default()) };
    // The plan has no link in this path. One that has come since could lead anywhere.
    if let Some(dir) = plan.image.strip_prefix("dir:").filter(|dir| Path::new(dir) != image.rootfs) {
        return Err(FoundationError::Turned(dir.into()));
    }
    if plan.setup.is_empty() {
        return Ok(Foundation { image: Some(image), setup_build: None });
    }
    let recipe =
        Recipe { image: image.digest.clone(), commands: plan.setup.clone(), uid_map: plan.uidmap.word().to_owned() };
    let setups = Setups::open(&home.builds())?;
    let waits = || told(step_of_setup("waits for another box that is made ready by the same commands", None));
    let setup = match setups.begin(&recipe, waits).await? {
        Begun::Ready(setup) => setup,
        Begun::Build(build) => {
            // No box is there yet for whose sake the image would stay.
            let held = Store::open(&home.images())?.hold().await?;
            if !image.rootfs.is_dir() {
                return Err(FoundationError::Lost(format!("{} was removed meanwhile", image.reference)));
            }
            let (plan, image, told) = (plan.clone(), image.clone(), told.clone());
            let unwanted = CancellationToken::new();
            let _wanted_until_here = unwanted.clone().drop_guard();
            let made = move || {
                let _held = held;
                make(build, &plan, &image, &told, unwanted)
            };
            tokio::task::spawn_blocking(made).await.map_err(|error| FoundationError::Lost(error.to_string()))??
        }
    };
    Ok(Foundation { image: Some(image), setup_build: Some(setup.key.hex().to_owned()) })
}

/// An image, fetched if it is not there; none for the machine's own files.
async fn image(reference: &str, home: &Home, told: &Told) -> Result<Option<ImageRecord>, FoundationError> {
    let reference = Reference::parse(reference, Path::new("/"))?;
    if matches!(reference, Reference::Host) {
        return Ok(None);
    }
    let store = Store::open(&home.images())?;
    let image = store.ensure(&reference, &Logins::of_user(), &report(told, &reference)).await?;
    Ok(Some(ImageRecord {
        reference: image.reference,
        digest: image.id.to_string(),
        rootfs: image.rootfs,
        argv: image.config.argv(),
        user: image.config.user,
        env: image.config.env,
    }))
}

/// An image as it is now where it comes from, also if an older one of that name is there.
pub async fn pull(reference: &str, home: &Home, told: &Told) -> Result<(), FoundationError> {
    let reference = Reference::parse(reference, Path::new("/"))?;
    if !matches!(reference, Reference::Host) {
        Store::open(&home.images())?.pull(&reference, &Logins::of_user(), &report(told, &reference)).await?;
    }
    Ok(())
}

fn report(told: &Told, reference: &Reference) -> Report {
    let (told, image) = (told.clone(), reference.to_string());
    Report::new(move |progress: Progress| told(step_of_pull(&progress, &image)))
}

/// What the images' own progress is for a caller.
pub fn step_of_pull(progress: &Progress, image: &str) -> v1::BuildProgress {
    let step = match progress.phase {
        Phase::Resolving => "resolve",
        Phase::Pulling => "pull",
        Phase::Unpacking => "unpack",
        Phase::Done => "done",
    };
    v1::BuildProgress {
        step: step.to_owned(),
        what: if progress.layer.is_empty() { image.to_owned() } else { progress.layer.clone() },
        done_bytes: progress.bytes_done,
        total_bytes: Some(progress.bytes_total).filter(|total| *total > 0),
        line: None,
    }
}

/// Runs the commands in a box whose changes are kept. They reach the network, whatever the box itself may: packages come
/// from there, and they were trusted by hand, with these words.
fn make(
    build: Build,
    plan: &BoxPlan,
    image: &ImageRecord,
    told: &Told,
    unwanted: CancellationToken,
) -> Result<crate::images::Setup, FoundationError> {
    let spec = Spec {
        name: format!("{}-setup", plan.name),
        hostname: plan.name.clone(),
        root: Root::Overlay { lower: vec![image.rootfs.clone()], upper: build.upper.clone(), work: build.work.clone() },
        // Installing is root's work; of the box only.
        uid_map: match plan.uidmap {
            UidMap::Range => sandbox::UidMap::Range,
            UidMap::Same | UidMap::Root => sandbox::UidMap::Root,
        },
        mounts: names_of_hosts(),
        network: Network::Host,
        nested: false,
        // Packages bring files of other users along, and are put in their place as root would.
        root_powers: true,
        limits: limits(plan),
        landlock: plan.security.landlock,
        seccomp: plan.security.seccomp,
    };
    let sandbox = Sandbox::start(&spec, COOP.as_ref())?;
    let killer = sandbox.killer().map_err(|error| FoundationError::Lost(error.to_string()))?;
    Handle::current().spawn(async move {
        unwanted.cancelled().await;
        killer.kill();
    });
    let done = plan.setup.iter().try_for_each(|command| run(&sandbox, command, image, told));
    // What the commands left running would write on, into what is kept or thrown away.
    let has_ended = sandbox.end();
    done?;
    if !has_ended {
        return Err(FoundationError::Lost("what its commands left running does not end, not even by SIGKILL".into()));
    }
    Ok(build.finish()?)
}

/// How much a box may use; what makes it ready is no more.
pub fn limits(plan: &BoxPlan) -> Limits {
    let PlannedLimits { memory_bytes, processes, cpus, open_files } = plan.limits;
    Limits { memory_bytes, processes, cpus, open_files }
}

/// How names of hosts are looked up, which no image can know.
pub fn names_of_hosts() -> Vec<Mount> {
    ["/etc/resolv.conf", "/etc/hosts"]
        .map(|path| Mount::Bind { from: path.into(), to: path.into(), read_only: true, optional: true })
        .into()
}

fn step_of_setup(what: &str, line: Option<String>) -> v1::BuildProgress {
    v1::BuildProgress { step: "setup".to_owned(), what: what.to_owned(), done_bytes: 0, total_bytes: None, line }
}

fn run(sandbox: &Sandbox, command: &str, image: &ImageRecord, told: &Told) -> Result<(), FoundationError> {
    let tell = |line: Option<String>| told(step_of_setup(command, line));
    tell(None);
    let pairs = image.env.iter().filter_map(|pair| pair.split_once('='));
    let fixed = [("HOME", "/root"), ("DEBIAN_FRONTEND", "noninteractive"), ("PATH", PATH)];
    let of_image: Vec<_> = pairs.collect();
    let env = fixed.into_iter().filter(|(name, _)| !of_image.iter().any(|(known, _)| known == name));
    let program = Run {
        argv: ["/bin/sh", "-c", command].map(Into::into).into(),
        cwd: "/".into(),
        env: env.chain(of_image.iter().copied()).map(|(name, value)| (name.into(), value.into())).collect(),
        size: None,
    };
    let not_run = |why: String| FoundationError::NotRun { command: command.to_owned(), why };
    let started = sandbox.run(&program).map_err(|error| not_run(error.to_string()))?;
    let mut last: Vec<String> = Vec::new();
    let exit = started.exit;
    let ended = until_ended(
        std::fs::File::from(started.terminal),
        ENDS_WITHIN,
        || exit.wait(),
        |line| {
            tell(Some(line.clone()));
            last.push(line);
            if last.len() > LINES_TOLD {
                last.remove(0);
            }
        },
    );
    let how = match ended {
        Some(Ended::Code(0)) => return Ok(()),
        Some(Ended::Code(code)) => format!("ended with {code}"),
        Some(Ended::Signal(number)) => format!("was ended by signal {number}"),
        Some(Ended::BoxGone) => "lost its box".to_owned(),
        None => format!("did not end within {} minutes, and was ended", ENDS_WITHIN.as_secs() / 60),
    };
    Err(FoundationError::Failed { command: command.to_owned(), how, printed: last.join("\n") })
}

/// What comes from a command.
enum Heard {
    Line(String),
    Silence,
    Ended(Ended),
}

/// Tells each line until the command itself has ended: what it leaves running in the background may hold its output open
/// for as long as the box stands. `None` when it does not end in time.
fn until_ended(
    output: impl Read + Send + 'static,
    within: Duration,
    wait: impl FnOnce() -> Ended + Send + 'static,
    mut tell: impl FnMut(String),
) -> Option<Ended> {
    let begun = Instant::now();
    let (say, heard) = sync_channel(LINES_WAITING_MAX);
    let ends = say.clone();
    // Both end with the box at the latest, and when nobody listens any more.
    std::thread::spawn(move || read_lines(output, &say));
    std::thread::spawn(move || ends.send(Heard::Ended(wait())));
    let mut ended = None;
    loop {
        let next = match ended {
            // What is there already would be heard also when there is no time left.
            None if begun.elapsed() >= within => Err(RecvTimeoutError::Timeout),
            None => heard.recv_timeout(within.saturating_sub(begun.elapsed())),
            // What it printed last is on its way.
            Some(_) => heard.recv_timeout(LAST_WORDS_WITHIN),
        };
        match next {
            Ok(Heard::Line(line)) => tell(line),
            Ok(Heard::Ended(how)) => ended = Some(how),
            Ok(Heard::Silence) if ended.is_none() => {}
            Err(RecvTimeoutError::Timeout) if ended.is_none() => return None,
            Ok(Heard::Silence) | Err(_) => return Some(ended.unwrap_or(Ended::BoxGone)),
        }
    }
}

/// A line that is too long comes in pieces.
fn read_lines(output: impl Read, say: &SyncSender<Heard>) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    while let Ok(1..) = output.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        if say.send(Heard::Line(text)).is_err() {
            return;
        }
        line.clear();
    }
    let _ = say.send(Heard::Silence);
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_setup_command_is_over_when_it_has_ended_whatever_it_leaves_running() {
        let (output, mut held_open) = std::io::pipe().unwrap();
        held_open.write_all(b"one\ntwo").unwrap();
        let mut lines = Vec::new();
        let ended = until_ended(output.take(7), LONG, || Ended::Code(3), |line| lines.push(line));
        assert_eq!((ended, lines), (Some(Ended::Code(3)), vec!["one".to_owned(), "two".to_owned()]));
        // Nobody closes it, and nothing comes.
        let (silent, _held_open) = std::io::pipe().unwrap();
        assert_eq!(until_ended(silent, LONG, || Ended::Code(0), |_| {}), Some(Ended::Code(0)));
    }

    #[test]
    fn a_setup_command_that_does_not_end_is_given_up_however_much_it_prints() {
        let (never, waits) = sync_channel::<()>(1);
        let wait = move || waits.recv().map_or(Ended::BoxGone, |()| Ended::Code(0));
        let endless = std::io::repeat(b'\n');
        assert_eq!(until_ended(endless, Duration::from_millis(50), wait, |_| {}), None);
        drop(never);
    }

    #[test]
    fn a_line_without_an_end_takes_no_more_memory_than_a_line_may() {
        let endless = std::io::repeat(b'x').take(3 * LINE_BYTES_MAX);
        let mut lengths = Vec::new();
        let (said, silence) = sync_channel(1);
        let wait = move || silence.recv().map_or(Ended::BoxGone, |()| Ended::Code(0));
        until_ended(endless, LONG, wait, |line| {
            lengths.push(line.len() as u64);
            if lengths.len() == 3 {
                said.send(()).unwrap();
            }
        });
        assert_eq!(lengths, [LINE_BYTES_MAX; 3]);
    }
}
