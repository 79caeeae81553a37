//! Starts the real coop on a free port, talks to it over every face, and ends it when a test is done.

mod claude;
mod files;
mod grpc;
mod http;
mod place;
mod process;
mod processes;
mod proxy;
mod script;
mod seat;
mod socket;
mod verb;

use std::time::Duration;

pub use claude::{Claude, Hook, at_home};
pub use files::Scratch;
pub use grpc::reason_of;
pub use http::{Answer, Call, Lines};
pub use place::{Place, Wire};
pub use process::{Coop, binary, run_to_its_end};
pub use processes::{
    alive, at_rest, cpu_ticks, descendants, environment, nothing_is_left_in, rss_bytes, session_members, started_in,
    stopped, wakeups,
};
pub use proxy::Proxy;
pub use script::{bash, sh};
pub use seat::Seat;
pub use socket::{Heard, WebSocket};
pub use verb::{Ended, finished, run_coop};

/// How long anything may take before a test fails; far more than it takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The same for calls to coop that wait themselves; shorter, so that their answer comes before our own patience ends.
pub const PATIENCE_MS: u32 = 15_000;
