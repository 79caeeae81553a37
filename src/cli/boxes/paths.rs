//! The words after `coop diff`, `apply` and `discard`: a box, then paths in its workspace.

use std::path::{Component, Path, PathBuf};

use anyhow::{anyhow, bail};

use super::Daemon;
use super::which::{no_box, pick};
use crate::boxes::{BoxError, Name, is_live};
use crate::client::whole_path;
use crate::proto::v1::{Box, DiffWorkspaceRequest, WorkspaceChange, WorkspaceMode};

/// A box, and the paths that are meant, as the contract has them: relative to the workspace.
#[derive(Debug)]
pub struct Chosen {
    pub found: Box,
    pub paths: Vec<String>,
}

/// The first word is a box if there is one of that name; then, or else, come paths.
pub async fn choose(daemon: &Daemon, words: &[String]) -> anyhow::Result<Chosen> {
    let here = std::env::current_dir().map(|dir| whole_path(&dir)).unwrap_or_default();
    let chosen = split(daemon.boxes().await?, words, &here).map_err(|why| anyhow!(why))?;
    if chosen.found.workspace_mode() != WorkspaceMode::Overlay {
        bail!(
            "box {} has no changes of its own: its workspace is not an overlay; make one with `coop up --workspace \
             overlay`",
            chosen.found.name
        );
    }
    Ok(chosen)
}

/// What a box changes can only be moved while it stands still: said before anybody is asked whether it may.
pub fn check_still(found: &Box) -> anyhow::Result<()> {
    if is_live(found) {
        bail!("{}", BoxError::Moving(Name::parse(&found.name)?));
    }
    Ok(())
}

fn split(boxes: Vec<Box>, words: &[String], here: &Path) -> Result<Chosen, String> {
    let first = words.first().filter(|word| boxes.iter().any(|found| found.name == **word));
    let rest = &words[usize::from(first.is_some())..];
    // A word that could only be a name is a mistake in one: what is not clear may not be guessed.
    let unknown = rest.first().filter(|_| first.is_none());
    let are_none = boxes.is_empty();
    let found = pick(boxes, first.map(String::as_str), here).map_err(|why| match unknown {
        Some(word) if are_none => no_box(Some(word)),
        Some(word) => format!("there is no box {word:?}, and as a path it needs one: {why}"),
        None => why,
    })?;
    let workspace = whole_path(Path::new(&found.workspace));
    let paths = rest.iter().map(|path| in_workspace(path, &workspace, here)).collect::<Result<_, _>>()?;
    Ok(Chosen { found, paths })
}

/// A path as it is written here becomes one from the workspace; where here is not in the workspace, it is one already.
fn in_workspace(path: &str, workspace: &Path, here: &Path) -> Result<String, String> {
    let below = if here.starts_with(workspace) { here } else { workspace };
    let mut whole = PathBuf::new();
    for part in below.join(path).components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    let inside = whole
        .strip_prefix(workspace)
        .map_err(|_| format!("{path:?} is not in the workspace {}; paths are taken from there", workspace.display()))?;
    Ok(inside.to_string_lossy().into_owned())
}

/// What would be carried over or thrown away; a path at which nothing was changed is a mistake.
pub async fn changes(daemon: &Daemon, chosen: &Chosen) -> anyhow::Result<Vec<WorkspaceChange>> {
    let request =
        DiffWorkspaceRequest { name: chosen.found.name.clone(), paths: chosen.paths.clone(), names_only: true };
    let changes = daemon.ask(super::DIFF_WITHIN, daemon.calls().diff_workspace(request)).await?.changes;
    for path in &chosen.paths {
        if !changes.iter().any(|change| Path::new(&change.path).starts_with(path)) {
            bail!("nothing was changed at {path:?} in box {}: `coop diff --names` lists what was", chosen.found.name);
        }
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes(names: &[&str]) -> Vec<Box> {
        let one = |name: &&str| Box { name: (*name).to_owned(), workspace: format!("/no/{name}"), ..Box::default() };
        names.iter().map(one).collect()
    }

    fn chosen(names: &[&str], words: &[&str], here: &str) -> Result<(String, Vec<String>), String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        split(boxes(names), &words, Path::new(here)).map(|chosen| (chosen.found.name, chosen.paths))
    }

    #[test]
    fn a_box_comes_first_and_may_be_left_out() {
        let told = chosen(&["red", "blue"], &["red", "src/a.rs"], "/elsewhere").unwrap();
        assert_eq!(told, ("red".to_owned(), vec!["src/a.rs".to_owned()]));
        assert_eq!(chosen(&["red"], &["src"], "/elsewhere").unwrap().1, ["src"]);
        let error = chosen(&["red", "blue"], &["gren"], "/elsewhere").unwrap_err();
        assert!(error.contains("no box \"gren\"") && error.contains("red, blue"), "{error}");
    }

    #[test]
    fn paths_are_taken_from_where_they_are_written() {
        assert_eq!(chosen(&["red"], &["a", "../b", "/no/red/c"], "/no/red/src").unwrap().1, ["src/a", "b", "c"]);
        for outside in ["../../x", "/etc/passwd", "../red2"] {
            assert!(chosen(&["red"], &[outside], "/no/red").unwrap_err().contains("not in the workspace"), "{outside}");
        }
    }
}
