//! Following a stream until it ends, or until nobody reads what is printed.

use std::future::pending;
use std::io;
use std::os::fd::AsFd;

use tokio::io::Interest;
use tokio::net::unix::pipe::Sender;
use tonic::Streaming;

use crate::client::Client;

/// Shows each message as it comes.
pub async fn follow<T>(
    client: &Client,
    mut messages: Streaming<T>,
    mut show: impl FnMut(T) -> io::Result<()>,
) -> anyhow::Result<()> {
    let closed = stdout_closed();
    tokio::pin!(closed);
    loop {
        let message = tokio::select! {
            message = messages.message() => message.map_err(|status| client.failure(&status))?,
            () = &mut closed => return Ok(()),
        };
        match message {
            Some(message) => show(message)?,
            None => return Ok(()),
        }
    }
}

/// Returns when stdout is a pipe whose reader has gone. Writing would tell too, but a quiet stream never writes.
pub async fn stdout_closed() {
    // Files cannot be watched like this, and are never closed by others.
    let Ok(stdout) = watched_stdout() else { return pending().await };
    if stdout.ready(Interest::ERROR).await.is_err() {
        pending().await
    }
}

/// Unchecked, because the checked way would make stdout non-blocking for everybody who shares it.
fn watched_stdout() -> io::Result<Sender> {
    Sender::from_owned_fd_unchecked(io::stdout().as_fd().try_clone_to_owned()?)
}
