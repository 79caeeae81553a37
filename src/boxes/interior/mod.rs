//! The inside of a box: from its record to a sandbox in which its session starts programs.
//!
//! ```text
//! Record ──> programs, login, environment ──> spec ──> Sandbox ──> network
//!                                               └── enclosure: makes it, and makes it again when it is gone
//! ```
//! Paths are the same inside and outside: the workspace, the box's own HOME, the directory with the agent's settings, the
//! sockets and coop itself. So little of what an agent tells has to be translated: only what is mounted over a part of its
//! HOME lies elsewhere.

mod enclosure;
mod environment;
mod login;
mod network;
mod places;
mod programs;
mod spec;

pub use enclosure::{BoxEnclosure, News};
pub use environment::{environment, image_variables};
pub use login::{Copied, LoginError, copy_login};
pub use network::Publishing;
pub use places::Places;
pub use programs::{Installed, installed};
pub use spec::{read_from_outside, spec, written_inside};
