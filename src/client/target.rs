//! Where a session is reached.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use tonic::transport::Uri;

/// A session's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A TCP port, as `http://host:port`, or a box behind one that serves many, as `http://host:port/box/NAME`.
    Url(Uri),
    /// A Unix socket.
    Socket(PathBuf),
}

impl Target {
    /// Reads `http://host:port`, `host:port`, either with `/box/NAME`, or `unix:PATH`.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            let absent = || "name the socket after unix:, such as unix:/tmp/coop.sock".to_owned();
            return if path.is_empty() { Err(absent()) } else { Ok(Self::Socket(path.into())) };
        }
        if text.starts_with("https://") {
            return Err("coop speaks plain HTTP: use http://, or a tunnel to the machine".to_owned());
        }
        let wrong = || format!("{text:?} is no address: use http://HOST:PORT or unix:PATH");
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let uri: Uri = whole.parse().map_err(|_| wrong())?;
        match (uri.scheme_str(), uri.host().is_some_and(|host| !host.is_empty()), uri.path()) {
            (Some("http"), true, "/" | "") => Ok(Self::Url(uri)),
            (Some("http"), true, path) if in_box(path).is_some() => Ok(Self::Url(uri)),
            (Some("http"), true, path) => Err(format!(
                "leave out the path {path}: only http://HOST:PORT is wanted, or http://HOST:PORT/box/NAME of `coop serve`"
            )),
            _ => Err(wrong()),
        }
    }

    /// The box that is meant at an address of many.
    pub fn served_box(&self) -> Option<&str> {
        match self {
            Self::Url(uri) => in_box(uri.path()),
            Self::Socket(_) => None,
        }
    }

    /// Whether it is on this machine, as far as the address tells.
    pub fn is_here(&self) -> bool {
        match self {
            Self::Socket(_) => true,
            Self::Url(uri) => uri.host().is_some_and(|host| {
                let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
                host == "localhost" || address.is_ok_and(|address| address.is_loopback())
            }),
        }
    }
}

/// The name in `/box/NAME`, with or without a slash at its end. Which names there are, the server knows.
fn in_box(path: &str) -> Option<&str> {
    let name = path.strip_prefix("/box/")?;
    let name = name.strip_suffix('/').unwrap_or(name);
    Some(name).filter(|name| !name.is_empty() && !name.contains('/'))
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(uri) => {
                write!(f, "http://{}", uri.authority().map_or("", |authority| authority.as_str()))?;
                self.served_box().map_or(Ok(()), |name| write!(f, "/box/{name}"))
            }
            Self::Socket(path) => write!(f, "{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        let shown = |text: &str| Target::parse(text).map(|target| target.to_string());
        assert_eq!(shown("http://127.0.0.1:8080/").as_deref(), Ok("http://127.0.0.1:8080"));
        assert_eq!(shown("localhost:8080").as_deref(), Ok("http://localhost:8080"));
        assert_eq!(shown("http://[::1]:80").as_deref(), Ok("http://[::1]:80"));
        assert_eq!(shown("unix:/tmp/a.sock").as_deref(), Ok("/tmp/a.sock"));
        assert_eq!(shown("unix:///tmp/a.sock").as_deref(), Ok("/tmp/a.sock"));
        for whole in ["http://host:8080/box/red", "http://host:8080/box/red/", "host:8080/box/red"] {
            assert_eq!(shown(whole).as_deref(), Ok("http://host:8080/box/red"));
            assert_eq!(Target::parse(whole).unwrap().served_box(), Some("red"));
        }
        let bad = "|unix:|https://host|ftp://host|http://|http://host/api/v1|http://a b|/tmp/a.sock|\
                   http://host/box/|http://host/box//|http://host/box/a/b";
        for bad in bad.split('|') {
            assert!(Target::parse(bad).is_err(), "{bad}");
        }
    }
}
