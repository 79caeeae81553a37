//! Hooks that call: what they tell goes to the mind, what they wait for is decided here.

use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::Watch;
use crate::agent::asks::{Decision as Decide, Told};
use crate::agent::evidence::{EpochMs, Source};
use crate::agent::gates::Decision;
use crate::agent::hook_call::{BadPayload, Call, HookAnswer, HookCall};
use crate::agent::mind::Effect;
use crate::agent::record::What;
use crate::session::{Began, Event, Stopped};

/// An answer that a hook's process was given.
pub(super) struct Printing {
    asked: String,
    /// Whether it handed it to the agent, if that is known.
    printed: Option<bool>,
    reply: oneshot::Sender<Told>,
}

/// How long after the hook that ends a turn the screen may take to show that it failed. Gemini CLI 0.61.0 took 65 ms.
const FAILURE_SHOWN_WITHIN_MS: u64 = 1000;

/// A stop about which nothing is decided yet.
pub struct Stopping {
    already_held: bool,
    answer: Option<HookAnswer>,
    pub until: EpochMs,
}

impl Watch {
    pub(super) async fn attend(&mut self, call: HookCall) {
        // What comes after a stop is not to be taken for what was before it.
        self.decide_about_waiting(true).await;
        match call.call {
            Call::Event { event, payload: Ok(payload) } if payload.is_object() => {
                self.session.tally().heard(&event);
                self.hear(&event, &payload, call.answer).await;
            }
            Call::Event { event, payload: Ok(_) } => {
                self.mishear(&event, "the payload is no JSON object", call.answer).await;
            }
            Call::Event { event, payload: Err(problem) } => {
                self.mishear(&event, &problem.to_string(), call.answer).await;
            }
            Call::ResolveStop { signal } => self.resolve_stop(signal, call.answer),
        }
    }

    /// A hook told something that cannot be read. A closed gate holds all the same: that the agent wants to stop is known.
    async fn mishear(&mut self, event: &str, problem: &str, answer: HookAnswer) {
        self.session.tally().misheard();
        tracing::warn!(event, problem, "a hook told something that cannot be read");
        self.mind.ails(Source::Hooks, Some(format!("{event}: {problem}")));
        let is_stop = event == self.shared.setup.driver.habits().stop_event;
        if is_stop && self.shared.gates().stop.is_closed() {
            self.stop(false, Some(answer)).await;
        }
    }

    /// The agent wants to stop: whether it may is decided, and told to the hook that asked.
    async fn stop(&mut self, already_held: bool, answer: Option<HookAnswer>) {
        // An error of this turn may have been written a moment before.
        self.read_files().await;
        let stopping = Stopping { already_held, answer, until: EpochMs::now().plus(FAILURE_SHOWN_WITHIN_MS) };
        if self.shared.gates().stop.is_closed() && self.mind.may_have_failed() {
            self.stopping = Some(stopping);
        } else {
            self.decide_about(stopping).await;
        }
    }

    /// Decides about a stop that waits, once the screen shows why the turn ended or has had the time for it.
    pub(super) async fn decide_about_waiting(&mut self, is_due: bool) {
        let is_shown = self.mind.shown_failure().is_some();
        let now = EpochMs::now();
        let stopping = self.stopping.take_if(|stopping| is_due || is_shown || now >= stopping.until);
        if let Some(stopping) = stopping {
            self.decide_about(stopping).await;
        }
    }

    async fn decide_about(&mut self, Stopping { already_held, answer, .. }: Stopping) {
        // One that only tells of the stop cannot hold it back, and leaves the gate to one that asks.
        let is_heard = answer.as_ref().is_some_and(|answer| !answer.is_gone());
        let is_asked = is_heard || !self.shared.gates().stop.is_closed();
        let reason = if is_asked { self.decide_stop(already_held).await } else { None };
        let (held_back, now) = (reason.is_some(), EpochMs::now());
        self.record(|| What::Stopped { held_back }, now);
        self.mind.stopped(held_back, now);
        if let (Some(reason), Some(answer)) = (reason, answer) {
            answer.reply(json!({"decision": "block", "reason": reason}).to_string());
        }
    }

    async fn hear(&mut self, event: &str, payload: &Value, answer: HookAnswer) {
        let mut answer = Some(answer);
        let now = EpochMs::now();
        self.record(|| What::Hook { event: event.to_owned(), payload: payload.clone() }, now);
        for effect in self.mind.hear(event, payload, now) {
            match effect {
                Effect::Took { text, by, witness } => self.saw_taken(&text, by, witness),
                Effect::GaveBack { text } => self.was_given_back(&text).await,
                Effect::NewTurn { message } => self.shared.gates().stop.new_turn(&message),
                Effect::Compacts => self.keep_transcript().await,
                Effect::Writes { log } => self.readers.follow_log(&log),
                Effect::Asked { id } => {
                    if let Some(answer) = answer.take() {
                        self.waiting.insert(id, answer);
                    }
                }
                Effect::Stops { already_held } => self.stop(already_held, answer.take()).await,
                Effect::Starts { source } => {
                    let script = self.shared.gates().start.script(&source);
                    self.tell_began(&source, !script.is_empty()).await;
                    if let Some(answer) = answer.take() {
                        match self.shared.setup.driver.takes_context_as_json() {
                            true => answer.run_for_context(script),
                            false => answer.run(script),
                        }
                    }
                }
            }
        }
    }

    /// Answers an open question through the hook that asked it. What becomes of that is heard later.
    pub(super) fn decide_question(&mut self, prompt_id: &str, decision: Decide, reply: oneshot::Sender<Told>) {
        let question = self.mind.question(prompt_id).map(|open| (open.prompt.id.clone(), decision(open)));
        let Some((asked, decided)) = question else {
            let _ = reply.send(Told::Gone);
            return;
        };
        let told = match self.waiting.remove(&asked).filter(|answer| !answer.is_gone()) {
            None => Told::Gone,
            Some(_) if decided.is_null() => {
                self.record(|| What::Agreed { asked: asked.clone() }, EpochMs::now());
                self.mind.agreed(&asked);
                let _ = reply.send(Told::HandedOn);
                return;
            }
            Some(answer) => {
                let printed = answer.reply_and_see(decided.to_string());
                self.printing.spawn(async move { Printing { asked, printed: printed.await.ok(), reply } });
                return;
            }
        };
        self.mind.close_question(&asked);
        let _ = reply.send(told);
    }

    /// A hook's process has printed an answer, or has left without it.
    pub(super) fn has_printed(&mut self, Printing { asked, printed, reply }: Printing) {
        if printed == Some(true) {
            let now = EpochMs::now();
            self.record(|| What::Answered { asked: asked.clone() }, now);
            self.mind.answered(&asked, now);
        } else {
            self.mind.close_question(&asked);
        }
        // Nobody may wait for it any more.
        let _ = reply.send(match printed {
            Some(true) => Told::HandedOn,
            Some(false) => Told::Gone,
            None => Told::Unheard,
        });
    }

    /// A hook that has left cannot be answered, and one whose question is over need not wait.
    pub(super) fn drop_hooks_that_left(&mut self) {
        // Whoever sits at a terminal must see the dialog, and there is none while its hook waits.
        let is_hidden = self.shared.setup.driver.habits().hook_hides_dialog && self.session.has_terminal();
        let gone = self.waiting.iter().filter(|(_, answer)| is_hidden || answer.is_gone());
        let gone: Vec<String> = gone.map(|(id, _)| id.clone()).collect();
        for id in gone {
            self.mind.close_question(&id);
        }
        self.waiting.retain(|id, _| self.mind.is_asking(id));
    }

    /// Decides whether the agent may stop; the reason when it may not.
    pub(super) async fn decide_stop(&mut self, already_held: bool) -> Option<String> {
        let trouble = self.mind.trouble().map(str::to_owned);
        let decision = self.shared.gates().stop.decide(already_held, trouble.as_deref());
        let (stopped, reason) = match decision {
            Decision::Allowed => (Stopped::Allowed, None),
            Decision::Signaled { signal } => (Stopped::Signaled(signal.to_string()), None),
            Decision::Error { detail } => (Stopped::Error(detail), None),
            Decision::SafetyValve => (Stopped::SafetyValve, None),
            Decision::Blocked { reason } => (Stopped::Blocked, Some(reason)),
        };
        self.session.announce(Event::Stopped(stopped)).await;
        reason
    }

    /// The agent gives the signal that lets it stop.
    fn resolve_stop(&self, signal: Result<Value, BadPayload>, answer: HookAnswer) {
        let resolved = match signal {
            Ok(signal) => self.shared.gates().stop.resolve(signal),
            Err(problem) => Err(vec![problem.to_string()]),
        };
        match resolved {
            Ok(()) => answer.accept("the signal was taken: you may stop now"),
            Err(complaints) => answer.refuse(&complaints),
        }
    }

    /// Tells that a conversation began or went on.
    pub(super) async fn tell_began(&self, source: &str, injected: bool) {
        let conversation = self.mind.conversation.clone();
        let began = Began { source: source.to_owned(), conversation, injected };
        self.session.announce(Event::Began(began)).await;
    }
}
