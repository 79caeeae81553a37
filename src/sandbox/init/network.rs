//! The network of a box: a loopback of its own, and for a filtered box a listener on it.

use std::{
    io,
    net::{Ipv4Addr, TcpListener},
    os::fd::{AsFd, OwnedFd},
};

use rustix::net::{AddressFamily, SocketAddrV4, SocketFlags, SocketType, connect, ipproto, socket_with};

use super::{
    super::{PROXY_PORT, error::Step, raw, spec::Network, wire::Failure},
    failure::At,
};

/// Switches the loopback on, and opens the listener while nobody can take its port.
pub(super) fn raise(network: Network) -> Result<Option<TcpListener>, Failure> {
    if network == Network::Host {
        return Ok(None);
    }
    let up = || -> io::Result<()> {
        let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
        raw::raise_loopback(socket.as_fd())
    };
    up().at(Step::Network, || "cannot switch the loopback on".into())?;
    if network == Network::None {
        return Ok(None);
    }
    TcpListener::bind((Ipv4Addr::LOCALHOST, PROXY_PORT))
        .map(Some)
        .at(Step::Network, || format!("cannot listen on port {PROXY_PORT} inside"))
}

/// Begins a connection to a port inside; who asked for it waits until it is made.
pub(super) fn dial(port: u16) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, Some(ipproto::TCP))?;
    match connect(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)) {
        Ok(()) | Err(rustix::io::Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error.into()),
    }
}
