//! A box's record as the sandbox that it asks for.

use std::path::{Path, PathBuf};

use super::login;
use super::places::Places;
use super::programs::Installed;
use crate::agent::fence::Shown;
use crate::boxes::Record;
use crate::boxes::foundation::{limits, names_of_hosts};
use crate::boxfile::{
    Access, BoxPlan, FILE_NAME, Login, NetworkMode, PlannedMount, PlannedSource, UidMap, WorkspaceMode,
};
use crate::sandbox::{self, Mount, Network, Root, Spec};

/// Where coop is inside, whatever its place outside.
pub const COOP_INSIDE: &str = "/run/coop/coop";

/// The sandbox of a box. `user_home` is where the user's own login is, if it is to be shared.
pub fn spec(record: &Record, places: &Places, installed: &Installed, user_home: Option<&Path>) -> Spec {
    let plan = &record.plan;
    let mut mounts = vec![
        bind(&places.home(), false),
        bind(&places.run(), true),
        // With the box's own way to its session; the session's socket is not for those inside.
        bind(&places.hooks, true),
    ];
    mounts.push(bind(&places.coop, true));
    mounts.push(Mount::Bind { from: places.coop.clone(), to: COOP_INSIDE.into(), read_only: true, optional: false });
    if record.image.is_some() && plan.network.mode == NetworkMode::Host {
        mounts.extend(names_of_hosts());
    }
    let shown = installed.shown.iter();
    mounts.extend(shown.map(|(to, from)| Mount::Straight { from: from.clone(), to: to.clone(), read_only: true }));
    mounts.extend(workspace(plan, places));
    // One may lie in another, which the box writes.
    mounts.extend(persisted(plan, places));
    if plan.login == Login::Share {
        let shared = user_home.map(|home| login::shared(plan.agent, home, &places.home())).unwrap_or_default();
        mounts.extend(shared.into_iter().map(|(from, to)| Mount::Bind { from, to, read_only: false, optional: true }));
    }
    mounts.extend(plan.mounts.iter().map(|mount| planned(mount, places)));
    mounts.extend(plan.hide.iter().map(|to| Mount::Hide { to: to.clone() }));
    Spec {
        name: record.name.to_string(),
        hostname: record.name.to_string(),
        root: root(record, places),
        uid_map: match plan.uidmap {
            UidMap::Same => sandbox::UidMap::Same,
            UidMap::Root => sandbox::UidMap::Root,
            UidMap::Range => sandbox::UidMap::Range,
        },
        mounts,
        network: match plan.network.mode {
            NetworkMode::Host => Network::Host,
            NetworkMode::None => Network::None,
            NetworkMode::Filtered => Network::Filtered,
        },
        nested: plan.nested,
        root_powers: false,
        limits: limits(plan),
        landlock: plan.security.landlock,
        seccomp: plan.security.seccomp,
    }
}

/// What programs of this box could have written, whichever way it is mounted now.
pub fn written_inside(record: &Record, places: &Places) -> Vec<PathBuf> {
    let plan = &record.plan;
    let mounted = plan.mounts.iter().filter_map(|mount| match &mount.source {
        PlannedSource::Path(path) if mount.mode == Access::ReadWrite => Some(path.clone()),
        _ => None,
    });
    [plan.workspace.path.clone(), places.dir.clone(), places.volumes.clone()].into_iter().chain(mounted).collect()
}

/// What coop itself reads of a box from outside, in the order in which it is mounted.
pub fn read_from_outside(plan: &BoxPlan, places: &Places) -> Vec<Shown> {
    // HOME may lie in the workspace, and is the box's own all the same.
    let own = [plan.workspace.path.clone(), places.home()].map(Shown::same);
    let mounted = persisted(plan, places).chain(plan.mounts.iter().map(|mount| planned(mount, places)));
    let shown = mounted.filter_map(|mount| match mount {
        Mount::Straight { from, to, .. } => Some(Shown { inside: to, outside: from }),
        _ => None,
    });
    own.into_iter().chain(shown).collect()
}

fn persisted(plan: &BoxPlan, places: &Places) -> impl Iterator<Item = Mount> {
    plan.session.persist.iter().map(|relative| Mount::Straight {
        from: places.persist(relative),
        to: places.home().join(relative),
        read_only: false,
    })
}

fn bind(path: &Path, read_only: bool) -> Mount {
    Mount::Bind { from: path.to_owned(), to: path.to_owned(), read_only, optional: false }
}

fn root(record: &Record, places: &Places) -> Root {
    let Some(image) = &record.image else { return Root::Host };
    let setup = record.setup_build.iter().map(|key| places.setup(key));
    let (upper, work) = places.image_layer();
    Root::Overlay { lower: setup.chain([image.rootfs.clone()]).collect(), upper, work }
}

/// The project, and what of it stays as it is.
fn workspace(plan: &BoxPlan, places: &Places) -> Vec<Mount> {
    let path = plan.workspace.path.clone();
    let mut mounts = vec![match plan.workspace.mode {
        WorkspaceMode::ReadWrite => Mount::Straight { from: path.clone(), to: path.clone(), read_only: false },
        WorkspaceMode::ReadOnly => Mount::Straight { from: path.clone(), to: path.clone(), read_only: true },
        WorkspaceMode::Overlay => {
            let (upper, work) = places.workspace_layer();
            Mount::Overlay { lower: vec![path.clone()], upper, work, to: path.clone() }
        }
    }];
    // What the box was made from must not be rewritten by what is in it. By its place inside: a link there leads nowhere else.
    // Nor made by it, as far as that can be kept: one that somebody makes meanwhile is read-only at once.
    let file = plan.file.clone().filter(|file| file.starts_with(&path)).unwrap_or_else(|| path.join(FILE_NAME));
    let is_file = |kept: &PathBuf| *kept == file;
    let unnamed = Some(file.clone()).filter(|file| !plan.workspace.protect.contains(file));
    let kept = plan.workspace.protect.iter().cloned().chain(unnamed);
    // What is not there cannot be kept from being made, which the sandbox says; git's own is said once, by its name.
    let is_gits = |kept: &PathBuf| kept.iter().any(|step| step == ".git");
    let is_kept = |kept: &PathBuf| !is_gits(kept) || kept.symlink_metadata().is_ok();
    mounts.extend(kept.filter(is_kept).map(|to| Mount::Protect { may_come: is_file(&to), to }));
    mounts
}

fn planned(mount: &PlannedMount, places: &Places) -> Mount {
    let from = match &mount.source {
        PlannedSource::Path(path) | PlannedSource::InWorkspace(path) => path.clone(),
        PlannedSource::Volume(name) => places.volume(name),
    };
    // None of these had a link in it when it was planned.
    Mount::Straight { from, to: mount.to.clone(), read_only: mount.mode == Access::ReadOnly }
}
