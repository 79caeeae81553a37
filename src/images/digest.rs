//! The name of content: sha256 over its bytes.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// What every digest that coop works with begins with.
const ALGORITHM: &str = "sha256:";

/// How many hexadecimal characters follow it.
const HEX_LEN: usize = 64;

/// `sha256:…`, known to be well-formed, so that its hex can be a file name.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(String);

/// A text that is no digest coop can check.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is no digest that can be checked: `sha256:` and 64 hexadecimal characters are expected")]
pub struct BadDigest(String);

impl Digest {
    pub fn parse(text: &str) -> Result<Self, BadDigest> {
        let well_formed =
            |hex: &str| hex.len() == HEX_LEN && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        match text.strip_prefix(ALGORITHM) {
            Some(hex) if well_formed(hex) => Ok(Self(hex.to_owned())),
            _ => Err(BadDigest(text.chars().take(100).collect())),
        }
    }

    /// A digest by its bare hex, as file names have it.
    pub fn from_hex(hex: &str) -> Option<Self> {
        Self::parse(&format!("{ALGORITHM}{hex}")).ok()
    }

    pub fn of(bytes: &[u8]) -> Self {
        let mut hash = Hash::default();
        hash.update(bytes);
        hash.finish()
    }

    /// The digest of a whole file.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        let mut hashing = Hashing::new(std::fs::File::open(path)?);
        io::copy(&mut hashing, &mut io::sink())?;
        Ok(hashing.finish().0)
    }

    /// The hexadecimal characters without `sha256:`.
    pub fn hex(&self) -> &str {
        &self.0
    }

    /// Enough of it for people.
    pub fn short(&self) -> &str {
        &self.0[..12]
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ALGORITHM}{}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl TryFrom<String> for Digest {
    type Error = BadDigest;

    fn try_from(text: String) -> Result<Self, BadDigest> {
        Self::parse(&text)
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

/// A digest in the making.
#[derive(Clone, Default)]
pub struct Hash(Sha256);

impl Hash {
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Reads on, and knows the digest and the length of what was read.
pub struct Hashing<R> {
    inner: R,
    hash: Hash,
    bytes: u64,
}

impl<R> Hashing<R> {
    pub fn new(inner: R) -> Self {
        Self { inner, hash: Hash::default(), bytes: 0 }
    }

    pub fn count(&self) -> u64 {
        self.bytes
    }

    pub fn finish(self) -> (Digest, u64) {
        (self.hash.finish(), self.bytes)
    }

    pub fn into_parts(self) -> (R, Digest, u64) {
        (self.inner, self.hash.finish(), self.bytes)
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.hash.update(&buffer[..n]);
        self.bytes += n as u64;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_checked_is_a_digest() {
        let good = format!("sha256:{}", "0a".repeat(32));
        assert_eq!(Digest::parse(&good).unwrap().to_string(), good);
        for bad in
            ["", "sha256:", "sha256:../../etc", &good.to_uppercase(), &good[7..], &format!("{good}0"), "sha512:00"]
        {
            assert!(Digest::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_digest_is_that_of_the_bytes() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").to_string(), empty);
        let mut hashing = Hashing::new(&b"abc"[..]);
        io::copy(&mut hashing, &mut io::sink()).unwrap();
        assert_eq!(hashing.finish(), (Digest::of(b"abc"), 3));
    }
}
