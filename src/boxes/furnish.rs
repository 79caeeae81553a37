//! What a new box is given before anything runs in it.

use std::io;
use std::path::{Path, PathBuf};

use super::home::Home;
use super::identity::Identity;
use super::interior::{Copied, LoginError, Places, copy_login};
use super::record::Record;
use crate::boxfile::WorkspaceMode;
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
pub fn furnish(record: &Record, dir: &Path, home: &Home) -> io::Result<()> {
    let plan = &record.plan;
    give_login(record, dir, home).map_err(io::Error::other)?;
    if plan.git_identity {
        Identity::in_project(&plan.workspace.path).settle_in(&dir.join("home"))?;
    }
    if plan.workspace.mode == WorkspaceMode::Overlay {
        take_baseline(record, dir)?;
    }
    Ok(())
}

/// Gives a box that does not run the user's login, as its plan says.
fn give_login(record: &Record, dir: &Path, home: &Home) -> Result<Copied, LoginError> {
    match std::env::var_os("HOME") {
        Some(user_home) => copy_login(&record.plan, &Places::at_rest(dir, home.path()), Path::new(&user_home)),
        None => Ok(Copied::default()),
    }
}

/// The same for a box that is brought up again, and what there is to say about it. `is_new` if it was to have none before.
pub fn give_login_again(record: &Record, dir: &Path, home: &Home, is_new: bool) -> Vec<String> {
    match give_login(record, dir, home) {
        Ok(Copied { copied, kept }) => {
            let copied = copied.iter().map(|file| format!("box.login: ~/{file} was copied into the box"));
            // An agent renews its own, and would be told of it every time.
            let kept = kept.iter().filter(|_| is_new);
            let kept =
                kept.map(|file| format!("box.login: ~/{file} was not copied, the box has a newer one of its own"));
            copied.chain(kept).collect()
        }
        Err(error) => vec![format!("box.login: {error}")],
    }
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
