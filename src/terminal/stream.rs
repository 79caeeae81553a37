//! Divides the child's text into plain runs and escape sequences.
//!
//! avt's own parser decides where a sequence ends, so that what is drawn and what is watched cannot disagree.

use avt::parser::{Function, State};

/// How much of a sequence is kept for the watcher. Longer ones (images, clipboards) hold nothing it needs.
const SEQUENCE_BYTES_MAX: usize = 8 * 1024;

const ESC: char = '\x1b';
const DEL: char = '\x7f';
/// ST as one character: it ends a string, all other characters of its block begin something new.
const ST: char = '\u{9c}';

/// The next thing in the stream.
#[derive(Debug)]
pub enum Step<'a> {
    /// Printable characters and the plainest controls: see `plain_function`.
    Plain(&'a str),
    /// Something that changes the cells.
    Function(Function),
    /// The text of a finished sequence that may mean something beyond the cells.
    Sequence(&'a str),
    Bell,
}

/// What `Step::Plain` does to the cells, character by character.
pub fn plain_function(ch: char) -> Function {
    match ch {
        '\x08' => Function::Bs,
        '\t' => Function::Ht,
        '\n' => Function::Lf,
        '\r' => Function::Cr,
        ch => Function::Print(ch),
    }
}

/// Reads text in any portions.
#[derive(Debug, Default)]
pub struct Stream {
    parser: avt::Parser,
    /// The beginning of a sequence that earlier portions left unfinished.
    begun: String,
    /// `begun` has reached its limit, and takes no more.
    begun_is_full: bool,
}

impl Stream {
    pub fn read(&mut self, text: &str, mut sink: impl FnMut(Step<'_>)) {
        let mut rest = text;
        while !rest.is_empty() {
            if self.parser.state == State::Ground {
                let (plain, after) = rest.split_at(plain_len(rest.as_bytes()));
                if !plain.is_empty() {
                    sink(Step::Plain(plain));
                }
                rest = after;
            }
            rest = self.read_sequence(rest, &mut sink);
        }
    }

    /// A sequence of which the end has not arrived.
    pub fn begun(&self) -> &str {
        &self.begun
    }

    /// Reads up to the end of a sequence; returns what comes after it.
    fn read_sequence<'a>(&mut self, text: &'a str, sink: &mut impl FnMut(Step<'_>)) -> &'a str {
        let mut begin = 0;
        for (at, ch) in text.char_indices() {
            let before = self.parser.state;
            if ch == ESC || (('\u{80}'..='\u{9f}').contains(&ch) && ch != ST) {
                if ch == ESC && before == State::OscString {
                    sink(Step::Sequence(self.complete(&text[begin..at])));
                }
                self.forget();
                begin = at;
            }
            // Real terminals ignore DEL; avt would draw it.
            let function = self.parser.feed(ch).filter(|function| !matches!(function, Function::Print(DEL)));
            let watched = function.as_ref().is_none_or(goes_beyond_cells);
            if let Some(function) = function {
                sink(Step::Function(function));
            }
            if self.parser.state == State::Ground {
                let (sequence, after) = text.split_at(at + ch.len_utf8());
                if before == State::Ground && ch == '\x07' {
                    sink(Step::Bell);
                } else if watched {
                    sink(Step::Sequence(self.complete(&sequence[begin..])));
                }
                self.forget();
                return after;
            }
        }
        self.keep(&text[begin..]);
        ""
    }

    /// The whole sequence that ends with `end`.
    fn complete<'a>(&'a mut self, end: &'a str) -> &'a str {
        if self.begun.is_empty() {
            return super::cut(end, SEQUENCE_BYTES_MAX);
        }
        self.keep(end);
        &self.begun
    }

    fn keep(&mut self, part: &str) {
        if !self.begun_is_full {
            let fitting = super::cut(part, SEQUENCE_BYTES_MAX - self.begun.len());
            self.begun.push_str(fitting);
            self.begun_is_full = fitting.len() < part.len();
        }
    }

    fn forget(&mut self) {
        self.begun.clear();
        self.begun_is_full = false;
    }
}

/// Whether a function that avt knows switches something that avt does not keep, too.
fn goes_beyond_cells(function: &Function) -> bool {
    matches!(function, Function::Decset(_) | Function::Decrst(_) | Function::Decstr | Function::Ris)
}

/// How many bytes at the beginning need no parser: `plain_function` says what they do.
fn plain_len(text: &[u8]) -> usize {
    let mut len = 0;
    while let Some(found) = text[len..].iter().position(|byte| !PLAIN[usize::from(*byte)]) {
        len += found;
        // 0xC2 begins both the C1 controls, up to U+009F, and the plain characters above them.
        if text[len] != 0xc2 || text.get(len + 1).is_some_and(|next| *next < 0xa0) {
            return len;
        }
        len += 1;
    }
    text.len()
}

const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0x20;
    while byte < 256 {
        plain[byte] = byte != 0x7f && byte != 0xc2;
        byte += 1;
    }
    plain[0x08] = true;
    plain[b'\t' as usize] = true;
    plain[b'\n' as usize] = true;
    plain[b'\r' as usize] = true;
    plain
};

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(pieces: &[&str]) -> Vec<String> {
        let (mut stream, mut steps) = (Stream::default(), Vec::new());
        for piece in pieces {
            stream.read(piece, |step| steps.push(format!("{step:?}")));
        }
        steps
    }

    #[test]
    fn plain_text_passes_in_one_run() {
        assert_eq!(steps(&["one\r\n\ttwo ü « 日本"]), [r#"Plain("one\r\n\ttwo ü « 日本")"#]);
    }

    #[test]
    fn a_sequence_is_whole_however_it_arrives() {
        let whole = steps(&["\x1b]0;title\x1b\\"]);
        assert_eq!(whole, [r#"Sequence("\u{1b}]0;title")"#, r#"Sequence("\u{1b}\\")"#]);
        assert_eq!(steps(&["\x1b]0;ti", "tle", "\x1b", "\\"]), whole);
    }

    #[test]
    fn a_new_sequence_drops_the_one_it_interrupts() {
        assert_eq!(steps(&["\x1b[?2\x1b[6n"]), [r#"Sequence("\u{1b}[6n")"#]);
        assert_eq!(steps(&["\x1b[?2", "\u{9b}6n"]), [r#"Sequence("\u{9b}6n")"#]);
    }

    #[test]
    fn one_character_introducers_are_told_from_the_plain_characters_beside_them() {
        assert_eq!(steps(&["«\u{a0}\u{9b}6n»"]), [r#"Plain("«\u{a0}")"#, r#"Sequence("\u{9b}6n")"#, r#"Plain("»")"#]);
    }

    #[test]
    fn an_endless_sequence_takes_bounded_memory_and_keeps_its_beginning() {
        let mut stream = Stream::default();
        stream.read("\x1b]9;", |_| {});
        for _ in 0..10_000 {
            stream.read("日本", |_| {});
        }
        assert!(stream.begun().len() <= SEQUENCE_BYTES_MAX);
        let mut seen = Vec::new();
        stream.read("\x07x", |step| seen.push(format!("{step:?}")));
        assert!(seen[0].starts_with(r#"Sequence("\u{1b}]9;日本"#), "{seen:?}");
        assert_eq!(seen[1], r#"Plain("x")"#);
    }

    #[test]
    fn bells_ring_only_outside_of_sequences() {
        assert_eq!(steps(&["\x07\x1b]2;t\x07"]), ["Bell".to_owned(), r#"Sequence("\u{1b}]2;t\u{7}")"#.to_owned()]);
    }

    #[test]
    fn delete_characters_draw_nothing() {
        assert!(!steps(&["a\x7fb"]).iter().any(|step| step.contains("Print")));
    }
}
