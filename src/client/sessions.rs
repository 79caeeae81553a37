//! The sessions of this user on this machine, and how they stand.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::future::join_all;

use super::discover::{box_name, live_sockets};
use super::{Credentials, Failure, Target, connect};
use crate::config::check_private_to_us;
use crate::proto::v1::{AgentState, GetAgentStateRequest, GetStatusRequest, GetStatusResponse};

/// One session that hangs must not keep the others from being listed.
const TELLS_WITHIN: Duration = Duration::from_secs(3);

/// A session that listens where unnamed ones do.
#[derive(Debug)]
pub struct Found {
    pub socket: PathBuf,
    /// How it stands, or why it did not tell.
    pub told: Result<(GetStatusResponse, AgentState), Failure>,
}

impl Found {
    /// The box that it is, its label `name`, or else its number.
    pub fn name(&self) -> String {
        if let Some(name) = self.box_name() {
            return name.to_owned();
        }
        self.label().cloned().unwrap_or_else(|| self.number())
    }

    /// The box whose session it is.
    pub fn box_name(&self) -> Option<&str> {
        box_name(&self.socket)
    }

    /// Its label `name`, if it told one.
    pub fn label(&self) -> Option<&String> {
        self.told.as_ref().ok().and_then(|(status, _)| status.labels.get("name"))
    }

    /// The process id of its coop, which no two share.
    pub fn number(&self) -> String {
        number(&self.socket)
    }
}

/// The process id in the name of a session's socket.
pub(super) fn number(socket: &Path) -> String {
    socket.file_stem().unwrap_or_default().to_string_lossy().trim_start_matches("coop-").to_owned()
}

/// The sessions in a directory, each asked how it stands.
pub async fn sessions(dir: &Path, credentials: &Credentials) -> Result<Vec<Found>, Failure> {
    check_private(dir)?;
    let ask = async |socket: PathBuf| {
        let told = tokio::time::timeout(TELLS_WITHIN, tell(socket.clone(), credentials.clone())).await;
        let silent = Failure::Silent { target: socket.display().to_string(), within: TELLS_WITHIN };
        Found { socket, told: told.unwrap_or(Err(silent)) }
    };
    Ok(join_all(live_sockets(dir).await.into_iter().map(ask)).await)
}

/// Whoever could listen there would be sent the token.
pub fn check_private(dir: &Path) -> Result<(), Failure> {
    let check = if dir.exists() { check_private_to_us(dir) } else { Ok(()) };
    check.map_err(|why| {
        let dir = dir.display();
        Failure::Choice(format!("no session is looked for in {dir}: {why}; name one by --url or --socket"))
    })
}

async fn tell(socket: PathBuf, credentials: Credentials) -> Result<(GetStatusResponse, AgentState), Failure> {
    let client = connect(Target::Socket(socket), credentials).await?.among_several(true);
    let status = client.answer(client.calls().get_status(GetStatusRequest {})).await?;
    let agent = client.answer(client.calls().get_agent_state(GetAgentStateRequest::default())).await?;
    Ok((status, agent))
}
