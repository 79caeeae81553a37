//! A block of addresses, as `10.0.0.0/8`.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A block of addresses whose first bits are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cidr {
    first: IpAddr,
    bits: u8,
}

/// Why a block is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadCidr {
    #[error("after the slash belongs a number of bits from 0 to {0}")]
    Bits(u8),
    #[error("its address has bits after those that count: write {0}")]
    HostBits(Cidr),
    #[error("write a block of IPv4 addresses as IPv4, as 10.0.0.0/8")]
    Mapped,
}

impl Cidr {
    pub fn new(address: IpAddr, bits: &str) -> Result<Self, BadCidr> {
        if address.to_canonical() != address {
            return Err(BadCidr::Mapped);
        }
        let width = width(address);
        let plain = !bits.is_empty() && bits.bytes().all(|b| b.is_ascii_digit());
        let bits = bits.parse().ok().filter(|bits| plain && *bits <= width).ok_or(BadCidr::Bits(width))?;
        let block = Self { first: masked(address, bits), bits };
        if block.first == address { Ok(block) } else { Err(BadCidr::HostBits(block)) }
    }

    /// One address as a block.
    pub fn one(address: IpAddr) -> Self {
        let address = address.to_canonical();
        Self { first: address, bits: width(address) }
    }

    pub fn is_one(&self) -> bool {
        self.bits == width(self.first)
    }

    pub fn contains(&self, address: IpAddr) -> bool {
        width(address) == width(self.first) && masked(address, self.bits) == self.first
    }

    pub fn first(&self) -> IpAddr {
        self.first
    }

    pub fn last(&self) -> IpAddr {
        match self.first {
            IpAddr::V4(first) => Ipv4Addr::from_bits(first.to_bits() | !mask_v4(self.bits)).into(),
            IpAddr::V6(first) => Ipv6Addr::from_bits(first.to_bits() | !mask_v6(self.bits)).into(),
        }
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.bits)
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn masked(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => Ipv4Addr::from_bits(address.to_bits() & mask_v4(bits)).into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & mask_v6(bits)).into(),
    }
}

/// Shifting by the whole width is an overflow, hence the check: no bits, no mask.
fn mask_v4(bits: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0)
}

fn mask_v6(bits: u8) -> u128 {
    u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(address: &str, bits: &str) -> Result<Cidr, BadCidr> {
        Cidr::new(address.parse().unwrap(), bits)
    }

    #[test]
    fn a_block_holds_its_addresses_and_no_others() {
        let private = block("172.16.0.0", "12").unwrap();
        for (address, inside) in [("172.16.0.0", true), ("172.31.255.255", true), ("172.32.0.0", false), ("::", false)]
        {
            assert_eq!(private.contains(address.parse().unwrap()), inside, "{address}");
        }
        let all = block("0.0.0.0", "0").unwrap();
        assert!(all.contains("255.255.255.255".parse().unwrap()) && !all.contains("::1".parse().unwrap()));
        let one = block("10.0.0.1", "32").unwrap();
        assert!(one.contains("10.0.0.1".parse().unwrap()) && !one.contains("10.0.0.2".parse().unwrap()));
        let local = block("fe80::", "10").unwrap();
        assert!(local.contains("febf::1".parse().unwrap()) && !local.contains("fec0::".parse().unwrap()));
        assert_eq!(
            (private.first(), private.last()),
            ("172.16.0.0".parse().unwrap(), "172.31.255.255".parse().unwrap())
        );
        assert_eq!(block("::", "0").unwrap().last(), IpAddr::V6(Ipv6Addr::from_bits(u128::MAX)));
    }

    #[test]
    fn a_bad_block_says_what_would_be_right() {
        let text = |address, bits| block(address, bits).unwrap_err().to_string();
        assert_eq!(text("10.1.2.3", "8"), "its address has bits after those that count: write 10.0.0.0/8");
        assert_eq!(text("10.0.0.0", "33"), "after the slash belongs a number of bits from 0 to 32");
        assert_eq!(text("fd00::", "+8"), "after the slash belongs a number of bits from 0 to 128");
        assert_eq!(text("fd00::", ""), "after the slash belongs a number of bits from 0 to 128");
        assert!(text("::ffff:10.0.0.0", "104").contains("as IPv4"));
    }
}
