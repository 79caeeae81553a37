//! The key that detaches, by coop's names for keys, in every way a terminal may send it.

use crate::terminal::{Modes, encode_key};

/// A key and what a terminal sends for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetachKey {
    name: String,
    /// In the legacy encoding.
    bytes: Vec<u8>,
    /// The character with ctrl that it stands for, as newer encodings name it.
    ctrl: Option<u32>,
}

impl DetachKey {
    /// Reads a name; `none` for no key at all.
    pub fn parse(name: &str) -> Result<Option<Self>, String> {
        if name.eq_ignore_ascii_case("none") {
            return Ok(None);
        }
        let bytes = encode_key(name, &Modes::default()).map_err(|error| error.to_string())?;
        if bytes.first().is_none_or(|byte| *byte >= b' ' && *byte != 0x7f)
            || matches!(bytes[..], [0x1b | b'\r' | b'\t'])
        {
            return Err(format!("{name} is typed too often to detach by it: use one such as ctrl-], ctrl-b or f12"));
        }
        let ctrl = match bytes[..] {
            [byte @ 1..=26] => Some(u32::from(byte | 0x60)),
            [byte @ 27..=31] => Some(u32::from(byte | 0x40)),
            _ => None,
        };
        Ok(Some(Self { name: name.to_ascii_lowercase(), bytes, ctrl }))
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether a terminal that sends one byte for it sends this one.
    pub fn begins_with(&self, byte: u8) -> bool {
        self.bytes.len() == 1 && self.bytes[0] == byte
    }

    /// Whether this is the key, pressed or repeated.
    pub fn is(&self, typed: &[u8]) -> bool {
        typed == self.bytes || self.event(typed).is_some_and(|event| event != RELEASED)
    }

    pub fn is_released_by(&self, typed: &[u8]) -> bool {
        self.event(typed) == Some(RELEASED)
    }

    /// The kind of event, if it is one of this key in kitty's encoding or by xterm's modifyOtherKeys.
    fn event(&self, typed: &[u8]) -> Option<u32> {
        let body = str::from_utf8(typed).ok()?.strip_prefix("\x1b[")?;
        let number = |text: Option<&str>| text.and_then(|text| text.parse::<u32>().ok());
        let (code, modifiers, event) = if let Some(body) = body.strip_suffix('u') {
            let mut fields = body.split(';');
            let code = number(fields.next()?.split(':').next())?;
            let mut second = fields.next().unwrap_or("1").split(':');
            (code, number(second.next())?, number(second.next()).unwrap_or(1))
        } else {
            let (modifiers, code) = body.strip_suffix('~')?.strip_prefix("27;")?.split_once(';')?;
            (code.parse().ok()?, modifiers.parse().ok()?, 1)
        };
        let held = modifiers.checked_sub(1)? & !LOCKS;
        (Some(code) == self.ctrl && held == CTRL).then_some(event)
    }
}

/// In kitty's encoding.
const RELEASED: u32 = 3;
const CTRL: u32 = 4;
/// Caps lock and num lock.
const LOCKS: u32 = 64 | 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_by_coops_names_and_those_that_are_typed_all_the_time_are_refused() {
        assert_eq!(DetachKey::parse("Ctrl-]").unwrap().unwrap().bytes(), b"\x1d");
        assert_eq!(DetachKey::parse("ctrl-b").unwrap().unwrap().name(), "ctrl-b");
        assert_eq!(DetachKey::parse("none"), Ok(None));
        assert!(DetachKey::parse("ctrl-nonsense").unwrap_err().contains("unknown key"));
        for common in ["a", "é", "space", "enter", "escape", "tab"] {
            assert!(DetachKey::parse(common).unwrap_err().contains("too often"), "{common}");
        }
    }
}
