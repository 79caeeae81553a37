//! What a box reaches and what reaches it, for as long as its sandbox stands.

use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::boxfile::PlannedNetwork;
use crate::egress::{self, AllowList, BadRule, BindError, Denial, Policy, PublishRule, Published};
use crate::sandbox::Sandbox;

/// Denials that wait to be told; a loop in the box must not fill our memory.
pub(super) const DENIALS_MAX: usize = 64;

/// The ports of the machine that lead into the box. They stay open when the sandbox is made anew.
#[derive(Debug)]
pub struct Publishing {
    rules: Vec<PublishRule>,
    pub allow: AllowList,
}

impl Publishing {
    /// Reads what the plan says.
    pub fn of(network: &PlannedNetwork) -> Result<Self, BadRule> {
        Ok(Self { rules: PublishRule::parse_all(&network.publish)?, allow: AllowList::parse(&network.allow)? })
    }

    /// Opens the machine's side of each port.
    pub async fn open(&self) -> Result<Vec<Published>, BindError> {
        let mut open = Vec::new();
        for rule in &self.rules {
            open.push(rule.bind().await?);
        }
        Ok(open)
    }
}

/// Serves the proxy of a sandbox until it is cancelled, and tells what it refuses. Must be called inside a tokio runtime.
pub(super) fn serve_proxy(
    sandbox: &Sandbox,
    allow: &AllowList,
    tell: mpsc::Sender<Denial>,
    cancel: CancellationToken,
) -> std::io::Result<()> {
    let Some(listener) = sandbox.proxy_listener() else { return Ok(()) };
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let policy = Policy { allow: allow.clone() };
    tokio::spawn(egress::serve(listener, policy, tell, cancel));
    Ok(())
}

/// Serves a published port through whichever sandbox stands at the moment.
pub(super) fn serve_published<D>(published: Published, dial: D, cancel: CancellationToken)
where
    D: Fn(u16) -> std::io::Result<std::net::TcpStream> + Send + Sync + 'static,
{
    let dial = Arc::new(dial);
    tokio::spawn(egress::serve_published(published, move |port| dial(port), cancel));
}
