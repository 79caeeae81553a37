//! Accepts connections and serves them, within bounds of number and time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use nix::sys::socket::{setsockopt, sockopt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::guard::LocalAddr;
use super::listen::{Listener, UnixSocket};

/// More than any orchestrator opens to one session; each costs some tens of kilobytes.
const CONNECTIONS_MAX: usize = 4096;

/// How long a connection may take to make its first request, and a request to send its head.
const HEAD_WITHIN: Duration = Duration::from_secs(10);

/// Dead HTTP/2 peers are noticed after twice this long.
const PING_EVERY: Duration = Duration::from_secs(20);

/// The same for others: how long a connection may be silent before the kernel asks, and between its questions.
const KEEP_ALIVE_SECS: u32 = 30;

/// How long to wait when the system has no descriptors left.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// What all listeners share.
#[derive(Clone)]
pub struct Connections {
    places: Arc<Semaphore>,
    open: Arc<watch::Sender<usize>>,
    /// Stop accepting.
    pub closing: CancellationToken,
}

/// A connection that counts as open for as long as this lives.
pub struct Counted(Arc<watch::Sender<usize>>);

impl Default for Connections {
    fn default() -> Self {
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        Self { places, open: Arc::new(watch::Sender::new(0)), closing: CancellationToken::new() }
    }
}

impl Connections {
    /// How many are open, and each change of that.
    pub fn open(&self) -> watch::Receiver<usize> {
        self.open.subscribe()
    }

    /// Counts one more; also for those that HTTP has let go of, as a WebSocket is.
    pub fn count(&self) -> Counted {
        self.open.send_modify(|open| *open += 1);
        Counted(self.open.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

/// Serves a listener until it is told to close; then lets open connections finish.
pub async fn serve(listener: Listener, app: Router, connections: Connections) {
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            () = connections.closing.cancelled() => break,
            accepted = accept(&listener, &connections) => accepted,
        };
        match accepted {
            Ok((stream, local, permit)) => handle(stream, local, (permit, connections.count()), &app, &graceful),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
        }
    }
    drop(listener);
    graceful.shutdown().await;
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

type Accepted = (Box<dyn Stream>, LocalAddr, OwnedSemaphorePermit);

async fn accept(listener: &Listener, connections: &Connections) -> std::io::Result<Accepted> {
    let permit = connections.places.clone().acquire_owned().await.map_err(std::io::Error::other)?;
    match listener {
        Listener::Tcp(listener) => {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            notice_dead_peers(&stream)?;
            let local = LocalAddr(Some(stream.local_addr()?));
            Ok((Box::new(stream), local, permit))
        }
        Listener::Unix(UnixSocket { listener, .. }) => loop {
            let (stream, _) = listener.accept().await?;
            let (peer, own) = (stream.peer_cred()?.uid(), nix::unistd::geteuid().as_raw());
            if peer == own || peer == 0 {
                return Ok((Box::new(stream), LocalAddr(None), permit));
            }
            tracing::warn!(peer, "another user knocked at the socket and was turned away");
        },
    }
}

/// A reader that vanished without a word must not hold its place for ever.
fn notice_dead_peers(stream: &tokio::net::TcpStream) -> nix::Result<()> {
    setsockopt(stream, sockopt::KeepAlive, &true)?;
    #[cfg(target_os = "linux")]
    {
        setsockopt(stream, sockopt::TcpKeepIdle, &KEEP_ALIVE_SECS)?;
        setsockopt(stream, sockopt::TcpKeepInterval, &KEEP_ALIVE_SECS)?;
        setsockopt(stream, sockopt::TcpKeepCount, &3)?;
    }
    Ok(())
}

fn handle(
    stream: Box<dyn Stream>,
    local: LocalAddr,
    place: (OwnedSemaphorePermit, Counted),
    app: &Router,
    graceful: &GracefulShutdown,
) {
    let spoke = Arc::new(AtomicBool::new(false));
    let speaks = spoke.clone();
    let app = app.clone();
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        speaks.store(true, Ordering::Relaxed);
        request.extensions_mut().insert(local);
        app.clone().oneshot(request.map(Body::new))
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
    builder.http2().timer(TokioTimer::new()).keep_alive_interval(PING_EVERY).keep_alive_timeout(PING_EVERY);
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service).into_owned();
    let connection = graceful.watch(connection);
    tokio::spawn(async move {
        let _place = place;
        tokio::pin!(connection);
        let silent = async {
            tokio::time::sleep(HEAD_WITHIN).await;
            // Which HTTP it speaks must be clear by now; hyper itself would wait for ever.
            if spoke.load(Ordering::Relaxed) {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            // How a peer leaves is its own affair.
            _ = &mut connection => {}
            () = silent => {}
        }
    });
}
