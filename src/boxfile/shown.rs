//! Text of strangers as it can be shown on a terminal.
//!
//! A repository chooses what stands in its coop.toml. What is printed of it before it is trusted must neither move the
//! cursor nor show something other than what will be done.

use std::fmt::Write;

/// The text with every character that is not seen for what it is written as an escape.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if is_deceptive(character) {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
        } else {
            out.push(character);
        }
    }
    out
}

/// Control characters steer a terminal; the others are invisible or turn the order of what stands beside them.
fn is_deceptive(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_or_hides_is_shown_as_it_is() {
        assert_eq!(shown("echo \u{1b}[2K\rok"), "echo \\u{1b}[2K\\u{d}ok");
        assert_eq!(shown("a\u{202e}b\u{200b}c\n"), "a\\u{202e}b\\u{200b}c\\u{a}");
        assert_eq!(shown("grün 日本 e\u{301} 🐔"), "grün 日本 e\u{301} 🐔");
    }
}
