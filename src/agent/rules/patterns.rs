//! Patterns that the operator gives for a program that coop has no rules for.

use regex::Regex;

use super::RulesError;
use crate::agent::rows::is_blank;

/// How many of the last rows that are not blank a pattern is looked for in. Above them is what was, not what is.
pub const PATTERN_ROWS: usize = 10;

/// Regular expressions, each matched on single rows.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    lists: [Vec<Regex>; 4],
}

/// What a pattern told, from the one that counts most to the one that counts least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Prompt,
    Working,
    Error,
    Idle,
}

const SIGNS: [(Sign, &str); 4] =
    [(Sign::Prompt, "prompt"), (Sign::Working, "working"), (Sign::Error, "error"), (Sign::Idle, "idle")];

impl Patterns {
    pub(super) fn read(lists: [Vec<String>; 4]) -> Result<Self, RulesError> {
        let mut patterns = Self::default();
        for (at, list) in lists.into_iter().enumerate() {
            for (number, text) in list.iter().enumerate() {
                let wrong = |error: regex::Error| RulesError::File {
                    field: format!("screen.{}[{number}]", SIGNS[at].1),
                    why: error.to_string(),
                };
                patterns.lists[at].push(Regex::new(text).map_err(wrong)?);
            }
        }
        Ok(patterns)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.lists.iter().all(Vec::is_empty)
    }

    /// What the last rows tell, with the row that tells it.
    pub fn judge<'a>(&self, rows: &'a [String]) -> Option<(Sign, &'a str)> {
        let last: Vec<&'a str> =
            rows.iter().rev().map(String::as_str).filter(|row| !is_blank(row)).take(PATTERN_ROWS).collect();
        SIGNS.iter().zip(&self.lists).find_map(|((sign, _), list)| {
            let row = last.iter().find(|row| list.iter().any(|pattern| pattern.is_match(row)))?;
            Some((*sign, *row))
        })
    }
}
