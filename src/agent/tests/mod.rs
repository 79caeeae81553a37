//! What the agent's machinery promises, without any agent.

mod mind;
mod recordings;
mod referee;
pub mod screens;
mod subtypes;
