//! Watches one agent in one child: what comes from hooks, files and the screen goes to the mind, and what the mind
//! decides goes to the session. All of it belongs to one child and is thrown away with it.

mod files;
mod grooming;
mod helpers;
mod hooks;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::asks::Ask;
use super::evidence::{EpochMs, Source};
use super::files::Files;
use super::handle::Shared;
use super::hook_call::{HookAnswer, HookCall};
use super::input_box::holds;
use super::mind::{Decided, Mind};
use super::record::{Recorder, What};
use super::view::View;
use super::witness::Witnesses;
use crate::borrowed::process;
use crate::session::{
    Declared, Event, Item, Life, Phase, Picture, Resume, Session, StateKind, Style, TurnId, Wants, Witness,
};
use crate::terminal::Seq;
use files::Readers;
use hooks::{Printing, Stopping};

/// Why a message was not taken that waited in the agent's queue.
const TAKEN_BACK: &str = "taken back from the agent's queue";

/// Why a queued message was not taken whose turn was interrupted.
const GIVEN_BACK: &str = "given back by the agent: it stands in its input box";

/// What comes to a watch from outside, for as long as coop lives.
pub struct Inlets {
    pub hooks: mpsc::Receiver<HookCall>,
    pub asks: mpsc::Receiver<Ask>,
}

pub struct Watch {
    session: Session,
    shared: Arc<Shared>,
    pid: u32,
    mind: Mind,
    /// Hooks that wait for the answer to their question, by its name.
    waiting: HashMap<String, HookAnswer>,
    /// Answers that hooks were given and have not printed yet.
    printing: JoinSet<Printing>,
    /// A stop that waits for the screen to show why the turn ended.
    stopping: Option<Stopping>,
    witnesses: Witnesses,
    /// Messages of ours that were taken; told after the state that follows from it.
    taken: Vec<(TurnId, Witness)>,
    cause: Witness,
    readers: Readers,
    screen_seq: Seq,
    recorder: Option<Recorder>,
    /// The dialog that was passed last.
    groomed: Option<String>,
    /// It was seen to work or to rest.
    was_ready: bool,
}

impl Watch {
    /// A watch over a child; `is_first` when it was started with the conversation that was prepared.
    pub fn new(session: Session, shared: Arc<Shared>, pid: u32, is_first: bool) -> Self {
        let setup = &shared.setup;
        let (numbers, rules) = (shared.prompt_numbers.clone(), setup.rules.clone());
        // What an agent that was found running has written since its own start is about this run of it.
        let began = setup.found.and_then(|_| process::began(pid)).map_or_else(EpochMs::now, EpochMs::from);
        let mut mind = Mind::new(setup.driver, began, setup.idle_grace_ms, numbers, rules);
        mind.seen.expects_hooks = setup.hooks_off.is_none();
        mind.ails(Source::Hooks, setup.hooks_off.clone());
        mind.seen.doubt.clone_from(&setup.doubt);
        if setup.found.is_some() {
            // The first one was there before coop.
            mind.seen.is_beginning = !is_first;
        }
        mind.conversation = setup.conversation.clone().filter(|_| is_first);
        let readers = Readers::new(setup, setup.config_dir(&session, pid), pid, is_first);
        let recorder = setup.record_to.as_ref().and_then(|path| {
            let begun = Recorder::create(path);
            begun.inspect_err(|error| tracing::warn!(%error, path = %path.display(), "nothing is recorded")).ok()
        });
        Self {
            session,
            pid,
            mind,
            waiting: HashMap::new(),
            printing: JoinSet::new(),
            stopping: None,
            witnesses: Witnesses::default(),
            taken: Vec::new(),
            cause: "launch".into(),
            readers,
            screen_seq: Seq(0),
            recorder,
            groomed: None,
            was_ready: false,
            shared,
        }
    }

    /// Watches until the child is gone.
    pub async fn run(mut self, inlets: &mut Inlets) {
        let wants = Wants { output: self.shared.setup.prints_jsonl, screen: true, state: true, messages: false };
        let Ok(subscription) = self.session.subscribe_uncounted(wants, Resume::default()) else { return };
        // Colours tell what was typed from what is only suggested.
        let mut subscription = subscription.in_style(Style::Ansi);
        if self.session.vitals().life != (Life::Running { pid: self.pid }) {
            // It ended before anybody looked.
            return;
        }
        let mut files = Files::new();
        if self.shared.setup.found.is_some() {
            // Its files may not change for a long time.
            self.read_files().await;
        }
        let mut look_again = self.decide().await;
        loop {
            files.want(self.readers.dirs());
            tokio::select! {
                item = subscription.next() => match item {
                    Some(Item::Screen(picture)) => self.see(&picture).await,
                    Some(Item::Output(frame)) => self.read_output(&frame.data).await,
                    Some(Item::Event(entry)) if is_end(&entry.event) => break,
                    Some(_) => continue,
                    None => break,
                },
                Some(call) = inlets.hooks.recv() => self.attend(call).await,
                Some(ask) = inlets.asks.recv() => self.answer(ask).await,
                Some(Ok(printing)) = self.printing.join_next() => self.has_printed(printing),
                () = files.changed() => self.read_files().await,
                // What has changed in the meantime may not have been told yet.
                () = until(look_again) => self.read_files().await,
            }
            self.decide_about_waiting(false).await;
            look_again = self.decide().await;
        }
        self.publish(false);
    }

    async fn see(&mut self, picture: &Picture) {
        let now = EpochMs::now();
        if let Some(recorder) = &mut self.recorder {
            recorder.screen(&picture.screen, now);
        }
        self.screen_seq = picture.seq();
        self.mind.see(&picture.screen, now);
        self.seek_log().await;
    }

    /// Writes down what came in, where that is wanted.
    fn record(&mut self, what: impl FnOnce() -> What, at: EpochMs) {
        if let Some(recorder) = &mut self.recorder {
            recorder.note(what(), at);
        }
    }

    /// Lets the mind judge, and tells the session when that changes something.
    async fn decide(&mut self) -> Option<EpochMs> {
        self.drop_hooks_that_left();
        self.mind.seen.ours_queued = self.witnesses.queued();
        let (decided, look_again) = self.mind.decide(EpochMs::now());
        if let Some(Decided { state, cause }) = decided {
            self.cause = cause.rule.clone();
            self.was_ready |= matches!(state.kind(), StateKind::Idle | StateKind::Working);
            let (last_message, conversation) = (self.mind.last_message.clone(), self.mind.conversation.clone());
            let rests = state.kind() == StateKind::Idle && !self.mind.seen.shows_queue;
            self.session.declare(Declared { pid: self.pid, state, cause, last_message, conversation }).await;
            if rests {
                for turn in self.witnesses.rests() {
                    self.session.progress(turn, Phase::Unconfirmed).await;
                }
            }
        }
        self.see_what_was_given_back().await;
        self.groom();
        self.publish(true);
        for (turn, witness) in self.taken.drain(..) {
            self.session.progress(turn, Phase::Accepted { witness }).await;
        }
        look_again.into_iter().chain(self.stopping.as_ref().map(|stopping| stopping.until)).min()
    }

    /// Tells drivers and faces how the agent stands.
    fn publish(&mut self, alive: bool) {
        let present = self.mind.present().clone();
        let open_question = present.prompt().is_some_and(|prompt| self.mind.question(&prompt.id).is_some());
        let view = View {
            pid: alive.then_some(self.pid),
            state: present,
            cause: self.cause.clone(),
            idle_at: self.mind.idle_at,
            look: self.mind.look.clone(),
            screen_seq: self.screen_seq,
            open_question,
            opens_until: self.mind.opens_until(),
            hooks_speak: self.mind.hooks_speak,
            log_speaks: self.readers.log_speaks(),
            conversation: self.mind.conversation.clone(),
            has_begun: self.mind.has_begun(),
            log: self.readers.log_path(),
            usage: self.readers.usage(),
        };
        self.shared.view.send_replace(Arc::new(view));
    }

    async fn answer(&mut self, ask: Ask) {
        // Whoever asked may have gone; what was to be done is done all the same.
        match ask {
            Ask::Expect { text, turn, queues, reply } => {
                self.witnesses.expect(&text, turn, queues);
                let _ = reply.send(());
            }
            Ask::Forget { turn } => self.witnesses.forget(turn),
            Ask::Doubt { turn } => self.witnesses.doubt(turn),
            Ask::Decide { prompt_id, decision, reply } => self.decide_question(&prompt_id, decision, reply),
            Ask::Explain { reply } => drop(reply.send(self.mind.explain(EpochMs::now()))),
            Ask::Stop { already_held, reply } => {
                let reason = self.decide_stop(already_held).await;
                if reason.is_some() {
                    // Another hook may have told of the stop, which is none.
                    let now = EpochMs::now();
                    self.record(|| What::Stopped { held_back: true }, now);
                    self.mind.stopped(true, now);
                }
                drop(reply.send(reason));
            }
            Ask::Start { source, reply } => {
                let script = self.shared.gates().start.script(&source);
                self.tell_began(&source, !script.is_empty()).await;
                let _ = reply.send(script);
            }
        }
    }

    /// Somebody saw the agent take a message: if it was one of ours, its receipt says so.
    fn saw_taken(&mut self, text: &str, by: Source, witness: Witness) {
        let turns = self.witnesses.saw(text, by, EpochMs::now());
        self.taken.extend(turns.into_iter().map(|turn| (turn, witness.clone())));
    }

    /// An agent that was interrupted may put what it had queued where one types, and tell nobody. It waits for somebody's Enter
    /// there, or for the next message, which begins with an empty box.
    async fn see_what_was_given_back(&mut self) {
        let rests = self.mind.present().kind() == StateKind::Idle;
        let Some(input) = self.mind.look.input_box.as_ref().filter(|_| rests) else { return };
        for turn in self.witnesses.stand_in_box(|text| holds(input, text)) {
            self.session.progress(turn, Phase::Refused { why: GIVEN_BACK.into() }).await;
        }
    }

    /// Somebody took messages back that the agent had queued; what becomes of them then is theirs.
    async fn was_given_back(&mut self, text: &str) {
        for turn in self.witnesses.given_back(text) {
            self.session.progress(turn, Phase::Refused { why: TAKEN_BACK.into() }).await;
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
