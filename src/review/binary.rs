//! Two versions of a file that is no text, in the form in which `git apply` takes them: whole, both ways.

use std::io::{self, Write};

use flate2::{Compression, write::ZlibEncoder};

/// Git's own digits: other alphabets of base 85 have quotes and commas.
const DIGITS: &[u8; 85] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

/// A line begins with a letter for the number of bytes in it: `A` to `Z` for up to 26, `a` to `z` for the rest.
const LINE_BYTES: usize = 52;

/// There is no version where a file is added or deleted; git then takes it for an empty one.
pub(super) fn write(out: &mut impl Write, before: &[u8], after: &[u8]) -> io::Result<()> {
    out.write_all(b"GIT binary patch\n")?;
    literal(out, after)?;
    literal(out, before)
}

fn literal(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    writeln!(out, "literal {}", bytes.len())?;
    // As git does it: nobody keeps a patch for long.
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes)?;
    for chunk in encoder.finish()?.chunks(LINE_BYTES) {
        out.write_all(&line(chunk))?;
    }
    out.write_all(b"\n")
}

fn line(chunk: &[u8]) -> Vec<u8> {
    // At most 52, so that it has a letter.
    let count = u8::try_from(chunk.len()).unwrap_or_default();
    let mut line = vec![if count <= 26 { b'A' - 1 + count } else { b'a' - 27 + count }];
    for four in chunk.chunks(4) {
        let mut padded = [0; 4];
        padded[..four.len()].copy_from_slice(four);
        let number = u32::from_be_bytes(padded);
        let digits = [85_u32.pow(4), 85_u32.pow(3), 85_u32.pow(2), 85, 1];
        line.extend(digits.map(|worth| DIGITS[(number / worth % 85) as usize]));
    }
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_its_length_and_has_five_digits_for_four_bytes() {
        assert_eq!(line(&[0]), b"A00000\n");
        assert_eq!(line(&[0xff; 4]), b"D|NsC0\n");
        assert_eq!(line(&[0; 27])[0], b'a');
        assert_eq!(line(&[0; LINE_BYTES]).len(), 1 + LINE_BYTES / 4 * 5 + 1);
        assert_eq!(line(&[0; LINE_BYTES])[0], b'z');
    }
}
