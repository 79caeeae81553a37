//! When the daemon leaves: when it is told to, or when nobody has needed it for a while.

use std::time::Duration;

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::boxes::index::{Known, is_live};
use crate::boxes::lifecycle::Boxes;
use crate::serve::Connections;

/// How long the daemon stays without a session and without a client: a person who has stopped a box may start another.
const LINGER: Duration = Duration::from_secs(30);

/// How long to linger instead, in milliseconds. Not told to users: tests cannot wait for half a minute.
const LINGER_VARIABLE: &str = "COOP_DAEMON_LINGER";

pub fn linger() -> anyhow::Result<Duration> {
    let Some(text) = std::env::var_os(LINGER_VARIABLE).filter(|text| !text.is_empty()) else { return Ok(LINGER) };
    let ms = text.to_str().and_then(|text| text.parse().ok());
    ms.map(Duration::from_millis).with_context(|| format!("{LINGER_VARIABLE} is {text:?}: say milliseconds"))
}

/// What may end the daemon.
pub struct Leaving {
    asked: CancellationToken,
    linger: Duration,
    terminate: Signal,
    interrupt: Signal,
}

impl Leaving {
    pub fn new(asked: CancellationToken, linger: Duration) -> std::io::Result<Self> {
        let (terminate, interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        Ok(Self { asked, linger, terminate, interrupt })
    }

    /// Waits until it is time, and says why.
    pub async fn wait(mut self, connections: &Connections, boxes: &Boxes) -> &'static str {
        tokio::select! {
            () = self.asked.cancelled() => "it was asked to",
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            () = idle(self.linger, connections, boxes) => "nobody needs it",
        }
    }
}

/// Ends when for all of this time no session was there and nobody was connected.
async fn idle(linger: Duration, connections: &Connections, boxes: &Boxes) {
    let (mut open, mut known) = (connections.open(), boxes.index().subscribe());
    loop {
        let is_needed = *open.borrow_and_update() > 0 || any_live(&known.borrow_and_update()) || boxes.is_busy();
        let wait = async {
            // What is being done for somebody who has gone away ends by itself.
            if is_needed && !boxes.is_busy() { std::future::pending().await } else { tokio::time::sleep(linger).await }
        };
        tokio::select! {
            changed = open.changed() => if changed.is_err() { return },
            changed = known.changed() => if changed.is_err() { return },
            () = wait => if !is_needed { return },
        }
    }
}

fn any_live(known: &Known) -> bool {
    known.values().any(|told| is_live(told))
}
