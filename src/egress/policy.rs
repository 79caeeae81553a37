//! Whether a box may reach somebody: asked before a name is looked up, and again for each address that it has.

use std::fmt;
use std::net::IpAddr;

use super::address::{Kind, kind, kind_here};
use super::allow::{AllowList, Listed};
use super::host::{self, HOST_COOP, Host};

/// What the operator chose.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    pub allow: AllowList,
}

/// Why a box may not reach somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// No entry names it.
    NotListed,
    /// Entries name it with these ports only.
    PortNotListed(Vec<u16>),
    /// It leads to an address that a name, or a wide block, is no permission for.
    Address { address: IpAddr, kind: Kind },
}

impl Policy {
    /// The question before any lookup, so that a name which is not listed is not even asked for.
    pub(super) fn admits(&self, host: &Host, port: u16) -> Result<(), Why> {
        match self.allow.lists(host, port) {
            Listed::Yes => Ok(()),
            Listed::No => Err(Why::NotListed),
            Listed::OtherPorts(ports) => Err(Why::PortNotListed(ports)),
        }
    }

    /// The question for an address that is about to be dialled because `host` was asked for, on a machine that has the
    /// addresses `own`.
    pub(super) fn admits_address(&self, host: &Host, address: IpAddr, port: u16, own: &[IpAddr]) -> Result<(), Why> {
        let kind = kind_here(address, own);
        // The machine was admitted with its port, and nobody looked it up.
        let by_name = matches!((host, kind), (Host::Machine, _) | (Host::Name(_), Kind::Public));
        if by_name || self.allow.names_address(host, address, port, kind) {
            return Ok(());
        }
        Err(Why::Address { address, kind })
    }
}

impl Why {
    /// One word for programs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::NotListed => "not_listed",
            Self::PortNotListed(_) => "port_not_listed",
            Self::Address { .. } => "address",
        }
    }

    /// What would allow it, said to the one who can: the operator.
    pub(super) fn way_out(&self, host: &Host, port: u16) -> String {
        let entry = |host: &Host| match port {
            80 | 443 if *host != Host::Machine => host.to_string(),
            port => host::show(host, port),
        };
        let add = |entry: &str| {
            format!("To allow it, add \"{entry}\" to network.allow in coop.toml, or give `coop up` --allow {entry}.\n")
        };
        let machine = || {
            format!(
                "Inside a box localhost is the box itself, and is reached without the proxy (NO_PROXY). For the machine \
                 that the box is on, ask for {HOST_COOP}:{port}.\n{}",
                add(&format!("{HOST_COOP}:{port}"))
            )
        };
        // Nobody should paste this without a thought, hence no lines for it.
        let only = |entry: &str| {
            format!("Only an entry in network.allow of coop.toml that names the address opens it: \"{entry}\".\n")
        };
        let named = |address: IpAddr| match host {
            Host::Name(_) => format!("{}@{address}", entry(host)),
            _ => entry(&Host::Address(address)),
        };
        let near = |address: &IpAddr| matches!(kind(*address), Kind::Loopback | Kind::Unspecified);
        match self {
            _ if host.is_localhost() || matches!(host, Host::Address(address) if near(address)) => machine(),
            Self::Address { kind: Kind::Loopback | Kind::Unspecified | Kind::ThisMachine, .. } => machine(),
            Self::Address { address, kind: Kind::Private } => {
                format!("{}\nA name alone leads to public addresses only.\n", add(&named(*address)))
            }
            Self::Address { address, .. } => only(&named(*address)),
            Self::NotListed | Self::PortNotListed(_) => match host {
                Host::Address(address) if !matches!(kind(*address), Kind::Public | Kind::Private) => only(&entry(host)),
                host => add(&entry(host)),
            },
        }
    }
}

/// Reads as the end of a sentence that begins with the host: "x.org:443 …".
impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotListed => f.write_str("is not allowed (network.allow of coop.toml, or --allow)"),
            Self::PortNotListed(ports) => {
                f.write_str("is allowed (network.allow of coop.toml, or --allow) only with port ")?;
                for (index, port) in ports.iter().take(PORTS_SHOWN_MAX).enumerate() {
                    write!(f, "{}{port}", if index == 0 { "" } else { ", " })?;
                }
                if ports.len() > PORTS_SHOWN_MAX { f.write_str(" and others") } else { Ok(()) }
            }
            Self::Address { address, kind } => {
                write!(
                    f,
                    "leads to {address}, {}, which is not allowed by its address (network.allow of coop.toml, or --allow)",
                    kind.words()
                )
            }
        }
    }
}

/// Enough to see what is meant.
const PORTS_SHOWN_MAX: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(entries: &[&str]) -> Policy {
        let entries: Vec<String> = entries.iter().map(ToString::to_string).collect();
        Policy { allow: AllowList::parse(&entries).unwrap() }
    }

    fn leads(policy: &Policy, host: &str, address: &str) -> bool {
        let own = ["203.0.113.7".parse().unwrap(), "10.7.7.7".parse().unwrap()];
        let host = Host::parse(host).unwrap();
        assert_eq!(policy.admits(&host, 443), Ok(()), "{host} is listed");
        policy.admits_address(&host, address.parse().unwrap(), 443, &own).is_ok()
    }

    const SPECIAL: [&str; 8] =
        ["127.0.0.1", "::1", "0.0.0.0", "169.254.1.1", "169.254.169.254", "203.0.113.7", "10.7.7.7", "224.0.0.1"];

    #[test]
    fn a_listed_name_leads_to_the_world_only() {
        let names = policy(&["x.org"]);
        assert!(leads(&names, "x.org", "140.82.121.4"));
        for special in SPECIAL.iter().chain(&["10.0.0.1", "fd00::1", "::ffff:10.0.0.1"]) {
            assert!(!leads(&names, "x.org", special), "{special}");
        }
    }

    #[test]
    fn a_name_that_is_given_addresses_leads_to_them_and_nothing_nearer() {
        let names = policy(&["x.org@10.0.0.0/8", "x.org@fd00::/8", "x.org@0.0.0.0/0"]);
        assert!(leads(&names, "x.org", "10.0.0.1") && leads(&names, "x.org", "fd00::1"));
        for special in SPECIAL {
            assert!(!leads(&names, "x.org", special), "{special}");
        }
        assert!(leads(&policy(&["x.org@10.7.7.7"]), "x.org", "10.7.7.7"), "itself, when it is named itself");
    }

    #[test]
    fn an_address_that_the_list_names_may_have_a_name_too() {
        let both = policy(&["x.org", "10.1.0.0/16", "127.0.0.1", "10.7.7.7"]);
        for (address, open) in
            [("10.1.2.3", true), ("10.2.0.1", false), ("127.0.0.1", true), ("127.0.0.2", false), ("10.7.7.7", true)]
        {
            assert_eq!(leads(&both, "x.org", address), open, "{address}");
        }
        assert!(leads(&both, "127.0.0.1", "127.0.0.1"));
    }

    #[test]
    fn a_wide_block_admits_the_world_when_asked_by_address() {
        let all = policy(&["0.0.0.0/0"]);
        assert!(leads(&all, "140.82.121.4", "140.82.121.4"));
        assert!(!leads(&all, "127.0.0.1", "127.0.0.1") && !leads(&all, "10.0.0.1", "10.0.0.1"));
    }

    #[test]
    fn a_refusal_tells_the_entry_that_would_help_and_the_entry_is_good() {
        let nothing = policy(&["y.org:22"]);
        let advice = |why: Why, host: &str, port| why.way_out(&Host::parse(host).unwrap(), port);
        let quoted = |text: &str| text.split('"').nth(1).expect(text).to_owned();
        let cases = [
            (Why::NotListed, "x.org", 443, "x.org"),
            (Why::NotListed, "x.org", 22, "x.org:22"),
            (Why::NotListed, "2001:db8::1", 22, "[2001:db8::1]:22"),
            (Why::NotListed, "host.coop", 80, "host.coop:80"),
            (Why::NotListed, "localhost", 3000, "host.coop:3000"),
            (Why::NotListed, "127.0.0.1", 3000, "host.coop:3000"),
            (Why::NotListed, "::", 80, "host.coop:80"),
            (Why::NotListed, "169.254.169.254", 80, "169.254.169.254"),
            (Why::PortNotListed(vec![22]), "y.org", 9, "y.org:9"),
            (
                Why::Address { address: "10.0.0.1".parse().unwrap(), kind: Kind::Private },
                "x.org",
                443,
                "x.org@10.0.0.1",
            ),
            (Why::Address { address: "::1".parse().unwrap(), kind: Kind::Loopback }, "x.org", 81, "host.coop:81"),
            (
                Why::Address { address: "fe80::1".parse().unwrap(), kind: Kind::LinkLocal },
                "x.org",
                1,
                "x.org:1@fe80::1",
            ),
            (Why::Address { address: "10.7.7.7".parse().unwrap(), kind: Kind::Private }, "10.7.7.7", 1, "10.7.7.7:1"),
        ];
        for (why, host, port, entry) in cases {
            let advised = quoted(&advice(why, host, port));
            assert_eq!(advised, entry);
            AllowList::parse(&[advised]).unwrap();
        }
        let metadata = advice(Why::NotListed, "169.254.169.254", 80);
        assert!(!metadata.contains("--allow 169"), "not offered for pasting: {metadata}");
        assert_eq!(nothing.admits(&Host::parse("y.org").unwrap(), 443), Err(Why::PortNotListed(vec![22])));
    }
}
