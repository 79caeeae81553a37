//! `coop --attach`: what somebody else started is found and made ready to be served.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Context;

use super::agents::{self, Prepared};
use crate::agent::{Lent, driver};
use crate::borrowed::{self, Loan, process};
use crate::config::{Agent, Borrow, Sidecar};

/// What was found.
pub struct Ready {
    pub loan: Loan,
    pub agent: Agent,
    /// What runs there, and where.
    pub command: Vec<OsString>,
    pub cwd: Option<PathBuf>,
    pub prepared: Option<Prepared>,
    /// What is not as it was asked for.
    pub warnings: Vec<String>,
}

/// Finds what is to be served, and the agent in it.
pub async fn ready(config: &Sidecar, borrow: &Borrow) -> anyhow::Result<Ready> {
    let mut loan = borrowed::borrow(&borrow.target).await.context("--attach")?;
    let found = loan.look_for(borrow.agent.filter(|agent| *agent != Agent::Unknown));
    let agent = borrow.agent.or(found.as_ref().map(|found| found.agent)).unwrap_or_default();
    let pid = found.as_ref().map_or(loan.pid, |found| found.pid);
    let mut warnings = Vec::new();
    if agent != Agent::Unknown && found.is_none() {
        let warning = format!("no process of {agent} is seen in {}: only its screen and title are gone by", loan.name);
        tracing::warn!("{warning}");
        warnings.push(warning);
    }
    let lent = Lent { agent, unseen: found.is_none() };
    let driver = driver::of(agent);
    let prepared = driver.map(|driver| agents::found(config, driver, lent, pid)).transpose()?;
    Ok(Ready { agent, command: process::argv(pid), cwd: process::cwd(pid), prepared, warnings, loan })
}
