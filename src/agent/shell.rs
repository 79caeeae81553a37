//! Words for a shell.

/// One word, whatever it holds. Where nothing needs it, no quotes are put, for those who read the line.
pub fn quote(word: &str) -> String {
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@%,".contains(&byte);
    if !word.is_empty() && word.bytes().all(harmless) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        for word in ["plain/path-1.2", "a b", "it's", "", "$HOME;`id`\n\"\\", "'''", "é*?[~#"] {
            let line = format!("printf %s {}", quote(word));
            let output = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
        }
        assert_eq!(quote("plain/path-1.2"), "plain/path-1.2");
    }
}
