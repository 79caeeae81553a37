//! What an agent is told at its start, and whether it may stop. Pure: hooks and calls bring the questions.

mod config;
mod instructions;
mod schema;
mod start;
mod stop;

pub use config::{
    BadGates, StartConfig, StartInjection, StopConfig, StopField, StopMode, StopSchema, from_agent_config,
};
pub use start::StartGate;
pub use stop::{Decision, StopGate};
