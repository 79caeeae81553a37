//! Takes what a box sends to its proxy, and hands it to the protocol that it speaks.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::denial::{Denial, Denials};
use super::dial::Dialer;
use super::outside::Machine;
use super::policy::Policy;
use super::tunnel::HALF_OPEN_IDLE;
use super::{http, socks};

/// Where the proxy listens inside a box.
pub const PROXY_PORT: u16 = 3128;

/// More than an agent and its tools open at once; those beyond it wait their turn. Each is two descriptors.
const CONNECTIONS_MAX: usize = 256;

/// How long a program may take to say whom it wants, also between two requests of one connection.
const HEAD_WITHIN: Duration = Duration::from_secs(30);

/// How long a dial may take. Shorter than the patience of most clients, so that they hear why.
const DIAL_WITHIN: Duration = Duration::from_secs(20);

/// How long to wait when the system has no descriptors left.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// The first byte of a SOCKS5 greeting. No HTTP method begins with it.
const SOCKS5: u8 = 5;

/// Limits of a proxy; tests choose their own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub connections: usize,
    pub head_within: Duration,
    pub dial_within: Duration,
    pub half_open_idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: CONNECTIONS_MAX,
            head_within: HEAD_WITHIN,
            dial_within: DIAL_WITHIN,
            half_open_idle: HALF_OPEN_IDLE,
        }
    }
}

/// Serves a box's proxy until it is cancelled; then every connection is gone at once, as the box is. Refusals go to
/// `denials`; when it is full they are counted and told with a later one.
pub async fn serve(listener: TcpListener, policy: Policy, denials: mpsc::Sender<Denial>, cancel: CancellationToken) {
    let limits = Limits::default();
    let dialer = Dialer {
        policy,
        outside: Arc::new(Machine::default()),
        denials: Denials::new(denials),
        dial_within: limits.dial_within,
    };
    serve_within(listener, dialer, limits, cancel).await;
}

/// The same with a world and limits of one's own.
pub(super) async fn serve_within(listener: TcpListener, dialer: Dialer, limits: Limits, cancel: CancellationToken) {
    let dialer = Arc::new(dialer);
    accept_each(&listener, limits.connections, &cancel, |stream| {
        let dialer = dialer.clone();
        async move { converse(stream, &dialer, limits).await }
    })
    .await;
}

/// Accepts connections and runs a task for each, never more than `most` at once. Returns when cancelled, and takes all
/// tasks with it.
pub(super) async fn accept_each<F: Future<Output = ()> + Send + 'static>(
    listener: &TcpListener,
    most: usize,
    cancel: &CancellationToken,
    mut task: impl FnMut(TcpStream) -> F,
) {
    let places = Arc::new(Semaphore::new(most));
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            () = cancel.cancelled() => return,
            Some(ended) = tasks.join_next() => if let Err(error) = ended {
                tracing::error!(%error, "a connection's task failed");
            },
            accepted = accept(listener, &places) => match accepted {
                Ok((stream, place)) => {
                    let task = task(stream);
                    tasks.spawn(async move {
                        let _place = place;
                        task.await;
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_AGAIN).await;
                }
            },
        }
    }
}

async fn accept(listener: &TcpListener, places: &Arc<Semaphore>) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    // One that has left already is no trouble of the listener's.
    let _ = stream.set_nodelay(true);
    Ok((stream, place))
}

async fn converse(stream: TcpStream, dialer: &Arc<Dialer>, limits: Limits) {
    let mut first = [0];
    match timeout(limits.head_within, stream.peek(&mut first)).await {
        Ok(Ok(1)) if first[0] == SOCKS5 => socks::serve(stream, dialer, limits).await,
        Ok(Ok(1)) => http::serve(stream, dialer.clone(), limits).await,
        // It left, or said nothing.
        _ => {}
    }
}
