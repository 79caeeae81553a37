//! A shell that starts the agent and hands on what stands behind its script: `sh -c 'claude --model opus "$@"' _`.
//!
//! Orchestrators start agents so, in order that what coop adds at the end of the command reaches the agent.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Shells that take a script with `-c`, and the words behind it as `$0`, `$1` and so on.
const SHELLS: [&str; 7] = ["ash", "bash", "dash", "ksh", "mksh", "sh", "zsh"];

/// How a script hands its words on. Without quotes a path with a blank would fall apart.
const ALL_WORDS: [&str; 2] = ["\"$@\"", "\"${@}\""];

/// A shell that hands words on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapped {
    /// The agent's own command line, as far as the script tells it.
    pub agent: Vec<OsString>,
    /// Whether the first word behind the script is still missing; the shell takes it for its own name.
    pub lacks_name: bool,
}

/// What a shell starts, if this is one that hands words on.
pub fn wrapped(argv: &[OsString]) -> Option<Wrapped> {
    let shell = Path::new(argv.first()?).file_name()?.to_str()?;
    if !SHELLS.contains(&shell) {
        return None;
    }
    let at = argv.iter().position(|word| is_script_flag(word))? + 1;
    let script = argv.get(at)?.to_str()?;
    let behind = argv.get(at + 2..).unwrap_or_default();
    Some(Wrapped { agent: command(script, behind)?, lacks_name: argv.len() == at + 1 })
}

/// The words of the agent itself, whether or not a shell stands before them.
pub fn agents_words(argv: &[OsString]) -> Vec<OsString> {
    wrapped(argv).map_or_else(|| argv.to_vec(), |wrapped| wrapped.agent)
}

/// `-c`, also together with others, as in `-lc`.
fn is_script_flag(word: &OsStr) -> bool {
    let letters = word.to_str().and_then(|word| word.strip_prefix('-')).unwrap_or_default();
    letters.contains('c') && letters.chars().all(|letter| letter.is_ascii_alphabetic())
}

/// The command of the script to which the words are handed, with the known ones in their place.
fn command(script: &str, behind: &[OsString]) -> Option<Vec<OsString>> {
    let marker = ALL_WORDS.into_iter().find(|marker| script.contains(marker))?;
    let command = script.split(['\n', ';', '&', '|']).find(|part| part.contains(marker))?;
    let is_prefix = |word: &&str| *word == "exec" || word.split_once('=').is_some_and(|(name, _)| is_name(name));
    let mut words = Vec::new();
    for word in command.split_whitespace().skip_while(is_prefix) {
        match word {
            word if word == marker => words.extend_from_slice(behind),
            word => words.push(unquoted(word).into()),
        }
    }
    (!words.is_empty()).then_some(words)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Quotes around a whole word; others are left, because only options are looked for.
fn unquoted(word: &str) -> &str {
    let within = |quote: char| word.strip_prefix(quote).and_then(|word| word.strip_suffix(quote));
    within('"').or_else(|| within('\'')).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(argv: &[&str]) -> Option<String> {
        let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
        let words = wrapped(&argv)?.agent;
        Some(words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn the_agents_own_words_are_found_in_a_script_that_hands_words_on() {
        let skip = "claude --dangerously-skip-permissions";
        for argv in [
            &["bash", "-c", r#"claude --dangerously-skip-permissions "$@""#, "_"][..],
            &["/bin/sh", "-lc", r#"cd x && A=b exec claude '--dangerously-skip-permissions' "${@}"; echo over"#],
            &["zsh", "-l", "-c", r#"claude "$@""#, "_", "--dangerously-skip-permissions"],
        ] {
            assert_eq!(agent(argv).as_deref(), Some(skip), "{argv:?}");
        }
    }

    #[test]
    fn other_commands_are_left_alone() {
        for argv in [
            &["bash", "-c", "claude", "_"][..],
            &["bash", "-c", "claude $@", "_"],
            &["bash", "--norc", "script"],
            &["claude", "-c", r#""$@""#],
            &["bash", "-c"],
            &["bash", "-c", r#""$@""#, "_"],
            &[],
        ] {
            assert_eq!(agent(argv), None, "{argv:?}");
        }
    }

    #[test]
    fn a_shell_without_a_name_for_itself_is_noticed() {
        let lacks = |argv: &[&str]| {
            let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
            wrapped(&argv).unwrap().lacks_name
        };
        assert!(lacks(&["sh", "-c", r#"claude "$@""#]));
        assert!(!lacks(&["sh", "-c", r#"claude "$@""#, "_"]));
    }
}
