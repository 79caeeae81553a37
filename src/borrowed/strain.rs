//! Takes out of a pane's output what is between the program and tmux alone: questions, which tmux has answered, so that
//! a second answer would be typed into the program; and `ESC k`, which names a window and would be shown as text.
//! A sequence that has only begun is held back, so that a picture can be painted in between.

/// A sequence that is longer is passed on as it comes: no question is that long.
const HELD_BYTES_MAX: usize = 256;

#[derive(Debug, Default)]
pub struct Strainer {
    /// A sequence, or a character, that has begun.
    held: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    /// After `ESC` and an intermediate, such as that which chooses a character set.
    Intermediate,
    Csi,
    /// OSC, DCS and their like, up to their end; `k` for tmux's own name of a window.
    String {
        kind: u8,
        escaped: bool,
    },
    /// The same, too long to be held: all of it passes.
    Passing {
        escaped: bool,
    },
    /// A character of several bytes, of which so many are missing.
    Character {
        missing: u8,
    },
}

impl Strainer {
    /// What of this is for everybody.
    pub fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len() + self.held.len());
        for byte in bytes {
            self.step(*byte, &mut out);
        }
        out
    }

    fn step(&mut self, byte: u8, out: &mut Vec<u8>) {
        match self.state {
            State::Ground => self.begin(byte, out),
            State::Character { missing } if byte & 0xc0 == 0x80 => {
                self.held.push(byte);
                match missing {
                    1 => self.release(out),
                    missing => self.state = State::Character { missing: missing - 1 },
                }
            }
            State::Character { .. } => {
                self.release(out);
                self.begin(byte, out);
            }
            State::Passing { escaped } => {
                out.push(byte);
                self.state = match byte {
                    0x07 | 0x18 | 0x1a => State::Ground,
                    b'\\' if escaped => State::Ground,
                    byte => State::Passing { escaped: byte == 0x1b },
                };
            }
            // CAN and SUB end a sequence without effect.
            _ if matches!(byte, 0x18 | 0x1a) => {
                self.held.push(byte);
                self.release(out);
            }
            State::Escape => {
                self.held.push(byte);
                match byte {
                    b'[' => self.state = State::Csi,
                    b']' | b'P' | b'X' | b'^' | b'_' | b'k' => {
                        self.state = State::String { kind: byte, escaped: false };
                    }
                    b' '..=b'/' => self.state = State::Intermediate,
                    0x1b => {
                        // The one before it came to nothing.
                        self.held.pop();
                        self.release(out);
                        self.begin(byte, out);
                    }
                    // DECID, which asks like DA.
                    b'Z' => self.drop_held(),
                    _ => self.release(out),
                }
            }
            State::Intermediate => {
                self.held.push(byte);
                if !(b' '..=b'/').contains(&byte) {
                    self.release(out);
                }
            }
            State::Csi => {
                self.held.push(byte);
                match byte {
                    b'@'..=b'~' if is_question(&self.held[2..]) => self.drop_held(),
                    b'@'..=b'~' => self.release(out),
                    0x1b => {
                        self.held.pop();
                        self.release(out);
                        self.begin(byte, out);
                    }
                    _ if self.held.len() > HELD_BYTES_MAX => self.release(out),
                    _ => {}
                }
            }
            State::String { kind, escaped } => {
                self.held.push(byte);
                let ends = byte == 0x07 && kind != b'k' || byte == b'\\' && escaped;
                match ends {
                    true if kind == b'k' || is_string_question(kind, &self.held[2..]) => self.drop_held(),
                    true => self.release(out),
                    // A name that long is not shown either.
                    false if self.held.len() > HELD_BYTES_MAX && kind == b'k' => {
                        self.held.truncate(2);
                        self.state = State::String { kind, escaped: byte == 0x1b };
                    }
                    false if self.held.len() > HELD_BYTES_MAX => {
                        self.release(out);
                        self.state = State::Passing { escaped: byte == 0x1b };
                    }
                    false => self.state = State::String { kind, escaped: byte == 0x1b },
                }
            }
        }
    }

    fn begin(&mut self, byte: u8, out: &mut Vec<u8>) {
        let missing = match byte {
            0xc2..=0xdf => 1,
            0xe0..=0xef => 2,
            0xf0..=0xf4 => 3,
            _ => 0,
        };
        self.state = match byte {
            0x1b => State::Escape,
            _ if missing > 0 => State::Character { missing },
            _ => {
                self.state = State::Ground;
                return out.push(byte);
            }
        };
        self.held.push(byte);
    }

    fn release(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.held);
        self.state = State::Ground;
    }

    fn drop_held(&mut self) {
        self.held.clear();
        self.state = State::Ground;
    }
}

/// What follows `ESC [`, its last byte included, asks for an answer: DSR, DA, XTVERSION, DECRQM, window reports, and
/// the kitty keyboard's.
fn is_question(body: &[u8]) -> bool {
    let Some((action, before)) = body.split_last() else { return false };
    match action {
        b'n' => !before.starts_with(b">"),
        b'c' => true,
        b'q' => before.starts_with(b">"),
        b'p' => before.ends_with(b"$"),
        b'u' => before == b"?",
        b't' => matches!(before, b"11" | b"13" | b"14" | b"15" | b"16" | b"18" | b"19" | b"20" | b"21"),
        _ => false,
    }
}

/// A command that asks: a colour or the clipboard (OSC … ?), or a setting (DECRQSS, XTGETTCAP).
fn is_string_question(kind: u8, body: &[u8]) -> bool {
    let text = body.strip_suffix(b"\x07").or_else(|| body.strip_suffix(b"\x1b\\")).unwrap_or(body);
    match kind {
        b']' => text.ends_with(b";?"),
        b'P' => text.starts_with(b"$q") || text.starts_with(b"+q"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn strained(bytes: &str) -> String {
        String::from_utf8(Strainer::default().pass(bytes.as_bytes())).unwrap()
    }

    #[test]
    fn questions_do_not_pass() {
        for question in [
            "\x1b[6n",
            "\x1b[5n",
            "\x1b[?6n",
            "\x1b[c",
            "\x1b[0c",
            "\x1b[>c",
            "\x1b[=c",
            "\x1b[>0q",
            "\x1b[?2026$p",
            "\x1b[?u",
            "\x1b[18t",
            "\x1b]11;?\x07",
            "\x1b]10;?\x1b\\",
            "\x1b]4;1;?\x07",
            "\x1bP+q544e\x1b\\",
            "\x1bP$qm\x1b\\",
            "\x1bZ",
            "\x1bkname\x1b\\",
        ] {
            assert_eq!(strained(&format!("a{question}b")), "ab", "{question:?}");
        }
    }

    #[test]
    fn all_else_passes() {
        for text in [
            "plain é 日本 🙂\r\n",
            "\x1b[1;31mred\x1b[0m",
            "\x1b[?1049h\x1b[2J",
            "\x1b]2;title\x07",
            "\x1b]0;t\x1b\\",
            "\x1b(B\x1b)0\x1b=\x1b>\x1b7\x1b8\x1bM",
            "\x1b[2 q\x1b[>4;1m\x1b[4h",
            "\x1b]8;;http://x\x07link\x1b]8;;\x07",
            "\x1b[22;0t\x1b[u\x1b[s",
            "\x1b\x1b[m",
            "\x1b[1\x18x",
        ] {
            assert_eq!(strained(text), text, "{text:?}");
        }
        let long = format!("\x1bPq{}\x1b\\end", "#0!9~".repeat(1000));
        assert_eq!(strained(&long), long);
        assert_eq!(strained(&format!("a\x1bk{}\x1b\\b", "x".repeat(5000))), "ab");
    }

    #[test]
    fn what_has_only_begun_is_held_back() {
        let mut strainer = Strainer::default();
        assert_eq!(strainer.pass(b"a\x1b[3"), b"a");
        assert_eq!(strainer.pass(b"1m\xe6\x97"), b"\x1b[31m");
        assert_eq!(strainer.pass(b"\xa5b"), "日b".as_bytes());
    }

    fn piece() -> impl Strategy<Value = Vec<u8>> {
        let known = prop::sample::select(vec![
            &b"\x1b[6n"[..],
            b"\x1b[31m",
            b"\x1bkx\x1b\\",
            b"\x1b]11;?\x07",
            b"\xe6\x97\xa5",
            b"\x1b",
            b"\xff",
            b"text",
        ]);
        prop_oneof![known.prop_map(<[u8]>::to_vec), prop::collection::vec(any::<u8>(), 0..8)]
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same(pieces in prop::collection::vec(piece(), 0..20), at in any::<prop::sample::Index>()) {
            let all = pieces.concat();
            let (first, second) = all.split_at(at.index(all.len() + 1));
            let mut strainer = Strainer::default();
            let mut split = strainer.pass(first);
            split.extend(strainer.pass(second));
            prop_assert_eq!(split, Strainer::default().pass(&all));
        }
    }
}
