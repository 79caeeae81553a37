//! How single flags are read; every error names what would do instead.

use std::ffi::{OsStr, OsString};
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser};

/// Less would not hold one screen's worth of output.
const RING_BYTES_MIN: usize = 1024;

/// More than anybody replays; the ring is memory that every session may fill.
const RING_BYTES_MAX: usize = 1024 * 1024 * 1024;

/// A year. Longer times could not be added to a clock on every system, and nobody waits for them.
const SECS_MAX: f64 = 365.0 * 24.0 * 3600.0;

/// A port's number.
pub fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "a port is a number from 0 (any free one) to 65535".to_owned())
}

/// An IP address. Names are not looked up: what is bound must be what was written.
pub fn host(text: &str) -> Result<IpAddr, String> {
    if text.eq_ignore_ascii_case("localhost") {
        return Ok(Ipv4Addr::LOCALHOST.into());
    }
    let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    bare.parse().map_err(|_| "use an IP address such as 127.0.0.1, ::1 or 0.0.0.0, or localhost".to_owned())
}

/// Seconds, whole or with a fraction.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let secs: Option<f64> = text.parse().ok().filter(|secs| (0.0..=SECS_MAX).contains(secs));
    secs.map(Duration::from_secs_f64).ok_or_else(|| format!("use seconds such as 30 or 0.5, at most {SECS_MAX:.0}"))
}

/// Bytes, or KiB, MiB and GiB by their first letters.
pub fn ring_bytes(text: &str) -> Result<usize, String> {
    let (digits, shift) = match text.as_bytes().last().map(u8::to_ascii_uppercase) {
        Some(b'K') => (&text[..text.len() - 1], 10),
        Some(b'M') => (&text[..text.len() - 1], 20),
        Some(b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let bytes = digits.parse::<usize>().ok().and_then(|n| n.checked_mul(1 << shift));
    bytes
        .filter(|n| (RING_BYTES_MIN..=RING_BYTES_MAX).contains(n))
        .ok_or_else(|| "use bytes such as 1048576, 512K or 4M, between 1K and 1G".to_owned())
}

/// A terminal's name, as terminfo files are named.
pub fn term(text: &str) -> Result<String, String> {
    let good = !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.+".contains(&b));
    good.then(|| text.to_owned()).ok_or_else(|| "use a terminal's name such as xterm-256color".to_owned())
}

pub fn label(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("use NAME=VALUE, such as team=red")?;
    if name.is_empty() || text.contains('\0') {
        return Err("the name before = must not be empty, and nothing may hold a NUL".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// A variable as the contract takes it, which knows text only.
pub fn text_variable(text: &str) -> Result<(String, String), String> {
    label(text).map_err(|_| "use NAME=VALUE with a name before =, such as EDITOR=vi".to_owned())
}

/// A variable may hold bytes that are no text.
pub fn variable() -> impl TypedValueParser<Value = (OsString, OsString)> {
    OsStringValueParser::new().try_map(|pair| split_variable(&pair))
}

fn split_variable(pair: &OsStr) -> Result<(OsString, OsString), String> {
    let bytes = pair.as_bytes();
    let at = bytes.iter().position(|b| *b == b'=').ok_or("use NAME=VALUE, such as EDITOR=vi")?;
    if at == 0 || bytes.contains(&0) {
        return Err("the name before = must not be empty, and nothing may hold a NUL".to_owned());
    }
    Ok((OsStr::from_bytes(&bytes[..at]).to_owned(), OsStr::from_bytes(&bytes[at + 1..]).to_owned()))
}

/// An origin as browsers send it, in lower case.
pub fn origin(text: &str) -> Result<String, String> {
    let wrong = || "use scheme://host or scheme://host:port, such as https://example.org, without a path".to_owned();
    let (scheme, host) = text.split_once("://").ok_or_else(wrong)?;
    let good_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    if !good_scheme || !is_host(host) {
        return Err(wrong());
    }
    Ok(text.to_ascii_lowercase())
}

/// A host name with or without a port, in lower case.
pub fn host_name(text: &str) -> Result<String, String> {
    let good = is_host(text).then(|| text.to_ascii_lowercase());
    good.ok_or_else(|| "use a host name such as coop.example.org or coop.example.org:8080".to_owned())
}

/// `host`, `host:port`, `[v6]` or `[v6]:port`.
fn is_host(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let good_host = match host.strip_prefix('[').and_then(|h| h.strip_suffix(']')) {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b)),
    };
    good_host && port.is_none_or(|port| port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_addresses_or_localhost() {
        assert_eq!(host("localhost"), Ok(Ipv4Addr::LOCALHOST.into()));
        assert_eq!(host("0.0.0.0"), Ok(Ipv4Addr::UNSPECIFIED.into()));
        assert_eq!(host("[::1]"), host("::1"));
        for bad in ["", "example.org", "127.0.0.1:80", "[127.0.0.1", "1.2.3"] {
            assert!(host(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_take_letters_and_have_bounds() {
        assert_eq!(ring_bytes("1024"), Ok(1024));
        assert_eq!(ring_bytes("4M"), Ok(4 << 20));
        assert_eq!(ring_bytes("1g"), Ok(1 << 30));
        for bad in ["", "M", "1023", "2G", "1.5M", "-1", "4é", "99999999999999999999", "18446744073709551615K"] {
            assert!(ring_bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn seconds_are_finite_and_not_negative() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for bad in ["", "-1", "nan", "inf", "1e300", "5s"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn pairs_need_a_name() {
        assert_eq!(label("a=b=c"), Ok(("a".into(), "b=c".into())));
        assert_eq!(split_variable(OsStr::new("A=")), Ok(("A".into(), "".into())));
        let latin = OsStr::from_bytes(b"A=\xe9");
        assert_eq!(split_variable(latin), Ok(("A".into(), OsStr::from_bytes(b"\xe9").to_owned())));
        for bad in ["", "a", "=b", "a\0=b", "a=\0"] {
            assert!(label(bad).is_err() && split_variable(OsStr::new(bad)).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn origins_have_no_path() {
        assert_eq!(origin("HTTPS://Example.org:8443").as_deref(), Ok("https://example.org:8443"));
        assert!(origin("http://[::1]:80").is_ok() && origin("http://[::1]").is_ok());
        assert!(origin("vscode-webview://abc").is_ok());
        let bad = "* null example.org https:// https://a/ https://a:b https://a:99999 ://a https://*.a https://a?b";
        for bad in bad.split(' ') {
            assert!(origin(bad).is_err(), "{bad}");
        }
        assert!(host_name("box.local:80").is_ok() && host_name("http://box").is_err() && host_name("").is_err());
    }
}
