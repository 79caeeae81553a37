//! The command line of the next child: a conversation's name cannot be given twice, so that each start has its own.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::Value;

use super::driver::Driver;
use super::random;
use super::start::{Given, Variables};
use super::version::Version;
use crate::config::Groom;

/// What the first start was made from.
#[derive(Clone, Debug)]
pub struct Relaunch {
    pub driver: &'static dyn Driver,
    pub argv: Vec<OsString>,
    pub named: bool,
    pub groom: Groom,
    pub agent_config: Option<Value>,
    pub version: Option<Version>,
    pub coop: PathBuf,
    pub run_dir: PathBuf,
    pub cwd: PathBuf,
    pub config_dir: Option<PathBuf>,
}

impl Relaunch {
    /// The command line that begins a new conversation, or goes on with this one; `None` where the first one will do.
    pub fn argv(&self, resume: Option<&str>) -> Option<Vec<OsString>> {
        let session_id = random::uuid().ok()?;
        let given = Given {
            argv: &self.argv,
            named: self.named,
            groom: self.groom,
            agent_config: self.agent_config.as_ref(),
            version: self.version,
            coop: &self.coop,
            run_dir: &self.run_dir,
            session_id: &session_id,
            resume,
            again: true,
            config_dir: self.config_dir.as_deref(),
            variables: Variables(&|name| std::env::var_os(name)),
        };
        // The files of the first start are still there; only the words are made anew.
        let plan = self.driver.prepare(&given, &|path| super::fence::read_to_string(&self.cwd.join(path))).ok()?;
        plan.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        Some(plan.argv)
    }
}
