//! What an agent changed in a workspace that is an overlay: looked at, carried over into the project, thrown away.

use std::io;
use std::path::{Path, PathBuf};

use super::failure::BoxError;
use super::first;
use super::furnish::{WORKSPACE_UPPER, baseline_path};
use super::index::is_live;
use super::lifecycle::Boxes;
use super::name::Name;
use super::record::Record;
use crate::boxfile::WorkspaceMode;
use crate::proto::v1;
use crate::review::{ApplyOptions, Baseline, CHANGES_MAX, Kind, Options, Overlay, ReviewError, Selection, Style};

/// A longer text is cut, at the end of a line; the list of changes is whole. Four times as much fits into an answer: a text
/// that is no UTF-8 goes twice, and once with three bytes for each that was replaced.
const TEXT_BYTES_MAX: usize = 7 * 1024 * 1024;

/// The workspace itself, as a path in it.
const EVERYTHING: &str = ".";

impl Boxes {
    pub async fn diff(&self, request: v1::DiffWorkspaceRequest) -> Result<v1::DiffWorkspaceResponse, BoxError> {
        let (overlay, _) = self.overlay(&Name::parse(&request.name)?)?;
        let only = selection(&request.paths)?;
        blocking(move || {
            let changes = overlay.changes(&Options { only, ..Options::default() })?;
            let mut text = Bounded::default();
            if !request.names_only {
                match changes.write_diff(&mut text, Style::Plain) {
                    // Who reads would have to do without the rest; it is not made.
                    Err(_) if text.is_full => {}
                    written => written?,
                }
            }
            let (text, is_cut) = text.whole_lines();
            let mut list: Vec<v1::WorkspaceChange> = changes.list.iter().map(told).collect();
            // A repository of its own is one line: what was committed there comes along as a whole.
            list.extend(
                changes
                    .git
                    .iter()
                    .map(|git| v1::WorkspaceChange { path: shown(&git.path), kind: v1::ChangeKind::Modified.into() }),
            );
            list.sort_by(|a, b| a.path.cmp(&b.path));
            let (text, exact) = match String::from_utf8(text) {
                Ok(text) => (text, None),
                Err(other) => (String::from_utf8_lossy(other.as_bytes()).into_owned(), Some(other.into_bytes().into())),
            };
            Ok(v1::DiffWorkspaceResponse { changes: list, text, is_cut, exact })
        })
        .await
    }

    pub async fn apply(&self, request: v1::ApplyWorkspaceRequest) -> Result<v1::ApplyWorkspaceResponse, BoxError> {
        let name = Name::parse(&request.name)?;
        let (overlay, record) = self.overlay(&name)?;
        let selection = selection(&request.paths)?;
        let options = ApplyOptions {
            baseline: Baseline::at(baseline_path(&self.home().session(&name))),
            protect: protected(&record),
            force: request.force,
            and_clear: true,
            changes_max: CHANGES_MAX,
        };
        let boxes = self.clone();
        let report = self.unbroken(async move {
            let _alone = boxes.standing_still(&name).await?;
            blocking(move || overlay.apply(&selection, &options)).await
        });
        let report = report.await?;
        let refused = report.withheld.iter().map(|withheld| format!("{}: {}", shown(&withheld.path), withheld.why));
        Ok(v1::ApplyWorkspaceResponse {
            applied: report.applied.iter().map(|path| shown(path)).collect(),
            refused: refused.collect(),
        })
    }

    pub async fn discard(
        &self,
        request: v1::DiscardWorkspaceRequest,
    ) -> Result<v1::DiscardWorkspaceResponse, BoxError> {
        let name = Name::parse(&request.name)?;
        let (overlay, _) = self.overlay(&name)?;
        let selection = selection(&request.paths)?;
        let boxes = self.clone();
        self.unbroken(async move {
            let _alone = boxes.standing_still(&name).await?;
            let discarded = blocking(move || discard(&overlay, selection, CHANGES_MAX)).await?;
            Ok(v1::DiscardWorkspaceResponse { discarded })
        })
        .await
    }

    fn overlay(&self, name: &Name) -> Result<(Overlay, Record), BoxError> {
        let dir = self.home().session(name);
        if !dir.is_dir() {
            return Err(BoxError::NoSuchBox(name.clone()));
        }
        let record = Record::read(&dir)?;
        if record.plan.workspace.mode != WorkspaceMode::Overlay {
            return Err(BoxError::NoOverlay { name: name.clone(), workspace: record.plan.workspace.path });
        }
        let upper = dir.join(WORKSPACE_UPPER);
        std::fs::create_dir_all(&upper).map_err(BoxError::file(&upper, "made"))?;
        Ok((Overlay { lower: record.plan.workspace.path.clone(), upper }, record))
    }

    /// Holds a box that does not run; the layers of one that does are the kernel's. It must be held until the work is done,
    /// also if nobody waits for that any more: else the box could be started in the midst of it.
    async fn standing_still(&self, name: &Name) -> Result<impl Sized + use<>, BoxError> {
        let alone = self.locked(name).await;
        if self.index().look_afresh(name).await.is_some_and(|told| is_live(&told)) {
            return Err(BoxError::Moving(name.clone()));
        }
        // A session that was killed may have left it a moment ago.
        let gone = first::gone(&self.home().session(name)).await;
        gone.map_err(|pid| BoxError::Lingering { name: name.clone(), pid })?;
        Ok(alone)
    }
}

/// Throws changes away, and tells which: path by path, or where they cannot be listed by what was asked for.
fn discard(overlay: &Overlay, only: Selection, changes_max: usize) -> Result<Vec<String>, ReviewError> {
    let options = Options { only: only.clone(), changes_max, ..Options::default() };
    let discarded = match overlay.changes(&options) {
        Ok(changes) => {
            let paths = changes.list.iter().map(|change| &change.path).chain(changes.git.iter().map(|git| &git.path));
            paths.map(|path| shown(path)).collect()
        }
        Err(error) => match &only {
            // Whatever keeps it from being read.
            Selection::All => vec![EVERYTHING.to_owned()],
            Selection::Paths(chosen) if matches!(error, ReviewError::TooMany { .. }) => {
                chosen.iter().map(|path| shown(path)).collect()
            }
            Selection::Paths(_) => return Err(error),
        },
    };
    overlay.discard(&only)?;
    Ok(discarded)
}

/// What is not to be carried over: by the file's own word, and the file itself.
fn protected(record: &Record) -> Vec<PathBuf> {
    let workspace = &record.plan.workspace;
    let all = workspace.protect.iter().chain(&record.plan.file);
    all.filter_map(|path| path.strip_prefix(&workspace.path).ok().map(Path::to_owned)).collect()
}

fn selection(paths: &[String]) -> Result<Selection, BoxError> {
    if paths.is_empty() { Ok(Selection::default()) } else { Ok(Selection::of(paths)?) }
}

/// A text that takes no more than it may hold.
#[derive(Default)]
struct Bounded {
    text: Vec<u8>,
    is_full: bool,
}

impl Bounded {
    /// The lines that are whole, and whether there would have been more.
    fn whole_lines(mut self) -> (Vec<u8>, bool) {
        if self.is_full {
            let end = self.text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            self.text.truncate(end);
        }
        (self.text, self.is_full)
    }
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = TEXT_BYTES_MAX - self.text.len();
        self.text.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room {
            self.is_full = true;
            return Err(io::Error::other("the text is longer than it may be"));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn told(change: &crate::review::Change) -> v1::WorkspaceChange {
    let kind = match change.kind {
        Kind::Added => v1::ChangeKind::Added,
        Kind::Modified => v1::ChangeKind::Modified,
        Kind::Deleted => v1::ChangeKind::Deleted,
        Kind::TypeChanged => v1::ChangeKind::TypeChanged,
        Kind::ModeChanged => v1::ChangeKind::ModeChanged,
    };
    v1::WorkspaceChange { path: shown(&change.path), kind: kind.into() }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Off the network's threads: trees are read whole.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ReviewError> + Send + 'static,
) -> Result<T, BoxError> {
    let done = tokio::task::spawn_blocking(work).await;
    Ok(done.map_err(|error| BoxError::Broken(error.to_string()))??)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::config::Scratch;

    #[test]
    fn more_changes_than_can_be_told_are_thrown_away_all_the_same() {
        let scratch = Scratch::fresh();
        let overlay = Overlay { lower: scratch.path("project"), upper: scratch.path("upper") };
        std::fs::create_dir_all(overlay.upper.join("many")).unwrap();
        std::fs::create_dir(&overlay.lower).unwrap();
        let make =
            || ["a", "b", "many/1", "many/2", "many/3"].map(|name| scratch.file(&format!("upper/{name}"), "new"));
        make();
        let only = |paths: &[&str]| Selection::of(paths).unwrap();
        assert_eq!(discard(&overlay, only(&["a"]), 2).unwrap(), ["a"]);
        assert_eq!(discard(&overlay, only(&["many"]), 2).unwrap(), ["many"]);
        assert_eq!(discard(&overlay, Selection::All, 2).unwrap(), ["b"]);
        std::fs::create_dir(overlay.upper.join("many")).unwrap();
        make();
        assert_eq!(discard(&overlay, Selection::All, 2).unwrap(), ["."]);
        assert_eq!(std::fs::read_dir(&overlay.upper).unwrap().count(), 0);
    }

    #[test]
    fn a_text_ends_with_a_whole_line_when_it_is_full_and_takes_no_more() {
        let mut text = Bounded::default();
        text.write_all(b"a line\n").unwrap();
        let long = vec![b'x'; TEXT_BYTES_MAX];
        text.write_all(&long).unwrap_err();
        text.write_all(&long).unwrap_err();
        assert!(text.text.len() <= TEXT_BYTES_MAX);
        assert_eq!(text.whole_lines(), (b"a line\n".to_vec(), true));
        assert_eq!(Bounded::default().whole_lines(), (Vec::new(), false));
    }
}
