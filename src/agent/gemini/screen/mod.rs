//! What Gemini CLI's screen shows: its input box, its dialogs, whether it works (0.61.0).
//!
//! It draws into the scrollback, so what was answered stays on the screen. Only what stands at the very bottom counts:
//! the box with what belongs to it, or a frame in its place. The rules are in `rules.json`.

mod above;
mod composer;
mod dialog;
mod field;
mod frame;
mod questions;

use serde_json::Value;

use self::above::Above;
use self::composer::Composer;
use crate::agent::Sight;
use crate::agent::look::{Banner, Look};
use crate::agent::rules::{Meaning, Place, Rule, Rules, RulesError};

/// The rules that come with coop.
const RULES: &str = include_str!("../rules.json");

/// The rules for Gemini CLI, with the operator's.
pub fn rules(agent_config: Option<&Value>) -> Result<Rules, RulesError> {
    Rules::read(RULES, agent_config)
}

/// Looks at the screen.
pub fn look(rules: &Rules, sight: Sight<'_>) -> Look {
    match Composer::find(&sight) {
        Some(composer) => look_with_box(rules, &sight, &composer),
        None => look_without_box(rules, &sight),
    }
}

fn look_with_box(rules: &Rules, sight: &Sight<'_>, composer: &Composer) -> Look {
    let above = Above::read(sight, composer.top());
    let said = rules.find(Place::Said, &above.said).map(|(rule, _)| rule);
    let status = composer.status.map_or("", |row| sight.rows[row].trim_start());
    let working = rules.find(Place::Status, status).is_some_and(|(rule, _)| matches!(rule.means, Meaning::Working));
    Look {
        input_box: Some(composer.input_box(sight)),
        working,
        interrupted: !working && said.is_some_and(|rule| matches!(rule.means, Meaning::Idle)),
        queued: if working { above.queued } else { Vec::new() },
        // Also while it waits for the hook that ends the turn.
        error_banner: said.and_then(|rule| banner(rule, &above.said)),
        ..Look::default()
    }
}

fn look_without_box(rules: &Rules, sight: &Sight<'_>) -> Look {
    let dialog = dialog::find(rules, sight);
    let view = frame::below_conversation(sight);
    match rules.find(Place::Below, &view) {
        // A known dialog may quote a view.
        Some((Rule { name, means: Meaning::Covered, .. }, _)) if dialog.as_ref().is_none_or(dialog::is_unknown) => {
            Look { covered: Some(name.clone()), ..Look::default() }
        }
        _ => Look { dialog, ..Look::default() },
    }
}

fn banner(rule: &Rule, text: &str) -> Option<Banner> {
    let (category, is_limit, reset) = match &rule.means {
        Meaning::Error { category } => (*category, false, None),
        Meaning::Parked { category, reset } => (*category, true, reset.as_ref()),
        _ => return None,
    };
    let resets = reset.and_then(|reset| reset.0.captures(text)?.get(1)).map(|found| found.as_str().trim().to_owned());
    let text = text.trim_start_matches("✕ ").to_owned();
    Some(Banner { rule: rule.name.clone(), text, category, is_limit, resets })
}

#[cfg(test)]
mod tests;
