//! What Claude Code's screen shows: its input box, its dialogs, whether it works (2.1.197).
//!
//! The rules are in `rules.json`; here is where on the screen they look.

mod above;
mod block;
mod dialog;
mod frame;
mod input_box;
mod questions;

use regex::Captures;
use serde_json::Value;

use self::above::Above;
use self::frame::Frame;
use crate::agent::Sight;
use crate::agent::look::{Banner, Look, Retry};
use crate::agent::rules::{Meaning, Place, Rule, Rules, RulesError};

/// The rules that come with coop.
const RULES: &str = include_str!("../rules.json");

/// After a usage limit Claude runs this command by itself; the limit stands above it.
const LIMIT_DIALOG: &str = "rate_limit_options";

/// The rules for Claude Code, with the operator's.
pub fn rules(agent_config: Option<&Value>) -> Result<Rules, RulesError> {
    Rules::read(RULES, agent_config)
}

/// Looks at the screen.
pub fn look(rules: &Rules, sight: Sight<'_>) -> Look {
    let frame = Frame::new(sight);
    let below = frame.below();
    let footer = rules.find(Place::Below, &below).map(|(rule, _)| rule);
    if let Some(Rule { name, means: Meaning::Covered, .. }) = footer {
        return Look { covered: Some(name.clone()), ..Look::default() };
    }
    let offers_interrupt = footer.is_some_and(|rule| matches!(rule.means, Meaning::Working));
    match frame.input_box() {
        Some(found) => {
            let top = found.rows.start.saturating_sub(1);
            let mut look = look_above(rules, &sight.rows[..top], sight.cols);
            look.working |= offers_interrupt;
            look.input_box = Some(input_box::read(&frame, found));
            look
        }
        None => look_without_box(rules, &frame),
    }
}

fn look_without_box(rules: &Rules, frame: &Frame<'_>) -> Look {
    let rows = frame.sight.rows;
    let Some(dialog) = dialog::find(rules, frame) else {
        let error = rules.find_on_screen(rows);
        let words = crate::agent::rows::words(rows);
        return Look { error_banner: error.and_then(|rule| banner(rule, &words)), ..Look::default() };
    };
    let mut look = Look::default();
    if dialog.rule == LIMIT_DIALOG {
        let top = dialog.rows.start.saturating_sub(1);
        let command = rows[..top].iter().rposition(|row| row.starts_with("❯ /")).unwrap_or(top);
        look = look_above(rules, &rows[..command], frame.sight.cols);
        look.working = false;
    }
    Look { dialog: Some(dialog), ..look }
}

/// What the rows above the input box tell.
fn look_above(rules: &Rules, rows: &[String], cols: usize) -> Look {
    let above = Above::read(rows, cols);
    let status = rules.find(Place::Status, &above.status);
    let said = rules.find(Place::Said, &above.said).map(|(rule, _)| rule);
    let is_working = status.as_ref().is_some_and(|(rule, _)| matches!(rule.means, Meaning::Working));
    Look {
        working: is_working,
        retrying: status.and_then(|(_, captures)| captures).and_then(|captures| retry(&captures)),
        // A turn that came to its end only quotes an interruption.
        interrupted: !above.is_done && said.is_some_and(|rule| matches!(rule.means, Meaning::Idle)),
        error_banner: said.filter(|_| !is_working).and_then(|rule| banner(rule, &above.said_first)),
        queued: above.queued,
        ..Look::default()
    }
}

fn retry(captures: &Captures<'_>) -> Option<Retry> {
    let number = |name: &str| captures.name(name)?.as_str().parse::<u32>().ok();
    Some(Retry { seconds: number("seconds")?.into(), attempt: number("attempt")?, of: number("of")? })
}

fn banner(rule: &Rule, words: &str) -> Option<Banner> {
    let (category, is_limit, reset) = match &rule.means {
        Meaning::Error { category } => (*category, false, None),
        Meaning::Parked { category, reset } => (*category, true, reset.as_ref()),
        _ => return None,
    };
    let text = words.trim_start_matches("⎿ ").to_owned();
    let resets = reset.and_then(|reset| reset.0.captures(&text)?.get(1)).map(|found| found.as_str().trim().to_owned());
    Some(Banner { rule: rule.name.clone(), text, category, is_limit, resets })
}

#[cfg(test)]
mod tests;
