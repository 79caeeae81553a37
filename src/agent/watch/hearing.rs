//! Hooks: what the agent tells, asks, and waits for.

use serde_json::json;

use super::Watch;
use crate::agent::claude::hear::{Asked, Heard, Wants, hear};
use crate::agent::evidence::{Claim, EpochMs, Evidence, Source};
use crate::agent::gates::Decision;
use crate::agent::hook_socket::{Call, HookAnswer, HookCall};
use crate::session::{Began, Event, Phase, Prompt, State, StateKind, Stopped, Witness};

/// Hooks whose dialog has been gone for so long wait in vain. Answering them late does no harm, answering them early
/// would decide for somebody.
pub const LET_GO_AFTER_MS: u64 = 1500;

impl Watch {
    pub(super) async fn hear(&mut self, call: HookCall) {
        let (event, payload, answer) = match call.call {
            Call::Event { event, payload: Ok(payload) } => (event, payload, call.answer),
            Call::Event { event, payload: Err(problem) } => {
                tracing::warn!(event, %problem, "a hook sent what is no JSON");
                return self.seen.ails(Source::Hooks, Some(format!("{event}: {problem}")));
            }
            Call::ResolveStop { signal } => {
                let resolved = self.shared.gates().stop.resolve(signal);
                return answer_resolution(call.answer, resolved);
            }
        };
        let now = EpochMs::now();
        self.hooks_speak = true;
        self.seen.ails(Source::Hooks, None);
        let heard = hear(&event, &payload, now);
        self.follow_conversation(&heard).await;
        if let Some(done) = &heard.done {
            self.questions.done(&done.tool, &done.input);
        }
        if heard.closes_questions {
            self.questions.clear();
        }
        if let Some(text) = &heard.took {
            self.shared.gates().stop.new_turn();
            self.seen.queued = self.seen.queued.saturating_sub(1);
            self.saw_taken(text, format!("hooks: {event}").into()).await;
        }
        if heard.compacts {
            self.keep_transcript().await;
        }
        let claim = match heard.wants {
            Wants::Nothing => heard.claim,
            Wants::Answer(asked) => Some(self.ask(asked, answer)),
            Wants::Stop { already_held } => {
                let (claim, reply) = self.stop(already_held).await;
                answer.reply(reply);
                Some(claim)
            }
            Wants::Start { source } => {
                self.start(&source, answer).await;
                heard.claim
            }
        };
        // While another question is open, the end of one tool is not the end of the dialog.
        let still_asking = matches!(claim, Some(Claim::Working)) && !self.questions.is_empty();
        if let Some(claim) = claim.filter(|_| !still_asking) {
            self.seen.note(Evidence::new(Source::Hooks, event, claim, now));
        }
    }

    /// Takes up where the conversation is written, and the agent's last words.
    async fn follow_conversation(&mut self, heard: &Heard) {
        self.last_message = heard.last_message.clone().or(self.last_message.take());
        self.conversation = heard.conversation.clone().or(self.conversation.take());
        if let Some(log) = &heard.log {
            self.reading.follow_log(log);
        }
    }

    fn ask(&mut self, asked: Asked, answer: HookAnswer) -> Claim {
        let prompt = Prompt { id: self.naming.next(), ..asked.prompt };
        self.questions.ask(asked.tool, asked.input, prompt.clone(), answer);
        Claim::Prompt(prompt)
    }

    /// The question whose dialog is shown, of those that hooks hold open.
    pub(super) fn shown_question(&self) -> Option<Prompt> {
        let rows = self.look.dialog.as_ref().map_or(&[][..], |dialog| &dialog.prompt.screen_lines);
        self.questions.shown(rows).map(|open| open.prompt.clone())
    }

    /// Hooks whose dialog is gone are let go, after a while.
    pub(super) fn let_go_of_questions(&mut self, now: EpochMs) {
        if self.questions.is_empty() || self.present.kind() == StateKind::Prompt {
            self.unasked_since = None;
            return;
        }
        let since = *self.unasked_since.get_or_insert(now);
        if now.since(since) >= LET_GO_AFTER_MS {
            self.questions.clear();
            self.unasked_since = None;
        }
    }

    /// Somebody saw the agent take a message: if it was one of ours, its receipt says so.
    pub(super) async fn saw_taken(&mut self, text: &str, witness: Witness) {
        if let Some(turn) = self.witnesses.saw(text, &witness) {
            self.session.progress(turn, Phase::Accepted { witness }).await;
        }
    }

    /// The agent wants to stop: what becomes of that, and what its hook is told.
    async fn stop(&mut self, already_held: bool) -> (Claim, Vec<u8>) {
        match self.decide_stop(already_held).await {
            Some(reason) => (Claim::Working, json!({"decision": "block", "reason": reason}).to_string().into_bytes()),
            None => (Claim::Idle, Vec::new()),
        }
    }

    /// Decides whether the agent may stop; the reason when it may not.
    pub(super) async fn decide_stop(&mut self, already_held: bool) -> Option<String> {
        let trouble = if let State::Error(trouble) = &self.present { Some(trouble.detail.clone()) } else { None };
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

    async fn start(&mut self, source: &str, answer: HookAnswer) {
        let script = self.shared.gates().start.script(source);
        let injected = !script.is_empty();
        answer.run(script);
        let began = Began { source: source.to_owned(), conversation: self.conversation.clone(), injected };
        self.session.announce(Event::Began(began)).await;
    }
}

fn answer_resolution(answer: HookAnswer, resolved: Result<(), Vec<String>>) {
    let reply = match resolved {
        Ok(()) => json!({"accepted": true}),
        Err(complaints) => json!({"accepted": false, "complaints": complaints}),
    };
    answer.reply(reply.to_string().into_bytes());
}
