//! Bytes that arrive in pieces become lines, whatever the pieces are.

/// The longest line that is kept; the largest that agents write hold a pasted image or a tool's whole output and stay
/// below a few MiB.
pub const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// One finished line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub content: Content,
    /// Where the next line begins, in bytes from the beginning of the file.
    pub offset_after: u64,
}

/// What a line holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// The line without its newline; bytes that are not UTF-8 are replaced, in this line only.
    Text(String),
    /// The line was longer than the limit and is left out.
    TooLong { bytes: u64 },
}

/// Cuts a stream of bytes into lines and holds the unfinished rest, in bounded memory.
#[derive(Debug)]
pub struct Splitter {
    line_bytes_max: usize,
    /// The last line as far as it has come; empty when it is already too long.
    begun: Vec<u8>,
    /// How long the last line is so far.
    begun_bytes: u64,
    /// Where the last line begins.
    offset: u64,
}

impl Line {
    /// Its text, unless it was too long to keep.
    pub fn text(&self) -> Option<&str> {
        if let Content::Text(text) = &self.content { Some(text) } else { None }
    }
}

impl Splitter {
    /// A splitter whose first byte is the one at `offset` of the file.
    pub fn new(offset: u64) -> Self {
        Self::with_limit(offset, LINE_BYTES_MAX)
    }

    fn with_limit(offset: u64, line_bytes_max: usize) -> Self {
        Self { line_bytes_max, begun: Vec::new(), begun_bytes: 0, offset }
    }

    /// Where the first line begins that is not finished: a reader that goes on from here loses nothing.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Where the next byte of the file belongs.
    pub fn position(&self) -> u64 {
        self.offset + self.begun_bytes
    }

    /// Takes the next bytes and adds the lines that they finish.
    pub fn push(&mut self, bytes: &[u8], lines: &mut Vec<Line>) {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            match piece.strip_suffix(b"\n") {
                None => self.extend(piece),
                Some(end) => {
                    self.extend(end);
                    lines.push(self.finish());
                }
            }
        }
    }

    fn extend(&mut self, piece: &[u8]) {
        self.begun_bytes += piece.len() as u64;
        if self.is_too_long() {
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(piece);
        }
    }

    fn finish(&mut self) -> Line {
        let content = if self.is_too_long() {
            Content::TooLong { bytes: self.begun_bytes }
        } else {
            let begun = std::mem::take(&mut self.begun);
            Content::Text(
                String::from_utf8(begun).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()),
            )
        };
        self.offset += self.begun_bytes + 1;
        self.begun_bytes = 0;
        Line { content, offset_after: self.offset }
    }

    fn is_too_long(&self) -> bool {
        self.begun_bytes > self.line_bytes_max as u64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(pieces: &[&[u8]], line_bytes_max: usize) -> (Vec<Line>, Splitter) {
        let mut splitter = Splitter::with_limit(0, line_bytes_max);
        let mut lines = Vec::new();
        for piece in pieces {
            splitter.push(piece, &mut lines);
        }
        (lines, splitter)
    }

    fn texts(lines: &[Line]) -> Vec<&str> {
        lines.iter().filter_map(Line::text).collect()
    }

    #[test]
    fn an_unfinished_line_waits_for_its_newline() {
        let (lines, splitter) = split(&[b"one\ntw"], 100);
        assert_eq!(texts(&lines), ["one"]);
        assert_eq!((splitter.offset(), splitter.position()), (4, 6));
        let (lines, _) = split(&[b"one\ntw", b"o\n"], 100);
        assert_eq!(texts(&lines), ["one", "two"]);
    }

    #[test]
    fn a_character_cut_between_two_pieces_is_whole() {
        let (lines, _) = split(&[b"\xe6\xbc", b"\xa2\n"], 100);
        assert_eq!(texts(&lines), ["漢"]);
    }

    #[test]
    fn bytes_that_are_no_text_spoil_only_their_own_line() {
        let (lines, _) = split(&[b"good\nb\xffd\nalso good\n"], 100);
        assert_eq!(texts(&lines), ["good", "b\u{fffd}d", "also good"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_told_and_not_held() {
        let (lines, splitter) = split(&[b"ab\n", &[b'x'; 60], &[b'x'; 60]], 100);
        assert_eq!(texts(&lines), ["ab"]);
        assert_eq!(splitter.begun.capacity(), 0, "nothing of it stays in memory");
        let (lines, splitter) = split(&[b"ab\n", &[b'x'; 60], &[b'x'; 60], b"\ncd\n"], 100);
        assert_eq!(lines[1].content, Content::TooLong { bytes: 120 });
        assert_eq!(texts(&lines), ["ab", "cd"]);
        assert_eq!(splitter.offset(), 3 + 121 + 3);
    }

    proptest! {
        #[test]
        fn any_pieces_of_any_bytes_give_the_same_lines(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..300),
            cuts in proptest::collection::vec(0usize..300, 0..12),
        ) {
            let (whole, _) = split(&[&bytes], 20);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.push(bytes.len());
            cuts.sort_unstable();
            let mut from = 0;
            let pieces: Vec<&[u8]> = cuts.iter().map(|&cut| &bytes[std::mem::replace(&mut from, cut)..cut]).collect();
            let (lines, splitter) = split(&pieces, 20);
            prop_assert_eq!(&lines, &whole);
            prop_assert_eq!(splitter.position(), bytes.len() as u64);
            prop_assert_eq!(lines.len(), bytes.iter().filter(|&&byte| byte == b'\n').count());
        }
    }
}
