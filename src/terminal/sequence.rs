//! Takes one finished escape sequence apart; deciding where it ends is the emulator's parser's part.

/// An escape sequence that may matter beyond the cells.
#[derive(Debug, PartialEq)]
pub enum Sequence<'a> {
    Csi(Csi),
    Osc(Osc<'a>),
    /// `ESC` and this one character.
    Esc(char),
}

/// A control sequence, such as `CSI ? 25 h`.
#[derive(Debug, PartialEq)]
pub struct Csi {
    /// The private marker, one of `<=>?`, or NUL.
    pub marker: char,
    params: Vec<u16>,
    /// The last intermediate, such as `$`, or NUL.
    pub intermediate: char,
    pub action: char,
}

/// An operating system command: a number, then text after the first semicolon.
#[derive(Debug, PartialEq)]
pub struct Osc<'a> {
    pub code: u32,
    pub text: &'a str,
    /// Ended by BEL instead of ST; a reply should end the same way.
    pub by_bell: bool,
}

impl Csi {
    /// The parameter at `index`, or 0 where it was left out.
    pub fn param(&self, index: usize) -> u16 {
        self.params.get(index).copied().unwrap_or(0)
    }

    pub fn params(&self) -> &[u16] {
        &self.params
    }
}

/// Reads `raw`, which begins with its introducer; `None` for what is cut short, cancelled or of no interest.
pub fn read(raw: &str) -> Option<Sequence<'_>> {
    let mut chars = raw.chars();
    let kind = match chars.next()? {
        // Control characters after it act on their own and are no part of the sequence.
        '\x1b' => chars.find(|c| !c.is_control())?,
        // The 8-bit introducers are the 7-bit ones moved up by 0x40.
        c1 => char::from(u8::try_from(u32::from(c1)).ok()?.checked_sub(0x40)?),
    };
    match kind {
        '[' => read_csi(chars.as_str()).map(Sequence::Csi),
        ']' => read_osc(chars.as_str()).map(Sequence::Osc),
        _ if chars.as_str().is_empty() => Some(Sequence::Esc(kind)),
        _ => None,
    }
}

/// CAN and SUB end a sequence without effect.
const CANCELS: [char; 2] = ['\x18', '\x1a'];

/// More parameters than any sequence in use has; the rest is ignored.
const PARAMS_MAX: usize = 32;

fn read_csi(body: &str) -> Option<Csi> {
    let mut csi = Csi { marker: '\0', params: Vec::new(), intermediate: '\0', action: '\0' };
    // After a colon come sub-parameters, which nothing watched here uses.
    let mut skipping = false;
    for ch in body.chars() {
        match ch {
            '0'..='9' | ';' if csi.params.is_empty() => csi.params.push(0),
            _ => {}
        }
        match ch {
            '0'..='9' if skipping => {}
            digit @ '0'..='9' => {
                let param = csi.params.last_mut()?;
                *param = param.saturating_mul(10).saturating_add(digit as u16 - '0' as u16);
            }
            ';' if csi.params.len() < PARAMS_MAX => {
                csi.params.push(0);
                skipping = false;
            }
            ':' | ';' => skipping = true,
            marker @ '<'..='?' => csi.marker = marker,
            intermediate @ ' '..='/' => csi.intermediate = intermediate,
            '@'..='~' => {
                csi.action = ch;
                return Some(csi);
            }
            control if control.is_ascii_control() && !CANCELS.contains(&control) => {}
            _ => return None,
        }
    }
    None
}

fn read_osc(body: &str) -> Option<Osc<'_>> {
    if body.ends_with(CANCELS) {
        return None;
    }
    let by_bell = body.ends_with('\x07');
    let body = body.trim_end_matches(['\x07', '\u{9c}']);
    let (code, text) = body.split_once(';').unwrap_or((body, ""));
    Some(Osc { code: code.parse().ok()?, text, by_bell })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csi(raw: &str) -> Option<(char, Vec<u16>, char, char)> {
        match read(raw)? {
            Sequence::Csi(csi) => Some((csi.marker, csi.params, csi.intermediate, csi.action)),
            _ => None,
        }
    }

    #[test]
    fn control_sequences_come_apart() {
        assert_eq!(csi("\x1b[c"), Some(('\0', vec![], '\0', 'c')));
        assert_eq!(csi("\x1b[?25;;1049h"), Some(('?', vec![25, 0, 1049], '\0', 'h')));
        assert_eq!(csi("\u{9b}>4;2m"), Some(('>', vec![4, 2], '\0', 'm')));
        assert_eq!(csi("\x1b[?2026$p"), Some(('?', vec![2026], '$', 'p')));
        assert_eq!(csi("\x1b[2 q"), Some(('\0', vec![2], ' ', 'q')));
        assert_eq!(csi("\x1b[99999999;4:3m"), Some(('\0', vec![u16::MAX, 4], '\0', 'm')));
    }

    #[test]
    fn controls_inside_a_sequence_are_no_part_of_it_but_cancel_ends_it() {
        assert_eq!(csi("\x1b[?\n25h"), Some(('?', vec![25], '\0', 'h')));
        assert_eq!(csi("\x1b[?25\x18"), None);
        assert_eq!(csi("\x1b[?25é"), None);
    }

    #[test]
    fn commands_keep_their_text_and_how_they_ended() {
        let osc = |raw| match read(raw) {
            Some(Sequence::Osc(osc)) => Some((osc.code, osc.text, osc.by_bell)),
            _ => None,
        };
        assert_eq!(osc("\x1b]0;a;b\x07"), Some((0, "a;b", true)));
        assert_eq!(osc("\x1b]9;4;1;50"), Some((9, "4;1;50", false)));
        assert_eq!(osc("\u{9d}2;ü\u{9c}"), Some((2, "ü", false)));
        assert_eq!(osc("\x1b]104\x07"), Some((104, "", true)));
        assert_eq!(osc("\x1b]x;y\x07"), None);
        assert_eq!(osc("\x1b]0;half\x18"), None);
    }

    #[test]
    fn short_escapes_are_one_character() {
        assert_eq!(read("\x1b="), Some(Sequence::Esc('=')));
        assert_eq!(read("\x1b\nc"), Some(Sequence::Esc('c')));
        assert_eq!(read("\x1b(c"), None);
        assert_eq!(read("\x1b"), None);
        assert_eq!(read(""), None);
    }
}
