//! Bytes as words of screen's `stuff`, which takes `^` and `\` for the beginning of something else and `$` for a variable.

/// Longer words are not typed at all by 4.09, which says nothing about it; 720 are, 760 are not.
const WORD_CHARS_MAX: usize = 700;

/// The words that type these bytes, one after the other.
pub fn words(bytes: &[u8]) -> Vec<String> {
    let mut words = vec![String::new()];
    for byte in bytes {
        let written = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b' ' => char::from(*byte).to_string(),
            // Digits too: one after an octal number must not become a part of it.
            byte => format!("\\{byte:03o}"),
        };
        match words.last_mut() {
            Some(word) if word.len() + written.len() <= WORD_CHARS_MAX => word.push_str(&written),
            _ => words.push(written),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_letters_stand_for_themselves() {
        assert_eq!(words(b"a ^\\$1\r"), ["a \\136\\134\\044\\061\\015"]);
        assert_eq!(words("é".as_bytes()), ["\\303\\251"]);
        assert!(words(b"").is_empty());
    }

    #[test]
    fn long_input_is_several_words() {
        let words = words(&[b'\n'; 1000]);
        assert!(words.len() > 5 && words.iter().all(|word| word.len() <= WORD_CHARS_MAX));
        assert_eq!(words.concat(), "\\012".repeat(1000));
    }
}
