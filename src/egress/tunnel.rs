//! Bytes both ways between two connections, each direction with its own end.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};

/// What each direction holds at most.
const BUFFER_BYTES: usize = 16 * 1024;

/// How long a tunnel of which one direction has ended may be silent in the other. A tunnel that is open both ways may
/// be silent for ever; half of one is mostly what somebody forgot.
pub(super) const HALF_OPEN_IDLE: Duration = Duration::from_mins(10);

/// Passes bytes until both directions have ended. `first` was already read from `near`.
pub(super) async fn tunnel(mut near: TcpStream, mut far: TcpStream, first: &[u8], half_open_idle: Duration) {
    if let Err(error) = pass_both(&mut near, &mut far, first, half_open_idle).await {
        tracing::debug!(%error, "a tunnel broke");
        // One side broke off, and the other must not take that for a proper end.
        for side in [&near, &far] {
            let _ = side.set_zero_linger();
        }
    }
}

async fn pass_both(near: &mut TcpStream, far: &mut TcpStream, first: &[u8], idle: Duration) -> io::Result<()> {
    let moved = AtomicU64::new(0);
    let (near_read, near_write) = near.split();
    let (far_read, far_write) = far.split();
    let mut out = std::pin::pin!(pass(near_read, far_write, first, &moved));
    let mut back = std::pin::pin!(pass(far_read, near_write, &[], &moved));
    tokio::select! {
        ended = &mut out => { ended?; while_moving(back, &moved, idle).await }
        ended = &mut back => { ended?; while_moving(out, &moved, idle).await }
    }
}

async fn pass(mut from: ReadHalf<'_>, mut to: WriteHalf<'_>, first: &[u8], moved: &AtomicU64) -> io::Result<()> {
    to.write_all(first).await?;
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match from.read(&mut buffer).await? {
            0 => return to.shutdown().await,
            count => to.write_all(&buffer[..count]).await?,
        }
        moved.fetch_add(1, Ordering::Relaxed);
    }
}

/// Waits for what is left of a tunnel, as long as something moves in it.
async fn while_moving(
    mut rest: std::pin::Pin<&mut impl Future<Output = io::Result<()>>>,
    moved: &AtomicU64,
    idle: Duration,
) -> io::Result<()> {
    loop {
        let before = moved.load(Ordering::Relaxed);
        match tokio::time::timeout(idle, &mut rest).await {
            Ok(ended) => return ended,
            Err(_) if moved.load(Ordering::Relaxed) == before => return Err(io::ErrorKind::TimedOut.into()),
            Err(_) => {}
        }
    }
}
