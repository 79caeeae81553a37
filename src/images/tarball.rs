//! Reads the entries of a tarball, one after the other, with limits.
//!
//! Headers are decoded by the `tar` crate. The loop around them is our own, because that of the crate keeps names of
//! any length in memory, and a layer is what a stranger wrote.

use std::io::{self, Read};

use tar::{EntryType, Header};

use super::limits::Limits;

const BLOCK: usize = 512;

/// More than any name, list of attributes or comment needs.
const EXTENSION_BYTES_MAX: u64 = 1 << 20;

/// Why a tarball is refused.
#[derive(Debug, thiserror::Error)]
pub enum TarError {
    #[error("it cannot be read: {0}")]
    Read(#[source] io::Error),
    #[error("it is no proper tarball: {0}")]
    Malformed(&'static str),
    #[error("it ends in the middle")]
    Truncated,
    #[error("its entry {path:?} {why}")]
    Entry { path: String, why: &'static str },
    #[error("it unpacks to more than {0} bytes, which is the limit")]
    TooLarge(u64),
    #[error("it has more than {0} entries, which is the limit")]
    TooMany(u64),
    #[error("it unpacks to more than {0} times its size, as only bombs do")]
    Bomb(u64),
    #[error("it is compressed with {0}, which images do not use")]
    Compression(&'static str),
}

impl TarError {
    pub(super) fn entry(path: &[u8], why: &'static str) -> Self {
        let shown = String::from_utf8_lossy(path).chars().take(200).collect();
        Self::Entry { path: shown, why }
    }
}

impl From<io::Error> for TarError {
    /// Errors of limits come through readers, inside of one of theirs.
    fn from(error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(own) => own,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Self::Truncated,
            Err(error) => Self::Read(error),
        }
    }
}

/// What an entry is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    Symlink(Vec<u8>),
    Hardlink(Vec<u8>),
    /// A device or a pipe, which are not made.
    Special(&'static str),
}

/// One entry, without its data.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) path: Vec<u8>,
    pub(super) kind: Kind,
    pub(super) mode: u32,
    /// Seconds since 1970 and nanoseconds.
    pub(super) mtime: (i64, i64),
    /// The names of its extended attributes.
    pub(super) attributes: Vec<Vec<u8>>,
}

/// What headers of their own say about the entry that follows.
#[derive(Default)]
struct Extensions {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
    mtime: Option<(i64, i64)>,
    attributes: Vec<Vec<u8>>,
    sparse: bool,
}

pub(super) struct Entries<R> {
    inner: R,
    entries_left: u64,
    limits: Limits,
    /// What of the present entry's data was not read yet.
    data_left: u64,
    /// What then fills its last block.
    padding: u64,
}

impl<R: Read> Entries<R> {
    /// `entries_left` is what of the limit on entries is left for this tarball.
    pub(super) fn new(inner: R, limits: &Limits, entries_left: u64) -> Self {
        Self { inner, entries_left, limits: limits.clone(), data_left: 0, padding: 0 }
    }

    pub(super) fn entries_left(&self) -> u64 {
        self.entries_left
    }

    /// Reads what follows the last entry, so that digests are those of the whole.
    pub(super) fn drain(mut self) -> Result<(), TarError> {
        io::copy(&mut self.inner, &mut io::sink())?;
        Ok(())
    }

    /// The next entry; what was not read of the last one is skipped.
    pub(super) fn next_entry(&mut self) -> Result<Option<Entry>, TarError> {
        let mut said = Extensions::default();
        loop {
            self.skip_rest()?;
            let mut block = [0; BLOCK];
            if !self.read_block(&mut block)? {
                return Ok(None);
            }
            let header = Header::from_byte_slice(&block);
            check_sum(header)?;
            if self.entries_left == 0 {
                return Err(TarError::TooMany(self.limits.entries_max));
            }
            self.entries_left -= 1;
            let size = header.entry_size().map_err(|_| TarError::Malformed("a size cannot be read"))?;
            match header.entry_type() {
                EntryType::XHeader => parse_pax(&self.extension(size)?, &mut said)?,
                // Comments, such as the commit that an archive was made of.
                EntryType::XGlobalHeader => drop(self.extension(size)?),
                EntryType::GNULongName => said.path = said.path.or(Some(without_nul(self.extension(size)?))),
                EntryType::GNULongLink => said.link = said.link.or(Some(without_nul(self.extension(size)?))),
                _ => return self.entry(&block, size, said).map(Some),
            }
        }
    }

    fn entry(&mut self, block: &[u8; BLOCK], size: u64, said: Extensions) -> Result<Entry, TarError> {
        let header = Header::from_byte_slice(block);
        let path = said.path.unwrap_or_else(|| header.path_bytes().into_owned());
        let refuse = |why| Err(TarError::entry(&path, why));
        if said.sparse || header.entry_type() == EntryType::GNUSparse {
            return refuse("is a sparse file: make the image without tar's --sparse");
        }
        let link = said.link.or_else(|| header.link_name_bytes().map(std::borrow::Cow::into_owned)).unwrap_or_default();
        if path.contains(&0) || link.contains(&0) {
            return refuse("has a NUL in its name");
        }
        let kind = match header.entry_type() {
            // Before 1988 a slash at the end was how a directory was told.
            EntryType::Regular if path.ends_with(b"/") => Kind::Directory,
            EntryType::Regular | EntryType::Continuous => Kind::File,
            EntryType::Directory => Kind::Directory,
            EntryType::Symlink if link.is_empty() => return refuse("is a symbolic link to nothing"),
            EntryType::Symlink => Kind::Symlink(link),
            EntryType::Link => Kind::Hardlink(link),
            EntryType::Char => Kind::Special("character device"),
            EntryType::Block => Kind::Special("block device"),
            EntryType::Fifo => Kind::Special("named pipe"),
            _ => return refuse("is of a kind that images do not have"),
        };
        let size = said.size.unwrap_or(size);
        // Only files have data, but every header may claim some, and then it must be skipped.
        self.data_left = size;
        self.padding = (BLOCK as u64 - size % BLOCK as u64) % BLOCK as u64;
        let mode = header.mode().unwrap_or(0o644);
        let mtime = said.mtime.unwrap_or_else(|| (header.mtime().unwrap_or(0).try_into().unwrap_or(0), 0));
        Ok(Entry { path, kind, mode, mtime, attributes: said.attributes })
    }

    /// The data of an entry that is about another.
    fn extension(&mut self, size: u64) -> Result<Vec<u8>, TarError> {
        if size > EXTENSION_BYTES_MAX {
            return Err(TarError::Malformed("a name or a list of attributes is longer than 1 MiB"));
        }
        self.data_left = size;
        self.padding = (BLOCK as u64 - size % BLOCK as u64) % BLOCK as u64;
        let mut data = Vec::new();
        self.read_to_end(&mut data)?;
        if self.data_left > 0 { Err(TarError::Truncated) } else { Ok(data) }
    }

    fn skip_rest(&mut self) -> Result<(), TarError> {
        // A size is whatever the archive says.
        let rest = std::mem::take(&mut self.data_left).saturating_add(std::mem::take(&mut self.padding));
        let skipped = io::copy(&mut (&mut self.inner).take(rest), &mut io::sink())?;
        if skipped < rest { Err(TarError::Truncated) } else { Ok(()) }
    }

    /// False at the end: a block of zeros, or nothing more where a header would begin.
    fn read_block(&mut self, block: &mut [u8; BLOCK]) -> Result<bool, TarError> {
        let mut filled = 0;
        while filled < BLOCK {
            match self.inner.read(&mut block[filled..]) {
                Ok(0) if filled == 0 => return Ok(false),
                Ok(0) => return Err(TarError::Truncated),
                Ok(n) => filled += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(block.iter().any(|byte| *byte != 0))
    }
}

/// Reads the data of the present entry.
impl<R: Read> Read for Entries<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.data_left == 0 || buffer.is_empty() {
            return Ok(0);
        }
        let most = buffer.len().min(usize::try_from(self.data_left).unwrap_or(usize::MAX));
        let n = self.inner.read(&mut buffer[..most])?;
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.data_left -= n as u64;
        Ok(n)
    }
}

/// The sum over the header with blanks where the sum stands; the one thing that tells a header from noise.
fn check_sum(header: &Header) -> Result<(), TarError> {
    let bytes = header.as_bytes();
    let sum = |range: &[u8]| range.iter().map(|byte| u32::from(*byte)).sum::<u32>();
    let found = sum(&bytes[..148]) + 8 * u32::from(b' ') + sum(&bytes[156..]);
    match header.cksum() {
        Ok(said) if said == found => Ok(()),
        _ => Err(TarError::Malformed("a header's checksum is wrong")),
    }
}

fn without_nul(mut name: Vec<u8>) -> Vec<u8> {
    while name.last() == Some(&0) {
        name.pop();
    }
    name
}

/// Records of the form `LENGTH KEY=VALUE\n`, LENGTH being that of all of it. Values may hold any byte.
fn parse_pax(mut data: &[u8], said: &mut Extensions) -> Result<(), TarError> {
    let bad = || TarError::Malformed("a list of attributes (PAX) cannot be read");
    while !data.is_empty() {
        let blank = data.iter().position(|byte| *byte == b' ').ok_or_else(bad)?;
        let length: usize = number(&data[..blank]).and_then(|n| n.try_into().ok()).ok_or_else(bad)?;
        if length > data.len() || length < blank + 2 || data[length - 1] != b'\n' {
            return Err(bad());
        }
        let record = &data[blank + 1..length - 1];
        data = &data[length..];
        let equals = record.iter().position(|byte| *byte == b'=').ok_or_else(bad)?;
        let (key, value) = (&record[..equals], &record[equals + 1..]);
        match key {
            b"path" => said.path = Some(value.to_vec()),
            b"linkpath" => said.link = Some(value.to_vec()),
            b"size" => said.size = Some(number(value).ok_or_else(bad)?),
            b"mtime" => said.mtime = Some(time(value).ok_or_else(bad)?),
            key if key.starts_with(b"GNU.sparse.") => said.sparse = true,
            key => {
                let attribute = key.strip_prefix(b"SCHILY.xattr.").or_else(|| key.strip_prefix(b"LIBARCHIVE.xattr."));
                said.attributes.extend(attribute.map(<[u8]>::to_vec));
            }
        }
    }
    Ok(())
}

fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()
}

/// `1700000000.123`, with a sign for what is older than 1970.
fn time(text: &[u8]) -> Option<(i64, i64)> {
    let text = std::str::from_utf8(text).ok()?;
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits: String = fraction.chars().chain(std::iter::repeat('0')).take(9).collect();
    Some((seconds.parse().ok()?, digits.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::super::tarmaker::Tar;
    use super::*;

    fn all(bytes: &[u8]) -> Result<Vec<(String, Kind, u64)>, TarError> {
        let mut entries = Entries::new(bytes, &Limits::default(), 100);
        let mut seen = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            let size = io::copy(&mut entries, &mut io::sink())?;
            seen.push((String::from_utf8(entry.path).unwrap(), entry.kind, size));
        }
        Ok(seen)
    }

    #[test]
    fn long_names_of_both_kinds_are_read_whole() {
        let long = "d/".repeat(100) + &"n".repeat(200);
        let tar = Tar::new().gnu_long(&long, b"1").pax(&[("path", long.as_bytes())]).file("short", b"22").done();
        let seen = all(&tar).unwrap();
        assert_eq!(seen, [(long.clone(), Kind::File, 1), (long, Kind::File, 2)]);
    }

    #[test]
    fn a_size_that_only_pax_says_is_believed() {
        let mut tar = Tar::new().pax(&[("size", b"3")]).file("a", b"").done();
        // The data follows the header that claims to have none, where the end would be.
        tar.truncate(tar.len() - 1024);
        tar.extend(b"abc");
        tar.resize(tar.len().next_multiple_of(512), 0);
        tar.extend(Tar::new().file("b", b"x").done());
        assert_eq!(all(&tar).unwrap(), [("a".into(), Kind::File, 3), ("b".into(), Kind::File, 1)]);
    }

    #[test]
    fn attribute_values_may_hold_line_ends() {
        let tar = Tar::new().pax(&[("SCHILY.xattr.security.capability", b"\x01\n\n=\x02 5")]).file("ping", b"").done();
        let entry = Entries::new(&tar[..], &Limits::default(), 9).next_entry().unwrap().unwrap();
        assert_eq!(entry.attributes, [b"security.capability"]);
    }

    #[test]
    fn sparse_files_are_refused_by_name() {
        for tar in [
            Tar::new().pax(&[("GNU.sparse.major", b"1")]).file("s", b"").done(),
            Tar::new().typed("s", b'S', b"").done(),
        ] {
            assert!(all(&tar).unwrap_err().to_string().contains("\"s\" is a sparse file"));
        }
    }

    #[test]
    fn what_is_broken_is_refused_and_never_guessed() {
        let good = Tar::new().file("a", &[7; 1000]).done();
        assert!(matches!(all(&good[..700]), Err(TarError::Truncated)));
        assert!(matches!(all(&good[..100]), Err(TarError::Truncated)));
        let mut flipped = good.clone();
        flipped[3] ^= 1;
        assert!(matches!(all(&flipped), Err(TarError::Malformed(_))));
        let huge = Tar::new().claiming("x", b'L', 1 << 40).done();
        assert!(all(&huge).unwrap_err().to_string().contains("1 MiB"));
        let huge = Tar::new().claiming("x", b'x', 1 << 33).done();
        assert!(all(&huge).unwrap_err().to_string().contains("1 MiB"));
        let nul = Tar::new().pax(&[("path", b"a\0b")]).file("x", b"").done();
        assert!(all(&nul).unwrap_err().to_string().contains("NUL"));
        for pax in [&b"5 a\n"[..], b"999 a=b\n", b"a=b", b"0 a=b\n", b"18446744073709551616 a=b\n"] {
            assert!(all(&Tar::new().typed("x", b'x', pax).file("y", b"").done()).is_err(), "{pax:?}");
        }
    }

    #[test]
    fn a_size_beyond_all_numbers_is_one_that_is_cut_off() {
        let tar = Tar::new().pax(&[("size", u64::MAX.to_string().as_bytes())]).file("a", b"x").done();
        let mut entries = Entries::new(&tar[..], &Limits::default(), 9);
        entries.next_entry().unwrap();
        assert!(matches!(entries.next_entry(), Err(TarError::Truncated)));
    }

    #[test]
    fn entries_are_counted_and_those_about_others_too() {
        let tar = Tar::new().pax(&[("path", b"a")]).file("x", b"").file("b", b"").done();
        let mut entries = Entries::new(&tar[..], &Limits::default(), 2);
        assert!(entries.next_entry().unwrap().is_some());
        assert!(matches!(entries.next_entry(), Err(TarError::TooMany(_))));
    }

    proptest::proptest! {
        #[test]
        fn noise_is_never_a_panic(noise in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..3000)) {
            let _ = all(&noise);
            let _ = parse_pax(&noise, &mut Extensions::default());
        }
    }
}
