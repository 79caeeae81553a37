//! What the agent's machinery promises, without any agent.

mod recordings;
mod referee;
pub mod screens;
