//! Rules over the rendered screen, as data: which phrases in which place mean what.
//!
//! Each agent has a file of rules, made for a version of it; the operator's `--agent-config` replaces rules by name or
//! adds some. Programs without rules can be told by patterns.

mod file;
mod patterns;

pub use file::RulesError;
pub use patterns::{Patterns, Sign, Told};

use regex::{Captures, Regex};
use serde::Deserialize;

use super::rows::{is_blank, words};
use crate::session::{ErrorCategory, PromptKind};

/// The rules for one agent, the more particular ones first.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    rules: Vec<Rule>,
}

/// What some phrases mean.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub name: String,
    #[serde(default)]
    pub place: Place,
    #[serde(default)]
    phrases: Phrases,
    /// On the whole screen: how many of its last rows that are not blank to look at.
    rows_max: Option<usize>,
    /// Matched on the words of the place; what it captures goes to the reader.
    regex: Option<Pattern>,
    /// Whether the dialog has a menu.
    #[serde(default = "yes")]
    menu: bool,
    /// Stands behind the dialog's last option or below, so the dialog is drawn to its end when this is seen.
    ends_with: Option<String>,
    pub means: Meaning,
}

/// Where on the screen a rule looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The last block of the screen, where the agent's input box is not shown.
    #[default]
    Dialog,
    /// The last thing that was said, above the input box.
    Said,
    /// The row that tells of work, between what was said and the input box.
    Status,
    /// Below the last line across the screen.
    Below,
    /// All rows, or the last `rows_max` of them.
    Screen,
}

/// What must be there, whitespace aside. Several phrases of one part stand in this order.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Phrases {
    /// Begins the dialog's first row.
    title: Option<String>,
    /// Between the title and the menu.
    body: Vec<String>,
    /// In the paragraph right above the menu.
    question: Vec<String>,
    /// Each begins an option's label.
    options: Vec<String>,
    /// Below the menu.
    footer: Vec<String>,
    /// Anywhere in the place.
    text: Vec<String>,
}

/// What a rule takes its phrases to mean.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Meaning {
    Prompt(Asked),
    Working,
    Idle,
    Error {
        #[serde(with = "CategoryWord")]
        category: ErrorCategory,
    },
    /// A limit; `reset` captures when it ends.
    Parked {
        #[serde(with = "CategoryWord")]
        category: ErrorCategory,
        reset: Option<Pattern>,
    },
    /// Another view hides the conversation: nothing can be told, nothing may be typed.
    Covered,
}

/// What kind of dialog it is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    #[serde(with = "KindWord")]
    pub kind: PromptKind,
    pub subtype: Option<String>,
    /// The tool that asks.
    pub tool: Option<String>,
}

/// A regular expression in a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern(pub Regex);

/// A dialog in its parts, each as words with single spaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    pub title: String,
    pub body: String,
    pub question: String,
    /// The labels of the menu, if there is one.
    pub options: Option<Vec<String>>,
    /// What is said about the last option.
    pub last_description: String,
    pub footer: String,
}

#[derive(Deserialize)]
#[serde(remote = "PromptKind", rename_all = "snake_case")]
enum KindWord {
    Permission,
    Plan,
    Question,
    Setup,
}

#[derive(Deserialize)]
#[serde(remote = "ErrorCategory", rename_all = "snake_case")]
enum CategoryWord {
    Unauthorized,
    OutOfCredits,
    RateLimited,
    NoInternet,
    ServerError,
    ContextWindow,
    Other,
}

fn yes() -> bool {
    true
}

impl TryFrom<String> for Pattern {
    type Error = regex::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Regex::new(&text).map(Self)
    }
}

impl Rules {
    /// The first rule that knows this dialog.
    pub fn dialog(&self, parts: &Parts) -> Option<(&Rule, &Asked)> {
        self.rules.iter().filter(|rule| rule.place == Place::Dialog).find_map(|rule| match &rule.means {
            Meaning::Prompt(asked) if rule.fits(parts) => Some((rule, asked)),
            _ => None,
        })
    }

    /// Whether a dialog with this title is known, though its other parts may not be drawn yet.
    pub fn knows_title(&self, title: &str) -> bool {
        let mut titles = self.rules.iter().filter_map(|rule| rule.phrases.title.as_ref());
        titles.any(|known| title.starts_with(known.as_str()))
    }

    /// The first rule that knows the words of this place, and what its regular expression captured.
    pub fn find<'a>(&'a self, place: Place, words: &'a str) -> Option<(&'a Rule, Option<Captures<'a>>)> {
        let mut rules = self.rules.iter().filter(|rule| rule.place == place);
        rules.find_map(|rule| rule.read(words).map(|captures| (rule, captures)))
    }

    /// The first rule about the whole screen that knows these rows.
    pub fn find_on_screen(&self, rows: &[String]) -> Option<&Rule> {
        let shown: Vec<&String> = rows.iter().filter(|row| !is_blank(row)).collect();
        self.rules.iter().filter(|rule| rule.place == Place::Screen).find(|rule| {
            let skipped = shown.len().saturating_sub(rule.rows_max.unwrap_or(usize::MAX));
            rule.read(&words(&shown[skipped..])).is_some()
        })
    }
}

impl Rule {
    /// Whether the rule knows these words; with what its regular expression captured.
    fn read<'a>(&self, words: &'a str) -> Option<Option<Captures<'a>>> {
        let captures = self.regex.as_ref().map(|regex| regex.0.captures(words));
        let known = in_order(words, &self.phrases.text) && captures.as_ref().is_none_or(Option::is_some);
        known.then(|| captures.flatten())
    }

    fn fits(&self, parts: &Parts) -> bool {
        let Phrases { title, body, question, options, footer, text } = &self.phrases;
        let whole = || [&parts.title, &parts.body, &parts.footer].map(String::as_str).join(" ");
        parts.options.is_some() == self.menu
            && title.as_ref().is_none_or(|title| parts.title.starts_with(title))
            && in_order(&parts.body, body)
            && in_order(&parts.question, question)
            && labels_begin(parts.options.as_deref().unwrap_or_default(), options)
            && in_order(&parts.footer, footer)
            && (text.is_empty() || in_order(&whole(), text))
            && self.regex.as_ref().is_none_or(|regex| regex.0.is_match(&whole()))
    }

    /// Whether a dialog that fits is drawn to its end.
    pub fn is_whole(&self, parts: &Parts) -> bool {
        let last = parts.options.as_ref().and_then(|options| options.last()).map_or("", String::as_str);
        let below = [last, &parts.last_description, &parts.footer];
        self.ends_with.as_ref().is_none_or(|end| below.iter().any(|text| text.contains(end)))
    }

    fn phrase_count(&self) -> usize {
        let Phrases { title, body, question, options, footer, text } = &self.phrases;
        let lists = [body, question, options, footer, text];
        usize::from(title.is_some()) + lists.map(Vec::len).iter().sum::<usize>() + usize::from(self.regex.is_some())
    }
}

/// Whether the phrases stand in the text, one after the other.
fn in_order(text: &str, phrases: &[String]) -> bool {
    let find = |rest: &'_ str, phrase: &String| rest.find(phrase.as_str()).map(|at| at + phrase.len());
    let mut from = 0;
    phrases.iter().all(|phrase| find(&text[from..], phrase).map(|length| from += length).is_some())
}

/// Whether each phrase begins a label, one after the other.
fn labels_begin(labels: &[String], phrases: &[String]) -> bool {
    let mut labels = labels.iter();
    phrases.iter().all(|phrase| labels.any(|label| label.starts_with(phrase.as_str())))
}

#[cfg(test)]
mod tests;
