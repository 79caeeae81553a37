//! What a command line of Claude Code asks for, as far as coop must know it.
//!
//! Its options are those of the library commander: `--name value` or `--name=value`, not shortened, short flags
//! together as in `-pc`, and nothing after `--` is an option.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::agent::resume::is_session_id;

/// Options that choose a conversation.
const CHOOSE: [&str; 6] = ["--resume", "--continue", "--session-id", "--fork-session", "--from-pr", "--teleport"];

/// Those of them that take the next word for their value, unless it is an option.
const CHOOSE_BY_VALUE: [&str; 4] = ["--resume", "--session-id", "--from-pr", "--teleport"];

/// Options with which no hook runs.
const WITHOUT_HOOKS: [&str; 2] = ["--bare", "--safe-mode"];

/// Verbs, which know none of the options that stand before them (those of 2.1.197, and earlier ones).
const VERBS: [&str; 17] = [
    "agents",
    "auth",
    "auto-mode",
    "config",
    "doctor",
    "gateway",
    "install",
    "mcp",
    "migrate-installer",
    "plugin",
    "plugins",
    "project",
    "remote-control",
    "setup-token",
    "ultrareview",
    "update",
    "upgrade",
];

/// A command line, the program's name included.
pub struct Arguments<'a>(pub &'a [OsString]);

impl Arguments<'_> {
    /// The words that may be options.
    fn options(&self) -> &[OsString] {
        let all = self.0.get(1..).unwrap_or_default();
        let end = all.iter().position(|word| word == "--").unwrap_or(all.len());
        &all[..end]
    }

    /// Where more options can stand: at the end, but before `--`, and before a verb. A value that looks like a verb does
    /// no harm.
    pub fn place_for_more(&self) -> usize {
        let has_verb = self.options().iter().any(|word| VERBS.iter().any(|verb| word == verb));
        if has_verb { 1 } else { (self.options().len() + 1).min(self.0.len()) }
    }

    fn has(&self, names: &[&str]) -> bool {
        self.options().iter().any(|word| names.iter().any(|name| word == name || value_of(word, name).is_some()))
    }

    /// The last value of an option, which is the one that counts.
    fn value(&self, name: &str) -> Option<&OsStr> {
        let options = self.options();
        options.iter().enumerate().rev().find_map(|(at, word)| {
            let next = || options.get(at + 1).map(OsString::as_os_str).filter(|_| word == name);
            value_of(word, name).or_else(next)
        })
    }

    pub fn chooses_conversation(&self) -> bool {
        let short = |word: &OsString| word.to_str().is_some_and(|word| has_short(word, &['c', 'r']));
        self.has(&CHOOSE) || self.options().iter().any(short)
    }

    /// The conversation that this will be, if the words tell.
    pub fn conversation(&self) -> Option<String> {
        let name = if self.has(&["--session-id"]) {
            self.value("--session-id")
        } else if self.has(&["--fork-session"]) {
            None
        } else {
            self.value("--resume").or_else(|| self.value("-r"))
        };
        name?.to_str().filter(|name| is_session_id(name)).map(str::to_owned)
    }

    /// The same words without those that choose a conversation.
    pub fn without_conversation(&self) -> Vec<OsString> {
        let end = self.options().len() + 1;
        let mut kept = Vec::new();
        let mut words = self.0.iter().enumerate().peekable();
        while let Some((at, word)) = words.next() {
            if at == 0 || at >= end {
                kept.push(word.clone());
                continue;
            }
            let takes_next = match word.to_str() {
                Some(word) if CHOOSE.contains(&word) => CHOOSE_BY_VALUE.contains(&word),
                Some(word) if has_short(word, &['c', 'r']) => {
                    // `-p` may stand before it.
                    let (before, value) = word.split_at(word.find(['c', 'r']).unwrap_or(word.len()));
                    kept.extend((before.len() > 1).then(|| before.into()));
                    value == "r"
                }
                _ if CHOOSE.iter().any(|name| value_of(word, name).is_some()) => false,
                _ => {
                    kept.push(word.clone());
                    false
                }
            };
            if takes_next {
                words.next_if(|(at, next)| *at < end && !next.as_bytes().starts_with(b"-"));
            }
        }
        kept
    }

    /// The option that keeps all hooks from running, if there is one.
    pub fn without_hooks(&self) -> Option<&'static str> {
        WITHOUT_HOOKS.into_iter().find(|name| self.has(&[name]))
    }

    /// Whether Claude will print its conversation as lines of JSON, without a user interface.
    pub fn prints_jsonl(&self) -> bool {
        let print = |word: &OsString| word == "--print" || word.to_str().is_some_and(|word| has_short(word, &['p']));
        self.options().iter().any(print) && self.value("--output-format").is_some_and(|value| value == "stream-json")
    }

    /// Whether the user's own words ask for the mode without permissions.
    pub fn asks_for_bypass(&self) -> bool {
        self.has(&["--dangerously-skip-permissions"])
            || self.value("--permission-mode").is_some_and(|mode| mode == "bypassPermissions")
    }

    /// The user's own settings: a file or JSON.
    pub fn settings(&self) -> Option<&OsStr> {
        self.value("--settings")
    }

    /// The same words without any `--settings`.
    pub fn without_settings(&self) -> Vec<OsString> {
        let end = self.options().len() + 1;
        let mut kept = Vec::new();
        let mut words = self.0.iter().enumerate();
        while let Some((at, word)) = words.next() {
            let option = at > 0 && at < end;
            if option && word == "--settings" {
                words.next();
            } else if !(option && value_of(word, "--settings").is_some()) {
                kept.push(word.clone());
            }
        }
        kept
    }
}

/// The value in `--name=value`.
fn value_of<'a>(word: &'a OsStr, name: &str) -> Option<&'a OsStr> {
    word.as_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b"=").map(OsStr::from_bytes)
}

/// Whether short flags that stand together include one of these. Others than `-p` may take the rest as their value.
fn has_short(word: &str, flags: &[char]) -> bool {
    let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else { return false };
    let first_other = letters.chars().find(|letter| *letter != 'p').unwrap_or('p');
    flags.contains(&first_other) || flags.contains(&'p') && letters.starts_with('p')
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "11111111-2222-4333-8444-555555555555";

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_chosen_conversation_is_noticed_in_every_spelling() {
        let chooses = |line: &str| Arguments(&words(line)).chooses_conversation();
        for line in [
            "claude --resume x",
            "claude --resume=x",
            "claude --continue",
            "claude -c",
            "claude -r x",
            "claude -pc hi",
            "claude -p hi --session-id x",
            "claude --fork-session",
            "claude --from-pr 3",
        ] {
            assert!(chooses(line), "{line}");
        }
        for line in ["claude", "claude -p hi", "claude --resumed", "claude -- --resume x", "claude -dc", "claude -nr"] {
            assert!(!chooses(line), "{line}");
        }
    }

    #[test]
    fn the_choice_of_a_conversation_can_be_taken_out() {
        for (line, without) in [
            ("claude --resume x -p hi", "claude -p hi"),
            ("claude --resume=x hi", "claude hi"),
            ("claude --resume --verbose", "claude --verbose"),
            ("claude -p hi --continue", "claude -p hi"),
            ("claude -pc hi", "claude -p hi"),
            ("claude -c -r x hi", "claude hi"),
            ("claude --fork-session --session-id x --from-pr 3", "claude"),
            ("claude --model opus -- --resume x", "claude --model opus -- --resume x"),
        ] {
            assert_eq!(Arguments(&words(line)).without_conversation(), words(without), "{line}");
        }
    }

    #[test]
    fn the_conversation_is_known_where_the_words_tell() {
        let conversation = |line: String| Arguments(&words(&line)).conversation();
        for line in [format!("claude --session-id {ID}"), format!("claude -r {ID}"), format!("claude --resume={ID} hi")]
        {
            assert_eq!(conversation(line.clone()).as_deref(), Some(ID), "{line}");
        }
        assert_eq!(conversation(format!("claude --resume {ID} --fork-session")), None);
        assert_eq!(conversation(format!("claude --resume x --fork-session --session-id {ID}")).as_deref(), Some(ID));
        assert_eq!(conversation("claude --resume my-title".into()), None);
    }

    #[test]
    fn the_last_settings_count_and_all_can_be_taken_out() {
        let line = words("claude --settings a -p hi --settings=b -- --settings c");
        let arguments = Arguments(&line);
        assert_eq!(arguments.settings(), Some(OsStr::new("b")));
        assert_eq!(arguments.without_settings(), words("claude -p hi -- --settings c"));
        let none = words("claude --settingsx y -- --settings c");
        assert_eq!((Arguments(&none).settings(), Arguments(&none).without_settings()), (None, none.clone()));
    }

    #[test]
    fn options_that_turn_hooks_off_are_noticed() {
        assert_eq!(Arguments(&words("claude --bare -p x")).without_hooks(), Some("--bare"));
        assert_eq!(Arguments(&words("claude -- --bare")).without_hooks(), None);
    }

    #[test]
    fn a_printing_claude_is_known_by_two_flags_in_any_form() {
        for line in [
            "claude -p --output-format stream-json hi",
            "claude --print --output-format=stream-json",
            "claude -pc --output-format stream-json",
        ] {
            assert!(Arguments(&words(line)).prints_jsonl(), "{line}");
        }
        for line in [
            "claude --output-format stream-json",
            "claude -p --output-format json",
            "claude -p -- --output-format stream-json",
            "claude --output-format stream-json --plugin-dir x",
        ] {
            assert!(!Arguments(&words(line)).prints_jsonl(), "{line}");
        }
    }

    #[test]
    fn the_mode_without_permissions_is_asked_for_by_name_only() {
        for line in ["claude --dangerously-skip-permissions", "claude --permission-mode bypassPermissions"] {
            assert!(Arguments(&words(line)).asks_for_bypass(), "{line}");
        }
        for line in [
            "claude --permission-mode plan",
            "claude --allow-dangerously-skip-permissions",
            "claude -- --dangerously-skip-permissions",
        ] {
            assert!(!Arguments(&words(line)).asks_for_bypass(), "{line}");
        }
    }
}
