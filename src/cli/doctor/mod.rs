//! `coop doctor`: what this machine can do for boxes (machine.rs), or which sources of an installed agent still work on it.
//!
//! ```text
//! doctor ──> a second coop (patient.rs) ──> the user's agent, in a home of its own (house.rs)
//!    ▲              │ state, explained               │
//!    └── checks ◀───┘                                └──> a model of the doctor's own (model.rs)
//! ```

mod checks;
mod house;
mod list;
mod machine;
mod model;
mod patient;
mod report;
mod subjects;
mod trouble;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use tokio::signal::unix::{SignalKind, signal};

use self::house::House;
use self::report::Report;
use self::subjects::Known;
use super::words::complain;

/// Check what this machine, or an agent on it, can do
///
/// Without an agent, makes boxes that live for a moment and tries everything that boxes need and use: what fails is told
/// with the way out. Ends with 0 when a box can be made.
///
/// With --agent, starts the agent in a home and a workspace of its own, with a model of the doctor's own on loopback: your
/// account, your configuration and your money are not touched, nothing is downloaded, and nothing is left behind. Ends
/// with 0 when nothing failed.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  coop doctor
  coop doctor --agent claude
  coop doctor --agent codex --json -- ~/other/codex | jq .checks")]
pub struct Doctor {
    /// The agent to look at, instead of the machine
    #[arg(long, value_enum)]
    agent: Option<Known>,
    /// Print one JSON object at the end
    #[arg(long)]
    json: bool,
    /// The agent's command, when it is not the program of its name in PATH
    #[arg(last = true, value_name = "COMMAND", requires = "agent")]
    command: Vec<OsString>,
}

impl Doctor {
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let Some(agent) = self.agent else { return machine::examine(self.json).await };
        let subject = agent.subject();
        let command = if self.command.is_empty() { vec![subject.program.into()] } else { self.command };
        let mut report = Report::new(subject, self.json);
        let told_to_stop = told_to_stop()?;
        // Whatever ends this, what was started ends with it: each part goes when it is dropped, the house last.
        let house = House::build(subject)?;
        tokio::select! {
            examined = checks::examine(subject, command, &house, &mut report) => examined?,
            () = told_to_stop => bail!("interrupted; what was started is ended and removed"),
        }
        drop(house);
        report.finish()?;
        Ok(if report.has_failures() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

/// Returns when a signal says that it is enough. Listens from now on, so that no signal ends the doctor before its house.
fn told_to_stop() -> std::io::Result<impl Future<Output = ()>> {
    let [mut interrupt, mut terminate, mut hangup] =
        [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?, signal(SignalKind::hangup())?];
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}
