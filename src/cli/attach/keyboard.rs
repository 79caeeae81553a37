//! What is typed at the outer terminal: text for the program inside, the key that detaches, and what must not be taken
//! for it.

use super::key::DetachKey;

/// Begins and ends a bracketed paste; the outer terminal always sends them, the program inside may not want them.
const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// No key or mouse event is longer; what goes on beyond it is passed on as it is.
const SEQUENCE_BYTES_MAX: usize = 64;

/// What follows from something typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// For the program.
    Send(Vec<u8>),
    /// The detach key, for the first time: the same again within a moment means the key itself.
    Asked,
    /// The detach key stood alone.
    Leave,
}

/// What the program inside has asked for, and which part of its screen is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    pub bracketed_paste: bool,
    /// Rows and columns of the session that are shown.
    pub rows: usize,
    pub cols: usize,
    /// The first row and column that are shown.
    pub row: usize,
    pub col: usize,
}

/// Reads what is typed, in any portions.
#[derive(Debug)]
pub struct Keyboard {
    key: Option<DetachKey>,
    in_paste: bool,
    /// The program wants to know about this paste.
    paste_is_marked: bool,
    /// The beginning of a sequence whose end has not come yet.
    held: Vec<u8>,
    asked: bool,
}

impl Keyboard {
    pub fn new(key: Option<DetachKey>) -> Self {
        Self { key, in_paste: false, paste_is_marked: false, held: Vec::new(), asked: false }
    }

    /// Whether the beginning of a sequence waits for its end, and may wait in vain. That of a paste comes for certain.
    pub fn holds(&self) -> bool {
        !self.held.is_empty() && !self.in_paste
    }

    /// The end did not come: it was no sequence.
    pub fn release(&mut self) -> Vec<Act> {
        let held = std::mem::take(&mut self.held);
        let mut acts = Vec::new();
        self.send(&mut acts, &held);
        acts
    }

    /// Whether the detach key was pressed once and nothing since.
    pub fn is_asked(&self) -> bool {
        self.asked
    }

    pub fn read(&mut self, typed: &[u8], manner: Manner) -> Vec<Act> {
        let mut bytes = std::mem::take(&mut self.held);
        bytes.extend_from_slice(typed);
        let mut acts = Vec::new();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            rest = if self.in_paste { self.pasted(rest, &mut acts) } else { self.pressed(rest, manner, &mut acts) };
        }
        acts
    }

    /// Within a paste nothing is a key.
    fn pasted<'a>(&mut self, bytes: &'a [u8], acts: &mut Vec<Act>) -> &'a [u8] {
        let end = bytes.windows(PASTE_ENDS.len()).position(|window| window == PASTE_ENDS);
        if let Some(end) = end {
            self.in_paste = false;
            let shown = if self.paste_is_marked { end + PASTE_ENDS.len() } else { end };
            self.send(acts, &bytes[..shown]);
            return &bytes[end + PASTE_ENDS.len()..];
        }
        // The end may be on its way.
        let begun = (1..PASTE_ENDS.len()).rev().find(|len| bytes.ends_with(&PASTE_ENDS[..*len])).unwrap_or(0);
        let (whole, held) = bytes.split_at(bytes.len() - begun);
        self.send(acts, whole);
        self.held = held.to_vec();
        &[]
    }

    fn pressed<'a>(&mut self, bytes: &'a [u8], manner: Manner, acts: &mut Vec<Act>) -> &'a [u8] {
        if bytes == b"\x1b" {
            // A key by itself, or the beginning of one; the next moment will tell.
            self.held = bytes.to_vec();
            return &[];
        }
        if bytes.starts_with(b"\x1b[") {
            let Some(len) = csi_len(bytes) else {
                if bytes.len() < SEQUENCE_BYTES_MAX {
                    self.held = bytes.to_vec();
                } else {
                    self.send(acts, bytes);
                }
                return &[];
            };
            let (sequence, after) = bytes.split_at(len);
            self.sequence(sequence, manner, acts);
            return after;
        }
        // Escape with what is read together with it is one key: alt, or a function key.
        let len = match bytes {
            [0x1b, b'O', _, ..] => 3,
            [0x1b, _, ..] => 2,
            _ => 1 + bytes[1..].iter().position(|byte| self.ends_text(*byte)).unwrap_or(bytes.len() - 1),
        };
        let len = if self.ends_text(bytes[0]) && bytes[0] != 0x1b { 1 } else { len };
        let (key, after) = bytes.split_at(len);
        if self.key.as_ref().is_some_and(|detach| detach.is(key)) {
            self.detach_key(acts);
        } else {
            self.send(acts, key);
        }
        after
    }

    /// Whether a run of plain text ends before this byte.
    fn ends_text(&self, byte: u8) -> bool {
        byte == 0x1b || self.key.as_ref().is_some_and(|key| key.begins_with(byte))
    }

    fn sequence(&mut self, sequence: &[u8], manner: Manner, acts: &mut Vec<Act>) {
        if sequence == PASTE_BEGINS {
            self.in_paste = true;
            self.paste_is_marked = manner.bracketed_paste;
            if manner.bracketed_paste {
                self.send(acts, sequence);
            }
        } else if self.key.as_ref().is_some_and(|key| key.is_released_by(sequence)) {
            // The end of a press that was for us.
        } else if self.key.as_ref().is_some_and(|key| key.is(sequence)) {
            self.detach_key(acts);
        } else if let Some(mouse) = Mouse::read(sequence) {
            if let Some(moved) = mouse.within(manner) {
                self.send(acts, &moved);
            }
        } else {
            self.send(acts, sequence);
        }
    }

    fn detach_key(&mut self, acts: &mut Vec<Act>) {
        if std::mem::take(&mut self.asked) {
            acts.extend(self.key.as_ref().map(|key| Act::Send(key.bytes().to_vec())));
        } else {
            self.asked = true;
            acts.push(Act::Asked);
        }
    }

    /// Anything but the key itself after the key means that it was meant to detach.
    fn send(&mut self, acts: &mut Vec<Act>, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if self.asked {
            acts.push(Act::Leave);
        } else if let Some(Act::Send(before)) = acts.last_mut() {
            before.extend_from_slice(bytes);
        } else {
            acts.push(Act::Send(bytes.to_vec()));
        }
    }
}

/// How long the control sequence is that `bytes` begins with; `None` if its end has not come.
fn csi_len(bytes: &[u8]) -> Option<usize> {
    let end = bytes[2..].iter().position(|byte| !(b' '..=b'?').contains(byte))?;
    Some(2 + end + 1)
}

/// A mouse event in SGR form: `CSI < button ; col ; row M`.
struct Mouse<'a> {
    button: &'a str,
    col: usize,
    row: usize,
    action: char,
}

impl<'a> Mouse<'a> {
    fn read(sequence: &'a [u8]) -> Option<Self> {
        let text = str::from_utf8(sequence).ok()?.strip_prefix("\x1b[<")?;
        let (body, action) = text.split_at_checked(text.len().checked_sub(1)?)?;
        let mut parts = body.split(';');
        let (button, col, row) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let action = action.chars().next().filter(|action| matches!(action, 'M' | 'm'))?;
        Some(Self { button, col, row, action })
    }

    /// Where it is on the session's screen; `None` beside it.
    fn within(&self, manner: Manner) -> Option<Vec<u8>> {
        if self.row > manner.rows || self.col > manner.cols {
            return None;
        }
        let (col, row) = (self.col + manner.col, self.row + manner.row);
        Some(format!("\x1b[<{};{col};{row}{}", self.button, self.action).into_bytes())
    }
}

#[cfg(test)]
mod tests;
