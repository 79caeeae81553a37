//! Many sessions of one user, each in a box: where they are kept, how they stand, and how they are started and ended.
//!
//! ```text
//! BoxSource ── prepare ──> Record (session.json) ── lifecycle ──> sidecar, a process of its own
//!                                                                   │ socket
//!                     directories, inotify ──> index <──────────────┘ how it stands
//! ```
//! The daemon holds nothing that the directories and the sidecars do not hold: it may be killed at any moment, and the next
//! one finds everything.

mod asked;
mod caller;
pub mod daemon;
mod environment;
mod failure;
mod files;
mod first;
mod foundation;
mod furnish;
mod home;
mod identity;
mod index;
pub mod interior;
mod lifecycle;
mod locks;
mod log;
mod name;
mod prepare;
mod raw;
mod record;
mod reviews;
mod sidecar;
mod submodules;

pub use asked::Asked;
pub use environment::passed_on;
pub use failure::BoxError;
pub use foundation::{Foundation, FoundationError, Told, step_of_pull};
pub use home::{Home, HomeError};
pub use index::{Index, Known, is_live};
pub use lifecycle::Boxes;
pub use name::{BadName, NAME_RULE, Name};
pub use prepare::{PrepareError, Prepared, prepare};
pub use raw::detach;
pub use record::{ImageRecord, Record, RecordError, set_wanted};

/// The daemon's own socket in the runtime directory.
pub const DAEMON_SOCKET: &str = "daemon.sock";

/// The file whose lock the daemon holds for as long as it lives.
pub const DAEMON_LOCK: &str = "daemon.lock";
