//! Paths as words: `~`, `.` and `..`, without a look at the disk.

use std::path::{Component, Path, PathBuf};

/// The path without `.` and `..`; `None` if it would leave the root.
pub fn clean(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !matches!(clean.components().next_back(), Some(Component::Normal(_))) {
                    return None;
                }
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    Some(clean)
}

/// `~` and `~/…` begin at this directory. Homes of others (`~name`) are not looked up.
pub fn expand(text: &str, home: &Path) -> PathBuf {
    match text.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(text),
    }
}

/// The path below this directory, relative to it; `None` if it is the directory itself or elsewhere.
pub fn below(path: &Path, dir: &Path) -> Option<PathBuf> {
    let joined = clean(&dir.join(path))?;
    let rest = joined.strip_prefix(dir).ok()?;
    (!rest.as_os_str().is_empty()).then(|| rest.to_owned())
}

/// Whether one of them is in the other, or both are the same.
pub fn overlap(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_resolved_and_the_root_is_not_left() {
        let cleaned = |path: &str| clean(Path::new(path)).map(|path| path.to_string_lossy().into_owned());
        assert_eq!(cleaned("/a/./b/../c//d/").as_deref(), Some("/a/c/d"));
        assert_eq!(cleaned("a/..").as_deref(), Some(""));
        for escape in ["/..", "/a/../..", "..", "a/../.."] {
            assert_eq!(cleaned(escape), None, "{escape}");
        }
    }

    #[test]
    fn a_tilde_is_home_and_nothing_else() {
        let home = Path::new("/home/me");
        assert_eq!(expand("~", home), home);
        assert_eq!(expand("~//x", home), home.join("x"));
        assert_eq!(expand("~root/x", home), Path::new("~root/x"));
        assert_eq!(expand("a~", home), Path::new("a~"));
    }

    #[test]
    fn what_is_below_stays_below() {
        let inside = |path: &str| below(Path::new(path), Path::new("/w/app"));
        assert_eq!(inside("a/b"), Some("a/b".into()));
        assert_eq!(inside("/w/app/a"), Some("a".into()));
        for outside in ["", ".", "..", "a/../..", "../application", "/w/application", "/w", "/", "a/.."] {
            assert_eq!(inside(outside), None, "{outside}");
        }
    }
}
