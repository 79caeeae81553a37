//! Removes what a box changed, all of it or some paths. The project is not touched.

use super::{
    Overlay,
    changes::{Changes, Options},
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
    let options = Options { include_git: true, only: selection.clone() };
    let (lower, unlocking) = (Tree::open(&overlay.lower)?, Tree::open_unlocking(&overlay.upper)?);
    let changes = Changes::between(lower, unlocking, &options)?;
    let settled = changes.upper.settle_modes().map_err(|(_, error)| error);
    settled?;
    let unmet = selection.unmet(changes.list.iter().map(|change| change.path.as_path()));
    if !unmet.is_empty() {
        return Err(ReviewError::NothingThere(unmet));
    }
    let mut clearing = Clearing::new(upper, &changes.lower, bin);
    for path in chosen {
        clearing.forget(path)?;
    }
    clearing.prune()
}
