//! What a sandbox is asked to be, and what is asked to run in it.

use std::{ffi::OsString, path::PathBuf};

use serde::{Deserialize, Serialize};

/// A whole sandbox, as one value.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// For errors and for the title of its PID 1.
    pub name: String,
    /// What `hostname` says inside.
    pub hostname: String,
    /// Where `/` comes from.
    #[serde(default)]
    pub root: Root,
    /// Who the caller is inside.
    #[serde(default)]
    pub uid_map: UidMap,
    /// Made in this order, after the root and its `/proc`, `/dev`, `/tmp` and `/run`.
    #[serde(default)]
    pub mounts: Vec<Mount>,
    /// What can be reached.
    #[serde(default)]
    pub network: Network,
    /// Whether namespaces and mounts may be made inside, as by an agent's own bubblewrap. That opens much of the
    /// kernel to the box.
    #[serde(default)]
    pub nested: bool,
    /// Whether user 0 inside keeps what installing packages takes: to own, open and hand over files of the box's own
    /// users, and to become one of them. For setting an image up; everything else runs without any capability.
    #[serde(default)]
    pub root_powers: bool,
    #[serde(default)]
    pub limits: Limits,
    /// Landlock under the mounts, where the kernel has it.
    #[serde(default = "yes")]
    pub landlock: bool,
    /// The filter of system calls.
    #[serde(default = "yes")]
    pub seccomp: bool,
}

fn yes() -> bool {
    true
}

/// Where the root of a box comes from.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Root {
    /// An empty root with the machine's own programs and configuration, read-only. Nothing of anybody's home.
    #[default]
    Host,
    /// An image: layers that are never written, topmost first, and a directory that takes the changes. No path to them
    /// has a link in it.
    Overlay { lower: Vec<PathBuf>, upper: PathBuf, work: PathBuf },
}

/// Who the caller is inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UidMap {
    /// The same number inside and outside.
    #[default]
    Same,
    /// 0 inside. Files made inside belong to the caller outside.
    Root,
    /// 0 inside, and above it the range that `/etc/subuid` and `/etc/subgid` give to the caller.
    Range,
}

/// Something that is put into the root. Destinations are paths inside; symbolic links in them cannot lead out.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Mount {
    /// A file or directory of the machine. `from` is followed as the caller would: it must not be chosen by what a
    /// project contains; see [`Mount::Straight`] and [`Mount::Protect`] for that.
    Bind {
        from: PathBuf,
        to: PathBuf,
        #[serde(default)]
        read_only: bool,
        /// Whether a missing `from` is left out in silence.
        #[serde(default)]
        optional: bool,
    },
    /// The same, reached without following a single link: for what the programs of a box could have replaced since
    /// `from` was written down.
    Straight {
        from: PathBuf,
        to: PathBuf,
        #[serde(default)]
        read_only: bool,
    },
    /// An empty directory in memory.
    Tmpfs {
        to: PathBuf,
        #[serde(default = "tmpfs_mode")]
        mode: u32,
        #[serde(default)]
        bytes_max: Option<u64>,
    },
    /// Directories that are not written, topmost first, with one above them that takes the changes. No path to them
    /// has a link in it.
    Overlay { lower: Vec<PathBuf>, upper: PathBuf, work: PathBuf, to: PathBuf },
    /// Nothing, read-only, over a file or a directory. What is not there needs no hiding until it is.
    Hide { to: PathBuf },
    /// Makes what is already at this place of the box read-only. Unlike a bind it looks at the box alone, so a
    /// project with a link where a file is expected can not use it to see more of the machine. The directories above
    /// it can not be renamed from inside either. What is not there is left out until it is; with a warning, unless it only
    /// may come to be there.
    Protect {
        to: PathBuf,
        #[serde(default)]
        may_come: bool,
    },
    /// A small file that lives in memory.
    File {
        to: PathBuf,
        content: String,
        #[serde(default = "yes")]
        read_only: bool,
    },
}

fn tmpfs_mode() -> u32 {
    0o755
}

/// What a box can reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// The machine's own network.
    Host,
    /// A loopback interface of its own, and nothing else.
    #[default]
    None,
    /// The same, with a listener on [`PROXY_PORT`](super::PROXY_PORT) that is given to the starter.
    Filtered,
}

/// How much a box may use; `None` is no limit of ours.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    pub memory_bytes: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u64>,
    /// Processors' worth of time.
    pub cpus: Option<f64>,
    /// Open files of each process. Without it the usual 1024, which a program may raise to what coop itself may have.
    pub open_files: Option<u64>,
}

/// A program to run in a box.
#[derive(Clone, Debug)]
pub struct Run {
    /// The program and its arguments; no shell looks at them. A name without a slash is looked for on the `PATH` in
    /// `env`.
    pub argv: Vec<OsString>,
    /// Where it starts, as a path inside.
    pub cwd: PathBuf,
    /// All of its variables: nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// Columns and rows of its terminal. `None`: no terminal but one pipe for both outputs, and nothing to read.
    pub size: Option<(u16, u16)>,
}
