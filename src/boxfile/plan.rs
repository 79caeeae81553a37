//! A box as it will be made: checked, complete, with absolute paths. Kept as session.json.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::words::{Access, Agent, AttachSize, Login, NetworkMode, Restart, UidMap, WorkspaceMode};

/// Everything that is needed to make the box, and to make it again after a restart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BoxPlan {
    pub name: String,
    /// The coop.toml that it was made from.
    pub file: Option<PathBuf>,
    /// `host`, a reference, or `oci:`, `tar:` and `dir:` with an absolute path.
    pub image: String,
    pub agent: Agent,
    /// Program and arguments, never empty.
    pub command: Vec<String>,
    /// Nobody has said what to run: what an image runs by itself goes before a shell.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub command_is_open: bool,
    /// What `coop shell` runs.
    pub shell: String,
    /// Lines for a shell, in order.
    pub setup: Vec<String>,
    pub user: Option<String>,
    pub uidmap: UidMap,
    pub nested: bool,
    /// In the order in which they are made.
    pub mounts: Vec<PlannedMount>,
    /// Absolute paths that look empty inside.
    pub hide: Vec<PathBuf>,
    pub login: Login,
    /// Whether git inside knows the user's name and address.
    pub git_identity: bool,
    pub workspace: PlannedWorkspace,
    pub network: PlannedNetwork,
    pub limits: PlannedLimits,
    pub security: PlannedSecurity,
    pub session: PlannedSession,
    pub input_filter: PlannedInputFilter,
    pub env: PlannedEnv,
    /// What was said and changes nothing.
    pub warnings: Vec<String>,
}

/// Something of the host inside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedMount {
    pub source: PlannedSource,
    /// Absolute, and over nothing that a box needs.
    pub to: PathBuf,
    pub mode: Access,
}

impl PlannedMount {
    /// The volume that it is, if it is one.
    pub fn volume(&self) -> Option<&str> {
        if let PlannedSource::Volume(name) = &self.source { Some(name) } else { None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedSource {
    /// An absolute path without links, which was there when the plan was made.
    Path(PathBuf),
    /// One in the workspace. What is inside can put a link there before the next start, so that whoever mounts it must
    /// not follow any.
    InWorkspace(PathBuf),
    /// The name of a volume.
    Volume(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlannedWorkspace {
    /// Absolute, without links, a directory; the same inside and outside.
    pub path: PathBuf,
    pub mode: WorkspaceMode,
    /// Absolute paths in it that stay read-only. They need not be there.
    pub protect: Vec<PathBuf>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlannedNetwork {
    pub mode: NetworkMode,
    /// With the hosts of the agent's own service.
    pub allow: Vec<String>,
    pub publish: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlannedLimits {
    pub memory_bytes: Option<u64>,
    pub processes: Option<u64>,
    pub cpus: Option<f64>,
    pub open_files: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlannedSecurity {
    pub seccomp: bool,
    pub landlock: bool,
}

/// A wall that an old file does not know of stands.
impl Default for PlannedSecurity {
    fn default() -> Self {
        Self { seccomp: true, landlock: true }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlannedSession {
    pub restart: Restart,
    /// Relative to the box's HOME, and in it.
    pub persist: Vec<PathBuf>,
    pub cols: u16,
    pub rows: u16,
    pub attach_size: AttachSize,
    pub labels: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlannedInputFilter {
    /// 0 lets all pass.
    pub ctrl_c_ms: u32,
    pub block_keys: Vec<String>,
    pub block_sequences: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlannedEnv {
    pub set: BTreeMap<String, String>,
    /// Names only. The values that they had when the box was brought up are in its record, which nobody else can read.
    pub export: Vec<String>,
}

/// A box's own HOME, which has the same path inside and outside.
pub fn box_home(coop_home: &Path, name: &str) -> PathBuf {
    coop_home.join("sessions").join(name).join("home")
}
