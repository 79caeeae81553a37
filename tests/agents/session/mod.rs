//! One real agent in a real coop, with a model that does what the test says; the same for every agent.
//!
//! What differs is an [`Agent`]: how its home is seeded, what it finds in its environment, which API its model speaks.

mod agent;
mod house;
mod options;
mod record;
mod running;
mod start;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

pub use agent::{Agent, program};
pub use house::{House, write_json};
pub use options::Options;

use crate::model::Model;
use crate::support::Coop;
use crate::tmux::Tmux;
use record::Record;

/// The size that most people's screens have room for, and the smallest that dialogs are read at.
pub const WIDE: (u16, u16) = (200, 50);
pub const SMALL: (u16, u16) = (80, 24);

/// Ends with the test; when the test fails, tells all there is to see.
pub struct Session<A: Agent> {
    pub coop: Coop,
    pub model: Model,
    pub house: Arc<House<A>>,
    pub record: Record,
    /// How many steps of the record the test has looked at.
    seen: AtomicUsize,
    /// What it runs in, when it is not coop that has started it.
    _tmux: Option<Tmux>,
}
