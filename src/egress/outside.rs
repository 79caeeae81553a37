//! The world as the machine reaches it: names, its own addresses, connections. Tests bring a world of their own.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use nix::sys::socket::{setsockopt, sockopt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// How many names are looked up at once. Each holds a thread for as long as the system's resolver takes.
const LOOKUPS_MAX: usize = 16;

/// How long a connection may be silent before the kernel asks whether the peer is still there, and between its
/// questions. Streams may be idle for hours; dead ones should not hold their places.
#[cfg(target_os = "linux")]
const KEEP_ALIVE_SECS: u32 = 60;

/// What is asked of the world.
pub(super) trait Outside: Send + Sync {
    /// All addresses of a name, best first.
    fn resolve(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
    /// The addresses of this machine.
    fn own(&self) -> Vec<IpAddr>;
    fn connect(&self, to: SocketAddr) -> BoxFuture<'static, io::Result<TcpStream>>;
}

/// The world through the system's resolver and sockets.
pub(super) struct Machine {
    lookups: Arc<Semaphore>,
}

impl Default for Machine {
    fn default() -> Self {
        Self { lookups: Arc::new(Semaphore::new(LOOKUPS_MAX)) }
    }
}

impl Outside for Machine {
    fn resolve(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let lookups = self.lookups.clone();
        Box::pin(async move {
            let place = lookups.acquire_owned().await.map_err(io::Error::other)?;
            let look = move || {
                // The place belongs to the thread: a caller that gives up does not end the lookup.
                let _place = place;
                Ok((name, 0).to_socket_addrs()?.map(|found| found.ip()).collect())
            };
            tokio::task::spawn_blocking(look).await.map_err(io::Error::other)?
        })
    }

    fn own(&self) -> Vec<IpAddr> {
        match nix::ifaddrs::getifaddrs() {
            Ok(all) => all.filter_map(|interface| ip(&interface.address?)).collect(),
            Err(error) => {
                tracing::warn!(%error, "the machine's own addresses cannot be listed");
                Vec::new()
            }
        }
    }

    fn connect(&self, to: SocketAddr) -> BoxFuture<'static, io::Result<TcpStream>> {
        Box::pin(async move {
            let stream = TcpStream::connect(to).await?;
            stream.set_nodelay(true)?;
            notice_dead_peers(&stream)?;
            Ok(stream)
        })
    }
}

fn ip(address: &nix::sys::socket::SockaddrStorage) -> Option<IpAddr> {
    let v4 = address.as_sockaddr_in().map(|address| address.ip().into());
    v4.or_else(|| address.as_sockaddr_in6().map(|address| address.ip().into()))
}

/// A peer that vanished without a word must not hold its place for ever.
pub(super) fn notice_dead_peers(stream: &TcpStream) -> nix::Result<()> {
    setsockopt(stream, sockopt::KeepAlive, &true)?;
    #[cfg(target_os = "linux")]
    {
        setsockopt(stream, sockopt::TcpKeepIdle, &KEEP_ALIVE_SECS)?;
        setsockopt(stream, sockopt::TcpKeepInterval, &KEEP_ALIVE_SECS)?;
        setsockopt(stream, sockopt::TcpKeepCount, &3)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_machine_knows_localhost_and_its_own_loopback() {
        let machine = Machine::default();
        let found = machine.resolve("localhost".to_owned()).await.unwrap();
        assert!(!found.is_empty() && found.iter().all(IpAddr::is_loopback), "{found:?}");
        assert!(machine.own().iter().any(IpAddr::is_loopback), "{:?}", machine.own());
    }
}
