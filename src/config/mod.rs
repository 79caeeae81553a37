//! What the operator chose: flags and environment, checked together once, before anything is started.
//!
//! ```text
//! Flags      one field for each flag           flags.rs, read by parse.rs
//! Sidecar    the same, checked and settled     settle.rs, token.rs, listeners.rs
//! ```
//! `environment` says which variables are read, `runtime_dir` where sockets are put when nobody names one.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use tracing::level_filters::LevelFilter;

use crate::api::Secret;
use crate::borrowed::Target;
use crate::child::Size;
use crate::session::{RestartPolicy, SizePolicy};

mod choices;
mod environment;
mod files;
mod flags;
mod home;
mod listeners;
mod parse;
mod runtime_dir;
mod settle;
mod token;

pub use choices::{Agent, Groom, LogFormat};
pub use environment::{Given, own_variables, read_from, told_to_children};
pub(crate) use files::read_text;
pub use flags::Flags;
pub use home::coop_home;
pub(crate) use listeners::check_guarded;
pub(crate) use parse::{host, host_name, origin, port, seconds, text_variable};
pub use runtime_dir::{
    check_private_to_us, check_socket_path, default_socket_path, hook_socket_path, private_runtime_dir, runtime_dir,
};
pub use settle::settle;
pub(crate) use token::{check_token, token_in_file};

/// The longest path that fits into a Unix socket's address: 108 bytes, of which the last is a NUL.
pub const SOCKET_PATH_BYTES_MAX: usize = 107;

/// Everything a sidecar needs to know; made by [`settle`] only.
#[derive(Debug)]
pub struct Sidecar {
    /// The TCP port that speaks everything; 0 for any free one.
    pub port: Option<u16>,
    /// Where the ports are bound.
    pub host: IpAddr,
    /// The Unix socket. With neither port nor socket, [`default_socket_path`] says where.
    pub socket: Option<PathBuf>,
    /// One more port of the same kind.
    pub grpc_port: Option<u16>,
    /// A port for probes only.
    pub health_port: Option<u16>,
    /// What callers must show.
    pub token: Option<Secret>,
    /// Whether reading needs no token.
    pub anonymous_read: bool,
    /// Whether a public port without a token was asked for by name.
    pub insecure_no_auth: bool,
    /// Origins of web pages that may call, in lower case: `scheme://host[:port]`.
    pub allow_origins: Vec<String>,
    /// Host names that coop may be called by, in lower case: `host[:port]`.
    pub allow_hosts: Vec<String>,
    /// The kind of program inside.
    pub agent: Agent,
    /// The contents of the agent's configuration file.
    pub agent_config: Option<serde_json::Value>,
    /// The earlier conversation that is gone on with: an id, a log, a directory, or `latest`.
    pub resume: Option<String>,
    /// Where what the agent's sources bring is written down.
    pub agent_record: Option<PathBuf>,
    /// How long a witness is waited for, in milliseconds, unless a caller says otherwise.
    pub nudge_timeout_ms: Option<u32>,
    /// How long an idle agent is not yet called idle.
    pub idle_grace: Duration,
    /// The terminal's size.
    pub size: Size,
    /// Whose size counts when terminals are attached.
    pub attach_size: SizePolicy,
    /// How much output is held.
    pub ring_bytes: usize,
    /// The child's `TERM`.
    pub term: String,
    /// How long coop stays without output, input or a call; for ever if `None`.
    pub idle_timeout: Option<Duration>,
    /// How coop's own log is written.
    pub log_format: LogFormat,
    /// How much of it.
    pub log_level: LevelFilter,
    /// What coop may answer by itself.
    pub groom: Groom,
    /// The operator's own notes, shown in the status.
    pub labels: BTreeMap<String, String>,
    /// Where the child starts.
    pub cwd: Option<PathBuf>,
    /// Variables for the child.
    pub env: Vec<(OsString, OsString)>,
    /// When a child that has ended is started again.
    pub restart: RestartPolicy,
    /// Whether coop leaves with the child, and with its exit code.
    pub exit_with_child: bool,
    /// The program and its arguments; empty only when something is borrowed instead.
    pub command: Vec<OsString>,
    /// What is served instead of a program of our own.
    pub borrow: Option<Borrow>,
    /// The record of the box that the program runs in.
    pub boxed: Option<PathBuf>,
    /// What is allowed but probably not meant; for the log.
    pub warnings: Vec<String>,
}

/// A session that somebody else started.
#[derive(Clone, Debug)]
pub struct Borrow {
    pub target: Target,
    /// The agent that runs there, where the operator says it.
    pub agent: Option<Agent>,
    /// It is to have the size that was given; else it keeps its own.
    pub size_is_chosen: bool,
    /// What coop may answer by itself was said; else it answers nothing.
    pub groom_is_chosen: bool,
}

/// A choice that cannot be carried out: what is wrong with which flag, and the way out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Mistake(String);

impl Mistake {
    fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

#[cfg(test)]
mod scratch;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub use scratch::Scratch;
