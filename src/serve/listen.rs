//! Where coop listens: TCP ports, and Unix sockets that only their owner reaches.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::{Path, PathBuf};

use tokio::net::{TcpListener, UnixListener};

/// Sockets must not be open to others, not even between their making and a later chmod.
const SOCKET_UMASK: u32 = 0o177;

/// A place to listen at.
#[derive(Debug)]
pub enum Listener {
    Tcp(TcpListener),
    Unix(UnixSocket),
}

/// A Unix socket, whose name goes when it is dropped.
#[derive(Debug)]
pub struct UnixSocket {
    pub listener: UnixListener,
    path: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error("cannot listen on {0}: {1}{hint}", hint = port_hint(.1))]
    Tcp(SocketAddr, io::Error),
    #[error("cannot listen on {0}: another process serves there; choose another --socket")]
    Live(PathBuf),
    #[error("cannot listen on {0}: it exists and is no socket; choose another --socket, or move it away")]
    NoSocket(PathBuf),
    #[error("cannot listen on {0}: {1}{hint}", hint = path_hint(.1))]
    Unix(PathBuf, io::Error),
}

fn port_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => "; choose another port, or 0 for any free one",
        io::ErrorKind::PermissionDenied => "; choose a port above 1023",
        io::ErrorKind::AddrNotAvailable => "; --host must be an address of this machine",
        _ => "",
    }
}

fn path_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "; make its directory first",
        io::ErrorKind::PermissionDenied => "; choose a directory that you may write to",
        _ => "",
    }
}

/// The address that people and programs of this machine use.
pub fn url_of(address: SocketAddr) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, address.port()))
}

pub async fn bind_tcp(host: IpAddr, port: u16) -> Result<(Listener, SocketAddr), BindError> {
    let wanted = SocketAddr::new(host, port);
    let bound = async {
        let listener = TcpListener::bind(wanted).await?;
        let address = listener.local_addr()?;
        Ok((Listener::Tcp(listener), address))
    };
    bound.await.map_err(|error| BindError::Tcp(wanted, error))
}

/// Binds a Unix socket. One that is served is left alone; one that a dead process left behind is taken over.
pub fn bind_unix(path: &Path) -> Result<Listener, BindError> {
    let failed = |error| BindError::Unix(path.to_owned(), error);
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
        Ok(found) if !found.file_type().is_socket() => return Err(BindError::NoSocket(path.to_owned())),
        Ok(_) => match StdUnixStream::connect(path) {
            Ok(_) => return Err(BindError::Live(path.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                std::fs::remove_file(path).map_err(failed)?;
            }
            Err(error) => return Err(failed(error)),
        },
    }
    let listener = bind_privately(path).map_err(failed)?;
    Ok(Listener::Unix(UnixSocket { listener, path: path.to_owned() }))
}

/// Binds a Unix socket and puts it in the place of whatever has the name, at once: whoever finds the name is answered. The
/// caller sees to it that nobody else serves there.
pub fn bind_unix_over(path: &Path) -> Result<Listener, BindError> {
    let failed = |error| BindError::Unix(path.to_owned(), error);
    let new = path.with_extension("new");
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let listener = bind_privately(&new).map_err(failed)?;
    std::fs::rename(&new, path).map_err(failed)?;
    Ok(Listener::Unix(UnixSocket { listener, path: path.to_owned() }))
}

fn bind_privately(path: &Path) -> io::Result<UnixListener> {
    let before = nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(SOCKET_UMASK));
    let bound = UnixListener::bind(path);
    nix::sys::stat::umask(before);
    let listener = bound?;
    // Where the umask is not heeded, as on some network file systems.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

impl Drop for UnixSocket {
    fn drop(&mut self) {
        // It may have been removed already; that is what is wanted.
        let _ = std::fs::remove_file(&self.path);
    }
}
