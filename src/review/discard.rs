//! Removes what a box changed, all of it or some paths. The project is not touched.

use std::path::Path;

use super::{
    Overlay,
    changes::{Options, walk},
    clear::Clearing,
    error::ReviewError,
    marks,
    select::Selection,
    sweep::{BATCH_ENTRIES, Bin},
    tree::Tree,
};

pub(super) fn discard(overlay: &Overlay, selection: &Selection) -> Result<(), ReviewError> {
    let _lock = overlay.lock()?;
    let mut bin = Bin::beside(&overlay.upper)?;
    let upper = Tree::open_unlocking(&overlay.upper)?;
    let result = match selection {
        Selection::All => everything(&upper, &mut bin),
        Selection::Paths(_) => some(overlay, &upper, selection, &mut bin),
    };
    let settled = upper.settle_modes().map_err(|(_, error)| error);
    let disposed = bin.dispose();
    result.and(settled).and(disposed)
}

/// Without a look at what it was: this must work whatever is in there.
pub(super) fn everything(upper: &Tree, bin: &mut Bin) -> Result<(), ReviewError> {
    let root = upper.dir("".as_ref())?;
    marks::clear_opaque(&root)?;
    loop {
        let names = root.first_names(BATCH_ENTRIES)?;
        if names.is_empty() {
            return Ok(());
        }
        for name in names {
            bin.take(&root.fd, &name).map_err(ReviewError::io("discard", root.full(&name)))?;
        }
    }
}

fn some(overlay: &Overlay, upper: &Tree, selection: &Selection, bin: &mut Bin) -> Result<(), ReviewError> {
    let Selection::Paths(chosen) = selection else { return Ok(()) };
    let mut unmet = Vec::new();
    for path in chosen {
        if !is_changed(overlay, path)? {
            unmet.push(path.clone());
        }
    }
    if !unmet.is_empty() {
        return Err(ReviewError::NothingThere(unmet));
    }
    let lower = Tree::open(&overlay.lower)?;
    let mut clearing = Clearing::new(upper, &lower, bin);
    for path in chosen {
        clearing.forget(path)?;
    }
    clearing.prune()
}

/// Whether a box changed anything at a path or below it, however much that is.
fn is_changed(overlay: &Overlay, path: &Path) -> Result<bool, ReviewError> {
    let only = Selection::Paths(vec![path.to_owned()]);
    let (lower, upper) = (Tree::open(&overlay.lower)?, Tree::open_unlocking(&overlay.upper)?);
    // One is enough to know.
    let options = Options { include_git: true, only, changes_max: 1 };
    let walked = walk(&lower, &upper, &options);
    upper.settle_modes().map_err(|(_, error)| error)?;
    match walked {
        Ok(walked) => Ok(walked.list.iter().any(|change| change.path.starts_with(path))),
        Err(ReviewError::TooMany { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}
