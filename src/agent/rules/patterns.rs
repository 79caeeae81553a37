//! Patterns that the operator gives for a program that coop does not know.

use regex::Regex;

use super::RulesError;
use crate::agent::rows::is_blank;

/// How many of the last rows that are not blank a pattern is looked for in. Above them is what was, not what is.
const PATTERN_ROWS: usize = 10;

/// Regular expressions, each matched on single rows.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    /// The row on which the program waits for input.
    prompt: Vec<Regex>,
    working: Vec<Regex>,
    error: Vec<Regex>,
}

/// What the rows tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub sign: Sign,
    /// The pattern, such as `working[0]`.
    pub rule: String,
    /// The row that it was found in.
    pub row: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Working,
    Idle,
    Error,
}

impl Patterns {
    pub(super) fn read(prompt: &[String], working: &[String], error: &[String]) -> Result<Self, RulesError> {
        Ok(Self {
            prompt: compile("prompt", prompt)?,
            working: compile("working", working)?,
            error: compile("error", error)?,
        })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.prompt.is_empty() && self.working.is_empty() && self.error.is_empty()
    }

    /// What the screen tells; `None` when no pattern knows it. `cursor_row` is the cursor's row with the blanks before the
    /// cursor: prompts of earlier inputs stay on the screen, but the cursor is at the one that waits.
    pub fn judge(&self, rows: &[String], cursor_row: &str) -> Option<Told> {
        let last: Vec<&str> =
            rows.iter().rev().map(String::as_str).filter(|row| !is_blank(row)).take(PATTERN_ROWS).collect();
        if let Some(told) = find("working", &self.working, &last, Sign::Working) {
            return Some(told);
        }
        let waits = find("prompt", &self.prompt, &[cursor_row], Sign::Idle);
        let failed = find("error", &self.error, &last, Sign::Error);
        match (failed, waits) {
            (Some(failed), _) => Some(failed),
            (None, Some(waits)) => Some(waits),
            // Who is told only what waiting looks like may take all else for work.
            (None, None) if self.working.is_empty() && !self.prompt.is_empty() => {
                let row = last.first().copied().unwrap_or_default();
                Some(Told { sign: Sign::Working, rule: "no prompt".to_owned(), row: row.to_owned() })
            }
            (None, None) => None,
        }
    }
}

fn compile(name: &str, texts: &[String]) -> Result<Vec<Regex>, RulesError> {
    let wrong = |number: usize, error: regex::Error| RulesError::File {
        field: format!("screen.{name}[{number}]"),
        why: error.to_string(),
    };
    texts.iter().enumerate().map(|(number, text)| Regex::new(text).map_err(|error| wrong(number, error))).collect()
}

fn find(name: &str, patterns: &[Regex], rows: &[&str], sign: Sign) -> Option<Told> {
    rows.iter().find_map(|row| {
        let number = patterns.iter().position(|pattern| pattern.is_match(row))?;
        Some(Told { sign, rule: format!("{name}[{number}]"), row: row.trim().to_owned() })
    })
}
