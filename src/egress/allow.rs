//! The list of whom a box may reach.
//!
//! | entry | means |
//! |---|---|
//! | `github.com` | this name, ports 80 and 443 |
//! | `github.com:22` | this name, this port |
//! | `*.github.com` | every name below it, at any depth, but not itself |
//! | `10.1.2.3`, `[2001:db8::1]:443` | this address |
//! | `10.0.0.0/8:5432` | every address of the block |
//! | `git.corp:22@10.0.0.0/8` | this name, which may lead into the block too; without it a name leads to the world only |
//! | `host.coop:8080` | 127.0.0.1 of the machine that the box is on; needs a port |

use std::fmt;
use std::net::IpAddr;

use super::address::{Kind, kind};
use super::cidr::Cidr;
use super::host::{self, BadHost, HOST_COOP, Host};
use super::rule::BadRule;

/// Ports of an entry that names none: the web's.
const PORTS: [u16; 2] = [80, 443];

/// More than anybody writes by hand; each dial walks the list.
pub const RULES_MAX: usize = 1024;

const KEY: &str = "network.allow";

/// Whom a box may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowList {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    whom: Whom,
    /// The web's ports if `None`.
    port: Option<u16>,
    /// Where a name may lead beside the world.
    into: Option<Cidr>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Whom {
    Host(Host),
    /// All names that end in a dot and this one.
    Below(String),
    Block(Cidr),
}

/// What the list says of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Listed {
    Yes,
    No,
    /// Only with other ports, which are told.
    OtherPorts(Vec<u16>),
}

impl AllowList {
    /// Whether this can stand in a list; if not, what is wrong with it.
    pub fn check(entry: &str) -> Result<(), String> {
        rule(entry).map(drop)
    }

    pub fn parse(entries: &[String]) -> Result<Self, BadRule> {
        if let Some(entry) = entries.get(RULES_MAX) {
            let wrong = format!("the list has more than {RULES_MAX} entries: use *.host or blocks of addresses");
            return Err(BadRule::new(KEY, RULES_MAX, entry, wrong));
        }
        let read =
            |(index, entry): (usize, &String)| rule(entry).map_err(|wrong| BadRule::new(KEY, index, entry, wrong));
        Ok(Self { rules: entries.iter().enumerate().map(read).collect::<Result<_, _>>()? })
    }

    /// The entries in one spelling; parsing them gives this list again.
    pub fn entries(&self) -> impl Iterator<Item = String> {
        self.rules.iter().map(Rule::to_string)
    }

    /// Whether a host may be asked for. An address of the machine's own kinds is looked at more closely by
    /// [`names_address`](Self::names_address).
    pub(super) fn lists(&self, host: &Host, port: u16) -> Listed {
        let matching = || self.rules.iter().filter(|rule| rule.covers(host));
        if matching().any(|rule| rule.opens(port)) {
            return Listed::Yes;
        }
        let mut others: Vec<u16> = matching().flat_map(Rule::ports).copied().collect();
        others.sort_unstable();
        others.dedup();
        if others.is_empty() { Listed::No } else { Listed::OtherPorts(others) }
    }

    /// Whether an entry names this address, which is of the kind `here`: for everybody, or for `host` to lead to it.
    pub(super) fn names_address(&self, host: &Host, address: IpAddr, port: u16, here: Kind) -> bool {
        let address = address.to_canonical();
        self.rules.iter().filter(|rule| rule.opens(port)).any(|rule| match (&rule.whom, &rule.into) {
            (Whom::Host(Host::Address(named)), _) => *named == address,
            (Whom::Block(block), _) => means(block, address, here),
            (_, Some(block)) => rule.covers(host) && means(block, address, here),
            _ => false,
        })
    }
}

/// Whether a block means an address that it holds. One that is wider than a kind of addresses does not mean that kind:
/// who allows 0.0.0.0/0 thinks of the world and not of the machine's own loopback.
fn means(block: &Cidr, address: IpAddr, here: Kind) -> bool {
    let of_that_kind = || block.is_one() || (kind(block.first()) == here && kind(block.last()) == here);
    block.contains(address) && (here == Kind::Public || of_that_kind())
}

impl Rule {
    fn covers(&self, host: &Host) -> bool {
        match (&self.whom, host) {
            (Whom::Host(named), host) => named == host,
            (Whom::Below(parent), Host::Name(name)) => {
                name.strip_suffix(parent.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            (Whom::Block(block), Host::Address(address)) => block.contains(*address),
            _ => false,
        }
    }

    fn ports(&self) -> &[u16] {
        self.port.as_ref().map_or(&PORTS, std::slice::from_ref)
    }

    fn opens(&self, port: u16) -> bool {
        self.ports().contains(&port)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.whom, self.port) {
            (Whom::Host(host), Some(port)) => f.write_str(&host::show(host, port))?,
            (Whom::Host(host), None) => write!(f, "{host}")?,
            (Whom::Below(parent), port) => write!(f, "*.{parent}{}", colon(port))?,
            (Whom::Block(block), port) => write!(f, "{block}{}", colon(port))?,
        }
        match &self.into {
            Some(block) if block.is_one() => write!(f, "@{}", block.first()),
            Some(block) => write!(f, "@{block}"),
            None => Ok(()),
        }
    }
}

fn colon(port: Option<u16>) -> String {
    port.map(|port| format!(":{port}")).unwrap_or_default()
}

/// Reads one entry; the error says what is wrong with it and what would be right.
fn rule(entry: &str) -> Result<Rule, String> {
    if entry.is_empty() {
        return Err("it is empty: write a host, as github.com or github.com:22".to_owned());
    }
    if entry.contains(char::is_whitespace) {
        return Err("it has a space in it: write one host in each entry".to_owned());
    }
    if let Some((scheme, rest)) = entry.split_once("://") {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        return Err(format!("write the host without {scheme}:// and without a path: {host}"));
    }
    if let Some((named, block)) = entry.split_once('@') {
        return leading(named, block);
    }
    if let Some((address, bits)) = entry.split_once('/') {
        return block(address, bits);
    }
    if entry == "*" || entry.starts_with("*:") {
        return Err("that would be everybody: list the hosts, or use mode = \"host\" for all of the network".to_owned());
    }
    let (text, port) = host::split_port(entry).map_err(|wrong| wrong.to_string())?;
    if let Some(parent) = text.strip_prefix("*.") {
        return below(parent, port);
    }
    if text.contains('*') {
        return Err("a * can only be the first part of a name, as *.github.com".to_owned());
    }
    let host = Host::parse(text).map_err(|wrong| wrong.to_string())?;
    check(&host, port)?;
    Ok(Rule { whom: Whom::Host(host), port, into: None })
}

fn below(parent: &str, port: Option<u16>) -> Result<Rule, String> {
    match host::name(parent) {
        Ok(parent) if parent == "localhost" => Err(LOCALHOST.to_owned()),
        Ok(parent) if parent == HOST_COOP => Err(format!("{HOST_COOP} has nothing below it: write {HOST_COOP}:PORT")),
        Ok(parent) => Ok(Rule { whom: Whom::Below(parent), port, into: None }),
        Err(BadHost::Character('*')) => Err("one * is enough: it stands for any number of parts".to_owned()),
        Err(BadHost::Numeric) => Err("write a block of addresses as 10.0.0.0/8".to_owned()),
        Err(wrong) => Err(wrong.to_string()),
    }
}

const LOCALHOST: &str =
    "localhost is the box itself, which needs no entry; the machine that it is on is host.coop:PORT";

fn check(host: &Host, port: Option<u16>) -> Result<(), String> {
    match host {
        Host::Machine if port.is_none() => {
            Err(format!("the machine's own services are allowed port by port: write {HOST_COOP}:8080"))
        }
        Host::Address(address) if kind(*address) == Kind::Unspecified => {
            Err(format!("nobody can be reached at it; the machine that the box is on is {HOST_COOP}:PORT"))
        }
        host if host.is_localhost() => Err(LOCALHOST.to_owned()),
        _ => Ok(()),
    }
}

fn block(address: &str, bits: &str) -> Result<Rule, String> {
    let bare = address.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(address);
    let Ok(address) = bare.parse::<IpAddr>() else {
        return Err(format!("an entry has no path: write the host alone, as {address}, or a block as 10.0.0.0/8"));
    };
    let (bits, port) = match bits.split_once(':') {
        Some((bits, digits)) => (bits, Some(host::port(digits).map_err(|wrong| wrong.to_string())?)),
        None => (bits, None),
    };
    let block = Cidr::new(address, bits).map_err(|wrong| wrong.to_string())?;
    Ok(Rule { whom: Whom::Block(block), port, into: None })
}

/// A name with the addresses that it may lead to, beside the world's.
fn leading(named: &str, block: &str) -> Result<Rule, String> {
    let whom = rule(named)?;
    if !matches!(whom.whom, Whom::Host(Host::Name(_)) | Whom::Below(_)) {
        return Err("only a name leads to addresses: before the @ belongs one, as git.example@10.0.0.0/8".to_owned());
    }
    let form = || "after the @ belong addresses that the name may lead to, as git.example:22@10.0.0.0/8".to_owned();
    let (address, bits) = block.split_once('/').map_or((block, None), |(address, bits)| (address, Some(bits)));
    let bare = address.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(address);
    let address: IpAddr = bare.parse().map_err(|_| form())?;
    if bits.is_some_and(|bits| bits.contains(':')) {
        return Err("the port belongs to the name, before the @, as git.example:22@10.0.0.0/8".to_owned());
    }
    let into = match bits {
        Some(bits) => Cidr::new(address, bits).map_err(|wrong| wrong.to_string())?,
        None => Cidr::one(address),
    };
    if kind(into.first()) == Kind::Unspecified && into.is_one() {
        return Err(form());
    }
    Ok(Rule { into: Some(into), ..whom })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(entries: &[&str]) -> AllowList {
        AllowList::parse(&entries.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap()
    }

    fn lists(entry: &str, host: &str, port: u16) -> bool {
        list(&[entry]).lists(&Host::parse(host).unwrap(), port) == Listed::Yes
    }

    fn wrong(entry: &str) -> String {
        AllowList::parse(&["ok.example".into(), entry.into()]).expect_err(entry).to_string()
    }

    #[test]
    fn a_name_without_a_port_is_the_web() {
        for (port, open) in [(80, true), (443, true), (22, false), (8080, false)] {
            assert_eq!(lists("github.com", "github.com", port), open, "{port}");
        }
        assert!(lists("github.com:22", "github.com", 22) && !lists("github.com:22", "github.com", 443));
        let both = list(&["github.com:22", "github.com"]);
        let asked = Host::parse("github.com").unwrap();
        assert_eq!(both.lists(&asked, 9418), Listed::OtherPorts(vec![22, 80, 443]));
    }

    #[test]
    fn case_and_a_trailing_dot_make_no_difference() {
        assert!(lists("GitHub.com.", "github.COM", 443) && lists("github.com", "GITHUB.com.", 443));
    }

    #[test]
    fn a_star_is_every_name_below_and_not_the_name_itself() {
        for (host, open) in [
            ("api.github.com", true),
            ("a.b.c.github.com", true),
            ("github.com", false),
            ("evilgithub.com", false),
            ("github.com.evil.org", false),
            ("140.82.121.4", false),
        ] {
            assert_eq!(lists("*.github.com", host, 443), open, "{host}");
        }
        assert!(lists("*.github.com:22", "ssh.github.com", 22));
    }

    #[test]
    fn the_machine_is_only_named_by_its_own_entry() {
        assert!(lists("host.coop:8080", "host.coop", 8080) && !lists("host.coop:8080", "host.coop", 80));
        assert!(!lists("*.coop", "host.coop", 443) && !lists("127.0.0.1:443", "host.coop", 443));
        assert!(wrong("host.coop").ends_with("write host.coop:8080"));
        assert!(wrong("HOST.coop.").ends_with("write host.coop:8080"));
        assert!(wrong("*.host.coop:80").contains("write host.coop:PORT"));
    }

    #[test]
    fn addresses_and_blocks_are_compared_as_numbers() {
        assert!(lists("[2001:DB8:0::1]:8443", "2001:db8::1", 8443) && lists("2001:db8::1", "[2001:db8::1]", 443));
        assert!(lists("::ffff:192.0.2.1", "192.0.2.1", 80) && lists("192.0.2.1", "::ffff:192.0.2.1", 80));
        assert!(lists("10.0.0.0/8:5432", "10.9.8.7", 5432) && !lists("10.0.0.0/8:5432", "11.0.0.1", 5432));
        assert!(lists("fd00::/8:1", "fd00::2", 1) && lists("[fd00::]/8:1", "fd00::2", 1));
    }

    #[test]
    fn a_wide_block_does_not_mean_the_machine_or_its_neighbours() {
        let named = |entry: &str, address: &str| {
            let address: IpAddr = address.parse().unwrap();
            list(&[entry]).names_address(&Host::Address(address), address, 80, kind(address))
        };
        assert!(named("0.0.0.0/0", "140.82.121.4") && named("::/0", "2606:50c0:8000::153"));
        for special in ["127.0.0.1", "169.254.169.254", "10.0.0.1", "169.254.0.1", "0.0.0.0"] {
            assert!(!named("0.0.0.0/0", special), "{special}");
        }
        assert!(!named("::/0", "::1") && !named("::/0", "fe80::1") && !named("::/0", "fd00::1"));
        assert!(named("127.0.0.0/8", "127.0.0.2") && named("10.0.0.0/8", "10.1.1.1") && named("fe80::/10", "fe80::1"));
        assert!(!named("169.254.0.0/16", "169.254.169.254") && named("169.254.169.254", "169.254.169.254"));
        assert!(!named("fd00::/8", "fd00:ec2::254"), "a block of private addresses does not mean the metadata in it");
        let here = "10.1.1.1".parse().unwrap();
        assert!(!list(&["10.0.0.0/8"]).names_address(&Host::Address(here), here, 80, Kind::ThisMachine));
        assert!(list(&["10.1.1.1"]).names_address(&Host::Address(here), here, 80, Kind::ThisMachine));
    }

    #[test]
    fn a_bad_entry_is_named_with_what_would_be_right() {
        assert_eq!(
            wrong("https://github.com/rust-lang"),
            "\"https://github.com/rust-lang\" is no entry of network.allow: \
             write the host without https:// and without a path: github.com"
        );
        for (entry, says) in [
            ("", "it is empty"),
            ("a.org b.org", "one host in each entry"),
            ("github.com/rust", "write the host alone, as github.com"),
            ("bücher.example", "punycode"),
            ("*.bücher.example", "punycode"),
            ("*", "mode = \"host\""),
            ("*:443", "mode = \"host\""),
            ("a.*.org", "first part of a name"),
            ("*.*.org", "one * is enough"),
            ("*.10.0", "as 10.0.0.0/8"),
            ("github.com:", "a number from 1 to 65535"),
            ("github.com:0", "a number from 1 to 65535"),
            ("github.com:+22", "a number from 1 to 65535"),
            ("github.com:65536", "a number from 1 to 65535"),
            ("github.com:https", "a number from 1 to 65535"),
            ("2001:db8::1:x", "with brackets"),
            ("[::1", "IPv6 address"),
            ("[10.0.0.1]:80", "IPv6 address"),
            ("[::1]x", "IPv6 address"),
            ("10.1.2.3/8", "write 10.0.0.0/8"),
            ("10.0.0.0/99", "from 0 to 32"),
            ("10.0.0.0/8:x", "a number from 1 to 65535"),
            ("127.1", "all four numbers"),
            ("2130706433", "all four numbers"),
            ("0x7f.0x1", "all four numbers"),
            ("a..b", "between two dots"),
            ("a_b!.org", "'!'"),
            ("user@host", "after the @ belong addresses"),
            ("git.example@10.0.0.0/8:22", "the port belongs to the name"),
            ("git.example@10.0.0.1:22", "after the @ belong addresses"),
            ("git.example@0.0.0.0", "after the @ belong addresses"),
            ("git.example@10.0.0.1/8", "write 10.0.0.0/8"),
            ("git.example@", "after the @ belong addresses"),
            ("@10.0.0.0/8", "it is empty"),
            ("10.0.0.1@10.0.0.0/8", "only a name leads"),
            ("host.coop:80@10.0.0.1", "only a name leads"),
            ("localhost:3000", "host.coop:PORT"),
            ("app.localhost", "host.coop:PORT"),
            ("*.localhost", "host.coop:PORT"),
            ("0.0.0.0:80", "host.coop:PORT"),
            ("[::]:80", "host.coop:PORT"),
        ] {
            let text = wrong(entry);
            assert!(text.contains(says), "{entry:?} says {text:?}");
        }
        let error = AllowList::parse(&["a.org".into(), "-".repeat(5000)]).unwrap_err();
        assert!(error.index == 1 && error.to_string().len() < 400, "{error}");
    }

    #[test]
    fn the_list_has_an_end() {
        let many = vec!["a.org".to_owned(); RULES_MAX + 1];
        assert!(AllowList::parse(&many[1..]).is_ok());
        assert!(AllowList::parse(&many).unwrap_err().to_string().contains("more than 1024 entries"));
    }

    #[test]
    fn a_name_may_be_given_addresses_that_only_it_leads_to() {
        let list = list(&["git.corp:22@10.0.0.0/8", "*.lab@192.168.1.7"]);
        let leads = |name: &str, address: &str, port| {
            let address: IpAddr = address.parse().unwrap();
            list.names_address(&Host::parse(name).unwrap(), address, port, kind(address))
        };
        assert!(leads("git.corp", "10.1.1.1", 22) && leads("a.lab", "192.168.1.7", 443));
        assert!(!leads("git.corp", "10.1.1.1", 443) && !leads("a.lab", "192.168.1.8", 443));
        assert!(!leads("other.corp", "10.1.1.1", 22) && !leads("10.1.1.1", "10.1.1.1", 22));
        assert_eq!(list.lists(&Host::parse("10.1.1.1").unwrap(), 22), Listed::No);
    }

    fn entry() -> impl Strategy<Value = String> {
        let port = prop_oneof![Just(String::new()), (1u16..).prop_map(|port| format!(":{port}"))];
        let v4 = any::<u32>().prop_map(|bits| std::net::Ipv4Addr::from_bits(bits).to_string());
        let v6 = any::<u128>().prop_map(|bits| format!("[{}]", std::net::Ipv6Addr::from_bits(bits)));
        let block = (any::<u32>(), 0u8..=32).prop_map(|(bits, length)| {
            let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
            format!("{}/{length}", std::net::Ipv4Addr::from_bits(bits & mask))
        });
        let name = "[a-zA-Z][a-zA-Z0-9_-]{0,20}(\\.[a-zA-Z][a-zA-Z0-9-]{0,9}){0,3}\\.?";
        let below = name.prop_map(|name| format!("*.{name}"));
        let into = block.clone().prop_map(|block| format!("@{block}"));
        let into = prop_oneof![3 => Just(String::new()), 1 => into, 1 => v6.clone().prop_map(|v6| format!("@{v6}"))];
        let whom = prop_oneof![name, below, v4, v6, block, Just("host.coop".to_owned())];
        (whom, port, into).prop_map(|(whom, port, into)| whom + &port + &into)
    }

    proptest! {
        #[test]
        fn nothing_that_can_be_written_makes_it_panic(text in "\\PC*", soup in "[a-z0-9:./*\\[\\]@-]{0,24}") {
            let _ = AllowList::parse(&[text]);
            let _ = AllowList::parse(&[soup]);
        }

        #[test]
        fn what_is_read_and_written_is_read_the_same_again(text in entry(), soup in "[a-f0-9:./*@\\[\\]]{0,12}") {
            for entry in [text, soup] {
                if let Ok(list) = AllowList::parse(std::slice::from_ref(&entry)) {
                    let again: Vec<String> = list.entries().collect();
                    prop_assert_eq!(AllowList::parse(&again), Ok(list), "{} became {:?}", entry, again);
                }
            }
        }

        #[test]
        fn a_name_is_listed_by_itself_in_any_spelling(name in "[a-zA-Z]{1,9}(\\.[a-zA-Z]{2,9}){1,3}") {
            prop_assume!(!name.to_ascii_lowercase().ends_with("localhost") && !name.eq_ignore_ascii_case("host.coop"));
            let dotted = format!("{}.", name.to_ascii_uppercase());
            prop_assert!(lists(&name, &dotted, 443));
            let below = format!("x.{name}");
            let star = format!("*.{name}");
            prop_assert!(lists(&star, &below, 443));
            prop_assert!(!lists(&name, &below, 443));
        }
    }
}
