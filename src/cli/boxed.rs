//! What a session's programs are started on: this machine, or a box.

use std::ffi::OsString;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::sync::mpsc;

use super::agents::House as AgentsHouse;
use super::itself::own_path;
use crate::agent::fence;
use crate::agent::version::Elsewhere;
use crate::api::Warnings;
use crate::beneath;
use crate::boxes::interior::{self, BoxEnclosure, News, Places, Publishing};
use crate::boxes::{Home, Record, set_wanted};
use crate::boxfile::{Agent, BoxPlan, PlannedInputFilter, WorkspaceMode};
use crate::child::{Ground, Guardian, Launch};
use crate::config;
use crate::egress::Denial;
use crate::sandbox::Replaced;
use crate::serve::{self, Listener};
use crate::session::{Denied, Event, InputFilter, Session};
use crate::terminal::{Modes, encode_key};

/// How long coop itself may take to say its version inside. Its first page may come from a disk that sleeps.
const RUNS_WITHIN: Duration = Duration::from_secs(20);
/// A loader that finds no library says so in a few lines.
const VERSION_BYTES_MAX: u64 = 4 * 1024;

/// Where programs are started, and what follows from it.
pub struct House {
    pub ground: Ground,
    pub agents: AgentsHouse,
    /// What a further terminal runs when nobody says.
    pub shell: Vec<OsString>,
    /// What was asked for and is not enforced.
    pub warnings: Vec<String>,
    /// Ports of the machine that lead into the box, as `127.0.0.1:8080:3000`.
    pub published: Vec<String>,
    /// What people must not type.
    pub input_filter: InputFilter,
    /// What a box tells while it runs.
    pub news: Option<News>,
    /// Where those inside reach their session, as far as they may.
    pub inside: Option<Listener>,
}

/// On this machine.
pub fn on_the_machine() -> anyhow::Result<House> {
    let guardian = Guardian::start().context("the guardian of the child's processes could not be started")?;
    let shell = std::env::var_os("SHELL").filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".into());
    let ground = Ground::host(guardian);
    let (agents, input_filter) = (AgentsHouse::default(), InputFilter::default());
    let (warnings, published) = (Vec::new(), Vec::new());
    let shell = vec![shell];
    Ok(House { ground, agents, shell, warnings, published, input_filter, news: None, inside: None })
}

/// Its session has ended because somebody asked it to.
pub fn stands_still(record: &Path) {
    if let Some(dir) = record.parent()
        && let Err(error) = set_wanted(dir, None)
    {
        tracing::warn!(%error, "the box will be told as lost");
    }
}

/// In the box of this record. The launch gets the box's variables instead of ours.
pub async fn ready(record: &Path, launch: &mut Launch) -> anyhow::Result<House> {
    let dir = record.parent().context("--box: the record must be in the directory of its box")?;
    let record = Record::read(dir)?;
    let home = Home::open()?;
    let places = places(&home, &record, dir)?;
    let plan = &record.plan;
    let unprotected = keep_place_of_hooks(plan);
    // Before anything of the box is read.
    fence::put_up(interior::read_from_outside(plan, &places), &plan.hide);
    let publishing = Publishing::of(&plan.network)?;
    let path = record.path.clone().map(OsString::from).or_else(|| std::env::var_os("PATH")).unwrap_or_default();
    let strange = interior::written_inside(&record, &places);
    let installed = match &record.image {
        None => plan.command.first().map(|program| interior::installed(program, &path, &strange)).unwrap_or_default(),
        Some(_) => interior::Installed::default(),
    };
    let of_image = interior::image_variables(&record);
    let own = std::mem::take(&mut launch.env);
    launch.env = interior::environment(&record, &places, &installed, &of_image);
    launch.env.extend(own);
    // Instead of the session's own socket, which opens everything.
    let inside = serve::bind_unix(&places.inside())?;
    launch.env.push(("COOP_SOCKET".into(), places.inside().into()));
    launch.bare = true;
    launch.cwd = Some(launch.cwd.clone().unwrap_or_else(|| plan.workspace.path.clone()));
    let user_home = std::env::var_os("HOME").map(PathBuf::from);
    let spec = interior::spec(&record, &places, &installed, user_home.as_deref());
    let (enclosure, news) =
        BoxEnclosure::start(spec, publishing.allow.clone(), plan.workspace.path.clone(), places.dir.clone())?;
    let mut ports = Vec::new();
    for published in publishing.open().await? {
        tracing::info!(at = %published.at, inside = published.inside, "a port leads into the box");
        ports.push(format!("{}:{}", published.at, published.inside));
        enclosure.publish(published);
    }
    let is_watched = plan.agent != Agent::Unknown;
    let mute = match record.image.as_ref().filter(|_| is_watched) {
        Some(_) => runs_inside(&enclosure, &places.coop, launch).await.err(),
        None => None,
    };
    let own = plan.warnings.iter().cloned().chain(unprotected);
    let warnings: Vec<String> = own.chain(enclosure.warnings()).chain(mute.clone()).collect();
    for warning in &warnings {
        tracing::warn!("{warning}");
    }
    let asked = enclosure.clone();
    let elsewhere = Elsewhere {
        asked: Some(Arc::new(move |launch: &Launch, bytes_max| asked.ask(launch, bytes_max))),
        other_files: record.image.is_some(),
    };
    let (state_home, hook_socket) = (Some(places.run()), Some(places.hooks.join("hook.sock")));
    let agents = AgentsHouse { state_home, hook_socket, elsewhere, mute };
    let shell = vec![OsString::from(&plan.shell)];
    let input_filter = input_filter(&plan.input_filter)?;
    let (ground, news, inside) = (Ground::within(enclosure), Some(news), Some(inside));
    Ok(House { ground, agents, shell, warnings, published: ports, input_filter, news, inside })
}

/// Whether coop itself runs among the files of an image, as hooks need; on failure, what that means.
async fn runs_inside(enclosure: &Arc<BoxEnclosure>, coop: &Path, launch: &Launch) -> Result<(), String> {
    let launch = Launch { argv: vec![coop.into(), "--version".into()], ..launch.clone() };
    let enclosure = enclosure.clone();
    let asked = tokio::task::spawn_blocking(move || enclosure.ask(&launch, VERSION_BYTES_MAX));
    let why = match tokio::time::timeout(RUNS_WITHIN, asked).await {
        Err(_) => format!("no answer within {} s", RUNS_WITHIN.as_secs()),
        Ok(Err(error)) => error.to_string(),
        Ok(Ok(Err(error))) => error.to_string(),
        Ok(Ok(Ok(said))) => {
            let said = String::from_utf8_lossy(&said).into_owned();
            if said.trim_end() == concat!("coop ", env!("CARGO_PKG_VERSION")) {
                return Ok(());
            }
            format!("it says {:?}", said.lines().next().unwrap_or_default())
        }
    };
    Err(format!(
        "coop does not run in this image, so that its agent gets no hooks and less is known of it: {why} (it is linked to \
         this machine's C library: an image needs glibc, not older than the machine's, and libgcc_s)"
    ))
}

/// Tells the session's log and its subscribers whom the box was kept from, for as long as there is a box.
pub async fn tell_denials(mut denied: mpsc::Receiver<Denial>, session: Session) {
    while let Some(Denial { host, port, why, untold, .. }) = denied.recv().await {
        let why = why.word();
        tracing::warn!(%host, port, why, "the box was kept from a host");
        session.announce(Event::Denied(Denied { host, port, why, untold })).await;
    }
}

/// Keeps the session's warnings true about what was replaced outside and could not be hidden or protected again.
pub async fn tell_bare(mut replaced: mpsc::Receiver<Replaced>, warnings: Warnings) {
    while let Some(replaced) = replaced.recv().await {
        let warning = replaced.bare.is_some().then(|| replaced.to_string());
        warnings.set(&replaced.path.to_string_lossy(), warning);
    }
}

/// What must not be typed, as bytes. Keys differ with the modes of the terminal; all their forms are meant.
fn input_filter(planned: &PlannedInputFilter) -> anyhow::Result<InputFilter> {
    let mut blocked: Vec<Vec<u8>> = planned.block_sequences.iter().map(|text| text.clone().into_bytes()).collect();
    for key in &planned.block_keys {
        for application_cursor in [false, true] {
            let mut modes = Modes::default();
            modes.application_cursor = application_cursor;
            blocked.push(encode_key(key, &modes).context("input_filter.block_keys")?);
        }
    }
    blocked.retain(|sequence| !sequence.is_empty());
    Ok(InputFilter { ctrl_c_pause: Duration::from_millis(planned.ctrl_c_ms.into()), blocked })
}

/// The parts of the box, made where they are missing.
fn places(home: &Home, record: &Record, dir: &Path) -> anyhow::Result<Places> {
    let hooks = config::runtime_dir().join(format!("box-{}.d", record.name));
    let places = Places {
        dir: dir.canonicalize().with_context(|| dir.display().to_string())?,
        volumes: home.path().join("volumes"),
        builds: home.path().join("builds"),
        hooks,
        coop: own_path()?,
    };
    let (upper, work) = places.image_layer();
    let (ws_upper, ws_work) = places.workspace_layer();
    let plan = &record.plan;
    let volumes = plan.mounts.iter().filter_map(|mount| mount.volume()).map(|name| places.volume(name));
    let own = [places.home(), places.run(), places.hooks.clone(), places.persist(Path::new("")), work, ws_work];
    let private = own.into_iter().chain(volumes).map(|dir| (dir, 0o700));
    // A layer that takes the changes is what is seen inside, with its own mode.
    let project = std::fs::metadata(&plan.workspace.path).map_or(0o755, |found| found.mode() & 0o7777);
    for (dir, mode) in private.chain([(upper, 0o755), (ws_upper, project)]) {
        let made = match dir.is_dir() {
            true => Ok(()),
            // The mask of the caller must not narrow it.
            false => std::fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&dir)
                .and_then(|()| std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(mode))),
        };
        made.with_context(|| format!("{} could not be made", dir.display()))?;
    }
    for relative in &plan.session.persist {
        let dir = places.persist(relative);
        let made = beneath::directory(&places.persist(Path::new("")), relative);
        made.with_context(|| format!("{} could not be made: a file or a link may be in its way", dir.display()))?;
    }
    Ok(places)
}

/// A directory that is not there cannot be protected, and an empty one means nothing to git. What is not kept is told.
fn keep_place_of_hooks(plan: &BoxPlan) -> Option<String> {
    let workspace = &plan.workspace;
    let git = workspace.path.join(".git");
    if workspace.mode != WorkspaceMode::ReadWrite || !workspace.protect.contains(&git.join("hooks")) {
        return None;
    }
    let Ok(found) = git.symlink_metadata() else {
        let above = workspace.path.ancestors().skip(1).find(|dir| dir.join(".git").symlink_metadata().is_ok());
        if let Some(root) = above {
            let root = root.display();
            return Some(format!(
                "the project is a part of the repository {root}, of which nothing else is seen inside: git does not work \
                 there (`coop up {root}` takes all of it)"
            ));
        }
        let told = "the project is no git repository yet: one that is made inside can name programs that git runs outside \
                    (`git init` before `coop up`, or workspace.mode = \"overlay\", keeps it from that)";
        return Some(told.to_owned());
    };
    // What else it may be was told when it was planned.
    if !found.is_dir() {
        return None;
    }
    // Those of submodules, too, whose repositories are there.
    let hooks =
        workspace.protect.iter().filter(|path| path.ends_with("hooks") && path.parent().is_some_and(Path::is_dir));
    let missing = hooks.filter(|path| path.symlink_metadata().is_err());
    missing.filter_map(|path| path.strip_prefix(&workspace.path).ok()).find_map(|path| {
        let made = beneath::directory(&workspace.path, path);
        made.err().map(|error| format!("the project's {} is not there, and is not protected: {error}", path.display()))
    })
}
