//! Which changes are carried over, in which order; pure.

use std::{
    collections::BTreeSet,
    fmt::{self, Display},
    path::{Path, PathBuf},
};

use super::{
    change::{Change, Entry, EntryKind, Kind},
    error::ReviewError,
    git,
    select::Selection,
    text::word,
};

/// The file that says what a box may do is not the box's to change.
const ALWAYS_PROTECTED: &str = "coop.toml";

/// A change that stays in the box, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withheld {
    pub path: PathBuf,
    pub why: Why,
}

/// Why a change stays in the box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// `workspace.protect` names it, or it is `coop.toml`.
    Protected,
    /// Git would run it or be led elsewhere by it.
    GitObeys,
    /// The repository itself is gone in the box.
    RepositoryGone,
    /// Something in the directory stays, so the directory does.
    HoldsWithheld,
    /// Sockets and devices belong to whoever made them.
    NotCarried(EntryKind),
}

impl Display for Why {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protected => out.write_str("protected (workspace.protect); applied only with --force"),
            Self::GitObeys => out.write_str("git would obey it on this side too; applied only with --force"),
            Self::RepositoryGone => out.write_str("the box removed the repository itself; applied only with --force"),
            Self::HoldsWithheld => out.write_str("something inside is not applied"),
            Self::NotCarried(kind) => write!(out, "a {} is never applied", word(*kind)),
        }
    }
}

/// What is done with one change. The order of the variants is the order in which it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Act {
    MakeDirectory,
    Put,
    Delete,
    /// In place of a directory, which is empty by then.
    PutOverDirectory,
    SetMode,
}

#[derive(Debug)]
pub(super) struct Step {
    pub(super) act: Act,
    pub(super) change: Change,
}

pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) withheld: Vec<Withheld>,
}

impl Plan {
    pub(super) fn of(
        list: Vec<Change>,
        selection: &Selection,
        protect: &[PathBuf],
        force: bool,
    ) -> Result<Self, ReviewError> {
        let unmet = selection.unmet(list.iter().map(|change| change.path.as_path()));
        if !unmet.is_empty() {
            return Err(ReviewError::NothingThere(unmet));
        }
        let chosen = choose(list, selection);
        let withheld = withhold(&chosen, protect, force);
        let paths: BTreeSet<&Path> = withheld.iter().map(|withheld| withheld.path.as_path()).collect();
        let mut steps: Vec<Step> = chosen
            .into_iter()
            .filter(|change| !paths.contains(change.path.as_path()))
            .map(|change| Step { act: act(&change), change })
            .collect();
        steps.sort_by(|one, other| order(one).cmp(&order(other)).then_with(|| by_path(one, other)));
        Ok(Self { steps, withheld })
    }
}

/// The chosen changes, and the new directories they stand in.
fn choose(list: Vec<Change>, selection: &Selection) -> Vec<Change> {
    let needed: BTreeSet<PathBuf> = list
        .iter()
        .filter(|change| selection.has(&change.path) && change.new.is_some())
        .flat_map(|change| change.path.ancestors().skip(1).map(Path::to_owned))
        .collect();
    list.into_iter()
        .filter(|change| selection.has(&change.path) || change.makes_dir() && needed.contains(&change.path))
        .collect()
}

fn withhold(chosen: &[Change], protect: &[PathBuf], force: bool) -> Vec<Withheld> {
    let gone: Vec<&Path> = chosen
        .iter()
        .filter(|change| change.path.ends_with(".git") && change.was_dir())
        .filter(|change| !change.new.as_ref().is_some_and(Entry::is_dir))
        .map(|change| change.path.as_path())
        .collect();
    let why = |change: &Change| {
        let path = &change.path;
        match change.new.as_ref().map(|new| new.kind) {
            Some(kind @ (EntryKind::Socket | EntryKind::Device)) => Some(Why::NotCarried(kind)),
            _ if force => None,
            _ if path.starts_with(ALWAYS_PROTECTED) || protect.iter().any(|above| path.starts_with(above)) => {
                Some(Why::Protected)
            }
            _ if gone.iter().any(|repository| path.starts_with(repository)) => Some(Why::RepositoryGone),
            _ if git::is_live(change) => Some(Why::GitObeys),
            _ => None,
        }
    };
    let mut withheld: Vec<Withheld> =
        chosen.iter().filter_map(|change| Some(Withheld { path: change.path.clone(), why: why(change)? })).collect();
    let kept: BTreeSet<PathBuf> = withheld.iter().map(|withheld| withheld.path.clone()).collect();
    let holding: BTreeSet<PathBuf> =
        kept.iter().flat_map(|path| path.ancestors().skip(1).map(Path::to_owned)).collect();
    // A directory that goes away cannot go while something in it stays.
    let goes = |change: &&Change| change.was_dir() && !change.new.as_ref().is_some_and(Entry::is_dir);
    for change in chosen.iter().filter(goes) {
        if holding.contains(&change.path) && !kept.contains(&change.path) {
            withheld.push(Withheld { path: change.path.clone(), why: Why::HoldsWithheld });
        }
    }
    withheld.sort_by(|one, other| one.path.cmp(&other.path));
    withheld
}

fn act(change: &Change) -> Act {
    match (&change.new, change.kind) {
        (None, _) => Act::Delete,
        (Some(_), Kind::ModeChanged) => Act::SetMode,
        (Some(new), _) if new.is_dir() => Act::MakeDirectory,
        (Some(_), _) if change.was_dir() => Act::PutOverDirectory,
        (Some(_), _) => Act::Put,
    }
}

fn order(step: &Step) -> (Act, u8) {
    let rank = if step.act == Act::Put { git::rank(&step.change.path) } else { 0 };
    (step.act, rank)
}

/// Directories before what is in them; when things go, after.
fn by_path(one: &Step, other: &Step) -> std::cmp::Ordering {
    let order = one.change.path.cmp(&other.change.path);
    if one.act == Act::Delete { order.reverse() } else { order }
}
