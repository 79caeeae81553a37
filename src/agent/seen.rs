//! What the sources have seen so far: the last word of each, and a short memory for those who ask why.

use std::collections::{BTreeMap, VecDeque};

use super::driver::Habits;
use super::evidence::{Claim, EpochMs, Evidence, Source};
use crate::session::Prompt;

/// How much is remembered for explanations; an agent's turn with a few tools makes some twenty.
const RECENT_MAX: usize = 64;

/// Everything the referee goes by. It belongs to one child and is thrown away with it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// When the child was started.
    pub started: EpochMs,
    pub habits: Habits,
    /// The question that the agent has asked through a hook and that waits for its answer.
    pub asked: Option<Prompt>,
    /// The dialog on the screen is more like that of a tool whose hook has not asked yet.
    pub draws_another: bool,
    /// Several questions are open that no hook holds, and the screen does not show yet which of them is asked first: their
    /// hooks are heard in any order.
    pub is_unclear: bool,
    /// Since when a dialog is drawn that says that another comes before it, which was not drawn; and whether that is known
    /// to be asked.
    pub out_of_turn: Option<(EpochMs, bool)>,
    /// The screen has shown something that is known; where it shows nothing now, it may be half drawn.
    pub has_looked: bool,
    /// Since when the screen does not show the dialog any more that it showed last.
    pub undrawn: Option<EpochMs>,
    /// When the arbiter last said that a dialog is open.
    pub waited: Option<EpochMs>,
    /// Messages that the agent has taken but not begun to work on, by its own word.
    pub queued: usize,
    /// Whether the screen shows messages that wait for the turn's end.
    pub shows_queue: bool,
    /// Messages of ours that were given to the agent at work and that nobody saw it take yet.
    pub ours_queued: usize,
    /// The log has told that the present turn ends with a dialog.
    pub ends_asking: bool,
    /// When the newest line of the log was written.
    pub log_at: Option<EpochMs>,
    /// When the present turn began, by its hooks.
    pub turn_since: Option<EpochMs>,
    /// The error or limit that the screen shows, which a model's own words may look like.
    pub banner: Option<Evidence>,
    /// It was seen at work in this child's life.
    pub has_worked: bool,
    /// How long an idle agent is not yet called idle.
    pub idle_grace_ms: u64,
    /// Hooks were given to the agent: it will speak when it is ready.
    pub expects_hooks: bool,
    /// It has not been seen to be ready since it began.
    pub is_beginning: bool,
    /// Why the agent may behave otherwise than what coop was measured with.
    pub doubt: Option<String>,
    last: BTreeMap<Source, Evidence>,
    recent: VecDeque<Evidence>,
    /// What is wrong with a source, in words.
    ailing: BTreeMap<Source, String>,
}

impl Seen {
    pub fn new(started: EpochMs, idle_grace_ms: u64, habits: Habits) -> Self {
        Self {
            started,
            habits,
            asked: None,
            draws_another: false,
            is_unclear: false,
            out_of_turn: None,
            has_looked: false,
            undrawn: None,
            waited: None,
            queued: 0,
            shows_queue: false,
            ours_queued: 0,
            ends_asking: false,
            log_at: None,
            turn_since: None,
            banner: None,
            has_worked: false,
            idle_grace_ms,
            expects_hooks: false,
            is_beginning: true,
            doubt: None,
            last: BTreeMap::new(),
            recent: VecDeque::new(),
            ailing: BTreeMap::new(),
        }
    }

    /// Takes in what a source saw. A source that repeats itself has said it since the first time.
    pub fn note(&mut self, evidence: Evidence) {
        if evidence.claim == Claim::Waiting {
            self.waited = Some(evidence.at);
        }
        self.has_looked |= evidence.source == Source::Screen;
        if let Some(since) = self.begins_turn(&evidence) {
            self.ends_asking = false;
            // What stopped the last one is over, whoever told of it.
            self.last.retain(|_, last| last.at >= since || !matches!(last.claim, Claim::Error(_) | Claim::Parked(_)));
        }
        match self.last.get_mut(&evidence.source) {
            Some(last) if last.claim == evidence.claim && last.rule == evidence.rule && is_lasting(last.source) => {}
            // Every turn's end is logged, also that of one which failed: it does not end the error.
            Some(last)
                if last.source == Source::Log
                    && matches!(last.claim, Claim::Error(_) | Claim::Parked(_))
                    && evidence.claim == Claim::Idle =>
            {
                self.remember(evidence);
            }
            // Lines of a log may be read later than they were written; the newest counts.
            Some(last) if last.source == Source::Log && last.at > evidence.at => self.remember(evidence),
            _ => {
                self.remember(evidence.clone());
                self.last.insert(evidence.source, evidence);
            }
        }
    }

    /// The agent starts anew: what anybody said is over.
    pub fn begin_again(&mut self) {
        self.last.clear();
        self.is_beginning = true;
    }

    /// What a source shows counts from now on only.
    pub fn see_anew(&mut self, source: Source, now: EpochMs) {
        self.last.get_mut(&source).into_iter().for_each(|last| last.at = now);
    }

    /// The dialog that a hook told of was seen to be gone: it does not come back when the screen is drawn anew.
    pub fn end_prompt(&mut self) {
        self.last.retain(|source, last| *source != Source::Hooks || !matches!(last.claim, Claim::Prompt(_)));
    }

    /// A source has nothing to say any more.
    pub fn forget(&mut self, source: Source) {
        self.last.remove(&source);
    }

    /// Takes in what the screen shows, if that is anything which is known.
    pub fn look(&mut self, shown: Option<Evidence>, now: EpochMs) {
        let is_dialog = |word: &Evidence| matches!(word.claim, Claim::Prompt(_));
        let was_drawn = self.of(Source::Screen).is_some_and(is_dialog);
        self.undrawn = match shown.as_ref().is_some_and(is_dialog) {
            true => None,
            false => self.undrawn.or(was_drawn.then_some(now)),
        };
        // It was shown, and is answered.
        self.ends_asking &= !was_drawn || self.undrawn.is_none();
        match shown {
            Some(evidence) => self.note(evidence),
            None => self.forget(Source::Screen),
        }
    }

    /// Whether the log tells of the present turn: then it tells of its failure too, before a hook ends it.
    pub fn log_tells_of_turn(&self) -> bool {
        self.log_at.is_some_and(|written| written >= self.turn_since.unwrap_or_default())
    }

    /// What a source said last.
    pub fn of(&self, source: Source) -> Option<&Evidence> {
        self.last.get(&source)
    }

    /// Says what is wrong with a source, or that nothing is.
    pub fn ails(&mut self, source: Source, problem: Option<String>) {
        match problem {
            Some(problem) => drop(self.ailing.insert(source, problem)),
            None => drop(self.ailing.remove(&source)),
        }
    }

    pub fn ailing(&self) -> impl Iterator<Item = (Source, &str)> {
        self.ailing.iter().map(|(source, problem)| (*source, problem.as_str()))
    }

    /// The last words of all sources, the most trusted first.
    pub fn words(&self) -> impl Iterator<Item = &Evidence> {
        self.last.values()
    }

    /// What was seen lately, oldest first.
    pub fn recent(&self) -> impl DoubleEndedIterator<Item = &Evidence> {
        self.recent.iter()
    }

    /// What the arbiter said last.
    pub fn arbiter(&self) -> Option<&Evidence> {
        self.of(self.habits.arbiter)
    }

    /// Since when a new turn runs, if this says so. What is only seen may be what was before.
    fn begins_turn(&self, evidence: &Evidence) -> Option<EpochMs> {
        if evidence.claim != Claim::Working {
            return None;
        }
        match evidence.source {
            Source::Hooks | Source::Log | Source::Jsonl => Some(evidence.at),
            // It lags behind: busy may still be the turn that has failed.
            source if source == self.habits.arbiter => {
                Some(EpochMs(evidence.at.0.saturating_sub(self.habits.arbiter_lag_ms)))
            }
            _ => None,
        }
    }

    fn remember(&mut self, evidence: Evidence) {
        if self.recent.len() == RECENT_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back(evidence);
    }
}

/// Whether a source shows how things are, rather than what happens: saying the same again is no news.
fn is_lasting(source: Source) -> bool {
    matches!(source, Source::Signal | Source::Title | Source::Screen | Source::Process)
}
