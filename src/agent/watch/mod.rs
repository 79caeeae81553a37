//! Watches one agent in one child: sources bring evidence, the referee decides, the session is told.
//!
//! Everything here belongs to one child and is thrown away with it; a restarted child gets a new watch.

mod grooming;
mod hearing;
mod looking;
mod naming;
mod reading;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::asks::Ask;
use super::claude::screen::Look;
use super::evidence::EpochMs;
use super::files::Files;
use super::handle::Shared;
use super::hook_socket::HookCall;
use super::questions::Questions;
use super::referee::{Ruling, Verdict, judge};
use super::seen::Seen;
use super::view::View;
use super::witness::Witnesses;
use crate::session::{Cause, Declared, Event, Item, Resume, Session, State, StateKind, Wants};
use naming::Naming;
use reading::Reading;

/// What a screen tells without anybody looking at its bytes.
const SCREEN_AND_STATE: Wants = Wants { output: false, screen: true, state: true };

/// The same, for runs whose output itself is to be read.
const WITH_OUTPUT: Wants = Wants { output: true, screen: true, state: true };

/// What comes to a watch from outside, for as long as coop lives.
pub struct Inlets {
    pub hooks: mpsc::Receiver<HookCall>,
    pub asks: mpsc::Receiver<Ask>,
}

pub struct Watch {
    session: Session,
    shared: Arc<Shared>,
    pid: u32,
    seen: Seen,
    questions: Questions,
    witnesses: Witnesses,
    reading: Reading,
    look: Look,
    rows: Vec<String>,
    naming: Naming,
    present: State,
    rested_on: Option<Verdict>,
    last_message: Option<String>,
    conversation: Option<String>,
    hooks_speak: bool,
    /// Questions were open when the dialog left; their hooks are let go a little later.
    unasked_since: Option<EpochMs>,
    jsonl: Option<looking::Jsonl>,
    version: u64,
}

impl Watch {
    pub fn new(session: Session, shared: Arc<Shared>, pid: u32) -> Self {
        let started = EpochMs::now();
        let seen = Seen::new(started, shared.setup.idle_grace_ms);
        let reading = Reading::new(&shared.setup, pid, started);
        let jsonl = shared.setup.prints_jsonl.then(looking::Jsonl::default);
        Self {
            session,
            pid,
            seen,
            questions: Questions::default(),
            witnesses: Witnesses::default(),
            reading,
            look: Look::default(),
            rows: Vec::new(),
            naming: Naming::new(shared.prompt_numbers.clone()),
            present: State::Starting,
            rested_on: None,
            last_message: None,
            conversation: shared.setup.conversation.clone(),
            hooks_speak: false,
            unasked_since: None,
            jsonl,
            version: 0,
            shared,
        }
    }

    /// Watches until the child is gone.
    pub async fn run(mut self, inlets: &mut Inlets) {
        let wants = if self.jsonl.is_some() { WITH_OUTPUT } else { SCREEN_AND_STATE };
        let Ok(mut subscription) = self.session.subscribe_uncounted(wants, Resume::default()) else { return };
        let mut files = Files::new();
        self.reading.dirs().into_iter().for_each(|dir| files.want(&dir));
        let mut look_again = self.decide().await;
        loop {
            tokio::select! {
                item = subscription.next() => match item {
                    Some(Item::Screen(picture)) => self.see(&picture),
                    Some(Item::Output(frame)) => self.read_output(&frame.data),
                    Some(Item::Event(entry)) if is_end(&entry.event) => break,
                    Some(_) => continue,
                    None => break,
                },
                Some(call) = inlets.hooks.recv() => self.hear(call).await,
                Some(ask) = inlets.asks.recv() => self.answer(ask).await,
                () = files.changed() => {
                    self.read_files().await;
                    self.reading.dirs().into_iter().for_each(|dir| files.want(&dir));
                }
                () = until(look_again) => {}
            }
            look_again = self.decide().await;
        }
        // Whoever waits for an answer that cannot come is told so by the dropped place.
        self.publish(false);
    }

    /// Judges what was seen, and tells the session when that changes something.
    async fn decide(&mut self) -> Option<EpochMs> {
        let now = EpochMs::now();
        self.questions.drop_gone();
        self.seen.asked = self.shown_question();
        let Ruling { verdict, look_again } = judge(&self.seen, &self.present, now);
        if let Some(mut verdict) = verdict {
            verdict.state = self.naming.name(verdict.state);
            self.present = verdict.state.clone();
            self.rested_on = Some(verdict.clone());
            let rule = format!("{}: {}", verdict.source.word(), verdict.rule);
            let declared = Declared {
                pid: self.pid,
                state: verdict.state,
                cause: Cause::new(verdict.source.tier(), rule),
                last_message: self.last_message.clone(),
                conversation: self.conversation.clone(),
            };
            self.session.declare(declared).await;
        }
        self.let_go_of_questions(now);
        self.groom();
        self.publish(true);
        let unasked = self.unasked_since.map(|since| since.plus(hearing::LET_GO_AFTER_MS));
        look_again.into_iter().chain(unasked).min()
    }

    fn publish(&mut self, alive: bool) {
        self.version += 1;
        let view = View {
            pid: alive.then_some(self.pid),
            state: self.present.clone(),
            look: self.look.clone(),
            open_question: !self.questions.is_empty(),
            hooks_speak: self.hooks_speak,
            log_speaks: self.reading.log_speaks(),
            conversation: self.conversation.clone(),
            log: self.reading.log_path(),
            version: self.version,
        };
        self.shared.view.send_replace(Arc::new(view));
    }

    async fn answer(&mut self, ask: Ask) {
        match ask {
            Ask::Expect { text, turn, reply } => {
                let confirmed = self.witnesses.expect(&text, turn);
                // Whoever asked may have gone; the message is looked out for all the same.
                let _ = reply.send(confirmed);
            }
            Ask::Forget { turn } => self.witnesses.forget(turn),
            Ask::Decide { prompt_id, decision, reply } => {
                let taken = self.questions.take(&self.naming.key_of(&prompt_id));
                let replied = taken.is_some_and(|open| open.reply(&decision(&open)));
                let _ = reply.send(replied);
            }
            Ask::Explain { reply } => {
                let _ = reply.send(self.explain());
            }
            Ask::Usage { reply } => drop(reply.send(self.reading.usage())),
            Ask::Stop { already_held, reply } => {
                let decision = self.decide_stop(already_held).await;
                let _ = reply.send(decision);
            }
        }
    }
}

fn is_end(event: &Event) -> bool {
    match event {
        Event::Ended { .. } => true,
        Event::Transition(transition) => transition.next.kind() == StateKind::Restarting,
        _ => false,
    }
}

async fn until(at: Option<EpochMs>) {
    match at {
        Some(at) => tokio::time::sleep(Duration::from_millis(at.since(EpochMs::now()).max(1))).await,
        None => std::future::pending().await,
    }
}

/// The place for an answer.
pub type Reply<T> = oneshot::Sender<T>;
