//! What an address leads to: the world, a neighbour, or the machine itself.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where an address leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The world.
    Public,
    /// A network of one's own: RFC 1918, unique local, carrier NAT, benchmarking (where some VPNs put their names).
    Private,
    Loopback,
    /// `0.0.0.0` and `::`; to dial them is to dial loopback.
    Unspecified,
    LinkLocal,
    /// A cloud's metadata service, which gives credentials to who can reach it.
    Metadata,
    /// An address of the machine that the box is on, in whatever range.
    ThisMachine,
    /// Multicast, broadcast, transition mechanisms: nothing that one reaches by a name.
    Reserved,
}

impl Kind {
    /// For sentences like "it is …".
    pub fn words(self) -> &'static str {
        match self {
            Self::Public => "a public address",
            Self::Private => "a private address",
            Self::Loopback => "loopback of the machine that the box is on",
            Self::Unspecified => "no address that can be reached",
            Self::LinkLocal => "a link-local address",
            Self::Metadata => "a cloud's metadata service",
            Self::ThisMachine => "the machine that the box is on",
            Self::Reserved => "a reserved address",
        }
    }
}

/// Metadata services of clouds, each where its cloud documents it. Most are link-local, the others hide among private
/// and public addresses.
const METADATA: [IpAddr; 8] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)), // nearly all
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),   // AWS: tasks of ECS
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 23)),  // AWS: pods of EKS
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),   // Azure: the host's wire server
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)), // Alibaba
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)), // AWS
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23)), // AWS: pods of EKS
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)), // Google
];

/// Where an address leads, on a machine that has the addresses `own`.
pub(super) fn kind_here(address: IpAddr, own: &[IpAddr]) -> Kind {
    match kind(address) {
        // Said more exactly than "this machine", although they are on its list.
        known @ (Kind::Loopback | Kind::Unspecified) => known,
        _ if own.iter().any(|own| own.to_canonical() == address.to_canonical()) => Kind::ThisMachine,
        known => known,
    }
}

/// Where an address leads, as far as its digits say.
pub(super) fn kind(address: IpAddr) -> Kind {
    let address = address.to_canonical();
    if METADATA.contains(&address) {
        return Kind::Metadata;
    }
    match address {
        IpAddr::V4(address) => kind_v4(address),
        IpAddr::V6(address) => kind_v6(address),
    }
}

fn kind_v4(address: Ipv4Addr) -> Kind {
    let [a, b, c, _] = address.octets();
    match (a, b, c) {
        (0, ..) => Kind::Unspecified,
        (127, ..) => Kind::Loopback,
        (169, 254, _) => Kind::LinkLocal,
        (10, ..) | (172, 16..=31, _) | (192, 168, _) | (100, 64..=127, _) | (198, 18..=19, _) => Kind::Private,
        (192, 0, 0) | (224.., ..) => Kind::Reserved,
        _ => Kind::Public,
    }
}

fn kind_v6(address: Ipv6Addr) -> Kind {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Kind::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => Kind::Loopback,
        // NAT64: what counts is whom the gateway will dial. A network without IPv4 reaches the world like this.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            kind(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)).into())
        }
        [0x64, 0xff9b, 1, ..] => Kind::Private,
        // IPv4 in older dresses, 6to4 and Teredo: nobody needs them, and each could hide an address.
        [0 | 0x2002, ..] | [0x2001, 0, ..] => Kind::Reserved,
        [0xfe80..=0xfebf, ..] => Kind::LinkLocal,
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => Kind::Private,
        [0xff00..=0xffff, ..] => Kind::Reserved,
        _ => Kind::Public,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dress_of_an_address_is_seen_through() {
        let table = [
            ("140.82.121.4", Kind::Public),
            ("2606:50c0:8000::153", Kind::Public),
            ("127.0.0.1", Kind::Loopback),
            ("127.255.0.9", Kind::Loopback),
            ("::1", Kind::Loopback),
            ("::ffff:127.0.0.1", Kind::Loopback),
            ("64:ff9b::7f00:1", Kind::Loopback),
            ("64:ff9b::a9fe:a9fe", Kind::Metadata),
            ("64:ff9b::8c52:7904", Kind::Public),
            ("64:ff9b:1::7f00:1", Kind::Private),
            ("0.0.0.0", Kind::Unspecified),
            ("0.1.2.3", Kind::Unspecified),
            ("::", Kind::Unspecified),
            ("::ffff:0.0.0.0", Kind::Unspecified),
            ("169.254.1.1", Kind::LinkLocal),
            ("fe80::1", Kind::LinkLocal),
            ("169.254.169.254", Kind::Metadata),
            ("::ffff:169.254.169.254", Kind::Metadata),
            ("fd00:ec2::254", Kind::Metadata),
            ("100.100.100.200", Kind::Metadata),
            ("10.0.0.1", Kind::Private),
            ("172.31.255.255", Kind::Private),
            ("172.32.0.0", Kind::Public),
            ("192.168.1.1", Kind::Private),
            ("100.64.0.1", Kind::Private),
            ("198.18.0.7", Kind::Private),
            ("fd12::1", Kind::Private),
            ("224.0.0.1", Kind::Reserved),
            ("255.255.255.255", Kind::Reserved),
            ("::127.0.0.1", Kind::Reserved),
            ("::ffff:0:7f00:1", Kind::Reserved),
            ("2002:7f00:1::", Kind::Reserved),
            ("2001::1", Kind::Reserved),
            ("ff02::1", Kind::Reserved),
        ];
        for (text, expected) in table {
            assert_eq!(kind(text.parse().unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn the_machines_own_addresses_are_known_in_whatever_range() {
        let own = ["203.0.113.7".parse().unwrap(), "192.168.1.5".parse().unwrap(), "127.0.0.1".parse().unwrap()];
        assert_eq!(kind_here("203.0.113.7".parse().unwrap(), &own), Kind::ThisMachine);
        assert_eq!(kind_here("::ffff:192.168.1.5".parse().unwrap(), &own), Kind::ThisMachine);
        assert_eq!(kind_here("127.0.0.1".parse().unwrap(), &own), Kind::Loopback);
        assert_eq!(kind_here("203.0.113.8".parse().unwrap(), &own), Kind::Public);
    }
}
