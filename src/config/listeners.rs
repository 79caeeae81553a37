//! Where coop may listen: ports that differ, a socket's path that fits, and nobody's terminal open to the network.

use std::net::IpAddr;
use std::os::unix::ffi::OsStrExt;

use super::flags::Listening;
use super::{Mistake, SOCKET_PATH_BYTES_MAX};

pub fn check(listening: &Listening, has_token: bool, insecure_no_auth: bool) -> Result<(), Mistake> {
    distinct_ports(listening)?;
    socket_fits(listening)?;
    let opens_port = listening.port.or(listening.grpc_port).is_some();
    if opens_port { check_guarded(listening.host, has_token, insecure_no_auth) } else { Ok(()) }
}

/// Whether a port at this address may be opened: to others only behind a token, unless the operator insists.
pub fn check_guarded(host: IpAddr, has_token: bool, insecure_no_auth: bool) -> Result<(), Mistake> {
    if host.is_loopback() || has_token || insecure_no_auth { Ok(()) } else { Err(unguarded(host)) }
}

fn distinct_ports(listening: &Listening) -> Result<(), Mistake> {
    let ports =
        [("--port", listening.port), ("--grpc-port", listening.grpc_port), ("--health-port", listening.health_port)];
    for (at, (flag, port)) in ports.iter().enumerate() {
        let same = ports[..at].iter().find(|(_, other)| port.is_some_and(|port| port != 0) && other == port);
        if let (Some((other, _)), Some(port)) = (same, port) {
            let way_out = "give each its own, or 0 for any free one";
            return Err(Mistake::new(format!("{other} and {flag} are both {port}: {way_out}")));
        }
    }
    Ok(())
}

fn socket_fits(listening: &Listening) -> Result<(), Mistake> {
    let Some(path) = &listening.socket else { return Ok(()) };
    let bytes = path.as_os_str().as_bytes();
    if bytes.is_empty() || bytes.contains(&0) {
        return Err(Mistake::new("--socket is empty or holds a NUL: give a path such as /tmp/coop.sock"));
    }
    if bytes.len() > SOCKET_PATH_BYTES_MAX {
        let limit = format!("a socket's path has at most {SOCKET_PATH_BYTES_MAX} bytes, this one has {}", bytes.len());
        return Err(Mistake::new(format!("--socket {}: {limit}; choose a shorter one", path.display())));
    }
    Ok(())
}

fn unguarded(host: IpAddr) -> Mistake {
    Mistake::new(format!(
        "--host {host} would open this terminal to everybody on the network, because there is no token.\n\
         One of these will do:\n  \
         - a token: --auth-token-file FILE, or the variable COOP_AUTH_TOKEN\n  \
         - this machine only: --host 127.0.0.1, which is the default\n  \
         - if everybody who can reach {host} may run commands as you: --insecure-no-auth"
    ))
}
