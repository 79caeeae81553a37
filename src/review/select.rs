//! Which of the changes are meant.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    path::{Component, Path, PathBuf},
};

use super::error::ReviewError;

/// Which of the changes are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    #[default]
    All,
    /// These and everything below them, relative to the workspace.
    Paths(Vec<PathBuf>),
}

impl Selection {
    /// Takes paths as people write them (`./src/`, `src/main.rs`). No path at all means everything.
    pub fn of<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self, ReviewError> {
        let mut chosen = Vec::new();
        for path in paths {
            let mut inside = PathBuf::new();
            for part in path.as_ref().components() {
                match part {
                    Component::CurDir => {}
                    Component::Normal(name) => inside.push(name),
                    _ => return Err(ReviewError::NotInside { path: path.as_ref().to_owned() }),
                }
            }
            chosen.push(inside);
        }
        let everything = chosen.is_empty() || chosen.iter().any(|path| path.as_os_str().is_empty());
        Ok(if everything { Self::All } else { Self::Paths(chosen) })
    }

    pub(super) fn has(&self, path: &Path) -> bool {
        match self {
            Self::All => true,
            Self::Paths(chosen) => chosen.iter().any(|above| path.starts_with(above)),
        }
    }

    /// The entries of a directory that lead to a chosen path below it; `None` where all of them are meant.
    pub(super) fn steps(&self, dir: &Path) -> Option<BTreeSet<&OsStr>> {
        match self {
            Self::Paths(chosen) if !self.has(dir) => {
                let below = chosen.iter().filter_map(|path| path.strip_prefix(dir).ok());
                Some(below.filter_map(|rest| rest.iter().next()).collect())
            }
            _ => None,
        }
    }

    /// The chosen paths that have none of these at or below them.
    pub(super) fn unmet<'a>(&self, paths: impl Iterator<Item = &'a Path> + Clone) -> Vec<PathBuf> {
        let Self::Paths(chosen) = self else { return Vec::new() };
        chosen.iter().filter(|above| !paths.clone().any(|path| path.starts_with(above))).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_as_people_write_them_and_never_lead_outside() {
        let chosen = Selection::of(["./src/", "a//b/."]).unwrap();
        assert_eq!(chosen, Selection::Paths(vec!["src".into(), "a/b".into()]));
        assert!(chosen.has(Path::new("src/x/y")) && chosen.has(Path::new("src")));
        assert!(!chosen.has(Path::new("srcs")) && !chosen.has(Path::new("a")));
        assert_eq!(chosen.steps(Path::new("")).unwrap(), [OsStr::new("a"), OsStr::new("src")].into());
        assert_eq!(chosen.steps(Path::new("a")).unwrap(), [OsStr::new("b")].into());
        assert_eq!((chosen.steps(Path::new("src")), chosen.steps(Path::new("src/x"))), (None, None));
        assert_eq!(Selection::All.steps(Path::new("")), None);
        assert_eq!(Selection::of(["src", "."]).unwrap(), Selection::All);
        assert_eq!(Selection::of::<&str>([]).unwrap(), Selection::All);
        for outside in ["..", "a/../../b", "/etc/passwd"] {
            let error = Selection::of([outside]).unwrap_err().to_string();
            assert!(error.contains(outside) && error.contains("inside the workspace"), "{error}");
        }
    }
}
