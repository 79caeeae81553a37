//! Carries what a box changed into the project.
//!
//! First everything is looked at: what may not be carried over is set aside, and if the project changed where the box
//! did, nothing happens at all. Then come directories, files one by one, deletions, and last the modes of
//! directories. Each step is whole or not done, so whatever stops it, doing it again finishes.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use super::{
    Overlay,
    baseline::{Baseline, Stamps},
    changes::{Options, Walked, walk},
    clear::Clearing,
    discard,
    error::ReviewError,
    plan::{Plan, Step, Withheld},
    put::Hand,
    select::Selection,
    sweep::Bin,
    tree::Tree,
};

/// How changes are applied.
#[derive(Clone, Debug)]
pub struct ApplyOptions {
    /// How the project was when the box began to differ from it; kept up to date by what is applied.
    pub baseline: Baseline,
    /// Paths (and all below them) that a box does not change; `coop.toml` is always one of them.
    pub protect: Vec<PathBuf>,
    /// Whether to overwrite what changed in the project, and to apply what is protected.
    pub force: bool,
    /// Whether what was applied is taken out of the box's layer. Only while the box is stopped.
    pub and_clear: bool,
    /// More changes than so many are an error, before anything is carried over.
    pub changes_max: usize,
}

/// What became of the changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What is in the project now, in the order in which it came there.
    pub applied: Vec<PathBuf>,
    /// What stays in the box.
    pub withheld: Vec<Withheld>,
}

pub(super) fn apply(overlay: &Overlay, selection: &Selection, options: &ApplyOptions) -> Result<Report, ReviewError> {
    let _lock = overlay.lock()?;
    let chosen = Options { include_git: true, only: selection.clone(), changes_max: options.changes_max };
    let (lower, upper) = (Tree::open_unlocking(&overlay.lower)?, Tree::open_unlocking(&overlay.upper)?);
    let result = walk(&lower, &upper, &chosen).and_then(|Walked { list, unreadable }| {
        refuse_unreadable(unreadable, selection)?;
        carry(list, &lower, &upper, selection, options)
    });
    let settled = lower.settle_modes();
    let result = match (result, settled) {
        (Ok(mut report), Err((failed, why))) => {
            report.applied.retain(|path| *path != failed);
            let (applied, left) = (report.applied, vec![failed.clone()]);
            Err(ReviewError::Stopped { applied, failed, why: Box::new(why), left })
        }
        (result, _) => result,
    };
    let cleared = if options.and_clear { clear(overlay, &lower, &upper, selection, &result) } else { Ok(()) };
    // Clearing looks into both once more, and unlocks on its way.
    let locked = [&lower, &upper].map(|tree| tree.settle_modes().map_err(|(_, error)| error));
    let report = result?;
    locked.into_iter().fold(cleared, Result::and).map(|()| report)
}

fn carry(
    list: Vec<super::Change>,
    lower: &Tree,
    upper: &Tree,
    selection: &Selection,
    options: &ApplyOptions,
) -> Result<Report, ReviewError> {
    let Plan { steps, withheld } = Plan::of(list, selection, &options.protect, options.force)?;
    let stamps = if options.force { None } else { Some(check(&steps, lower, &options.baseline)?) };
    let mut renewal = options.baseline.renewal()?;
    let hand = Hand { upper, lower };
    let mut applied = Vec::new();
    for (nth, step) in steps.iter().enumerate() {
        let path = &step.change.path;
        let left = |steps: &[Step]| steps.iter().map(|step| step.change.path.clone()).collect();
        if let Err(why) = unchanged(lower, path, stamps.as_ref()).and_then(|()| hand.carry(step)) {
            let (failed, why, left) = (path.clone(), Box::new(why), left(&steps[nth..]));
            return Err(ReviewError::Stopped { applied, failed, why, left });
        }
        applied.push(path.clone());
        let noted = match &mut renewal {
            Some(renewal) => renewal.note(lower, path),
            None => Ok(()),
        };
        if let Err(why) = noted {
            let (failed, why, left) = (path.clone(), Box::new(why), left(&steps[nth + 1..]));
            return Err(ReviewError::Stopped { applied, failed, why, left });
        }
    }
    Ok(Report { applied, withheld })
}

/// What is not seen is not applied, and would be lost when the layer is cleared.
fn refuse_unreadable(mut unreadable: Vec<PathBuf>, selection: &Selection) -> Result<(), ReviewError> {
    if let Selection::Paths(chosen) = selection {
        unreadable.retain(|path| selection.has(path) || chosen.iter().any(|chosen| chosen.starts_with(path)));
    }
    if unreadable.is_empty() { Ok(()) } else { Err(ReviewError::Unreadable(unreadable)) }
}

/// Refuses everything if the project changed where something would be applied.
fn check(steps: &[Step], lower: &Tree, baseline: &Baseline) -> Result<Stamps, ReviewError> {
    let wanted: BTreeSet<&Path> = steps.iter().map(|step| step.change.path.as_path()).collect();
    let stamps = baseline.stamps(&wanted)?;
    let mut conflicts: Vec<PathBuf> = steps
        .iter()
        .filter(|step| !stamps.agree(lower, &step.change.path, step.change.old.as_ref()))
        .map(|step| step.change.path.clone())
        .collect();
    conflicts.sort();
    if conflicts.is_empty() { Ok(stamps) } else { Err(ReviewError::Conflicts(conflicts)) }
}

/// Another look right before a change: much may have been applied since the first.
fn unchanged(lower: &Tree, path: &Path, stamps: Option<&Stamps>) -> Result<(), ReviewError> {
    let Some(stamps) = stamps else { return Ok(()) };
    if stamps.agree(lower, path, lower.look(path)?.as_ref()) {
        Ok(())
    } else {
        Err(ReviewError::ChangedMeanwhile { path: path.to_owned() })
    }
}

/// Takes out of the upper layer what the project has by now.
fn clear(
    overlay: &Overlay,
    lower: &Tree,
    upper: &Tree,
    selection: &Selection,
    result: &Result<Report, ReviewError>,
) -> Result<(), ReviewError> {
    let (applied, whole) = match result {
        Ok(report) => (&report.applied, *selection == Selection::All && report.withheld.is_empty()),
        Err(ReviewError::Stopped { applied, .. }) => (applied, false),
        Err(_) => return Ok(()),
    };
    // The project's copy must have reached the disk before the other one goes.
    rustix::fs::syncfs(lower.root()).map_err(ReviewError::io("sync", &overlay.lower))?;
    let mut bin = Bin::beside(&overlay.upper)?;
    if whole {
        discard::everything(upper, &mut bin)?;
    } else {
        let mut sorted: Vec<&PathBuf> = applied.iter().collect();
        sorted.sort();
        let mut clearing = Clearing::new(upper, lower, &mut bin);
        for path in sorted {
            clearing.forget_applied(path)?;
        }
        clearing.prune()?;
    }
    bin.dispose()
}
