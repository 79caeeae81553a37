//! Names and lines as they are written into a diff: for git, which must read them back, or for eyes.

use std::{borrow::Cow, fmt::Write, os::unix::ffi::OsStrExt, path::Path};

/// A name with its prefix as git writes it: in quotes, with escapes, if a line or a terminal could misread it.
pub(super) fn name(prefix: &str, path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    let plain = std::str::from_utf8(bytes)
        .is_ok_and(|text| !text.chars().any(|c| c == '"' || c == '\\' || is_deceptive(c) || c == '\t' || c == '\n'));
    if plain {
        return format!("{prefix}{}", String::from_utf8_lossy(bytes));
    }
    let mut quoted = format!("\"{prefix}");
    for &byte in bytes {
        match byte {
            b'"' => quoted.push_str("\\\""),
            b'\\' => quoted.push_str("\\\\"),
            b'\t' => quoted.push_str("\\t"),
            b'\n' => quoted.push_str("\\n"),
            b'\r' => quoted.push_str("\\r"),
            b' '..=b'~' => quoted.push(char::from(byte)),
            // Writing into a string cannot fail.
            _ => _ = write!(quoted, "\\{byte:03o}"),
        }
    }
    quoted.push('"');
    quoted
}

/// A line of a file for a terminal: what would move the cursor, change colours or turn the direction of reading is
/// shown, not done. A file could hide its own changes from its reader otherwise.
pub(super) fn for_eyes(line: &[u8]) -> Cow<'_, [u8]> {
    let harmless = |text: &str| !text.chars().any(is_deceptive);
    if std::str::from_utf8(line).is_ok_and(harmless) {
        return Cow::Borrowed(line);
    }
    let mut shown = String::with_capacity(line.len() * 2);
    for chunk in line.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                c if !is_deceptive(c) => shown.push(c),
                // Caret notation: ^[ for escape, ^M for carriage return, ^? for delete.
                c if c.is_ascii() => shown.extend(['^', char::from(c as u8 ^ 0x40)]),
                c => _ = write!(shown, "<U+{:04X}>", u32::from(c)),
            }
        }
        for byte in chunk.invalid() {
            _ = write!(shown, "<{byte:02X}>");
        }
    }
    Cow::Owned(shown.into_bytes())
}

/// Controls other than tab and newline, and characters that reorder or hide others.
fn is_deceptive(c: char) -> bool {
    let reorders =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    reorders || c.is_control() && c != '\t' && c != '\n'
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn names_that_could_be_misread_are_quoted_as_git_does() {
        let quoted = |bytes: &[u8]| name("a/", Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(quoted(b"x y"), "a/x y");
        assert_eq!(quoted("für".as_bytes()), "a/für");
        assert_eq!(quoted(b"a\nb\t\"\\"), r#""a/a\nb\t\"\\""#);
        assert_eq!(quoted(b"\xff\x1b"), r#""a/\377\033""#);
    }

    #[test]
    fn a_line_cannot_hide_itself_from_its_reader() {
        assert_eq!(for_eyes("tab\tfür\n".as_bytes()), "tab\tfür\n".as_bytes());
        assert_eq!(for_eyes(b"a\x1b[2K\rb\n"), &b"a^[[2K^Mb\n"[..]);
        assert_eq!(for_eyes("x\u{202e}y\u{9b}".as_bytes()), "x<U+202E>y<U+009B>".as_bytes());
        assert_eq!(for_eyes(b"\xffok"), &b"<FF>ok"[..]);
    }
}
