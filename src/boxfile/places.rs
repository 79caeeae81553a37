//! Paths of a plan: absolute, where they must be, and no way out of the box.

use std::path::{Component, Path, PathBuf};

use super::file::{Many, Mount, MountSource, One};
use super::git::{Entrance, checkouts, entrance, live_paths};
use super::leads::{LeadError, real_path};
use super::name::{NAME_RULE, is_name};
use super::origin::{Origin, Said};
use super::paths::{below, clean, expand, overlap};
use super::plan::{PlannedMount, PlannedSource};
use super::reader::quoted;
use super::resolve::Resolver;
use super::shown::shown;

/// What a box makes for itself; a mount over it, or over what it is in, would break the box or its walls.
const OWN_PLACES: [&str; 4] = ["/proc", "/sys", "/dev", "/run/coop"];

impl Resolver<'_> {
    /// Where relative paths begin: at the file that has them, on the command line where the caller is. The user's
    /// config.toml is in no project, so that it must say where.
    fn base(&self, origin: &Origin) -> Option<PathBuf> {
        match origin {
            Origin::Project(_) => origin.project_dir(),
            Origin::CommandLine => Some(self.at.start_dir.clone()),
            Origin::BuiltIn | Origin::User(_) => None,
        }
    }

    /// A path outside as it was written, made absolute.
    pub(super) fn outside(&mut self, key: &'static str, said: &Said<String>) -> Option<PathBuf> {
        let path = expand(&said.value, &self.at.home);
        let absolute =
            if path.is_absolute() { Some(path) } else { self.base(&said.origin).map(|base| base.join(path)) };
        if absolute.is_none() {
            let way_out = "use an absolute path or one that begins with ~/";
            self.object(key, said, format!("{} begins nowhere: {way_out}", quoted(&said.value)));
        }
        absolute
    }

    pub(super) fn workspace(&mut self, path: &One<String>) -> PathBuf {
        const KEY: &str = "workspace.path";
        let project = || self.at.file.as_deref().and_then(Path::parent).map(Path::to_owned);
        let default = project().unwrap_or_else(|| self.at.start_dir.clone());
        let said = path.clone().unwrap_or_else(|| Said::built_in(".".to_owned()));
        let chosen = match &said.origin {
            Origin::BuiltIn => default,
            _ => self.outside(KEY, &said).unwrap_or(default),
        };
        let Ok(real) = chosen.canonicalize() else {
            self.object(KEY, &said, format!("{} does not exist", told(&chosen)));
            return chosen;
        };
        let way_out = "change to a project's directory, or name one with workspace.path";
        if !real.is_dir() {
            self.object(KEY, &said, format!("{} is not a directory", told(&real)));
        } else if self.at.home.starts_with(&real) {
            self.object(
                KEY,
                &said,
                format!("{} is more than a project: it holds your home with all its keys; {way_out}", told(&real)),
            );
        } else if let Some(own) = self.own_place(&real) {
            self.object(KEY, &said, format!("{} and coop's own {own} would be in one another; {way_out}", told(&real)));
        } else if OWN_PLACES.iter().any(|place| overlap(&real, Path::new(place))) {
            self.object(KEY, &said, format!("{} is the system's own; {way_out}", told(&real)));
        } else if real.to_str().is_none() {
            self.object(
                KEY,
                &said,
                format!("{} is not UTF-8, which programs inside would not understand; rename it", told(&real)),
            );
        }
        real
    }

    /// What a box could use to get out: coop's files and sockets.
    fn own_place(&self, path: &Path) -> Option<String> {
        let own = [&self.at.coop_home, &self.at.runtime_dir];
        own.into_iter().find(|own| overlap(path, own)).map(|own| told(own))
    }

    pub(super) fn mount(&mut self, said: &Said<Mount>, workspace: &Path, home: &Path) -> Option<PlannedMount> {
        const KEY: &str = "box.mounts";
        let to = self.inside(KEY, said, &said.value.to, workspace, home);
        let source = match &said.value.source {
            MountSource::Volume(name) if is_name(name) => Some(PlannedSource::Volume(name.clone())),
            MountSource::Volume(name) => {
                self.object(KEY, said, format!("{} is no name for a volume: use {NAME_RULE}", quoted(name)));
                None
            }
            MountSource::From(text) => self.mounted(said, text, workspace),
        };
        Some(PlannedMount { source: source?, to: to?, mode: said.value.mode })
    }

    /// What is mounted, if it is there and no way out.
    fn mounted(&mut self, said: &Said<Mount>, text: &str, workspace: &Path) -> Option<PlannedSource> {
        const KEY: &str = "box.mounts";
        let path = self.outside(KEY, &Said { value: text.to_owned(), origin: said.origin.clone() })?;
        let real = match real_path(&path, &[workspace.to_owned()]) {
            Ok(real) => real,
            // Told as what it is.
            Err(LeadError::Out { to, .. }) if self.own_place(&to).is_some() => to,
            Err(error) => {
                self.object(KEY, said, format!("{} cannot be mounted: {error}", told(&path)));
                return None;
            }
        };
        if let Some(own) = self.own_place(&real) {
            let why = "a box could get out through it";
            self.object(KEY, said, format!("{} and coop's own {own} are in one another: {why}", told(&real)));
            return None;
        }
        if real.to_str().is_none() {
            self.object(KEY, said, format!("{} is not UTF-8; rename it", told(&real)));
            return None;
        }
        let in_workspace = real.starts_with(workspace);
        Some(if in_workspace { PlannedSource::InWorkspace(real) } else { PlannedSource::Path(real) })
    }

    /// A place inside that something may be put on.
    fn inside<T>(
        &mut self,
        key: &'static str,
        said: &Said<T>,
        text: &str,
        workspace: &Path,
        home: &Path,
    ) -> Option<PathBuf> {
        let path = expand(text, home);
        let tell = quoted(text);
        let message = if !path.is_absolute() {
            format!("{tell} is no place in a box: use an absolute path, such as /data, or one that begins with ~/")
        } else if path.components().any(|part| part == Component::ParentDir) {
            format!("{tell} has `..` in it: write where it leads")
        } else {
            let path = clean(&path)?;
            let covered = [workspace, home].into_iter().find(|place| place.starts_with(&path));
            let own = OWN_PLACES.iter().map(Path::new).find(|place| overlap(&path, place));
            match covered.or(own) {
                Some(place) => format!("{tell} would cover {}, which a box needs: choose another place", told(place)),
                None => return Some(path),
            }
        };
        self.object(key, said, message);
        None
    }

    pub(super) fn hidden(&mut self, said: &Said<String>, workspace: &Path, home: &Path) -> Option<PathBuf> {
        // `~` is the user's home, which can be seen inside where it was mounted.
        let path = workspace.join(expand(&said.value, &self.at.home));
        let Some(path) = clean(&path) else {
            self.object("box.hide", said, format!("{} leads out of the file system", quoted(&said.value)));
            return None;
        };
        if let Some(link) = link_on_the_way(&path, workspace) {
            self.warn_of_link(&link);
        }
        self.inside("box.hide", said, &path.to_string_lossy(), workspace, home)
    }

    pub(super) fn protected(&mut self, protect: &Many<String>, git: bool, workspace: &Path) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        // What a project is allowed is not for those inside to change.
        paths.extend(self.at.file.iter().filter_map(|file| real_file(file)).filter(|file| file.starts_with(workspace)));
        if git {
            self.guard_git(&workspace.join(".git"), &mut paths);
        }
        for said in protect {
            match below(&expand(&said.value, &self.at.home), workspace) {
                Some(path) => {
                    let path = workspace.join(path);
                    if let Some(link) = link_on_the_way(&path, workspace) {
                        self.warn_of_link(&link);
                    }
                    paths.push(path);
                }
                None => {
                    let way_out = "name paths in it; workspace.mode = \"ro\" protects all of it";
                    self.object(
                        "workspace.protect",
                        said,
                        format!("{} is not in the project: {way_out}", quoted(&said.value)),
                    );
                }
            }
        }
        let mut unique = Vec::new();
        paths.into_iter().for_each(|path| {
            if !unique.contains(&path) {
                unique.push(path);
            }
        });
        unique
    }

    /// What git runs by itself, outside of the box too.
    fn guard_git(&mut self, git: &Path, paths: &mut Vec<PathBuf>) {
        if git.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
            let way_out = "workspace.mode = \"overlay\" makes changes wait";
            self.warn(format!("{} is a link, which can be replaced from inside: {way_out}", told(git)));
        }
        if git.is_file() {
            // In a worktree it is a file that says where the rest is, and could say another place.
            return paths.push(git.to_owned());
        }
        let elsewhere = git.join("commondir");
        if elsewhere.symlink_metadata().is_ok() {
            let why = "a repository has no such file, and it leads git to other settings";
            self.warn(format!("{}: {why}; who made it?", told(&elsewhere)));
        }
        paths.extend(live_paths(git));
        for checkout in git.parent().map(|project| checkouts(git, project)).unwrap_or_default() {
            match entrance(&checkout) {
                Entrance::None => {}
                Entrance::Link(link) => self.warn_of_link(&link),
                Entrance::Files(of_module) => paths.extend(of_module),
            }
        }
    }

    /// Nothing can be mounted over a link, only over what it leads to.
    fn warn_of_link(&mut self, link: &Path) {
        let way_out = "name what it leads to, too, or use workspace.mode = \"overlay\", which makes changes wait";
        self.warn(format!("{} is a link, which can be replaced from inside: {way_out}", told(link)));
    }

    pub(super) fn persisted(&mut self, said: &Said<String>, home: &Path) -> Option<PathBuf> {
        let path = below(&expand(&said.value, home), home);
        if path.is_none() {
            let way_out = "name directories in it, such as .cache/pip";
            self.object(
                "session.persist",
                said,
                format!("{} is not in the box's HOME: {way_out}", quoted(&said.value)),
            );
        }
        path
    }
}

/// The file's path as it is inside: in a real directory, itself no link.
fn real_file(file: &Path) -> Option<PathBuf> {
    Some(file.parent()?.canonicalize().ok()?.join(file.file_name()?))
}

/// The first link on the way from the project to a path in it.
fn link_on_the_way(path: &Path, workspace: &Path) -> Option<PathBuf> {
    let mut at = workspace.to_owned();
    path.strip_prefix(workspace).ok()?.iter().find_map(|step| {
        at.push(step);
        at.symlink_metadata().is_ok_and(|found| found.is_symlink()).then(|| at.clone())
    })
}

fn told(path: &Path) -> String {
    shown(&path.to_string_lossy())
}
