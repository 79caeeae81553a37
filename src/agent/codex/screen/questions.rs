//! The questions of Codex's `request_user_input` dialog, as its title and its menu tell them.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::agent::block::Block;
use crate::agent::rows::words;
use crate::session::Question;

/// The option that Codex adds to those of the model; notes can be written to it (0.166.0).
const OWN_OPTION: &str = "None of the above";

/// Such a dialog has few questions; a number beyond this one is no count of them.
const QUESTIONS_MAX: usize = 20;

/// The title: `Question 1/2 (2 unanswered)`.
static TITLE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Question (\d{1,3})/(\d{1,3})\b"));

/// Begins the footer where not all options have room: `option 1/4 | tab to add notes`.
static PLACE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^option (\d{1,3})/(\d{1,3})\b"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern does not change")
}

/// What the dialog tells of its questions. Only the one that is shown is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asking {
    pub questions: Vec<Question>,
    /// The one that is shown, counted from 0.
    pub current: usize,
    /// The option that takes a text of one's own.
    pub free_text: Option<usize>,
    /// Whether the shown question and all its options were read.
    pub is_known: bool,
}

impl Asking {
    pub fn read(block: &Block<'_>) -> Self {
        let title = TITLE.captures(&block.parts.title).and_then(|found| two_numbers(&found));
        let Some((number, count)) =
            title.filter(|(number, count)| (1..=*count).contains(number) && *count <= QUESTIONS_MAX)
        else {
            return Self::default();
        };
        let mut asking = Self { questions: vec![Question::default(); count], current: number - 1, ..Self::default() };
        let Some(menu) = &block.menu else { return asking };
        asking.free_text = menu.options.iter().rposition(|option| option.label == OWN_OPTION);
        let question = &mut asking.questions[number - 1];
        question.question = words(block.body_rows());
        for option in &menu.options[..asking.free_text.unwrap_or(menu.options.len())] {
            question.options.push(option.label.clone());
            question.descriptions.push(option.description.clone());
        }
        let shown = PLACE.captures(&block.parts.footer).and_then(|found| two_numbers(&found));
        asking.is_known = !question.question.is_empty() && shown.is_none_or(|(_, all)| menu.options.len() == all);
        asking
    }
}

fn two_numbers(found: &Captures<'_>) -> Option<(usize, usize)> {
    Some((found[1].parse().ok()?, found[2].parse().ok()?))
}
