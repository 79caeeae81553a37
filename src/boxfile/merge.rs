//! Layers: how coop does it, what the user's config.toml says, what the project's coop.toml says, the command line.

use serde::Serialize;

use super::file::{BoxFile, Layered, Many, Mount, MountSource, Named, One, Told};
use super::origin::Said;
use super::shown::shown;
use super::words::{Agent, AttachSize, Login, NetworkMode, Restart, UidMap, WorkspaceMode};

/// The window of a session that nobody looks at yet.
const SIZE: (u16, u16) = (200, 50);

/// What the command line says; it is the user's own word and wins over all files.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    pub image: Option<String>,
    pub agent: Option<Agent>,
    /// Program and arguments; empty says nothing.
    pub command: Vec<String>,
    pub name: Option<String>,
    pub workspace: Option<String>,
    pub workspace_mode: Option<WorkspaceMode>,
    pub network: Option<NetworkMode>,
    pub allow: Vec<String>,
    pub publish: Vec<String>,
    pub mounts: Vec<Mount>,
    pub login: Option<Login>,
    pub restart: Option<Restart>,
    pub env: Vec<(String, String)>,
    pub export: Vec<String>,
    pub labels: Vec<(String, String)>,
    pub size: Option<(u16, u16)>,
}

/// The settings of a box, each with who said it.
pub fn merge(user: BoxFile, project: BoxFile, overrides: Overrides) -> BoxFile {
    overrides.into_layer().over(project).over(user).over(BoxFile::built_in())
}

impl BoxFile {
    /// How coop does it when nobody says otherwise.
    pub fn built_in() -> Self {
        let mut file = Self::default();
        file.boxed.image = built_in("host".to_owned());
        file.boxed.uidmap = built_in(UidMap::Same);
        file.boxed.nested = built_in(false);
        file.boxed.login = built_in(Login::None);
        file.boxed.git_identity = built_in(true);
        file.boxed.setup = built_in(Vec::new());
        file.workspace.path = built_in(".".to_owned());
        file.workspace.mode = built_in(WorkspaceMode::ReadWrite);
        file.workspace.protect_git = built_in(true);
        // Not `host`: that also reaches what listens on this machine for its owner alone.
        file.network.mode = built_in(NetworkMode::Filtered);
        file.security.seccomp = built_in(true);
        file.security.landlock = built_in(true);
        file.session.restart = built_in(Restart::No);
        (file.session.cols, file.session.rows) = (built_in(SIZE.0), built_in(SIZE.1));
        file.session.attach_size = built_in(AttachSize::Latest);
        file.input_filter.ctrl_c_ms = built_in(0);
        file
    }

    /// Every setting with who said it, for people who wonder.
    pub fn told(&self) -> Vec<Told> {
        let mut told = Vec::new();
        self.tell("", &mut told);
        told
    }
}

#[expect(clippy::unnecessary_wraps, reason = "a layer's settings are options")]
fn built_in<T>(value: T) -> One<T> {
    Some(Said::built_in(value))
}

impl Overrides {
    fn into_layer(self) -> BoxFile {
        let mut file = BoxFile::default();
        file.boxed.image = one(self.image);
        file.boxed.agent = one(self.agent);
        file.boxed.command = one(Some(self.command).filter(|words| !words.is_empty()));
        file.boxed.mounts = many(self.mounts);
        file.boxed.login = one(self.login);
        file.workspace.path = one(self.workspace);
        file.workspace.mode = one(self.workspace_mode);
        file.network.mode = one(self.network);
        file.network.allow = many(self.allow);
        file.network.publish = many(self.publish);
        file.session.name = one(self.name);
        file.session.restart = one(self.restart);
        file.session.labels = named(self.labels);
        file.session.cols = one(self.size.map(|(cols, _)| cols));
        file.session.rows = one(self.size.map(|(_, rows)| rows));
        file.env.set = named(self.env);
        file.env.export = many(self.export);
        file
    }
}

fn one<T>(value: Option<T>) -> One<T> {
    value.map(Said::on_command_line)
}

fn many<T>(values: Vec<T>) -> Many<T> {
    values.into_iter().map(Said::on_command_line).collect()
}

fn named(pairs: Vec<(String, String)>) -> Named {
    pairs.into_iter().map(|(name, value)| (name, Said::on_command_line(value))).collect()
}

/// Items of which there can be only one.
trait Alike {
    fn is_alike(&self, other: &Self) -> bool;
}

impl Alike for String {
    fn is_alike(&self, other: &Self) -> bool {
        self == other
    }
}

/// Two mounts on one place cannot both be seen.
impl Alike for Mount {
    fn is_alike(&self, other: &Self) -> bool {
        self.to == other.to
    }
}

impl<T: Serialize> Layered for One<T> {
    fn over(self, below: Self) -> Self {
        self.or(below)
    }

    fn tell(&self, name: &str, told: &mut Vec<Told>) {
        told.extend(self.iter().map(|said| line(name, said)));
    }
}

/// Adds, and replaces what is alike in its place. Nothing that a lower layer hides or protects can be taken away above.
impl<T: Alike + Serialize> Layered for Many<T> {
    fn over(self, mut below: Self) -> Self {
        for item in self {
            match below.iter_mut().find(|known| known.value.is_alike(&item.value)) {
                // The lower layer said the same first; explanations then point at the one who need not be trusted.
                Some(known) if same(&known.value, &item.value) => {}
                Some(known) => *known = item,
                None => below.push(item),
            }
        }
        below
    }

    fn tell(&self, name: &str, told: &mut Vec<Told>) {
        told.extend(self.iter().map(|said| line(name, said)));
    }
}

fn same<T: Serialize>(one: &T, other: &T) -> bool {
    written(one) == written(other)
}

impl Layered for Named {
    fn over(self, mut below: Self) -> Self {
        below.extend(self);
        below
    }

    fn tell(&self, name: &str, told: &mut Vec<Told>) {
        told.extend(self.iter().map(|(key, said)| line(&format!("{name}.{}", shown(key)), said)));
    }
}

fn line<T: Serialize>(key: &str, said: &Said<T>) -> Told {
    Told { key: key.to_owned(), value: shown(&written(&said.value)), origin: said.origin.clone() }
}

fn written<T: Serialize>(value: &T) -> String {
    // Settings are numbers, words and lists of them, for all of which there is JSON.
    serde_json::to_string(value).unwrap_or_default()
}

impl MountSource {
    /// How it was written.
    pub fn text(&self) -> &str {
        match self {
            Self::From(path) => path,
            Self::Volume(name) => name,
        }
    }
}
