//! From whom a box asks for to a connection: list, lookup, check of each address, dial. Nothing is looked up twice.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::denial::Denials;
use super::host::Host;
use super::outside::Outside;
use super::policy::{Policy, Why};

/// More than the system's resolver needs to ask every server twice.
const RESOLVE_WITHIN: Duration = Duration::from_secs(15);

/// When the next address is tried beside one that has not answered, as RFC 8305 advises.
const NEXT_AFTER: Duration = Duration::from_millis(250);

/// Nobody needs more addresses to be tried.
const ADDRESSES_MAX: usize = 8;

/// Dials for a box what its policy admits.
pub(super) struct Dialer {
    pub policy: Policy,
    pub outside: Arc<dyn Outside>,
    pub denials: Denials,
    pub dial_within: Duration,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoWay {
    #[error("{0}")]
    Denied(Why),
    #[error("cannot be looked up: {0}")]
    Unknown(io::Error),
    #[error("cannot be reached: {0}")]
    Failed(io::Error),
    #[error("did not answer in time")]
    Silent,
}

impl Dialer {
    pub async fn dial(&self, host: &Host, port: u16) -> Result<TcpStream, NoWay> {
        let checked = self.addresses(host, port).await;
        if let Err(NoWay::Denied(why)) = &checked {
            self.denials.tell(host, port, why);
        }
        let connecting = self.first_to_answer(spread(checked?), port);
        timeout(self.dial_within, connecting).await.unwrap_or(Err(NoWay::Silent))
    }

    /// The addresses that may be dialled, each of them checked.
    async fn addresses(&self, host: &Host, port: u16) -> Result<Vec<IpAddr>, NoWay> {
        self.policy.admits(host, port).map_err(NoWay::Denied)?;
        let found = match host {
            Host::Machine => vec![Ipv4Addr::LOCALHOST.into()],
            Host::Address(address) => vec![*address],
            Host::Name(name) => {
                let looking = self.outside.resolve(name.clone());
                timeout(RESOLVE_WITHIN, looking).await.map_err(|_| NoWay::Silent)?.map_err(NoWay::Unknown)?
            }
        };
        let own = self.outside.own();
        let mut refused = None;
        let mut admitted = Vec::new();
        for address in found {
            match self.policy.admits_address(host, address, port, &own) {
                Ok(()) => admitted.push(address),
                Err(why) => refused = refused.or(Some(why)),
            }
        }
        match refused {
            Some(why) if admitted.is_empty() => Err(NoWay::Denied(why)),
            _ => Ok(admitted),
        }
    }

    /// Tries one address after the other, the next beside the last when that takes long.
    async fn first_to_answer(&self, addresses: Vec<IpAddr>, port: u16) -> Result<TcpStream, NoWay> {
        let mut left = addresses.into_iter().map(|address| self.outside.connect(SocketAddr::new(address, port)));
        let mut trying: FuturesUnordered<_> = left.next().into_iter().collect();
        let mut failure = None;
        loop {
            match timeout(NEXT_AFTER, trying.next()).await {
                Ok(Some(Ok(stream))) => return Ok(stream),
                // The first failure is of the address that was thought best.
                Ok(Some(Err(error))) => {
                    failure.get_or_insert(error);
                    trying.extend(left.next());
                }
                Ok(None) => break,
                Err(_) => trying.extend(left.next()),
            }
        }
        let nothing = || io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        Err(NoWay::Failed(failure.unwrap_or_else(nothing)))
    }
}

/// Takes turns between IPv6 and IPv4, beginning with what was thought best: a machine may have only one that works.
fn spread(addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    let Some(best) = addresses.first().map(IpAddr::is_ipv4) else { return addresses };
    let (mut same, mut other) = (Vec::new(), Vec::new());
    for address in addresses {
        if address.is_ipv4() == best { same.push(address) } else { other.push(address) }
    }
    let (mut same, mut other) = (same.into_iter(), other.into_iter());
    let mut turns = Vec::new();
    loop {
        let pair = [same.next(), other.next()];
        if pair == [None, None] {
            turns.truncate(ADDRESSES_MAX);
            return turns;
        }
        turns.extend(pair.into_iter().flatten());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_addresses_get_their_turn() {
        let addresses = |text: &str| text.split(' ').map(|word| word.parse().unwrap()).collect::<Vec<IpAddr>>();
        assert_eq!(spread(addresses("a::1 a::2 a::3 1.1.1.1 1.1.1.2")), addresses("a::1 1.1.1.1 a::2 1.1.1.2 a::3"));
        assert_eq!(spread(addresses("1.1.1.1 1.1.1.2")), addresses("1.1.1.1 1.1.1.2"));
        assert_eq!(spread(vec![]), Vec::<IpAddr>::new());
        assert_eq!(spread(vec!["::2".parse().unwrap(); 50]).len(), ADDRESSES_MAX);
    }
}
