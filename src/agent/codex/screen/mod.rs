//! What Codex's screen shows: its composer, its dialogs, whether it works (0.166.0).
//!
//! The rules are in `rules.json`; here is where on the screen they look.

mod above;
mod dialog;
mod frame;
mod input_box;
mod questions;

use serde_json::Value;

use self::above::Above;
use self::frame::Frame;
use crate::agent::Sight;
use crate::agent::look::{Banner, Look};
use crate::agent::rules::{Meaning, Place, Rule, Rules, RulesError};

/// The rules that come with coop.
const RULES: &str = include_str!("../rules.json");

/// Comes after a usage limit, which stands above it.
const LIMIT_DIALOG: &str = "rate_limit";

/// Stands in the row that tells of work while there is no network; how long it has been there changes every second.
const NETWORK: &str = "Reconnecting... waiting for network";

/// The rules for Codex, with the operator's.
pub fn rules(agent_config: Option<&Value>) -> Result<Rules, RulesError> {
    Rules::read(RULES, agent_config)
}

/// Looks at the screen.
pub fn look(rules: &Rules, sight: Sight<'_>) -> Look {
    let frame = Frame::new(sight);
    let below = frame.below();
    let covered = rules.find(Place::Below, &below).map(|(rule, _)| rule);
    let covered = covered.filter(|rule| matches!(rule.means, Meaning::Covered)).map(|rule| rule.name.clone());
    if covered.is_some() {
        return Look { covered, ..Look::default() };
    }
    match frame.composer() {
        Some(composer) if composer.is_early => Look::default(),
        Some(composer) => {
            let above = look_above(rules, &sight, composer.top);
            Look { input_box: Some(input_box::read(&sight, composer)), ..above }
        }
        None => look_without_box(rules, &frame),
    }
}

fn look_without_box(rules: &Rules, frame: &Frame<'_>) -> Look {
    let Some(dialog) = dialog::find(rules, frame) else { return Look::default() };
    let above = match dialog.rule == LIMIT_DIALOG {
        true => look_above(rules, &frame.sight, dialog.rows.start),
        false => Look::default(),
    };
    Look { dialog: Some(dialog), working: false, ..above }
}

/// What the rows above the composer tell.
fn look_above(rules: &Rules, sight: &Sight<'_>, top: usize) -> Look {
    let above = Above::read(sight, top);
    let status = rules.find(Place::Status, &above.status).map(|(rule, _)| rule);
    let said = rules.find(Place::Said, &above.said).map(|(rule, _)| rule);
    Look {
        working: status.is_some_and(|rule| matches!(rule.means, Meaning::Working | Meaning::Parked { .. })),
        stalled: status.and_then(|rule| banner(rule, NETWORK)),
        interrupted: said.is_some_and(|rule| matches!(rule.means, Meaning::Idle)),
        error_banner: said.and_then(|rule| banner(rule, &above.said)),
        queued: above.queued,
        ..Look::default()
    }
}

fn banner(rule: &Rule, words: &str) -> Option<Banner> {
    let (category, is_limit, reset) = match &rule.means {
        Meaning::Error { category } => (*category, false, None),
        Meaning::Parked { category, reset } => (*category, true, reset.as_ref()),
        _ => return None,
    };
    let text = words.trim_start_matches("■ ").to_owned();
    let resets = reset.and_then(|reset| reset.0.captures(&text)?.get(1)).map(|found| found.as_str().trim().to_owned());
    Some(Banner { rule: rule.name.clone(), text, category, is_limit, resets })
}

#[cfg(test)]
mod tests;
