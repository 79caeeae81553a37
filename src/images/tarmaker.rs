//! Tarballs for tests, also such as no honest tool makes.

use tar::{EntryType, Header};

#[derive(Clone, Default)]
pub(super) struct Tar(Vec<u8>);

impl Tar {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn done(mut self) -> Vec<u8> {
        self.0.resize(self.0.len() + 1024, 0);
        self.0
    }

    fn push(mut self, name: &str, kind: u8, (mode, link): (u32, &str), size: u64, data: &[u8]) -> Self {
        let mut header = Header::new_gnu();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.as_mut_bytes()[157..157 + link.len()].copy_from_slice(link.as_bytes());
        header.set_entry_type(EntryType::new(kind));
        header.set_mode(mode);
        header.set_size(size);
        header.set_mtime(1_700_000_000);
        header.set_uid(0);
        header.set_gid(0);
        header.set_cksum();
        self.0.extend(header.as_bytes());
        self.0.extend(data);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    pub(super) fn file(self, name: &str, data: &[u8]) -> Self {
        self.push(name, b'0', (0o644, ""), data.len() as u64, data)
    }

    pub(super) fn file_with_mode(self, name: &str, mode: u32) -> Self {
        self.push(name, b'0', (mode, ""), 0, b"")
    }

    pub(super) fn dir(self, name: &str, mode: u32) -> Self {
        self.push(name, b'5', (mode, ""), 0, b"")
    }

    pub(super) fn symlink(self, name: &str, target: &str) -> Self {
        self.push(name, b'2', (0o777, target), 0, b"")
    }

    pub(super) fn hardlink(self, name: &str, target: &str) -> Self {
        self.push(name, b'1', (0o644, target), 0, b"")
    }

    /// An entry of any type.
    pub(super) fn typed(self, name: &str, kind: u8, data: &[u8]) -> Self {
        self.push(name, kind, (0o644, ""), data.len() as u64, data)
    }

    /// An entry that says it has more data than there is.
    pub(super) fn claiming(self, name: &str, kind: u8, size: u64) -> Self {
        self.push(name, kind, (0o644, ""), size, b"")
    }

    pub(super) fn gnu_long(self, name: &str, data: &[u8]) -> Self {
        let mut long = name.as_bytes().to_vec();
        long.push(0);
        self.typed("././@LongLink", b'L', &long).file("cut", data)
    }

    /// Attributes of the entry that follows.
    pub(super) fn pax(self, records: &[(&str, &[u8])]) -> Self {
        let mut data = Vec::new();
        for (key, value) in records {
            let rest = key.len() + value.len() + 3;
            // The length counts its own digits.
            let length = (1..).map(|digits| rest + digits).find(|n| n.to_string().len() == n - rest).unwrap();
            data.extend(format!("{length} {key}=").as_bytes());
            data.extend(*value);
            data.push(b'\n');
        }
        self.typed("pax", b'x', &data)
    }
}
