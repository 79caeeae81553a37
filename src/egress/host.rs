//! Whom a program asks for: a name, an address, or the machine that the box is on.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// The name of the host machine's loopback, as seen from a box.
pub const HOST_COOP: &str = "host.coop";

/// What DNS allows, without the trailing dot.
const NAME_BYTES_MAX: usize = 253;
const LABEL_BYTES_MAX: usize = 63;

/// Whom a program asks for, or an entry names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// In lower case, without a trailing dot.
    Name(String),
    /// In its shortest form: an IPv4 address that was dressed as IPv6 is IPv4 here.
    Address(IpAddr),
    /// `host.coop`: 127.0.0.1 of the machine that the box is on.
    Machine,
}

/// Why a text is no host. Reads as the end of a sentence that names the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadHost {
    #[error("a host is missing")]
    Empty,
    #[error("a host name has at most {NAME_BYTES_MAX} characters")]
    TooLong,
    #[error("it has letters outside ASCII: write the name in punycode, as xn--…")]
    NotAscii,
    #[error("{0:?} cannot be part of a host name")]
    Character(char),
    #[error("between two dots of a name are 1 to {LABEL_BYTES_MAX} characters")]
    Label,
    #[error("it ends in a number like an address, but is none: write all four numbers, as 10.0.0.1")]
    Numeric,
    #[error("between brackets belongs an IPv6 address, as [2001:db8::1]")]
    Brackets,
    #[error("an IPv6 address with a port is written with brackets, as [2001:db8::1]:443")]
    NoBrackets,
    #[error("a port is a number from 1 to 65535")]
    Port,
}

impl Host {
    /// Reads a host without a port; IPv6 addresses with or without brackets.
    pub fn parse(text: &str) -> Result<Self, BadHost> {
        if let Some(inner) = text.strip_prefix('[') {
            let inner = inner.strip_suffix(']').ok_or(BadHost::Brackets)?;
            let address: Ipv6Addr = inner.parse().map_err(|_| BadHost::Brackets)?;
            return Ok(Self::Address(IpAddr::V6(address).to_canonical()));
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self::Address(address.to_canonical()));
        }
        let name = name(text)?;
        Ok(if name == HOST_COOP { Self::Machine } else { Self::Name(name) })
    }

    /// Whether a program means its own loopback by it, which a proxy outside cannot reach.
    pub(super) fn is_localhost(&self) -> bool {
        matches!(self, Self::Name(name) if name == "localhost" || name.ends_with(".localhost"))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(address) => write!(f, "{address}"),
            Self::Machine => f.write_str(HOST_COOP),
        }
    }
}

/// A name as it is compared: lower case, without a trailing dot.
pub(super) fn name(text: &str) -> Result<String, BadHost> {
    let bare = text.strip_suffix('.').unwrap_or(text);
    if bare.is_empty() {
        return Err(BadHost::Empty);
    }
    if !bare.is_ascii() {
        return Err(BadHost::NotAscii);
    }
    if bare.len() > NAME_BYTES_MAX {
        return Err(BadHost::TooLong);
    }
    let strange = |c: &char| !c.is_ascii_alphanumeric() && !"-_.".contains(*c);
    if let Some(character) = bare.chars().find(strange) {
        return Err(BadHost::Character(character));
    }
    if bare.split('.').any(|label| label.is_empty() || label.len() > LABEL_BYTES_MAX) {
        return Err(BadHost::Label);
    }
    // Resolvers take 127.1, 2130706433 and 0x7f.1 for addresses; a list of names must not be got round by spelling.
    if bare.rsplit('.').next().is_some_and(is_number) {
        return Err(BadHost::Numeric);
    }
    Ok(bare.to_ascii_lowercase())
}

fn is_number(label: &str) -> bool {
    let hex = label.strip_prefix("0x").or_else(|| label.strip_prefix("0X"));
    match hex {
        Some(digits) => digits.bytes().all(|b| b.is_ascii_hexdigit()),
        None => label.bytes().all(|b| b.is_ascii_digit()),
    }
}

/// Splits `host:port`, `[v6]:port` and bare hosts; what is before the port is not looked at further.
pub(super) fn split_port(text: &str) -> Result<(&str, Option<u16>), BadHost> {
    if text.starts_with('[') {
        let end = text.find(']').ok_or(BadHost::Brackets)? + 1;
        let (host, rest) = text.split_at(end);
        return match rest.strip_prefix(':') {
            Some(digits) => Ok((host, Some(port(digits)?))),
            None if rest.is_empty() => Ok((host, None)),
            None => Err(BadHost::Brackets),
        };
    }
    if text.parse::<Ipv6Addr>().is_ok() {
        return Ok((text, None));
    }
    match text.rsplit_once(':') {
        Some((host, _)) if host.contains(':') => Err(BadHost::NoBrackets),
        Some((host, digits)) => Ok((host, Some(port(digits)?))),
        None => Ok((text, None)),
    }
}

/// A port that can be dialled. Signs and spaces, which Rust would take, are no digits.
pub(super) fn port(digits: &str) -> Result<u16, BadHost> {
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|port| plain && *port != 0).ok_or(BadHost::Port)
}

/// A host and a port, for showing: with brackets where they are needed.
pub(super) fn show(host: &Host, port: u16) -> String {
    match host {
        Host::Address(IpAddr::V6(address)) => format!("[{address}]:{port}"),
        host => format!("{host}:{port}"),
    }
}
