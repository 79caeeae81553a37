//! `coop init`: a coop.toml to begin with.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::said;
use crate::boxfile::{self, Word, init, installed_agent};
use crate::cli::words::{plain, print_json, print_line};
use crate::config::Agent;

/// Write a coop.toml that explains itself
///
/// Every key stands in it with its default and a line of why; only the agent is said, if one is installed. What is there
/// is never overwritten.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop init\n  coop init ~/project --agent claude && coop up ~/project")]
pub struct Init {
    /// The project
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// The agent to run [default: the first that is installed]
    #[arg(long, value_enum)]
    agent: Option<Agent>,
    /// Print JSON: the path of what was written
    #[arg(long)]
    json: bool,
}

impl Init {
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let chosen = self.agent.map(|agent| boxfile::Agent::from_word(agent.word()));
        let installed = || std::env::var_os("PATH").and_then(|path| installed_agent(&path));
        let path = init(&self.dir, chosen.unwrap_or_else(installed)).map_err(said)?;
        if self.json {
            print_json(&json!({ "path": path }))?;
        } else {
            print_line(&format!("{}: read it, then `coop up` makes the box", plain(&path.to_string_lossy())))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
