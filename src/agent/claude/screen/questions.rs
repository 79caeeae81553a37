//! The questions of Claude Code's AskUserQuestion dialog, as its tabs and its menu tell them.

use crate::agent::Sight;
use crate::agent::block::Block;
use crate::agent::look::Tab;
use crate::agent::menu::Menu;
use crate::agent::rows::words;
use crate::session::Question;

/// Stand before a question that has no answer yet, and one that has.
const OPEN: char = '☐';
const ANSWERED: char = '☒';

/// What the tab says that leads to the page on which all answers are sent.
const REVIEW_TAB: &str = "✔ Submit";

/// What the dialog tells of its questions. Only the one that is shown is known in full.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asking {
    pub tabs: Vec<Tab>,
    pub questions: Vec<Question>,
    /// The one that is shown, counted from 0; as many as there are on the page that sends the answers.
    pub current: usize,
    /// The option that takes a text of one's own.
    pub free_text: Option<usize>,
}

impl Asking {
    pub fn read(sight: &Sight<'_>, block: &Block<'_>, is_review: bool) -> Self {
        let title = block.title_row.map_or("", |row| sight.rows[row].as_str());
        let tabs = read_tabs(title);
        let count = tabs.len().max(1);
        let first_open = || tabs.iter().position(|tab| !tab.is_answered).unwrap_or(count - 1);
        let current = match is_review {
            true => count,
            false => block.title_row.and_then(|row| highlighted(sight, row, title)).unwrap_or_else(first_open),
        };
        let header = |at: usize| tabs.get(at).map(|tab: &Tab| tab.header.clone());
        let mut questions: Vec<Question> =
            (0..count).map(|at| Question { header: header(at), ..Question::default() }).collect();
        let mut free_text = None;
        if let (Some(question), Some(menu)) = (questions.get_mut(current), &block.menu) {
            question.question = words(block.body_rows());
            free_text = fill(question, menu, sight);
        }
        Self { tabs, questions, current, free_text }
    }

    /// Whether the shown question was read.
    pub fn is_known(&self) -> bool {
        !self.tabs.is_empty() && self.questions.get(self.current).is_none_or(|question| !question.question.is_empty())
    }
}

/// Reads the options into the question. Those that Claude adds stand at the end: a text of one's own, then, below a
/// line, `Chat about this`. Gives the former's place.
fn fill(question: &mut Question, menu: &Menu, sight: &Sight<'_>) -> Option<usize> {
    let line = menu.rows.clone().find(|row| sight.rows[*row].starts_with("──"));
    let own = menu.options.iter().take_while(|option| line.is_none_or(|line| option.label_rows.start < line)).count();
    let free_text = (own < menu.options.len()).then(|| own.saturating_sub(1));
    for option in &menu.options[..free_text.unwrap_or(own)] {
        question.options.push(option.label.clone());
        question.descriptions.push(option.description.clone());
        question.multi_select |= option.checked.is_some();
    }
    free_text
}

/// The tabs of `←  ☒ Database  ☐ Language  ✔ Submit  →`, or the one of ` ☐ Database`.
fn read_tabs(title: &str) -> Vec<Tab> {
    let parts = title.split("  ").map(str::trim);
    parts.filter_map(read_tab).collect()
}

fn read_tab(text: &str) -> Option<Tab> {
    let is_answered = text.starts_with(ANSWERED);
    let header = text.strip_prefix([OPEN, ANSWERED])?.trim().to_owned();
    Some(Tab { header, is_answered })
}

/// The tab that stands on a background of its own, counted from 0.
fn highlighted(sight: &Sight<'_>, row: usize, title: &str) -> Option<usize> {
    let shades = sight.shades(row)?;
    let start = shades.iter().position(|shade| shade.backed)?;
    let before: String = title.chars().take(start).collect();
    let text: String = shades[start..].iter().take_while(|shade| shade.backed).map(|shade| shade.character).collect();
    let tabs_before = before.matches([OPEN, ANSWERED]).count();
    (text.trim() != REVIEW_TAB).then_some(tabs_before)
}
