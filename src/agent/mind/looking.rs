//! What the screen and the title show.

use super::Mind;
use crate::agent::driver::Sign;
use crate::agent::evidence::{Claim, EpochMs, Evidence, Source};
use crate::agent::look::{Banner, Look};
use crate::agent::shades;
use crate::agent::sight::Sight;
use crate::session::{ErrorCategory, Parked, Trouble};
use crate::terminal::Snapshot;

impl Mind {
    /// Looks at the screen, whose rows have their colours.
    pub fn see(&mut self, screen: &Snapshot, now: EpochMs) {
        if screen.mid_frame {
            // Half of it is old; the whole frame follows.
            return;
        }
        let rows: Vec<String> = screen.lines.iter().map(|row| plain(row)).collect();
        let sight = Sight {
            rows: &rows,
            ansi: Some(&screen.lines),
            cursor: Some(screen.cursor),
            cols: screen.size.cols().into(),
            is_mid_frame: screen.mid_frame,
        };
        let look = self.driver.look(&self.rules, sight);
        if look.restarts && !self.look.restarts {
            self.seen.begin_again();
        }
        let title = screen.title.as_deref().and_then(|title| self.driver.title(title));
        self.see_sign(Source::Title, title, now);
        let signal = screen.signal.as_deref().and_then(|signal| self.driver.signal(signal));
        self.see_sign(Source::Signal, signal, now);
        match screen_claim(&look, now) {
            // A countdown is one wait, not a new one with every second.
            Some((_, Claim::Parked(parked))) if self.is_parked_for(&parked.reason) => {}
            Some((rule, claim)) => self.seen.look(Some(Evidence::new(Source::Screen, rule, claim, now)), now),
            None => self.seen.look(None, now),
        }
        // Of a picture that shows nothing the error need not be gone: it may be half drawn.
        if look != Look::default() {
            self.see_banner(&look, now);
        }
        self.seen.shows_queue = !look.queued.is_empty();
        self.look = look;
        self.see_order(now);
    }

    /// What the screen shows of an error, for those cases in which nobody tells of it.
    pub fn see_banner(&mut self, look: &Look, now: EpochMs) {
        let is_over = look.dialog.is_none() && look.retrying.is_none() && look.stalled.is_none() && !look.working;
        let Some(banner) = look.error_banner.as_ref().filter(|_| is_over) else {
            self.seen.banner = None;
            return;
        };
        if self.seen.banner.as_ref().is_some_and(|known| known.detail.as_ref() == Some(&banner.text)) {
            return;
        }
        let ends = banner.resets.as_ref().and_then(|_| self.driver.limit_ends(&banner.text, now)).map(|at| at.0);
        let (category, detail) = (banner.category, banner.text.clone());
        let claim = match banner.is_limit {
            true => Claim::Parked(Parked { reason: detail.clone(), resume_at_epoch_ms: ends, category }),
            false => Claim::Error(Trouble { category, detail: detail.clone(), resume_at_epoch_ms: None }),
        };
        self.seen.banner = Some(Evidence::new(Source::Screen, banner.rule.clone(), claim, now).with_detail(detail));
    }

    fn is_parked_for(&self, reason: &str) -> bool {
        let last = self.seen.of(Source::Screen).map(|last| &last.claim);
        matches!(last, Some(Claim::Parked(parked)) if parked.reason == reason)
    }

    /// What the title or the signal says.
    fn see_sign(&mut self, source: Source, sign: Option<Sign>, now: EpochMs) {
        let Some(Sign { rule, claim, detail }) = sign else { return };
        self.ails(source, None);
        self.seen.note(Evidence { detail, ..Evidence::new(source, rule, claim, now) });
    }
}

/// What a look at the screen is taken to mean.
fn screen_claim(look: &Look, now: EpochMs) -> Option<(String, Claim)> {
    if let Some(dialog) = &look.dialog {
        return Some((dialog.rule.clone(), Claim::Prompt(dialog.prompt.clone())));
    }
    if let Some(retry) = &look.retrying {
        let parked = Parked {
            reason: format!("retrying after an API error, attempt {} of {}", retry.attempt, retry.of),
            resume_at_epoch_ms: Some(now.plus(retry.seconds * 1000).0),
            // Wrong keys and limits are tried again as well as broken servers, and the row is the same for all.
            category: ErrorCategory::Other,
        };
        return Some(("retrying".to_owned(), Claim::Parked(parked)));
    }
    if let Some(Banner { rule, text, category, .. }) = &look.stalled {
        let parked = Parked { reason: text.clone(), resume_at_epoch_ms: None, category: *category };
        return Some((rule.clone(), Claim::Parked(parked)));
    }
    if look.restarts {
        return Some(("restarting".to_owned(), Claim::Working));
    }
    if look.working {
        return Some(("working".to_owned(), Claim::Working));
    }
    look.input_box.as_ref().map(|_| ("input box".to_owned(), Claim::Idle))
}

/// A row without its colours.
fn plain(row: &str) -> String {
    let text: String = shades::read(row).iter().map(|shade| shade.character).collect();
    text.trim_end().to_owned()
}
