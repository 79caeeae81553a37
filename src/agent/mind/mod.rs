//! What is known about one agent in one child: facts come in, the referee decides. No I/O and no clock, so that a
//! recording can be played through it and gives the same states.

mod hearing;
mod looking;
mod naming;
mod questions;
mod reading;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::driver::Driver;
use super::evidence::{Claim, EpochMs, Source};
use super::explain::{Explained, explain};
use super::heard::Done;
use super::look::Look;
use super::referee::{Ruling, Verdict, judge};
use super::rules::Rules;
use super::seen::Seen;
use crate::session::{Cause, Prompt, PromptKind, State, StateKind, Witness};
use naming::Naming;
pub use questions::Open;
use questions::Questions;

/// How long before a turn is seen at work its first hook may be heard.
const HOOK_AHEAD_MS: u64 = 2000;

/// What logs write when the model has said its last word.
const ENDS_OF_WORK: [&str; 2] = ["end_turn", "task_complete"];

/// What is said of a source that should have told of a turn and did not.
const SAID_NOTHING: &str = "it said nothing in the last turn, which others saw";

/// What is to be done about something that came in.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// The agent took a message.
    Took { text: String, by: Source, witness: Witness },
    /// The agent gave a message back that it had queued.
    GaveBack { text: String },
    /// Its memory is about to be compacted.
    Compacts,
    /// A question was asked; its hook waits for an answer under this name.
    Asked { id: String },
    /// The agent wants to stop; say with [`Mind::stopped`] what became of it.
    Stops { already_held: bool },
    /// A conversation begins or goes on.
    Starts { source: String },
    /// The conversation is written to this file.
    Writes { log: PathBuf },
    /// A message began a turn.
    NewTurn { message: String },
}

/// A state that was decided on.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    pub state: State,
    pub cause: Cause,
}

pub struct Mind {
    driver: &'static dyn Driver,
    pub seen: Seen,
    pub look: Look,
    pub last_message: Option<String>,
    /// The agent's own name for its conversation.
    pub conversation: Option<String>,
    /// The conversation in which a message was last seen to be taken.
    begun_in: Option<String>,
    /// Hooks have been heard in this child's life.
    pub hooks_speak: bool,
    /// When one was heard last.
    heard_at: Option<EpochMs>,
    /// Since when the present turn was seen at work.
    works_since: Option<EpochMs>,
    /// A line of the log was read that was written in this child's life.
    log_speaks: bool,
    /// The last message that a hook saw taken, and when.
    last_taken: Option<(String, EpochMs)>,
    /// A hook has told of a compaction that the log does not show yet.
    compaction_told: bool,
    present: State,
    rested_on: Option<Verdict>,
    /// When an agent that has stopped will be called idle.
    pub idle_at: Option<EpochMs>,
    /// The present turn was seen at work. One that was interrupted may be idle before its hook tells of the end.
    has_worked: bool,
    /// A turn has ended of which nothing was told.
    unseen_work: bool,
    questions: Questions,
    /// What somebody has allowed for later in a dialog.
    agreed: Vec<Done>,
    /// The last tools that were begun, the newest last.
    begun: Vec<Done>,
    /// Those of them that have not ended.
    unended: Vec<Done>,
    /// Those of the present turn that have neither ended nor been asked about.
    unasked: Vec<Done>,
    /// The first of so many dialogs was drawn, and the others follow it.
    first_of: Option<usize>,
    /// The present turn ended without a word, and why is not known from that.
    ends_wordless: bool,
    /// The last plan that the log told of; a dialog asks about it.
    plan: Option<String>,
    naming: Naming,
    rules: Arc<Rules>,
}

impl Mind {
    pub fn new(
        driver: &'static dyn Driver,
        started: EpochMs,
        idle_grace_ms: u64,
        prompt_numbers: Arc<AtomicU64>,
        rules: Arc<Rules>,
    ) -> Self {
        Self {
            driver,
            seen: Seen::new(started, idle_grace_ms, *driver.habits()),
            look: Look::default(),
            last_message: None,
            conversation: None,
            begun_in: None,
            hooks_speak: false,
            heard_at: None,
            works_since: None,
            log_speaks: false,
            last_taken: None,
            compaction_told: false,
            present: State::Starting,
            rested_on: None,
            idle_at: None,
            has_worked: false,
            unseen_work: false,
            questions: Questions::default(),
            agreed: Vec::new(),
            begun: Vec::new(),
            unended: Vec::new(),
            unasked: Vec::new(),
            first_of: None,
            ends_wordless: false,
            plan: None,
            naming: Naming::new(prompt_numbers),
            rules,
        }
    }

    pub fn present(&self) -> &State {
        &self.present
    }

    pub fn started(&self) -> EpochMs {
        self.seen.started
    }

    /// Whether a message was seen to be taken in the present conversation.
    pub fn has_begun(&self) -> bool {
        self.begun_in.is_some() && self.begun_in == self.conversation
    }

    /// Judges everything that is known. The second value says when time alone may change it.
    pub fn decide(&mut self, now: EpochMs) -> (Option<Decided>, Option<EpochMs>) {
        self.let_go_of_questions(now);
        self.seen.asked = self.shown_question();
        if std::mem::take(&mut self.unseen_work) {
            let cause = Cause::new(Source::Hooks.tier(), format!("hooks: {}", self.driver.habits().stop_event));
            return (Some(self.tell_work(cause)), Some(now.plus(1)));
        }
        let Ruling { verdict, look_again, idle_at } = judge(&self.seen, &self.present, now);
        self.idle_at = idle_at;
        if let Some(verdict) = verdict.as_ref().filter(|verdict| self.skips_work(verdict)) {
            let cause = Cause::new(verdict.source.tier(), format!("{}: {}", verdict.source.word(), verdict.rule));
            return (Some(self.tell_work(cause)), Some(now.plus(1)));
        }
        let decided = verdict.map(|mut verdict| {
            verdict.state = self.naming.name(self.with_plan(verdict.state));
            self.present = verdict.state.clone();
            self.miss_sources(now);
            self.seen.is_beginning &= self.present.kind() != StateKind::Idle;
            match self.present.kind() {
                StateKind::Working => (self.has_worked, self.seen.has_worked) = (true, true),
                // What it does with the answer is another thing.
                StateKind::Prompt => self.has_worked = false,
                _ => {}
            }
            if verdict.source == Source::Screen && self.present.kind() != StateKind::Prompt {
                self.seen.end_prompt();
            }
            let rule = format!("{}: {}", verdict.source.word(), verdict.rule);
            let cause = Cause::new(verdict.source.tier(), rule);
            let state = verdict.state.clone();
            self.rested_on = Some(verdict);
            Decided { state, cause }
        });
        (decided, look_again.into_iter().chain(self.questions_end_at()).min())
    }

    /// Whether this is the end of a turn that went on after a dialog, and nobody has been told that it did: what the model says
    /// to an answer may be written in one go. A turn that is cut off at its dialog ends otherwise.
    fn skips_work(&self, verdict: &Verdict) -> bool {
        let is_end = verdict.source == Source::Log && ENDS_OF_WORK.contains(&verdict.rule.as_ref());
        is_end && verdict.state.kind() == StateKind::Idle && self.present.kind() == StateKind::Prompt
    }

    /// It has worked, however short that was.
    fn tell_work(&mut self, cause: Cause) -> Decided {
        self.present = State::Working;
        self.naming.name(State::Working);
        (self.has_worked, self.seen.has_worked) = (true, true);
        Decided { state: State::Working, cause }
    }

    /// The dialog about a plan with its words, which are on the screen only in part.
    fn with_plan(&self, state: State) -> State {
        match state {
            State::Prompt { prompt, trouble } if prompt.kind == PromptKind::Plan && prompt.summary.is_none() => {
                let prompt = Prompt { summary: self.plan.clone(), ..Prompt::clone(&prompt) };
                State::Prompt { prompt: Arc::new(prompt), trouble }
            }
            state => state,
        }
    }

    /// Says so when a turn has ended that others saw and of which a source has told nothing.
    fn miss_sources(&mut self, now: EpochMs) {
        match self.present.kind() {
            StateKind::Working => drop(self.works_since.get_or_insert(now)),
            StateKind::Idle => {
                let Some(since) = self.works_since.take() else { return };
                let heard_nothing = self.heard_at.is_none_or(|heard| heard.plus(HOOK_AHEAD_MS) < since);
                if self.seen.expects_hooks && heard_nothing {
                    self.ails(Source::Hooks, Some("none was heard in the last turn, which others saw".to_owned()));
                }
                // An agent that prints what it does draws nothing, and need keep nothing. A status file is missed by who reads it.
                let prints = self.seen.of(Source::Jsonl).is_some();
                let arbiter = self.seen.habits.arbiter;
                if !prints && arbiter != Source::Status && self.seen.arbiter().is_none() {
                    self.ails(arbiter, Some(SAID_NOTHING.to_owned()));
                }
                if !prints && let Some(problem) = self.log_is_missed() {
                    self.ails(Source::Log, Some(problem));
                }
            }
            _ => {}
        }
    }

    /// What is to be said of a log in which nothing came, although a turn was seen.
    pub fn log_is_missed(&self) -> Option<String> {
        let is_missed = self.seen.has_worked && !self.log_speaks && self.works_since.is_none();
        is_missed.then(|| SAID_NOTHING.to_owned())
    }

    /// Until when a question that a hook has announced may still be drawn.
    pub fn opens_until(&self) -> Option<EpochMs> {
        let asked = self.seen.of(Source::Hooks).filter(|hook| matches!(hook.claim, Claim::Prompt(_)))?;
        Some(asked.at.plus(self.driver.habits().opens_within_ms))
    }

    pub fn explain(&self, now: EpochMs) -> Explained {
        explain(&self.seen, self.rested_on.as_ref(), now)
    }

    /// Says what is wrong with a source, or that nothing is.
    pub fn ails(&mut self, source: Source, problem: Option<String>) {
        self.seen.ails(source, problem);
    }

    /// The error or limit that the present turn ended with, if it did; also one that is not published yet.
    pub fn trouble(&self) -> Option<&str> {
        if let State::Error(trouble) = &self.present {
            return Some(&trouble.detail);
        }
        let told = self.seen.words().find_map(|word| match &word.claim {
            Claim::Error(trouble) => Some(trouble.detail.as_str()),
            Claim::Parked(parked) if word.source != Source::Screen => Some(parked.reason.as_str()),
            _ => None,
        });
        told.or_else(|| self.shown_failure())
    }

    /// Whether a turn has ended without a word and nobody has told why: the screen is about to show it.
    pub fn may_have_failed(&self) -> bool {
        self.ends_wordless && !self.seen.log_tells_of_turn()
    }

    /// What the screen shows as the failure of a turn that ended without a word.
    pub fn shown_failure(&self) -> Option<&str> {
        self.look.error_banner.as_ref().filter(|_| self.may_have_failed()).map(|banner| banner.text.as_str())
    }

    pub fn is_prompting(&self) -> bool {
        self.present.kind() == StateKind::Prompt
    }
}
