//! The inside of a box: from its record to a sandbox in which its session starts programs.
//!
//! ```text
//! Record ──> programs, login, environment ──> spec ──> Sandbox ──> network
//!                                               └── enclosure: makes it, and makes it again when it is gone
//! ```
//! Paths are the same inside and outside: the workspace, the box's own HOME, the directory with the agent's settings, the
//! sockets and coop itself. So nothing that an agent tells has to be translated.

mod enclosure;
mod environment;
mod login;
mod network;
mod places;
mod programs;
mod spec;

pub use enclosure::{BoxEnclosure, News};
pub use environment::{environment, image_variables};
pub use login::{LoginError, copy_login};
pub use network::Publishing;
pub use places::{Places, make_beneath};
pub use programs::{Installed, installed};
pub use spec::{spec, written_inside};
