//! What a command line of Gemini CLI asks for, as far as coop must know it.
//!
//! Its options are those of the library yargs (0.61.0): `--name value` or `--name=value`, not shortened, also spelled
//! `--sessionId`; short flags together as in `-yr latest`; nothing after `--` is an option.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::agent::resume::is_session_id;

/// Options that choose a conversation; it refuses to be given two of them.
const CHOOSE: [&str; 5] = ["--resume", "--session-id", "--sessionId", "--session-file", "--sessionFile"];

/// Words that make it do something else than talk.
const VERBS: [&str; 8] = ["mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"];

/// Short flags that take what follows for their value.
const TAKE_VALUES: [char; 7] = ['e', 'i', 'm', 'o', 'p', 'r', 'w'];

/// A command line, the program's name included.
pub struct Arguments<'a>(pub &'a [OsString]);

impl Arguments<'_> {
    /// The words that may be options.
    fn options(&self) -> &[OsString] {
        let all = self.0.get(1..).unwrap_or_default();
        let end = all.iter().position(|word| word == "--").unwrap_or(all.len());
        &all[..end]
    }

    fn has(&self, names: &[&str]) -> bool {
        self.options().iter().any(|word| names.iter().any(|name| word == name || value_of(word, name).is_some()))
    }

    fn has_short(&self, flag: char) -> bool {
        self.options().iter().any(|word| word.to_str().is_some_and(|word| is_among(word, flag)))
    }

    /// The last value of an option, which is the one that counts.
    fn value(&self, names: &[&str]) -> Option<&OsStr> {
        let options = self.options();
        options.iter().enumerate().rev().find_map(|(at, word)| {
            names.iter().find_map(|name| {
                let next = || options.get(at + 1).map(OsString::as_os_str).filter(|_| word == name);
                value_of(word, name).or_else(next)
            })
        })
    }

    /// Whether it is started to manage something, not to talk.
    pub fn is_verb(&self) -> bool {
        self.0.get(1).is_some_and(|first| VERBS.iter().any(|verb| first == verb))
    }

    pub fn chooses_conversation(&self) -> bool {
        self.has(&CHOOSE) || self.has_short('r')
    }

    /// The same words without those that choose a conversation.
    pub fn without_conversation(&self) -> Vec<OsString> {
        let end = self.options().len() + 1;
        let mut kept = Vec::new();
        let mut words = self.0.iter().enumerate().peekable();
        while let Some((at, word)) = words.next() {
            let is_short = word.to_str().is_some_and(|word| is_among(word, 'r'));
            let is_long = CHOOSE.iter().any(|name| word == name);
            if at == 0
                || at >= end
                || !is_short && !is_long && !CHOOSE.iter().any(|name| value_of(word, name).is_some())
            {
                kept.push(word.clone());
                continue;
            }
            // Others may stand before the short one, and its value right behind it.
            let (before, value) = word.to_str().and_then(|word| word.split_once('r')).unwrap_or_default();
            kept.extend((is_short && before.len() > 1).then(|| before.into()));
            if is_long || is_short && value.is_empty() {
                words.next_if(|(at, next)| *at < end && !next.as_bytes().starts_with(b"-"));
            }
        }
        kept
    }

    /// The conversation that this will be, if the words tell.
    pub fn conversation(&self) -> Option<String> {
        let name = self.value(&["--session-id", "--sessionId", "--resume", "-r"])?;
        name.to_str().filter(|name| is_session_id(name)).map(str::to_owned)
    }

    /// Whether the user names the extensions to use; others are not loaded then.
    pub fn chooses_extensions(&self) -> bool {
        self.has(&["--extensions"]) || self.has_short('e')
    }

    /// Whether Gemini will print its conversation as lines of JSON, without a user interface.
    pub fn prints_jsonl(&self) -> bool {
        let format = self.value(&["--output-format", "--outputFormat", "-o"]);
        (self.has(&["--prompt"]) || self.has_short('p')) && format.is_some_and(|format| format == "stream-json")
    }

    /// Whether the user's own words ask for the mode without permissions.
    pub fn asks_for_bypass(&self) -> bool {
        let mode = self.value(&["--approval-mode", "--approvalMode"]);
        self.has(&["--yolo"]) || self.has_short('y') || mode.is_some_and(|mode| mode == "yolo")
    }
}

/// The value in `--name=value`.
fn value_of<'a>(word: &'a OsStr, name: &str) -> Option<&'a OsStr> {
    word.as_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b"=").map(OsStr::from_bytes)
}

/// Whether short flags that stand together include this one; one that takes a value takes the rest of the word.
fn is_among(word: &str, flag: char) -> bool {
    let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else { return false };
    let end = letters.find(TAKE_VALUES).map_or(letters.len(), |at| at + 1);
    letters[..end].contains(flag)
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
            "gemini --resume",
            "gemini --resume=5",
            "gemini -r latest",
            "gemini -yr latest",
            "gemini --session-id x",
            "gemini --sessionId=x",
            "gemini --session-file x.json",
        ] {
            assert!(chooses(line), "{line}");
        }
        for line in ["gemini", "gemini -p hi", "gemini --resumed", "gemini -- --resume x", "gemini -mr", "gemini -y"] {
            assert!(!chooses(line), "{line}");
        }
    }

    #[test]
    fn the_choice_of_a_conversation_can_be_taken_out() {
        for (line, without) in [
            ("gemini --resume x -p hi", "gemini -p hi"),
            ("gemini --session-id=x hi", "gemini hi"),
            ("gemini --resume --debug", "gemini --debug"),
            ("gemini -yr latest", "gemini -y"),
            ("gemini -r5 hi", "gemini hi"),
            ("gemini -m pro --sessionFile x -- --resume x", "gemini -m pro -- --resume x"),
        ] {
            assert_eq!(Arguments(&words(line)).without_conversation(), words(without), "{line}");
        }
    }

    #[test]
    fn the_conversation_is_known_where_the_words_tell() {
        let conversation = |line: String| Arguments(&words(&line)).conversation();
        for line in [format!("gemini --session-id {ID}"), format!("gemini -r {ID}"), format!("gemini --resume={ID} hi")]
        {
            assert_eq!(conversation(line.clone()).as_deref(), Some(ID), "{line}");
        }
        assert_eq!(conversation("gemini --resume latest".into()), None);
        assert_eq!(conversation("gemini --session-id mine".into()), None);
    }

    #[test]
    fn verbs_and_chosen_extensions_are_noticed() {
        assert!(Arguments(&words("gemini mcp list")).is_verb() && Arguments(&words("gemini hook migrate")).is_verb());
        assert!(!Arguments(&words("gemini -p mcp")).is_verb() && !Arguments(&words("gemini")).is_verb());
        for line in ["gemini -e none", "gemini --extensions=a", "gemini -ye a"] {
            assert!(Arguments(&words(line)).chooses_extensions(), "{line}");
        }
        assert!(!Arguments(&words("gemini -me")).chooses_extensions());
    }

    #[test]
    fn a_printing_gemini_is_known_by_two_flags_in_any_form() {
        for line in ["gemini -p hi -o stream-json", "gemini --prompt hi --output-format=stream-json"] {
            assert!(Arguments(&words(line)).prints_jsonl(), "{line}");
        }
        for line in ["gemini -o stream-json", "gemini -p hi -o json", "gemini -p hi -- -o stream-json"] {
            assert!(!Arguments(&words(line)).prints_jsonl(), "{line}");
        }
    }

    #[test]
    fn the_mode_without_permissions_is_asked_for_by_name_only() {
        for line in ["gemini --yolo", "gemini -y", "gemini --approval-mode yolo", "gemini --approval-mode=yolo"] {
            assert!(Arguments(&words(line)).asks_for_bypass(), "{line}");
        }
        for line in ["gemini --approval-mode plan", "gemini -- -y", "gemini -p y"] {
            assert!(!Arguments(&words(line)).asks_for_bypass(), "{line}");
        }
    }
}
