//! What a new box is given before anything runs in it.

use std::io;
use std::path::{Path, PathBuf};

use super::identity::Identity;
use super::interior::copy_login;
use super::record::Record;
use crate::boxfile::{Login, WorkspaceMode};
use crate::review::{Baseline, Overlay};

/// What an agent changed in a workspace that is an overlay.
pub const WORKSPACE_UPPER: &str = "ws-upper";
/// Where it is written down how the project was when the box began to differ from it.
const BASELINE: &str = "baseline.jsonl";

/// The record of how the project was.
pub fn baseline_path(dir: &Path) -> PathBuf {
    dir.join(BASELINE)
}

/// Furnishes the directory of a box that is being made.
pub fn furnish(record: &Record, dir: &Path) -> io::Result<()> {
    let plan = &record.plan;
    let user_home = std::env::var_os("HOME").map(PathBuf::from);
    if let (Some(user_home), true) = (user_home, plan.login != Login::None) {
        copy_login(plan.agent, &user_home, &dir.join("home"), plan.login == Login::Copy).map_err(io::Error::other)?;
    }
    if plan.git_identity {
        Identity::in_project(&plan.workspace.path).settle_in(&dir.join("home"))?;
    }
    if plan.workspace.mode == WorkspaceMode::Overlay {
        take_baseline(record, dir)?;
    }
    Ok(())
}

/// Writes down how the project is before an overlay is put over it.
pub fn take_baseline(record: &Record, dir: &Path) -> io::Result<()> {
    let taken = Baseline::take(&record.plan.workspace.path, baseline_path(dir));
    taken.map(|_| ()).map_err(io::Error::other)
}

/// Before a box that stands still is started again: writes down how the project is by now, for all that the box has not
/// changed.
pub fn renew_baseline(record: &Record, dir: &Path) -> io::Result<()> {
    let upper = dir.join(WORKSPACE_UPPER);
    if !upper.is_dir() {
        return take_baseline(record, dir);
    }
    let overlay = Overlay { lower: record.plan.workspace.path.clone(), upper };
    overlay.renew(&Baseline::at(baseline_path(dir))).map_err(io::Error::other)
}
