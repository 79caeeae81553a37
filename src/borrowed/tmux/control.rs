//! What tmux says in control mode: lines that begin with `%`, and the answers to commands between `%begin` and `%end`.

/// A longer line is cut. A screen of a thousand columns with a colour in each cell takes some 40 KB.
const LINE_BYTES_MAX: usize = 1024 * 1024;

/// An answer that is longer is cut: a large screen and its history take a few megabytes.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Something that tmux said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A pane printed this.
    Output { pane: String, bytes: Vec<u8> },
    /// The answer to a command; one that this client did not send is not `ours`.
    Answer { ours: bool, good: bool, lines: Vec<Vec<u8>> },
    /// Something changed: the word after `%`, and the rest of the line.
    Notice { word: String, rest: String },
    /// This client is told to leave, perhaps with a reason.
    Exit(String),
}

/// Puts lines together from what comes in any pieces.
#[derive(Debug, Default)]
pub struct Parser {
    line: Vec<u8>,
    answer: Option<Block>,
}

#[derive(Debug)]
struct Block {
    /// Time, number and flags, which stand in its last line too: a line of a screen may look like an end.
    mark: String,
    lines: Vec<Vec<u8>>,
    bytes: usize,
}

impl Parser {
    pub fn push(&mut self, mut bytes: &[u8], said: &mut Vec<Said>) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.extend(&bytes[..end]);
            let line = std::mem::take(&mut self.line);
            said.extend(self.line(line.strip_suffix(b"\r").unwrap_or(&line)));
            bytes = &bytes[end + 1..];
        }
        self.extend(bytes);
    }

    fn extend(&mut self, bytes: &[u8]) {
        let room = LINE_BYTES_MAX.saturating_sub(self.line.len());
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn line(&mut self, line: &[u8]) -> Option<Said> {
        if let Some(block) = &mut self.answer {
            let ends = |word: &[u8]| line.strip_prefix(word).is_some_and(|mark| mark == block.mark.as_bytes());
            let (good, bad) = (ends(b"%end "), ends(b"%error "));
            if good || bad {
                let ours = block.mark.ends_with(" 1");
                let lines = self.answer.take().map(|block| block.lines).unwrap_or_default();
                return Some(Said::Answer { ours, good, lines });
            }
            if block.bytes + line.len() <= ANSWER_BYTES_MAX {
                block.bytes += line.len();
                block.lines.push(line.to_vec());
            }
            return None;
        }
        let line = line.strip_prefix(b"%")?;
        let space = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
        let (word, rest) = (&line[..space], line.get(space + 1..).unwrap_or_default());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match word {
            b"output" => {
                let (pane, data) = split(rest);
                Some(Said::Output { pane: text(pane), bytes: unescape(data) })
            }
            // The same with how late it is, after a colon.
            b"extended-output" => {
                let (pane, rest) = split(rest);
                let data = rest.windows(3).position(|three| three == b" : ").map_or(rest, |at| &rest[at + 3..]);
                Some(Said::Output { pane: text(pane), bytes: unescape(data) })
            }
            b"begin" => {
                self.answer = Some(Block { mark: text(rest), lines: Vec::new(), bytes: 0 });
                None
            }
            b"exit" => Some(Said::Exit(text(rest))),
            _ => Some(Said::Notice { word: text(word), rest: text(rest) }),
        }
    }
}

fn split(rest: &[u8]) -> (&[u8], &[u8]) {
    let space = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
    (&rest[..space], rest.get(space + 1..).unwrap_or_default())
}

/// `\033` is one byte; tmux writes controls and the backslash so.
fn unescape(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len());
    let mut rest = data;
    while let Some((first, after)) = rest.split_first() {
        let byte = (*first == b'\\').then(|| after.get(..3).and_then(octal)).flatten();
        out.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[3..] } else { after };
    }
    out
}

fn octal(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| (b'0'..=b'7').contains(&byte).then(|| u16::from(byte - b'0'));
    let number = digits.iter().try_fold(0, |number, byte| Some(number * 8 + digit(*byte)?))?;
    u8::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(text: &[u8]) -> Vec<Said> {
        let mut said = Vec::new();
        Parser::default().push(text, &mut said);
        said
    }

    fn output(bytes: &[u8]) -> Said {
        Said::Output { pane: "%0".to_owned(), bytes: bytes.to_vec() }
    }

    // As tmux 3.3a says it.
    const RECORDED: &[u8] = b"%begin 1794840060 264 0\n%end 1794840060 264 0\n%session-changed $0 main\n\
        %begin 1794840060 271 1\nbash-5.2# \n%end 1794840060 999 1\n\n%end 1794840060 271 1\n\
        %output %0 echo \xc3\xa9\"'\\134\\134\\015\\012\\033[?2004l\\015> \n\
        %begin 1794840062 276 1\ninvalid option: foo\n%error 1794840062 276 1\n\
        %layout-change @0 9f9d,50x10,0,0,0 9f9d,50x10,0,0,0 *\n%exit server exited\n";

    #[test]
    fn everything_that_tmux_says_is_understood() {
        let notice = |word: &str, rest: &str| Said::Notice { word: word.to_owned(), rest: rest.to_owned() };
        let lines = |lines: &[&str]| lines.iter().map(|line| line.as_bytes().to_vec()).collect();
        let expected = [
            Said::Answer { ours: false, good: true, lines: Vec::new() },
            notice("session-changed", "$0 main"),
            Said::Answer { ours: true, good: true, lines: lines(&["bash-5.2# ", "%end 1794840060 999 1", ""]) },
            output("echo é\"'\\\\\r\n\x1b[?2004l\r> ".as_bytes()),
            Said::Answer { ours: true, good: false, lines: lines(&["invalid option: foo"]) },
            notice("layout-change", "@0 9f9d,50x10,0,0,0 9f9d,50x10,0,0,0 *"),
            Said::Exit("server exited".to_owned()),
        ];
        assert_eq!(all(RECORDED), expected);
    }

    #[test]
    fn delayed_output_is_output() {
        assert_eq!(all(b"%extended-output %0 12 : a : b\\033\n"), [output(b"a : b\x1b")]);
    }

    #[test]
    fn what_is_no_escape_stays_as_it_is() {
        for (text, bytes) in [("\\0", "\\0"), ("\\", "\\"), ("\\08x", "\\08x"), ("\\1341", "\\1"), ("\\777", "\\777")] {
            assert_eq!(unescape(text.as_bytes()), bytes.as_bytes(), "{text}");
        }
    }

    #[test]
    fn a_line_without_end_takes_no_memory_without_end() {
        let mut parser = Parser::default();
        let mut said = Vec::new();
        for _ in 0..40 {
            parser.push(&[b'x'; 65_536], &mut said);
        }
        assert_eq!(parser.line.len(), LINE_BYTES_MAX);
        parser.push(b"\n%exit\n", &mut said);
        assert_eq!(said, [Said::Exit(String::new())]);
    }

    fn escape(bytes: &[u8]) -> Vec<u8> {
        let escaped = |byte: &u8| match byte {
            0..32 | b'\\' => format!("\\{byte:03o}").into_bytes(),
            byte => vec![*byte],
        };
        bytes.iter().flat_map(escaped).collect()
    }

    proptest! {
        #[test]
        fn any_split_of_the_stream_says_the_same(cuts in prop::collection::vec(0..RECORDED.len(), 0..20)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let (mut parser, mut said, mut from) = (Parser::default(), Vec::new(), 0);
            for to in cuts.into_iter().chain([RECORDED.len()]) {
                parser.push(&RECORDED[from..to], &mut said);
                from = to;
            }
            prop_assert_eq!(said, all(RECORDED));
        }

        #[test]
        fn every_byte_comes_back(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let line = [b"%output %0 ", &escape(&bytes)[..], b"\n"].concat();
            prop_assert_eq!(all(&line), vec![output(&bytes)]);
        }

        #[test]
        fn nothing_that_comes_can_break_it(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            all(&bytes);
        }
    }
}
