//! Where a path leads, and whether a stranger has turned it: a link in a project can be made by whoever writes there.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// As many links as the kernel follows in one path.
const LINKS_MAX: usize = 40;

#[derive(Debug, thiserror::Error)]
pub enum LeadError {
    #[error("{} is a link to {}, which whoever writes there can turn: name that place itself", link.display(), to.display())]
    Out { link: PathBuf, to: PathBuf },
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The same place without links. What lies beneath `strange` directories is the word of strangers: a link there may lead to
/// another place in them, and nowhere else.
pub fn real_path(path: &Path, strange: &[PathBuf]) -> Result<PathBuf, LeadError> {
    let is_strange = |path: &Path| strange.iter().any(|dir| path.starts_with(dir));
    let mut left = steps(path);
    let mut real = PathBuf::from("/");
    let mut turned: Option<PathBuf> = None;
    let mut links = 0;
    while let Some(step) = left.pop() {
        if step == ".." {
            real.pop();
            continue;
        }
        let next = real.join(step);
        match std::fs::read_link(&next) {
            Ok(target) => {
                links += 1;
                if links > LINKS_MAX {
                    return Err(io::Error::from(io::ErrorKind::InvalidInput).into());
                }
                if turned.is_none() && is_strange(&real) {
                    turned = Some(next);
                }
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                left.extend(steps(&target));
            }
            // There, and no link.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => real = next,
            Err(error) => return Err(error.into()),
        }
    }
    match turned {
        Some(link) if !is_strange(&real) => Err(LeadError::Out { link, to: real }),
        _ => Ok(real),
    }
}

/// The steps of a path, the first one last.
fn steps(path: &Path) -> Vec<OsString> {
    let steps = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    });
    steps.rev().collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::config::Scratch;

    #[test]
    fn a_strangers_link_leads_nowhere_but_to_what_is_the_strangers_own() {
        let scratch = Scratch::fresh();
        let root = scratch.path("").canonicalize().unwrap();
        let (project, secret) = (root.join("project"), root.join("secret"));
        fs::create_dir_all(project.join("data")).unwrap();
        fs::create_dir_all(secret.join("data")).unwrap();
        symlink("data", project.join("inside")).unwrap();
        symlink(&secret, project.join("out")).unwrap();
        symlink("../secret", project.join("up")).unwrap();
        symlink("out", project.join("twice")).unwrap();
        symlink(&project, root.join("mine")).unwrap();
        symlink("circle", root.join("circle")).unwrap();
        let strange = [project.clone()];
        let follow = |path: PathBuf| real_path(&path, &strange);
        assert_eq!(follow(project.join("inside")).unwrap(), project.join("data"));
        assert_eq!(follow(root.join("mine/inside/../data")).unwrap(), project.join("data"), "the user's own link");
        for out in ["out", "out/data", "up", "twice"] {
            assert!(matches!(follow(project.join(out)), Err(LeadError::Out { .. })), "{out}");
            assert!(matches!(follow(root.join("mine").join(out)), Err(LeadError::Out { .. })), "{out}");
            assert!(real_path(&project.join(out), &[]).is_ok(), "{out} is followed where nobody is strange");
        }
        assert!(matches!(follow(root.join("circle")), Err(LeadError::Io(_))));
        assert!(
            matches!(follow(project.join("none")), Err(LeadError::Io(error)) if error.kind() == io::ErrorKind::NotFound)
        );
    }
}
