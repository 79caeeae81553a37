//! Dialogs of an agent's start that coop passes by itself, where the operator lets it.

use std::path::PathBuf;

use super::Watch;
use crate::agent::rows::is_blank;
use crate::borrowed::process;
use crate::config::Groom;
use crate::session::{Phase, PromptKind};

/// A dialog that asks whether a directory is trusted.
const TRUST: &str = "trust";

impl Watch {
    /// Passes a harmless dialog, once; a key without effect is pressed again by the one who presses it.
    pub(super) fn groom(&mut self) {
        if self.shared.setup.groom != Groom::Auto || !self.mind.is_prompting() {
            return;
        }
        let (Some(prompt), Some(dialog)) = (self.mind.present().prompt(), &self.mind.look.dialog) else { return };
        if !dialog.prompt.ready || self.groomed.as_deref() == Some(prompt.id.as_str()) {
            return;
        }
        let id = prompt.id.clone();
        let subtype = dialog.prompt.subtype.clone().unwrap_or_default();
        if !self.is_starting() && !self.shared.setup.driver.habits().unasked.contains(&subtype.as_str()) {
            return;
        }
        let keys = self.shared.setup.driver.groom_steps(dialog, self.shared.setup.bypass_was_asked);
        let keys =
            keys.filter(|_| subtype != TRUST || self.is_started_in(shown_directory(&dialog.prompt.screen_lines)));
        let is_of_start = prompt.kind == PromptKind::Setup || subtype == TRUST;
        if keys.is_some() || is_of_start {
            self.groomed = Some(id.clone());
        }
        let Some(keys) = keys else {
            if is_of_start {
                tracing::warn!(dialog = subtype, prompt = id, "a dialog is open that somebody must answer");
            }
            return;
        };
        tracing::info!(dialog = subtype, "a dialog of the agent's start is passed");
        let agent = self.shared.agent(&self.session);
        tokio::spawn(async move {
            match agent.press(&id, keys).await {
                Ok(turn) => {
                    let witness = format!("groom: {subtype}");
                    agent.session().progress(turn, Phase::Accepted { witness: witness.into() }).await;
                }
                Err(reason) => tracing::warn!(%reason, dialog = subtype, "the dialog could not be passed"),
            }
        });
    }

    /// Whether a dialog may be one of the agent's start. Later ones were opened by somebody, who will answer them.
    fn is_starting(&self) -> bool {
        // Whether one that was found running has begun long ago nobody knows before it is seen.
        self.mind.seen.is_beginning || self.shared.setup.found.is_some() && !self.was_ready
    }

    /// Whether the operator started the agent in this directory, or in one below of the same repository. Where the
    /// dialog shows none, it can be no other.
    fn is_started_in(&self, shown: Option<PathBuf>) -> bool {
        let Some(shown) = shown else { return true };
        let workspace = &self.shared.setup.workspace;
        // A script may have gone elsewhere before it started the agent, and in a box it is called otherwise.
        let all = [Some(workspace.clone()), workspace.canonicalize().ok(), process::cwd(self.pid)];
        let is_of = |dir: &PathBuf| *dir == shown || dir.starts_with(&shown) && shown.join(".git").exists();
        all.iter().flatten().any(is_of)
    }
}

/// The directory that a dialog asks about: a row that begins like a path, and what was wrapped of it.
fn shown_directory(rows: &[String]) -> Option<PathBuf> {
    let first = rows.iter().position(|row| row.trim_start().starts_with('/'))?;
    let path: String = rows[first..].iter().take_while(|row| !is_blank(row)).map(|row| row.trim()).collect();
    Some(path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_of_a_dialog_is_the_row_that_begins_like_a_path() {
        let shown = |text: &str| shown_directory(&text.lines().map(str::to_owned).collect::<Vec<_>>());
        let claude = " Accessing workspace:\n\n /home/dev/a-long-na\n me\n\n Quick safety check: and/or so\n";
        assert_eq!(shown(claude), Some("/home/dev/a-long-name".into()));
        assert_eq!(shown("Do you trust this folder?\n\n1. Trust folder (project)\n"), None);
    }
}
