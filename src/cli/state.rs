//! `coop state`: how the session stands and what the program inside does.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::dialog::context;
use super::follow::follow;
use super::lines::{change, describe, reasons, sequel};
use super::reach::Reach;
use super::words::{plain, print_json, print_line};
use crate::api::Code;
use crate::cli::completions;
use crate::client::{Client, Failure};
use crate::proto::v1::{AgentState, GetAgentStateRequest, GetStatusRequest, GetStatusResponse, StreamStateRequest};
use crate::session::epoch_ms;

/// Show how the session stands and what the program is doing
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  coop state\n  coop state my-box\n  coop state --watch --json | jq -r .next")]
pub struct State {
    /// Which one, when several run: its name or number, as `coop ls` shows them
    #[arg(value_name = "NAME", value_hint = completions::NAME, conflicts_with_all = ["url", "socket", "named"])]
    name: Option<String>,
    /// Print each change as it comes
    #[arg(long)]
    watch: bool,
    /// Show what the state is based on, and how old each piece of evidence is
    #[arg(long, conflicts_with = "watch")]
    explain: bool,
    #[command(flatten)]
    reach: Reach,
}

/// Both answers, as JSON.
#[derive(Serialize)]
struct Both {
    status: GetStatusResponse,
    agent: Option<AgentState>,
}

impl State {
    pub async fn run(mut self) -> anyhow::Result<ExitCode> {
        self.reach = self.reach.called(self.name.take());
        let client = self.reach.connect().await?;
        if self.watch {
            self.watch(&client).await?;
            return Ok(ExitCode::SUCCESS);
        }
        let status = client.answer(client.calls().get_status(GetStatusRequest {})).await?;
        let agent = agent_state(&client, self.explain).await?;
        if self.reach.json {
            print_json(&Both { status, agent })?;
            return Ok(ExitCode::SUCCESS);
        }
        print_line(&describe(&status, agent.as_ref()))?;
        if let Some(line) = sequel(&status, epoch_ms()) {
            print_line(&line)?;
        }
        for warning in &status.warnings {
            print_line(&format!("  warning: {}", plain(warning)))?;
        }
        for line in agent.iter().flat_map(context) {
            print_line(&line)?;
        }
        for line in agent.iter().filter(|_| self.explain).flat_map(reasons) {
            print_line(&line)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn watch(&self, client: &Client) -> anyhow::Result<()> {
        let events = client.answer(client.calls().stream_state(StreamStateRequest::default())).await?;
        let json = self.reach.json;
        follow(client, events, |event| if json { print_json(&event) } else { print_line(&change(&event)) }).await
    }
}

/// A session may have no driver to ask; its status says enough then.
async fn agent_state(client: &Client, explain: bool) -> Result<Option<AgentState>, Failure> {
    match client.answer(client.calls().get_agent_state(GetAgentStateRequest { explain })).await {
        Ok(state) => Ok(Some(state)),
        Err(failure) if failure.code() == Some(Code::NoDriver) => Ok(None),
        Err(failure) => Err(failure),
    }
}
