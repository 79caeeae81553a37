//! Who is attached to: what the status line says of a session, and whether its program still runs.

use std::path::Path;

use crate::api::Code;
use crate::client::{Client, Failure, Target};
use crate::proto::v1::{
    AgentState, AgentStateEvent, AgentStateKind, ExitEvent, GetAgentStateRequest, GetStatusRequest, GetStatusResponse,
    SessionState,
};

/// The label that gives a session its name.
const NAME: &str = "name";

/// What the status says of a program that coop started.
const OWN_BACKEND: &str = "pty";

/// A session as it was when it was asked.
#[derive(Debug, Default)]
pub struct About {
    pub name: String,
    /// The kind of agent, or the program's own name.
    pub program: String,
    /// What the agent does, where anybody can tell.
    pub state: Option<AgentStateEvent>,
    /// How the program ended, if it did.
    pub exit: Option<ExitEvent>,
    /// The program's process, while it runs.
    pub pid: Option<u32>,
    /// It has ended, and coop will start it again by itself.
    pub restarts: bool,
    /// Somebody else started it, and coop cannot start it again.
    pub is_borrowed: bool,
}

impl About {
    pub async fn ask(client: &Client, target: &Target) -> Result<Self, Failure> {
        let status = client.answer(client.calls().get_status(GetStatusRequest {})).await?;
        let agent = match client.answer(client.calls().get_agent_state(GetAgentStateRequest::default())).await {
            Ok(agent) => Some(agent),
            Err(failure) if failure.code() == Some(Code::NoDriver) => None,
            Err(failure) => return Err(failure),
        };
        Ok(Self::of(status, agent, target))
    }

    fn of(status: GetStatusResponse, agent: Option<AgentState>, target: &Target) -> Self {
        let exited = status.state == SessionState::Exited as i32;
        let (code, signal, error) = (status.exit_code, status.exit_signal, status.error);
        let exit = exited.then_some(ExitEvent { code, signal, seq: status.seq, error });
        let program = status.command.first().map(String::as_str).unwrap_or_default();
        let program = match status.agent.as_str() {
            "" | "unknown" => Path::new(program).file_name().unwrap_or_default().to_string_lossy().into_owned(),
            agent => agent.to_owned(),
        };
        let name = status.labels.get(NAME).cloned().unwrap_or_else(|| short(target));
        let (pid, is_borrowed) = (status.pid, status.backend != OWN_BACKEND);
        let (state, restarts) = (agent.and_then(|agent| worth_telling(event(agent))), status.restarts_at_ms.is_some());
        Self { name, program, state, exit, pid, restarts, is_borrowed }
    }
}

/// A state that says something.
pub fn worth_telling(state: AgentStateEvent) -> Option<AgentStateEvent> {
    let known = state.next != AgentStateKind::Unknown as i32 && state.next != AgentStateKind::Unspecified as i32;
    known.then_some(state)
}

fn event(agent: AgentState) -> AgentStateEvent {
    AgentStateEvent {
        prev: agent.state,
        next: agent.state,
        prompt: agent.prompt,
        error_detail: agent.error_detail,
        parked_reason: agent.parked_reason,
        ..Default::default()
    }
}

/// The socket's file without its ending, or host and port.
fn short(target: &Target) -> String {
    match target {
        Target::Socket(path) => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        Target::Url(_) => target.to_string().trim_start_matches("http://").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_known_by_its_label_or_its_address() {
        let target = Target::Socket("/run/coop-7.sock".into());
        let status = || GetStatusResponse { command: vec!["/bin/bash".into()], ..Default::default() };
        let about = About::of(status(), None, &target);
        assert_eq!((about.name.as_str(), about.program.as_str(), about.exit), ("coop-7", "bash", None));
        let labels = [("name".to_owned(), "red".to_owned())].into();
        let status = GetStatusResponse { labels, agent: "claude".into(), ..status() };
        let agent = AgentState { state: AgentStateKind::Idle.into(), ..Default::default() };
        let about = About::of(status, Some(agent), &Target::parse("host:1").unwrap());
        assert_eq!((about.name.as_str(), about.program.as_str()), ("red", "claude"));
        assert_eq!(about.state.unwrap().next, AgentStateKind::Idle as i32);
    }
}
