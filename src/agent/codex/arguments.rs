//! What a command line of Codex asks for, as far as coop must know it (0.166.0).
//!
//! Its options are those of the library clap: `--name value`, `--name=value`, `-n value` or `-nvalue`, and nothing after
//! `--` is an option. The first word that is none of these is a verb, or else the first message.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::agent::resume::is_session_id;

/// Options whose value is the next word.
const WITH_VALUE: [&str; 26] = [
    "-c",
    "--config",
    "--enable",
    "--disable",
    "--remote",
    "--remote-auth-token-env",
    "-i",
    "--image",
    "-m",
    "--model",
    "--local-provider",
    "-p",
    "--profile",
    "-s",
    "--sandbox",
    "-C",
    "--cd",
    "--add-dir",
    "-a",
    "--ask-for-approval",
    "--thread-source",
    "--cyber-access-program",
    "--output-schema",
    "--color",
    "-o",
    "--output-last-message",
];

/// Options that choose among conversations.
const CHOOSE_ONE: [&str; 2] = ["--last", "--all"];

/// Options with which nothing is started.
const ONLY_TELL: [&str; 4] = ["-h", "--help", "-V", "--version"];

/// The verbs of 0.166.0 beside those that hold a conversation.
const OTHER_VERBS: [&str; 24] = [
    "a",
    "agents",
    "app-server",
    "apply",
    "archive",
    "cloud",
    "completion",
    "debug",
    "delete",
    "doctor",
    "exec-server",
    "features",
    "help",
    "login",
    "logout",
    "mcp",
    "migrate-nfs-db",
    "migrate-rollouts",
    "plugin",
    "queue",
    "remote-control",
    "sandbox",
    "unarchive",
    "update",
];

/// What the command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Draws, and begins a conversation.
    Talk,
    /// Draws, and goes on with a conversation.
    Resume,
    /// Draws, and goes on with a copy of one.
    Fork,
    /// Answers one message without drawing.
    Exec,
    /// The same, in a conversation that there is.
    ExecResume,
    /// Looks at changes without drawing.
    Review,
    /// No conversation.
    Other,
}

/// A command line, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments<'a> {
    pub verb: Verb,
    /// Where options may be added: behind the program's name and its verbs.
    pub options_at: usize,
    /// The first word that is neither option nor verb.
    pub first_word_at: Option<usize>,
    /// Options with their values, in order.
    options: Vec<(&'a OsStr, Option<&'a OsStr>)>,
    first_word: Option<&'a OsStr>,
}

impl<'a> Arguments<'a> {
    pub fn read(argv: &'a [OsString]) -> Self {
        let mut read =
            Self { verb: Verb::Talk, options_at: 1, first_word_at: None, options: Vec::new(), first_word: None };
        let mut at = 1;
        while let Some(word) = argv.get(at) {
            at += 1;
            if word == "--" {
                read.meet(argv, at);
                break;
            }
            if is_option(word) {
                let (name, value) = split(word);
                let next = argv.get(at).filter(|_| value.is_none() && WITH_VALUE.iter().any(|known| name == *known));
                at += usize::from(next.is_some());
                read.options.push((name, value.or(next.map(OsString::as_os_str))));
            } else if !read.enter(word, at) {
                read.meet(argv, at - 1);
            }
        }
        if read.options.iter().any(|(name, _)| ONLY_TELL.iter().any(|tells| name == tells)) {
            read.verb = Verb::Other;
        }
        read
    }

    /// Takes a word for a verb, if it is one at this place.
    fn enter(&mut self, word: &OsStr, behind: usize) -> bool {
        if self.first_word_at.is_some() {
            return false;
        }
        let verb = match (self.verb, word.to_str()) {
            (Verb::Talk, Some("resume")) => Verb::Resume,
            (Verb::Talk, Some("fork")) => Verb::Fork,
            (Verb::Talk, Some("exec" | "e")) => Verb::Exec,
            (Verb::Talk, Some("review")) | (Verb::Exec, Some("review")) => Verb::Review,
            (Verb::Talk, Some(other)) if OTHER_VERBS.contains(&other) => Verb::Other,
            (Verb::Exec, Some("resume")) => Verb::ExecResume,
            (Verb::Exec, Some("help")) => Verb::Other,
            _ => return false,
        };
        (self.verb, self.options_at) = (verb, behind);
        true
    }

    /// Notes the first word that is no option.
    fn meet(&mut self, argv: &'a [OsString], at: usize) {
        if self.first_word_at.is_none()
            && let Some(word) = argv.get(at)
        {
            (self.first_word_at, self.first_word) = (Some(at), Some(word.as_os_str()));
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.options.iter().any(|(known, _)| *known == name)
    }

    /// Whether a user interface is drawn.
    pub fn draws(&self) -> bool {
        matches!(self.verb, Verb::Talk | Verb::Resume | Verb::Fork)
    }

    /// The conversation that this will be, if the words tell.
    pub fn conversation(&self) -> Option<String> {
        let goes_on = matches!(self.verb, Verb::Resume | Verb::ExecResume) && !self.has("--last");
        self.first_word?.to_str().filter(|word| goes_on && is_session_id(word)).map(str::to_owned)
    }

    /// The words that were read without those that choose a conversation for a user interface.
    pub fn without_conversation(&self, argv: &[OsString]) -> Vec<OsString> {
        if !matches!(self.verb, Verb::Resume | Verb::Fork) {
            return argv.to_vec();
        }
        // With `--last` the first word is a message already.
        let name = self.first_word_at.filter(|_| !self.has("--last"));
        let is_choice = |at: usize, word: &OsString| {
            at + 1 == self.options_at || Some(at) == name || CHOOSE_ONE.iter().any(|option| word == option)
        };
        let words = argv.iter().enumerate();
        words.filter(|(at, word)| !is_choice(*at, word)).map(|(_, word)| word.clone()).collect()
    }

    pub fn prints_jsonl(&self) -> bool {
        let prints = matches!(self.verb, Verb::Exec | Verb::ExecResume | Verb::Review);
        prints && (self.has("--json") || self.has("--experimental-json"))
    }

    pub fn asks_for_bypass(&self) -> bool {
        self.has("--dangerously-bypass-approvals-and-sandbox") || self.has("--yolo")
    }

    /// Whether anything of the configuration is given by the words.
    pub fn configures(&self) -> bool {
        self.has("-c") || self.has("--config")
    }

    /// The word that gives hooks, or turns them off.
    pub fn about_hooks(&self) -> Option<String> {
        self.options.iter().find_map(|(name, value)| {
            let (name, value) = (name.to_str()?, value.and_then(|value| value.to_str())?);
            let is_config = matches!(name, "-c" | "--config");
            let key = value.split('=').next().unwrap_or_default().trim();
            let is_about = is_config && (key == "hooks" || key.starts_with("hooks.") || key == "features.hooks")
                || name == "--disable" && value == "hooks";
            is_about.then(|| format!("{name} {key}"))
        })
    }
}

fn is_option(word: &OsStr) -> bool {
    // A bare dash stands for standard input.
    word.as_bytes().starts_with(b"-") && word != "-"
}

/// An option's name, and the value in the same word.
fn split(word: &OsStr) -> (&OsStr, Option<&OsStr>) {
    let bytes = word.as_bytes();
    if !bytes.starts_with(b"--") {
        let (name, value) = bytes.split_at(bytes.len().min(2));
        let value = value.strip_prefix(b"=").unwrap_or(value);
        return (OsStr::from_bytes(name), Some(value).filter(|value| !value.is_empty()).map(OsStr::from_bytes));
    }
    match bytes.iter().position(|byte| *byte == b'=') {
        Some(at) => (OsStr::from_bytes(&bytes[..at]), Some(OsStr::from_bytes(&bytes[at + 1..]))),
        None => (word, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01a1e196-1234-7032-9692-0029c2bfea9c";

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    fn verb(line: &str) -> (Verb, usize) {
        let argv = words(line);
        let read = Arguments::read(&argv);
        (read.verb, read.options_at)
    }

    #[test]
    fn the_verb_is_the_first_word_that_is_no_option() {
        for (line, expected) in [
            ("codex", (Verb::Talk, 1)),
            ("codex fix it", (Verb::Talk, 1)),
            ("codex -m resume", (Verb::Talk, 1)),
            ("codex -mx resume", (Verb::Resume, 3)),
            ("codex --model=x fork --last", (Verb::Fork, 3)),
            ("codex exec --json hi", (Verb::Exec, 2)),
            ("codex e resume --last hi", (Verb::ExecResume, 3)),
            ("codex exec -s read-only resume x", (Verb::ExecResume, 5)),
            ("codex exec hi resume", (Verb::Exec, 2)),
            ("codex review --uncommitted", (Verb::Review, 2)),
            ("codex login", (Verb::Other, 2)),
            ("codex mcp list", (Verb::Other, 2)),
            ("codex --version", (Verb::Other, 1)),
            ("codex exec -h", (Verb::Other, 2)),
            ("codex -- resume", (Verb::Talk, 1)),
        ] {
            assert_eq!(verb(line), expected, "{line}");
        }
    }

    #[test]
    fn the_conversation_is_known_where_the_words_tell() {
        let conversation = |line: String| Arguments::read(&words(&line)).conversation();
        for line in [format!("codex resume {ID}"), format!("codex exec resume --json {ID} hi")] {
            assert_eq!(conversation(line.clone()).as_deref(), Some(ID), "{line}");
        }
        for line in [
            format!("codex fork {ID}"),
            format!("codex resume --last {ID}"),
            format!("codex {ID}"),
            "codex resume".into(),
        ] {
            assert_eq!(conversation(line.clone()), None, "{line}");
        }
    }

    #[test]
    fn the_choice_of_a_conversation_can_be_taken_out() {
        for (line, without) in [
            ("codex resume x hi", "codex hi"),
            ("codex resume --last hi", "codex hi"),
            ("codex -m y fork x --all", "codex -m y"),
            ("codex resume", "codex"),
            ("codex exec resume x hi", "codex exec resume x hi"),
            ("codex hi", "codex hi"),
        ] {
            let argv = words(line);
            assert_eq!(Arguments::read(&argv).without_conversation(&argv), words(without), "{line}");
        }
    }

    #[test]
    fn only_exec_prints_lines_of_json() {
        let prints = |line: &str| Arguments::read(&words(line)).prints_jsonl();
        assert!(prints("codex exec --json hi") && prints("codex e resume --last hi --json"));
        assert!(!prints("codex exec hi") && !prints("codex --json") && !prints("codex exec -- --json"));
    }

    #[test]
    fn words_about_hooks_are_noticed_in_every_spelling() {
        let about = |line: &str| Arguments::read(&words(line)).about_hooks();
        for (line, told) in [
            ("codex -c hooks={}", "-c hooks"),
            ("codex -chooks.Stop=[]", "-c hooks.Stop"),
            ("codex --config=hooks={}", "--config hooks"),
            ("codex resume --last -c features.hooks=false", "-c features.hooks"),
            ("codex --disable hooks", "--disable hooks"),
        ] {
            assert_eq!(about(line).as_deref(), Some(told), "{line}");
        }
        assert_eq!(about("codex -c model=hooks --enable hooks -- -c hooks={}"), None);
    }
}
