//! SOCKS5 (RFC 1928) as far as programs use it: connect, by name or by address, without a password.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::dial::{Dialer, NoWay};
use super::host::Host;
use super::proxy::Limits;
use super::tunnel::tunnel;

const VERSION: u8 = 5;
const NO_PASSWORD: u8 = 0;
const NO_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;

/// How a request ended, in the protocol's numbers.
#[derive(Clone, Copy)]
enum Reply {
    Connected = 0,
    Failed = 1,
    NotAllowed = 2,
    NetworkUnreachable = 3,
    HostUnreachable = 4,
    Refused = 5,
    BadCommand = 7,
    BadAddress = 8,
}

/// Serves one connection.
pub(super) async fn serve(mut near: TcpStream, dialer: &Dialer, limits: Limits) {
    // One that broke off, was too slow or talks something else is nobody to answer.
    let Ok(Ok(asked)) = timeout(limits.head_within, ask(&mut near)).await else { return };
    let answer = match asked {
        Ok((host, port)) => match dialer.dial(&host, port).await {
            Ok(far) => {
                if reply(&mut near, Reply::Connected).await.is_ok() {
                    tunnel(near, far, &[], limits.half_open_idle).await;
                }
                return;
            }
            Err(no_way) => reply_to(&no_way),
        },
        Err(answer) => answer,
    };
    let _ = reply(&mut near, answer).await;
    let _ = near.shutdown().await;
}

type Asked = Result<(Host, u16), Reply>;

/// Greeting and request. Every part has a length of one byte at most, so that nothing here is large.
async fn ask(near: &mut TcpStream) -> io::Result<Asked> {
    let [_, methods] = array(near).await?;
    let mut offered = vec![0; methods.into()];
    near.read_exact(&mut offered).await?;
    if !offered.contains(&NO_PASSWORD) {
        near.write_all(&[VERSION, NO_METHOD]).await?;
        return Err(io::ErrorKind::Unsupported.into());
    }
    near.write_all(&[VERSION, NO_PASSWORD]).await?;
    let [version, command, _, kind] = array(near).await?;
    if version != VERSION {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let host = match kind {
        1 => Ok(Host::Address(Ipv4Addr::from(array(near).await?).into())),
        4 => Ok(Host::Address(Ipv6Addr::from(array::<16>(near).await?).to_canonical())),
        3 => {
            let [length] = array(near).await?;
            let mut name = vec![0; length.into()];
            near.read_exact(&mut name).await?;
            // A name that is none is nobody's: its sender hears so, and no list is asked.
            std::str::from_utf8(&name).ok().and_then(|name| Host::parse(name).ok()).ok_or(Reply::HostUnreachable)
        }
        // How long an address of another kind is, nobody knows.
        _ => return Ok(Err(Reply::BadAddress)),
    };
    let port = u16::from_be_bytes(array(near).await?);
    Ok(match host {
        _ if command != CONNECT => Err(Reply::BadCommand),
        host => host.map(|host| (host, port)),
    })
}

async fn array<const N: usize>(near: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    near.read_exact(&mut bytes).await?;
    Ok(bytes)
}

fn reply_to(no_way: &NoWay) -> Reply {
    match no_way {
        NoWay::Denied(_) => Reply::NotAllowed,
        NoWay::Unknown(_) | NoWay::Silent => Reply::HostUnreachable,
        NoWay::Failed(error) => match error.kind() {
            io::ErrorKind::ConnectionRefused => Reply::Refused,
            io::ErrorKind::NetworkUnreachable => Reply::NetworkUnreachable,
            io::ErrorKind::HostUnreachable | io::ErrorKind::NotFound => Reply::HostUnreachable,
            _ => Reply::Failed,
        },
    }
}

/// Which address we dial from is nobody's business inside: it is told as 0.0.0.0:0.
async fn reply(near: &mut TcpStream, answer: Reply) -> io::Result<()> {
    near.write_all(&[VERSION, answer as u8, 0, 1, 0, 0, 0, 0, 0, 0]).await
}
