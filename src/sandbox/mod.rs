//! A rootless Linux sandbox: namespaces around a small PID 1 that starts programs when it is asked to.
//!
//! ```text
//! Sandbox::start ── re-executes coop ──▶ box-init ── clone ──▶ PID 1 (init/)
//!      │                                                         │ builds the root, pivots, gives up every privilege
//!      │◀───────────── one SEQPACKET socket ────────────────────▶│
//!      ├─ run   a program on a terminal or on pipes, made inside the box and handed out
//!      ├─ dial  a TCP connection to a port inside
//!      ├─ drop  ends PID 1, and with it everything inside
//!      └─ warden watches what is hidden or protected; re-executes coop as box-cover when it was replaced outside
//! ```
//! PID 1 serves until the other end of its socket is closed, which the kernel does for a starter that crashes: there is
//! no PDEATHSIG, which fires already when the *thread* that started a process ends.

mod cgroup;
mod channel;
mod command;
mod covers;
mod ending;
mod error;
mod handle;
mod idmap;
mod init;
mod probe;
mod raw;
mod spec;
mod start;
mod stranger;
mod warden;
mod wire;

pub use command::main as run_main;
pub use ending::{Ended, Ending};
pub use error::{RunError, SandboxError, Step};
pub use handle::{Killer, Piped, Sandbox, Started, ended_within};
pub use idmap::range as map_range;
pub use init::{cover_main, main as init_main};
pub use probe::{Finding, probe};
pub use raw::let_go_of_code;
pub use spec::{Limits, Mount, Network, Root, Run, Spec, UidMap};
pub use warden::{COVER_VERB, Replaced};

/// The port inside a filtered box at which the proxy's listener stands.
pub const PROXY_PORT: u16 = 3128;
