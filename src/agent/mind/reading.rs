//! What the agent writes into its own files.

use super::{Effect, Mind};
use crate::agent::evidence::{EpochMs, Evidence, Source};
use crate::agent::facts::{LogFacts, Said, StatusFacts, StreamFacts};

impl Mind {
    /// The status file as it is now; `None` when there is none.
    pub fn read_status(&mut self, status: Option<StatusFacts>) {
        let Some(status) = status else {
            self.seen.forget(Source::Status);
            return self.ails(Source::Status, Some("there is no status file".to_owned()));
        };
        self.ails(Source::Status, None);
        if !self.hooks_speak {
            // Nobody else names the conversation.
            self.conversation = status.session_id.or(self.conversation.take());
        }
        if let Some(evidence) = status.evidence {
            self.seen.note(evidence);
        }
    }

    /// A line of the log, written in this child's life.
    pub fn read_line(&mut self, facts: LogFacts, now: EpochMs) -> Option<Effect> {
        // A line without a time is of now; one from before this child speaks of another.
        let at = facts.at.unwrap_or(now);
        if at < self.started() {
            return None;
        }
        self.last_message = facts.last_message.or(self.last_message.take());
        if let Some((rule, claim)) = facts.claim {
            self.seen.note(Evidence::new(Source::Log, rule, claim, at));
        }
        match facts.said? {
            Said::Prompt { text, queued } => {
                if queued && !self.hooks_speak {
                    self.seen.queued = self.seen.queued.saturating_sub(1);
                }
                Some(Effect::Took { text, witness: "log: prompt".into() })
            }
            Said::TakenInTurn { text } => Some(Effect::Took { text, witness: "log: queued_command".into() }),
            Said::Queued { .. } => {
                self.seen.queued += 1;
                None
            }
            // Its turn is about to begin; until then the agent is not idle.
            Said::Dequeued => None,
            Said::Removed | Said::Withdrawn { .. } => {
                self.seen.queued = self.seen.queued.saturating_sub(1);
                None
            }
        }
    }

    /// A line that the agent printed instead of drawing.
    pub fn read_printed(&mut self, facts: StreamFacts, now: EpochMs) {
        self.conversation = facts.session_id.or(self.conversation.take());
        self.last_message = facts.last_message.or(self.last_message.take());
        if let Some((rule, claim)) = facts.claim {
            self.seen.note(Evidence::new(Source::Jsonl, rule, claim, now));
        }
    }
}
