//! What a hardcopy and `info` say of a window.

use crate::child::Size;

/// Stands for what a hardcopy does not say.
const UNKNOWN: char = '\u{fffd}';

/// The second half of a wide character.
const SECOND_HALF: u8 = 0xff;

/// Reads `(11,3)/(80,24)+1024 +flow UTF-8 0(bash)`: size, and the cursor from 0.
pub fn info(text: &str) -> Option<(Size, (u16, u16))> {
    let pair = |text: &str| {
        let (first, second) = text.split_once(',')?;
        Some((first.trim().parse::<u16>().ok()?, second.trim().parse::<u16>().ok()?))
    };
    let text = text.get(text.find('(')? + 1..)?;
    let (cursor, rest) = text.split_once(")/(")?;
    let (col, row) = pair(cursor)?;
    let (cols, rows) = pair(rest.split_once(')')?.0)?;
    let size = Size::new(cols.into(), rows.into()).ok()?;
    // A cursor that waits behind the last column is told to be there.
    Some((size, (col.saturating_sub(1).min(cols - 1), row.saturating_sub(1).min(rows - 1))))
}

/// The rows of a hardcopy. Newer versions write UTF-8; older ones a byte for each cell.
pub fn rows(text: &[u8]) -> Vec<Vec<u8>> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let lines = text.split(|byte| *byte == b'\n');
    match std::str::from_utf8(text) {
        Ok(_) => lines.map(|line| readable(String::from_utf8_lossy(line).chars())).collect(),
        Err(_) => lines.map(|line| readable(cells(line).into_iter())).collect(),
    }
}

fn readable(chars: impl Iterator<Item = char>) -> Vec<u8> {
    let shown = chars.map(|char| if char.is_control() { UNKNOWN } else { char });
    shown.collect::<String>().into_bytes()
}

fn cells(line: &[u8]) -> Vec<char> {
    let mut chars = Vec::with_capacity(line.len());
    for byte in line {
        match *byte {
            // Of the first half only the lowest byte was written, which says nothing.
            SECOND_HALF => {
                chars.pop();
                chars.extend([UNKNOWN, UNKNOWN]);
            }
            byte => chars.push(char::from(byte)),
        }
    }
    chars
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Vec<String> {
        rows(bytes).into_iter().map(|row| String::from_utf8(row).unwrap()).collect()
    }

    #[test]
    fn info_tells_size_and_cursor() {
        let size = Size::new(80, 24).unwrap();
        assert_eq!(info("(11,3)/(80,24)+1024 +(+)flow UTF-8 0(bash)"), Some((size, (10, 2))));
        assert_eq!(info("(81,24)/(80,24) 0(a)"), Some((size, (79, 23))));
        for bad in ["", "No screen session found.", "(1,2)", "(a,b)/(c,d)", "(1,1)/(0,0)"] {
            assert_eq!(info(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_hardcopy_keeps_its_columns() {
        // As screen 4.09.00 writes `é 日本 ─`.
        assert_eq!(
            text(b"$ ls\n\xe9 \xe5\xff,\xff \x00x\n\n"),
            ["$ ls", "é \u{fffd}\u{fffd}\u{fffd}\u{fffd} \u{fffd}x", ""]
        );
        assert_eq!(text("é 日\nb\n".as_bytes()), ["é 日", "b"]);
        assert_eq!(text(b"\x1b[31mred\n"), ["\u{fffd}[31mred"]);
    }
}
