//! Published ports: a listener on the machine whose connections end at a port inside the box.
//!
//! | rule | the machine's side | the box's side |
//! |---|---|---|
//! | `8080` | 127.0.0.1:8080 | 8080 |
//! | `8080:3000` | 127.0.0.1:8080 | 3000 |
//! | `0:3000` | 127.0.0.1, any free port | 3000 |
//! | `0.0.0.0:8080:3000`, `[::1]:8080:3000` | this address | 3000 |

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::host;
use super::outside::notice_dead_peers;
use super::proxy::accept_each;
use super::rule::BadRule;
use super::tunnel::{HALF_OPEN_IDLE, tunnel};

/// More than a browser with a few tabs opens; those beyond it wait their turn. Each is two descriptors.
const CONNECTIONS_MAX: usize = 256;

/// More than anybody publishes; each is a listener.
const RULES_MAX: usize = 64;

const KEY: &str = "network.publish";

/// A port of the machine that leads to one of the box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishRule {
    /// Where the machine listens; port 0 is any free one.
    pub listen: SocketAddr,
    /// The port inside, on the box's loopback.
    pub inside: u16,
}

impl PublishRule {
    /// Reads one rule; if it is none, what is wrong with it.
    pub fn parse(entry: &str) -> Result<Self, String> {
        rule(entry)
    }

    /// Whether both cannot be: they want the same port of the machine.
    pub fn collides(self, other: Self) -> bool {
        self.listen.port() != 0 && self.listen == other.listen
    }

    /// Reads all rules. Two that want the same port of the machine are refused here, and not when the second is bound.
    pub fn parse_all(entries: &[String]) -> Result<Vec<Self>, BadRule> {
        let mut rules: Vec<Self> = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            let bad = |wrong: String| BadRule::new(KEY, index, entry, wrong);
            if index >= RULES_MAX {
                return Err(bad(format!("the list has more than {RULES_MAX} entries")));
            }
            let rule = rule(entry).map_err(bad)?;
            if rules.iter().any(|other| rule.collides(*other)) {
                return Err(bad(format!("{} is published already, by an entry before it", rule.listen)));
            }
            rules.push(rule);
        }
        Ok(rules)
    }

    /// Opens the machine's side.
    pub async fn bind(self) -> Result<Published, BindError> {
        let failed = |source| BindError { rule: self, source };
        let listener = TcpListener::bind(self.listen).await.map_err(failed)?;
        let at = listener.local_addr().map_err(failed)?;
        Ok(Published { listener, at, inside: self.inside })
    }
}

impl fmt::Display for PublishRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.listen, self.inside)
    }
}

/// A port that is open on the machine.
#[derive(Debug)]
pub struct Published {
    pub listener: TcpListener,
    /// Where it really listens.
    pub at: SocketAddr,
    /// The port inside.
    pub inside: u16,
}

/// Why a port cannot be opened on the machine.
#[derive(Debug, thiserror::Error)]
#[error("cannot publish port {} of the box at {}: {source}{}", .rule.inside, .rule.listen, hint(.source, *.rule))]
pub struct BindError {
    pub rule: PublishRule,
    pub source: io::Error,
}

fn hint(error: &io::Error, rule: PublishRule) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => format!(" (network.publish = [\"0:{}\"] takes any free port)", rule.inside),
        io::ErrorKind::PermissionDenied => " (ports below 1024 are mostly root's: use a higher one)".to_owned(),
        io::ErrorKind::AddrNotAvailable => " (it is no address of this machine)".to_owned(),
        _ => String::new(),
    }
}

/// Serves a published port until it is cancelled; then every connection is gone at once. `dial` connects to a port inside
/// and may block. When nobody listens inside, a caller is reset, as it would be without a box.
pub async fn serve_published<D>(published: Published, dial: D, cancel: CancellationToken)
where
    D: Fn(u16) -> io::Result<std::net::TcpStream> + Send + Sync + 'static,
{
    let (dial, inside) = (Arc::new(dial), published.inside);
    accept_each(&published.listener, CONNECTIONS_MAX, &cancel, |near| {
        let dial = dial.clone();
        async move {
            match reach(dial, inside).await {
                Ok(far) => {
                    let _ = notice_dead_peers(&near);
                    tunnel(near, far, &[], HALF_OPEN_IDLE).await;
                }
                Err(error) => {
                    tracing::debug!(%error, inside, "a published port could not be reached inside");
                    let _ = near.set_zero_linger();
                }
            }
        }
    })
    .await;
}

async fn reach<D>(dial: Arc<D>, inside: u16) -> io::Result<TcpStream>
where
    D: Fn(u16) -> io::Result<std::net::TcpStream> + Send + Sync + 'static,
{
    let stream = tokio::task::spawn_blocking(move || dial(inside)).await.map_err(io::Error::other)??;
    stream.set_nonblocking(true)?;
    stream.set_nodelay(true)?;
    TcpStream::from_std(stream)
}

/// Reads one rule; the error says what is wrong with it and what would be right.
fn rule(entry: &str) -> Result<PublishRule, String> {
    let Some((before, inside)) = entry.rsplit_once(':') else {
        let port = inside_port(entry)?;
        return Ok(PublishRule { listen: (Ipv4Addr::LOCALHOST, port).into(), inside: port });
    };
    let inside = inside_port(inside)?;
    let (address, port) = match before.rsplit_once(':') {
        Some((address, port)) => (listen_address(address)?, port),
        None => (Ipv4Addr::LOCALHOST.into(), before),
    };
    let port = match port {
        "0" => 0,
        port => {
            host::port(port).map_err(|_| form("a port of the machine is a number from 0 (any free one) to 65535"))?
        }
    };
    Ok(PublishRule { listen: SocketAddr::new(address, port), inside })
}

fn inside_port(text: &str) -> Result<u16, String> {
    host::port(text).map_err(|_| form("the port inside the box is a number from 1 to 65535"))
}

fn listen_address(text: &str) -> Result<IpAddr, String> {
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let address = match inner {
        Some(inner) => inner.parse().ok().map(IpAddr::V6),
        None => text.parse().ok().map(IpAddr::V4),
    };
    address.ok_or_else(|| form("before the ports belongs an address of the machine, as 127.0.0.1 or [::1]"))
}

fn form(wrong: &str) -> String {
    format!("{wrong}; use PORT, MACHINE:BOX or ADDRESS:MACHINE:BOX, as 8080:3000")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(entry: &str) -> Result<PublishRule, BadRule> {
        PublishRule::parse_all(&[entry.to_owned()]).map(|rules| rules[0])
    }

    #[test]
    fn a_rule_is_loopback_unless_it_names_an_address() {
        for (entry, listen, inside) in [
            ("8080", "127.0.0.1:8080", 8080),
            ("8080:3000", "127.0.0.1:8080", 3000),
            ("0:3000", "127.0.0.1:0", 3000),
            ("127.0.0.1:8080:3000", "127.0.0.1:8080", 3000),
            ("0.0.0.0:8080:3000", "0.0.0.0:8080", 3000),
            ("[::1]:8080:3000", "[::1]:8080", 3000),
        ] {
            let expected = PublishRule { listen: listen.parse().unwrap(), inside };
            assert_eq!(parse(entry), Ok(expected), "{entry}");
        }
    }

    #[test]
    fn a_bad_rule_is_named_with_what_would_be_right() {
        for (entry, says) in [
            ("", "the port inside the box"),
            ("0", "the port inside the box"),
            ("http", "the port inside the box"),
            ("8080:0", "the port inside the box"),
            ("8080:", "the port inside the box"),
            (":3000", "a port of the machine"),
            ("70000:3000", "a port of the machine"),
            ("+80:3000", "a port of the machine"),
            ("localhost:8080:3000", "before the ports belongs an address of the machine"),
            ("::1:8080:3000", "before the ports belongs an address of the machine"),
            ("[127.0.0.1]:8080:3000", "before the ports belongs an address of the machine"),
            ("8080:3000/tcp", "the port inside the box"),
        ] {
            let text = parse(entry).expect_err(entry).to_string();
            assert!(text.starts_with(&format!("{entry:?} is no entry of network.publish: {says}")), "{text}");
            assert!(text.ends_with("as 8080:3000"), "{text}");
        }
    }

    #[test]
    fn one_port_of_the_machine_leads_to_one_place() {
        let all =
            |entries: &[&str]| PublishRule::parse_all(&entries.iter().map(ToString::to_string).collect::<Vec<_>>());
        let error = all(&["8080", "9090:1", "127.0.0.1:8080:2"]).unwrap_err();
        assert_eq!(error.index, 2);
        assert!(error.to_string().contains("127.0.0.1:8080 is published already"), "{error}");
        assert!(all(&["0:80", "0:80", "8080", "[::1]:8080:8080"]).is_ok());
        assert!(all(&vec!["0:1"; RULES_MAX + 1]).unwrap_err().to_string().contains("more than 64"));
    }

    proptest! {
        #[test]
        fn no_rule_makes_it_panic_and_a_good_one_is_read_the_same_again(text in "\\PC*", soup in "[0-9:.\\[\\]]{0,20}",
            address in any::<u32>(), outer in any::<u16>(), inner in 1u16..) {
            let _ = parse(&text);
            let good = format!("{}:{outer}:{inner}", Ipv4Addr::from_bits(address));
            prop_assert!(parse(&good).is_ok());
            for entry in [soup, good] {
                if let Ok(rule) = parse(&entry) {
                    prop_assert_eq!(parse(&rule.to_string()), Ok(rule));
                }
            }
        }
    }
}
