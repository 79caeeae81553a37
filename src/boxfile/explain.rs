//! A plan for people: what the box will see, change, reach and get, before it is made.

use std::fmt;
use std::path::Path;

use super::amounts::shown_bytes;
use super::plan::{BoxPlan, PlannedMount, PlannedSource};
use super::shown::shown;
use super::words::{Access, Agent, Login, NetworkMode, Restart, UidMap, WorkspaceMode};

/// Under each other, so that the eye finds what it looks for.
const LABEL_CELLS: usize = 11;

impl fmt::Display for BoxPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agent = if self.agent == Agent::Unknown { String::new() } else { format!(" ({})", self.agent) };
        let from = self.file.as_deref().map(|file| format!(", from {}", path(file))).unwrap_or_default();
        writeln!(f, "box {}{agent}{from}", shown(&self.name))?;
        rows(f, "runs", [shown(&self.command.join(" "))])?;
        rows(f, "system", [self.system()])?;
        rows(f, "setup", self.setup.iter().map(|line| shown(line)))?;
        rows(f, "sees", std::iter::once(self.project()).chain(self.mounts.iter().map(mount)))?;
        if self.workspace.mode != WorkspaceMode::ReadOnly {
            rows(f, "read-only", self.workspace.protect.iter().map(|place| self.short(place)))?;
        }
        rows(f, "hidden", self.hide.iter().map(|place| self.short(place)))?;
        rows(f, "reaches", self.reach())?;
        rows(f, "opens", self.network.publish.iter().map(|rule| shown(rule)))?;
        rows(f, "gets", self.gets())?;
        rows(f, "limits", self.bounds())?;
        rows(f, "no wall", self.missing_walls())?;
        rows(f, "keeps", self.session.persist.iter().map(|place| format!("~/{}", path(place))))?;
        let restart = match self.session.restart {
            Restart::No => None,
            Restart::OnFailure => Some("when it fails".to_owned()),
            Restart::Always => Some("whenever it ends".to_owned()),
        };
        rows(f, "restarts", restart)?;
        rows(f, "note", self.warnings.iter().map(|warning| shown(warning)))
    }
}

impl BoxPlan {
    fn system(&self) -> String {
        let who = match self.uidmap {
            UidMap::Same => "",
            UidMap::Root => ", as root of the box",
            UidMap::Range => ", as root of the box with subordinate ids",
        };
        let user = self.user.as_deref().map(|user| format!(", user {}", shown(user))).unwrap_or_default();
        match self.image.as_str() {
            "host" => format!("this machine's, read-only{who}"),
            image => format!("the image {}{user}{who}", shown(image)),
        }
    }

    fn project(&self) -> String {
        let what = match self.workspace.mode {
            WorkspaceMode::ReadWrite => "the project, read and write",
            WorkspaceMode::ReadOnly => "the project, read only",
            WorkspaceMode::Overlay => "the project; changes are kept aside until you apply them",
        };
        format!("{} ({what})", path(&self.workspace.path))
    }

    /// Relative to the project, where it is in it.
    fn short(&self, place: &Path) -> String {
        path(place.strip_prefix(&self.workspace.path).unwrap_or(place))
    }

    fn reach(&self) -> Vec<String> {
        match self.network.mode {
            NetworkMode::None => vec!["nothing".to_owned()],
            NetworkMode::Host => vec!["all that you can, and what listens on this machine".to_owned()],
            NetworkMode::Filtered if self.network.allow.is_empty() => {
                vec!["nothing: network.allow names no host".to_owned()]
            }
            NetworkMode::Filtered => self.network.allow.iter().map(|host| shown(host)).collect(),
        }
    }

    fn gets(&self) -> Vec<String> {
        let login = match self.login {
            Login::None => None,
            Login::Copy => Some(format!("a copy of your login for {}", self.agent)),
            Login::Share => Some(format!("your login for {}, shared", self.agent)),
        };
        let exported = self.env.export.iter().map(|name| format!("{} of your environment", shown(name)));
        let set = self.env.set.iter().map(|(name, value)| format!("{}={}", shown(name), shown(value)));
        login.into_iter().chain(exported).chain(set).collect()
    }

    fn bounds(&self) -> Vec<String> {
        let limits = &self.limits;
        let memory = limits.memory_bytes.map(|bytes| format!("memory {}", shown_bytes(bytes)));
        let processes = limits.processes.map(|count| format!("{count} processes"));
        let cpus = limits.cpus.map(|count| format!("{count} processors"));
        let files = limits.open_files.map(|count| format!("{count} open files"));
        let all: Vec<String> = [memory, processes, cpus, files].into_iter().flatten().collect();
        if all.is_empty() { all } else { vec![all.join(", ")] }
    }

    fn missing_walls(&self) -> Vec<String> {
        let walls = [
            (!self.security.seccomp, "seccomp is off: all system calls are open"),
            (!self.security.landlock, "landlock is off: one wall less around files"),
            (self.nested, "nested: namespaces and mounts can be made inside"),
        ];
        walls.into_iter().filter(|(down, _)| *down).map(|(_, what)| what.to_owned()).collect()
    }
}

fn mount(mount: &PlannedMount) -> String {
    let source = match &mount.source {
        PlannedSource::Path(from) | PlannedSource::InWorkspace(from) => path(from),
        PlannedSource::Volume(name) => format!("volume {}", shown(name)),
    };
    let how = if mount.mode == Access::ReadOnly { "read only" } else { "read and write" };
    if source == path(&mount.to) {
        format!("{source} ({how})")
    } else {
        format!("{} from {source} ({how})", path(&mount.to))
    }
}

fn path(path: &Path) -> String {
    shown(&path.to_string_lossy())
}

/// A label before the first line; nothing at all for nothing.
fn rows(f: &mut fmt::Formatter<'_>, label: &str, lines: impl IntoIterator<Item = String>) -> fmt::Result {
    for (index, line) in lines.into_iter().enumerate() {
        let label = if index == 0 { label } else { "" };
        writeln!(f, "  {label:LABEL_CELLS$}{line}")?;
    }
    Ok(())
}
