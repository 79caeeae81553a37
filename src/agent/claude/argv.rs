//! What the arguments that Claude Code is started with ask for (2.1.197).

use std::ffi::OsString;

/// Flags of Claude whose value must not be taken for a flag or a word of its own; only those that matter here.
const WITH_VALUE: [&str; 2] = ["--output-format", "--session-id"];

/// Flags whose value may be left out.
const WITH_OPTIONAL_VALUE: [&str; 2] = ["--resume", "-r"];

/// Short flags without a value, which may stand in one word.
const CLUSTERED: &str = "cp";

/// One flag as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    pub name: String,
    pub value: Option<String>,
}

/// The flags in a command line, without its program: `--flag=value` and `--flag value` alike. What follows `--` is no
/// flag.
pub fn flags(arguments: &[OsString]) -> Vec<Flag> {
    let mut words = arguments.iter().map(|word| word.to_string_lossy()).take_while(|word| word != "--").peekable();
    let mut flags = Vec::new();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            continue;
        }
        if let Some((name, value)) = word.split_once('=').filter(|_| word.starts_with("--")) {
            flags.push(Flag { name: name.to_owned(), value: Some(value.to_owned()) });
            continue;
        }
        let takes = WITH_VALUE.contains(&&*word)
            || WITH_OPTIONAL_VALUE.contains(&&*word) && words.peek().is_some_and(|next| !next.starts_with('-'));
        let value = if takes { words.next().map(|value| value.into_owned()) } else { None };
        flags.push(Flag { name: word.into_owned(), value });
    }
    flags
}

/// Whether Claude will print its conversation as lines of JSON, without a user interface.
pub fn is_stream_json(arguments: &[OsString]) -> bool {
    let flags = flags(arguments);
    flags.iter().any(|flag| flag.is("--print", "-p"))
        && flags.iter().any(|flag| flag.name == "--output-format" && flag.value.as_deref() == Some("stream-json"))
}

/// The flags that already choose the conversation that Claude goes on with.
pub fn conversation_flags(arguments: &[OsString]) -> Vec<Flag> {
    let chooses = |flag: &Flag| {
        flag.is("--continue", "-c")
            || flag.is("--resume", "-r")
            || matches!(flag.name.as_str(), "--session-id" | "--fork-session")
    };
    flags(arguments).into_iter().filter(chooses).collect()
}

impl Flag {
    /// Whether it is the flag with these two names, possibly in one word with others, such as `-pc`.
    pub fn is(&self, long: &str, short: &str) -> bool {
        let letter = short.trim_start_matches('-');
        let is_cluster = self.name.len() > 2 && self.name[1..].chars().all(|c| CLUSTERED.contains(c));
        self.name == long || self.name == short || is_cluster && self.name.contains(letter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn a_printing_claude_is_known_by_two_flags_in_any_form() {
        for line in [
            "-p --output-format stream-json --verbose hello",
            "--print --output-format=stream-json",
            "--output-format=stream-json -p",
            "--output-format stream-json -cp hello",
        ] {
            assert!(is_stream_json(&words(line)), "{line}");
        }
        for line in [
            "",
            "-p hello",
            "-p --output-format json",
            "--output-format stream-json",
            "-- -p --output-format stream-json",
            "--output-format -p stream-json",
            "--output-format",
            "-p --input-format stream-json",
        ] {
            assert!(!is_stream_json(&words(line)), "{line}");
        }
    }

    #[test]
    fn flags_that_choose_a_conversation_are_known() {
        let names = |line| conversation_flags(&words(line)).into_iter().map(|flag| flag.name).collect::<Vec<_>>();
        assert_eq!(names("--resume x -c --model opus"), ["--resume", "-c"]);
        assert_eq!(names("-pc --fork-session --session-id=x"), ["-pc", "--fork-session", "--session-id"]);
        assert_eq!(names("-p --continue-not -- --resume"), [""; 0]);
    }

    #[test]
    fn a_flag_with_an_optional_value_takes_no_flag_for_it() {
        let flag = |name: &str, value: Option<&str>| Flag { name: name.to_owned(), value: value.map(str::to_owned) };
        assert_eq!(flags(&words("--resume --verbose")), [flag("--resume", None), flag("--verbose", None)]);
        assert_eq!(flags(&words("-r abc say")), [flag("-r", Some("abc"))]);
        assert_eq!(flags(&words("--resume=abc")), [flag("--resume", Some("abc"))]);
    }
}
