//! Names that nobody guesses, from the system's own source of randomness.

use std::fs::File;
use std::io::{self, Read};

/// A name of `2 * BYTES` hexadecimal digits.
pub fn hex<const BYTES: usize>() -> io::Result<String> {
    Ok(bytes::<BYTES>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A random UUID, as agents name their conversations.
pub fn uuid() -> io::Result<String> {
    let mut bytes = bytes::<16>()?;
    // Version 4, variant 1 of RFC 9562: some agents check them.
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    for at in [20, 16, 12, 8] {
        text.insert(at, '-');
    }
    Ok(text)
}

fn bytes<const BYTES: usize>() -> io::Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_has_its_shape_and_differs_from_the_next() {
        let uuid = uuid().unwrap();
        let parts: Vec<usize> = uuid.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert_eq!(uuid.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&uuid.as_bytes()[19]), "{uuid}");
        assert_ne!(uuid, super::uuid().unwrap());
        assert_eq!(hex::<8>().unwrap().len(), 16);
    }
}
