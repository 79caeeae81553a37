//! What the agent writes into its own files.

use super::{Effect, Mind};
use crate::agent::evidence::{EpochMs, Evidence, Source};
use crate::agent::facts::{LogFacts, Said, StatusFacts, StreamFacts};
use crate::agent::witness::comparable;

impl Mind {
    /// The status file as it is now; `None` when there is none.
    pub fn read_status(&mut self, status: Option<StatusFacts>) {
        let Some(status) = status else {
            self.seen.forget(Source::Status);
            return self.ails(Source::Status, Some("there is no status file".to_owned()));
        };
        let unknown = status.unknown.map(|word| format!("it says {word:?}, which this coop does not understand"));
        self.ails(Source::Status, unknown);
        if !self.hooks_speak {
            // Nobody else names the conversation.
            self.conversation = status.session_id.or(self.conversation.take());
        }
        match status.evidence {
            Some(evidence) => self.seen.note(evidence),
            // What it said before is not true any more.
            None => self.seen.forget(Source::Status),
        }
    }

    /// A line of the log, written in this child's life.
    pub fn read_line(&mut self, facts: LogFacts, now: EpochMs) -> Vec<Effect> {
        // A line without a time is of now; one from before this child speaks of another.
        let at = facts.at.unwrap_or(now);
        if at < self.started() {
            return Vec::new();
        }
        self.log_speaks = true;
        self.seen.log_at = self.seen.log_at.max(Some(at));
        // A hook tells before it is done, and what was kept then is kept.
        let compacted = facts.compacted && !std::mem::take(&mut self.compaction_told);
        self.last_message = facts.last_message.or(self.last_message.take());
        if facts.plan.is_some() {
            self.seen.ends_asking = true;
            self.plan = facts.plan.filter(|plan| !plan.is_empty());
        }
        if let Some((rule, claim)) = facts.claim {
            self.seen.note(Evidence::new(Source::Log, rule, claim, at));
        }
        let took = facts.said.and_then(|said| self.read_said(said, at));
        compacted.then_some(Effect::Compacts).into_iter().chain(took).collect()
    }

    /// What became of a message, by the log.
    fn read_said(&mut self, said: Said, at: EpochMs) -> Option<Effect> {
        match said {
            Said::Prompt { text, queued } => {
                if queued && !self.hooks_speak {
                    self.seen.queued = self.seen.queued.saturating_sub(1);
                }
                Some(Effect::Took { text, by: Source::Log, witness: "log: prompt".into() })
            }
            Said::TakenInTurn { text } => {
                Some(Effect::Took { text, by: Source::Log, witness: "log: queued_command".into() })
            }
            Said::Queued { text } => {
                // Logs are read later than hooks are heard: what was taken since waits no more, and nobody will say so again.
                let is_taken = |(taken, when): &(String, EpochMs)| at <= *when && *taken == comparable(&text);
                self.seen.queued += usize::from(!self.last_taken.as_ref().is_some_and(is_taken));
                None
            }
            // Its turn is about to begin; until then the agent is not idle.
            Said::Dequeued => None,
            Said::Removed => {
                self.seen.queued = self.seen.queued.saturating_sub(1);
                None
            }
            // All that waited, whatever their number.
            Said::Withdrawn { text } => {
                self.seen.queued = 0;
                Some(Effect::GaveBack { text })
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
