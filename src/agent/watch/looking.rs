//! The screen, the title, and JSON on the terminal.

use super::Watch;
use crate::agent::claude::screen;
use crate::agent::claude::stream::Stream;
use crate::agent::evidence::{Claim, EpochMs, Evidence, Source};
use crate::agent::lines::Splitter;
use crate::session::{ErrorCategory, Parked, Picture};

/// The output of a run without a user interface, line by line.
pub struct Jsonl {
    splitter: Splitter,
    stream: Stream,
}

impl Default for Jsonl {
    fn default() -> Self {
        Self { splitter: Splitter::new(0), stream: Stream::default() }
    }
}

impl Watch {
    pub(super) fn see(&mut self, picture: &Picture) {
        let now = EpochMs::now();
        let look = screen::look(&picture.screen);
        self.note_title(picture.screen.title.as_deref(), now);
        match screen_claim(&look, now) {
            // A countdown is one wait, not a new one with every second.
            Some((_, Claim::Parked(parked))) if self.is_parked_for(&parked.reason) => {}
            Some((rule, claim)) => self.seen.note(Evidence::new(Source::Screen, rule, claim, now)),
            None => self.seen.forget(Source::Screen),
        }
        self.look = look;
    }

    fn is_parked_for(&self, reason: &str) -> bool {
        let last = self.seen.of(Source::Screen).map(|last| &last.claim);
        matches!(last, Some(Claim::Parked(parked)) if parked.reason == reason)
    }

    /// The title begins with a turning sign while the agent works.
    fn note_title(&mut self, title: Option<&str>, now: EpochMs) {
        let Some(first) = title.and_then(|title| title.chars().next()) else { return };
        let claim = match first {
            '\u{2800}'..='\u{28ff}' => Claim::Working,
            '✳' => Claim::Still,
            _ => return,
        };
        self.seen.note(Evidence::new(Source::Title, "sign", claim, now));
    }

    pub(super) fn read_output(&mut self, bytes: &[u8]) {
        let Some(jsonl) = &mut self.jsonl else { return };
        let mut lines = Vec::new();
        jsonl.splitter.push(bytes, &mut lines);
        let now = EpochMs::now();
        for line in lines {
            let Some(facts) = line.text().and_then(|line| jsonl.stream.read_line(line, now)) else { continue };
            if let Some(run) = facts.run {
                self.reading.count_run(run);
            }
            self.conversation = facts.session_id.or(self.conversation.take());
            self.last_message = facts.last_message.or(self.last_message.take());
            if let Some((rule, claim)) = facts.claim {
                self.seen.note(Evidence::new(Source::Jsonl, rule, claim, now));
            }
        }
    }
}

/// What a look at the screen is taken to mean.
fn screen_claim(look: &screen::Look, now: EpochMs) -> Option<(String, Claim)> {
    if let Some(dialog) = &look.dialog {
        return Some((dialog.rule.clone(), Claim::Prompt(dialog.prompt.clone())));
    }
    if let Some(retry) = &look.retrying {
        let parked = Parked {
            reason: format!("retrying after an API error, attempt {} of {}", retry.attempt, retry.of),
            resume_at_epoch_ms: Some(now.plus(u64::from(retry.seconds) * 1000).0),
            category: ErrorCategory::ServerError,
        };
        return Some(("retrying".to_owned(), Claim::Parked(parked)));
    }
    if look.working {
        return Some(("working".to_owned(), Claim::Working));
    }
    look.input_box.as_ref().map(|_| ("input box".to_owned(), Claim::Idle))
}
