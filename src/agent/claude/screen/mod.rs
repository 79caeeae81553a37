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
pub use self::dialog::Dialog;
use self::frame::Frame;
pub use self::input_box::InputBox;
pub use self::questions::Tab;
use crate::agent::Sight;
use crate::agent::rules::{Meaning, Place, Rule, Rules, RulesError};
use crate::session::ErrorCategory;

/// The rules that come with coop.
const RULES: &str = include_str!("../rules.json");

/// After a usage limit Claude runs this command by itself; the limit stands above it.
const LIMIT_DIALOG: &str = "rate_limit_options";

/// What the screen shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Claude can be typed to; it stays visible while it works.
    pub input_box: Option<InputBox>,
    /// A dialog in the input box's place.
    pub dialog: Option<Dialog>,
    /// Whether a spinner turns or `esc to interrupt` is offered. Text in the input box hides the offer.
    pub working: bool,
    /// Claude waits before it asks the model once more.
    pub retrying: Option<Retry>,
    /// Whether the last turn was interrupted or a tool was refused.
    pub interrupted: bool,
    /// Messages that wait for the turn's end.
    pub queued: Vec<String>,
    /// The error or limit that the last turn ended with. Claude draws a model's own words `API Error:` the same way.
    pub error_banner: Option<Banner>,
    /// The rule of another view that hides the conversation: nothing may be typed.
    pub covered: Option<String>,
}

/// A pause before the model is asked once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    pub seconds: u64,
    pub attempt: u32,
    /// How many attempts there will be.
    pub of: u32,
}

/// An error or a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Banner {
    pub rule: String,
    pub text: String,
    pub category: ErrorCategory,
    /// Whether it is a limit that ends by itself.
    pub is_limit: bool,
    /// When it ends, in Claude's words.
    pub resets: Option<String>,
}

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
            look.input_box = Some(InputBox::read(&frame, found));
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
