//! Key names become the bytes a keyboard would send, as xterm encodes them.

use super::modes::Modes;

/// How much of an unknown name an error repeats.
const NAME_SHOWN_BYTES_MAX: usize = 40;

/// A name that stands for no key, or for a combination that the legacy encoding cannot express.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.told())]
pub struct UnknownKey {
    name: String,
    /// The key alone would have been one.
    is_combination: bool,
}

impl UnknownKey {
    fn told(&self) -> String {
        let name = &self.name;
        if self.is_combination {
            return format!(
                "{name:?} is a combination that terminals have no code for: try the key alone, or with alt-"
            );
        }
        format!(
            "unknown key {name:?}: try enter, escape, tab, backspace, delete, up, page-up, home, f5, ctrl-c, alt-x, \
             shift-tab or a single character; text is typed by `coop input`"
        )
    }
}

/// The bytes for a key such as `enter`, `ctrl-c`, `alt-x`, `shift-up`, `f5` or `é`. Names are case-insensitive;
/// a single character keeps its case.
pub fn encode_key(name: &str, modes: &Modes) -> Result<Vec<u8>, UnknownKey> {
    let (modifiers, bare) = split_modifiers(name);
    let key = Key::named(bare);
    let bytes = key.and_then(|key| key.encode(modifiers, modes.application_cursor));
    let name = || super::cut(name, NAME_SHOWN_BYTES_MAX).to_owned();
    bytes.ok_or_else(|| UnknownKey { name: name(), is_combination: key.is_some() })
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Modifiers {
    shift: bool,
    alt: bool,
    ctrl: bool,
}

impl Modifiers {
    /// xterm's number for the combination; 1 for none.
    fn code(self) -> u8 {
        1 + u8::from(self.shift) + 2 * u8::from(self.alt) + 4 * u8::from(self.ctrl)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Key {
    Char(char),
    Enter,
    Tab,
    BackTab,
    Escape,
    Backspace,
    /// Arrows, home and end: `CSI letter`.
    Cursor(char),
    /// F1 to F4: `SS3 letter`.
    Function(char),
    /// `CSI number ~`
    Numbered(u8),
    /// F13 to F24 are what terminfo's xterm entry says: shift with F1 to F12.
    Shifted(u8),
}

fn split_modifiers(name: &str) -> (Modifiers, &str) {
    // The single letters are tmux's.
    const WORDS: [(&str, char); 8] = [
        ("ctrl", 'c'),
        ("control", 'c'),
        ("c", 'c'),
        ("alt", 'a'),
        ("meta", 'a'),
        ("m", 'a'),
        ("shift", 's'),
        ("s", 's'),
    ];
    let mut modifiers = Modifiers::default();
    let mut rest = name;
    loop {
        let word = WORDS.iter().find_map(|(word, which)| {
            let (head, tail) = rest.split_at_checked(word.len())?;
            let key = tail.strip_prefix(['-', '+']).filter(|key| !key.is_empty())?;
            head.eq_ignore_ascii_case(word).then_some((*which, key))
        });
        let caret = || rest.strip_prefix('^').filter(|key| key.chars().count() == 1).map(|key| ('c', key));
        let Some((which, key)) = word.or_else(caret) else {
            return (modifiers, rest);
        };
        match which {
            'c' => modifiers.ctrl = true,
            'a' => modifiers.alt = true,
            _ => modifiers.shift = true,
        }
        rest = key;
    }
}

impl Key {
    fn named(name: &str) -> Option<Key> {
        let mut chars = name.chars();
        if let (Some(ch), None) = (chars.next(), chars.next()) {
            // Control characters have names of their own; a line feed in particular is no Enter.
            return (!ch.is_control()).then_some(Key::Char(ch));
        }
        let name = name.to_ascii_lowercase().replace(['-', '_'], "");
        Some(match name.as_str() {
            "enter" | "return" => Key::Enter,
            "tab" => Key::Tab,
            "backtab" | "btab" => Key::BackTab,
            "escape" | "esc" => Key::Escape,
            "space" => Key::Char(' '),
            "backspace" | "bspace" => Key::Backspace,
            "up" => Key::Cursor('A'),
            "down" => Key::Cursor('B'),
            "right" => Key::Cursor('C'),
            "left" => Key::Cursor('D'),
            "end" => Key::Cursor('F'),
            "home" => Key::Cursor('H'),
            "insert" | "ins" | "ic" => Key::Numbered(2),
            "delete" | "del" | "dc" => Key::Numbered(3),
            "pageup" | "pgup" | "ppage" => Key::Numbered(5),
            "pagedown" | "pgdown" | "pgdn" | "npage" => Key::Numbered(6),
            _ => return Key::function(name.strip_prefix('f')?.parse().ok()?),
        })
    }

    fn function(number: u8) -> Option<Key> {
        Some(match number {
            1 => Key::Function('P'),
            2 => Key::Function('Q'),
            3 => Key::Function('R'),
            4 => Key::Function('S'),
            5 => Key::Numbered(15),
            6..=10 => Key::Numbered(11 + number),
            11..=12 => Key::Numbered(12 + number),
            13..=24 => Key::Shifted(number - 12),
            _ => return None,
        })
    }

    fn encode(self, modifiers: Modifiers, application_cursor: bool) -> Option<Vec<u8>> {
        let code = modifiers.code();
        let sequence = match self {
            Key::Char(ch) => return encode_char(ch, modifiers),
            Key::Enter => return with_alt(modifiers, "\r", None),
            Key::Escape => return with_alt(modifiers, "\x1b", None),
            Key::Tab if modifiers.shift => return Key::BackTab.encode(Modifiers { shift: false, ..modifiers }, false),
            Key::Tab => return with_alt(modifiers, "\t", None),
            Key::BackTab => return with_alt(modifiers, "\x1b[Z", None),
            Key::Backspace => return with_alt(Modifiers { shift: false, ..modifiers }, "\x7f", Some("\x08")),
            Key::Cursor(letter) if code == 1 && application_cursor => format!("\x1bO{letter}"),
            Key::Cursor(letter) if code == 1 => format!("\x1b[{letter}"),
            Key::Function(letter) if code == 1 => format!("\x1bO{letter}"),
            Key::Cursor(letter) | Key::Function(letter) => format!("\x1b[1;{code}{letter}"),
            Key::Numbered(number) if code == 1 => format!("\x1b[{number}~"),
            Key::Numbered(number) => format!("\x1b[{number};{code}~"),
            Key::Shifted(number) => {
                return Key::function(number)?.encode(Modifiers { shift: true, ..modifiers }, false);
            }
        };
        Some(sequence.into_bytes())
    }
}

/// Keys of one code: alt puts ESC before it; shift and ctrl exist only where the key has a code for them.
fn with_alt(modifiers: Modifiers, plain: &str, ctrl: Option<&str>) -> Option<Vec<u8>> {
    let code = if modifiers.ctrl { ctrl? } else { plain };
    let escape = if modifiers.alt { "\x1b" } else { "" };
    (!modifiers.shift).then(|| [escape, code].concat().into_bytes())
}

fn encode_char(ch: char, modifiers: Modifiers) -> Option<Vec<u8>> {
    let typed = match (modifiers.ctrl, modifiers.shift) {
        (true, _) => char::from(control_code(ch)?).to_string(),
        (false, true) if ch.is_alphabetic() => ch.to_uppercase().to_string(),
        // Which character shift makes of the others depends on the keyboard; the space bar stays itself.
        (false, true) if ch != ' ' => return None,
        _ => ch.to_string(),
    };
    with_alt(Modifiers { alt: modifiers.alt, ..Modifiers::default() }, &typed, None)
}

/// What ctrl makes of a character.
fn control_code(ch: char) -> Option<u8> {
    Some(match ch {
        'a'..='z' | 'A'..='Z' | '[' | '\\' | ']' | '^' | '_' => ch as u8 & 0x1f,
        ' ' | '@' => 0,
        '/' => 0x1f,
        '?' => 0x7f,
        _ => return None,
    })
}
