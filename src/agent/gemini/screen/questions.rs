//! The questions of Gemini CLI's dialog, as its tabs, its menu and its field tell them.

use super::dialog::{Shown, by_number};
use super::field::Place;
use crate::agent::look::Tab;
use crate::agent::menu::Menu;
use crate::agent::rows::{is_blank, words};
use crate::session::Question;

/// Begins and ends the row of tabs (0.61.0).
const TABS: [char; 2] = ['←', '→'];

/// Stand before a question that has no answer yet, one that has, and the page that sends all answers.
const OPEN: char = '□';
const ANSWERED: char = '✓';
const REVIEW: char = '≡';

/// Stands below a question that takes several options.
const SEVERAL: &str = "(Select all that apply)";

/// The option that Gemini CLI adds to those: what it says, and what is said about it.
const ALL: [&str; 2] = ["All of the above", "Select all options"];

/// Begins the field of a question that takes a text.
const FIELD: &str = "> ";

/// What the dialog tells of its questions. Only the one that is shown is known in full.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asking {
    pub tabs: Vec<Tab>,
    pub questions: Vec<Question>,
    /// The one that is shown, counted from 0; as many as there are on the page that sends the answers.
    pub current: usize,
    /// Where the answer is typed, if the question has no options.
    pub field: Option<Place>,
    is_whole: bool,
}

impl Asking {
    pub fn read(shown: &Shown<'_>, is_review: bool) -> Self {
        let texts = &shown.frame.texts;
        let tab_row = texts.iter().position(|row| row.starts_with(TABS[0])).filter(|_| shown.frame.has_top);
        let tabs = tab_row.map(|row| read_tabs(&texts[row])).unwrap_or_default();
        let count = tabs.len().max(1);
        let first_open = || tabs.iter().position(|tab| !tab.is_answered).unwrap_or(count - 1);
        let current = match is_review {
            true => count,
            false => tab_row.and_then(|row| underlined(shown, row)).unwrap_or_else(first_open).min(count - 1),
        };
        let header = |at: usize| tabs.get(at).map(|tab: &Tab| tab.header.clone());
        let mut questions: Vec<Question> =
            (0..count).map(|at| Question { header: header(at), ..Question::default() }).collect();
        let field_row = if shown.menu.is_none() && !is_review { field_row(shown) } else { None };
        if let Some(question) = questions.get_mut(current) {
            let end = shown.menu.as_ref().map(|menu| menu.rows.start).or(field_row).unwrap_or(0);
            let title = texts.iter().position(|row| !is_blank(row)).filter(|_| shown.frame.has_top);
            question.question = question_text(texts, tab_row.or(title).map_or(0, |row| row + 1), end);
            if let Some(menu) = &shown.menu {
                fill(question, menu, shown);
            }
        }
        let field = field_row.map(|row| {
            let end = (row..texts.len()).find(|row| is_blank(&texts[*row])).unwrap_or(texts.len());
            shown.place(row..end, FIELD.len())
        });
        Self { tabs, questions, current, field, is_whole: shown.frame.has_top }
    }

    /// Whether the shown question was read.
    pub fn is_known(&self) -> bool {
        self.is_whole && self.questions.get(self.current).is_none_or(|question| !question.question.is_empty())
    }
}

/// The rows between the heading and the options or the field.
fn question_text(texts: &[String], begin: usize, end: usize) -> String {
    let rows = texts.get(begin..end).unwrap_or_default();
    words(rows).trim_end_matches('▲').trim_end().trim_end_matches(SEVERAL).trim_end().to_owned()
}

/// The row where a text is typed: the one with the cursor, or the last that looks like it.
fn field_row(shown: &Shown<'_>) -> Option<usize> {
    let cursor = shown.sight.cursor.and_then(|cursor| cursor.row.checked_sub(shown.frame.rows.start));
    let texts = &shown.frame.texts;
    let end = cursor.map_or(texts.len(), |row| row + 1).min(texts.len());
    texts[..end].iter().rposition(|row| row.starts_with(FIELD))
}

/// Reads the options into the question, without those that Gemini CLI adds at the end.
fn fill(question: &mut Question, menu: &Menu, shown: &Shown<'_>) {
    question.options = by_number(menu, |option| option.label.clone());
    question.descriptions = by_number(menu, |option| option.description.clone());
    question.multi_select = menu.options.iter().any(|option| option.checked.is_some());
    if shown.own_text().is_some() {
        question.options.pop();
        question.descriptions.pop();
    }
    let last = (question.options.last().map(String::as_str), question.descriptions.last().map(String::as_str));
    if question.multi_select && last == (Some(ALL[0]), Some(ALL[1])) {
        question.options.pop();
        question.descriptions.pop();
    }
}

/// The tabs of `← ✓ Database │ □ Features │ ≡ Review →`. On a small screen their headings are cut.
fn read_tabs(row: &str) -> Vec<Tab> {
    let parts = row.trim_matches(TABS).split('│').map(str::trim);
    parts.filter_map(read_tab).collect()
}

fn read_tab(text: &str) -> Option<Tab> {
    let header = text.strip_prefix([OPEN, ANSWERED])?.trim().to_owned();
    Some(Tab { header, is_answered: text.starts_with(ANSWERED) })
}

/// The tab that is open, which is underlined, counted from 0.
fn underlined(shown: &Shown<'_>, row: usize) -> Option<usize> {
    let shades = shown.sight.shades(shown.frame.rows.start + row)?;
    let at = shades.iter().position(|shade| shade.underlined)?;
    let is_sign = |character: char| [OPEN, ANSWERED, REVIEW].contains(&character);
    shades[..at].iter().filter(|shade| is_sign(shade.character)).count().checked_sub(1)
}
