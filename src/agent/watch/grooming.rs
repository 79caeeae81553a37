//! Dialogs of an agent's start that coop passes by itself, where the operator lets it.

use super::Watch;
use crate::config::Groom;
use crate::session::{Phase, PromptKind};

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
        let keys = self.shared.setup.driver.groom_steps(dialog, self.shared.setup.bypass_was_asked);
        if keys.is_some() || prompt.kind == PromptKind::Setup {
            self.groomed = Some(id.clone());
        }
        let Some(keys) = keys else {
            if prompt.kind == PromptKind::Setup {
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
}
