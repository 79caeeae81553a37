//! What the agent tells through its hooks.

use serde_json::Value;

use super::{Effect, Mind, Open};
use crate::agent::evidence::{Claim, EpochMs, Evidence, Source};
use crate::agent::heard::{Asked, Done, Wants};
use crate::agent::witness::comparable;
use crate::session::{Prompt, StateKind};

/// More tools than agents begin at once.
const BEGUN_MAX: usize = 16;

/// A tool's input that is larger is a whole file, and not remembered.
const INPUT_BYTES_MAX: usize = 256 * 1024;

impl Mind {
    /// Takes in one event; what is to be done about it comes back.
    pub fn hear(&mut self, event: &str, payload: &Value, now: EpochMs) -> Vec<Effect> {
        let heard = self.driver.hear(event, payload, now);
        let mut effects = Vec::new();
        self.hooks_speak = true;
        self.heard_at = Some(now);
        self.seen.ails(Source::Hooks, None);
        self.last_message = heard.last_message.or(self.last_message.take());
        self.conversation = heard.conversation.or(self.conversation.take());
        effects.extend(heard.log.map(|log| Effect::Writes { log }));
        if heard.redraws {
            self.seen.see_anew(Source::Screen, now);
        }
        if heard.ends {
            self.seen.begin_again();
        }
        if let Some(begins) = heard.begins {
            self.remember_tool(begins);
        }
        if let Some(done) = &heard.done {
            self.questions.done(&done.tool, &done.input);
            self.unended.retain(|begun| begun != done);
            self.unasked.retain(|begun| begun != done);
        }
        if heard.closes_questions {
            self.questions.clear();
            self.unasked.clear();
        }
        if let Some(text) = heard.took {
            self.plan = None;
            self.ends_wordless = false;
            self.seen.turn_since = Some(now);
            self.begun_in.clone_from(&self.conversation);
            self.has_worked = false;
            self.first_of = None;
            self.seen.queued = self.seen.queued.saturating_sub(1);
            self.last_taken = Some((comparable(&text), now));
            let witness = format!("hooks: {event}").into();
            effects
                .extend([Effect::NewTurn { message: text.clone() }, Effect::Took { text, by: Source::Hooks, witness }]);
        }
        if heard.compacts {
            self.compaction_told = true;
            effects.push(Effect::Compacts);
        }
        match heard.wants {
            Wants::Nothing => {}
            Wants::Answer(asked) if self.driver.is_agreed(&asked, &self.agreed) => {}
            Wants::Answer(asked) => {
                let asked = self.driver.completed(*asked, &self.begun, &self.unasked);
                let Asked { prompt, tool, input, is_held } = asked;
                self.unasked.retain(|begun| begun.tool != tool || begun.input != input);
                let prompt = Prompt { id: self.naming.next(), ..prompt };
                effects.extend(is_held.then(|| Effect::Asked { id: prompt.id.clone() }));
                self.note_hook(event, Claim::Prompt(prompt.clone()), now);
                self.questions.ask(Open { prompt, tool, input, can_be_answered: is_held });
            }
            // What becomes of a stop is not known before the gate has decided.
            Wants::Stop { already_held } => {
                self.ends_wordless = heard.is_wordless;
                effects.push(Effect::Stops { already_held });
                return effects;
            }
            Wants::Start { source } => effects.push(Effect::Starts { source }),
        }
        // While another question is open, the end of one tool is not the end of the dialog.
        let is_asked = self.questions.are_waiting() || !self.questions.is_empty() && self.look.dialog.is_some();
        let still_asking = heard.claim == Some(Claim::Working) && is_asked;
        if let Some(claim) = heard.claim.filter(|claim| !still_asking && !matches!(claim, Claim::Prompt(_))) {
            self.note_hook(event, claim, now);
        }
        effects
    }

    /// The gate has decided about a stop.
    pub fn stopped(&mut self, held_back: bool, now: EpochMs) {
        if held_back {
            let rule = format!("{} held back", self.driver.habits().stop_event);
            self.note_hook(&rule, Claim::Working, now);
        } else {
            // It has worked, however short that was, and whether or not anybody saw it.
            let is_told = self.has_worked || self.present.kind() == StateKind::Working;
            self.unseen_work = !is_told && self.trouble().is_none();
            self.note_hook(self.driver.habits().stop_event, Claim::Idle, now);
        }
    }

    /// Some agents tell what a tool is to do, and ask about it a moment later without saying so again.
    fn remember_tool(&mut self, begins: Done) {
        if begins.input.to_string().len() > INPUT_BYTES_MAX {
            return;
        }
        for tools in [&mut self.begun, &mut self.unended, &mut self.unasked] {
            if tools.len() == BEGUN_MAX {
                tools.remove(0);
            }
            tools.push(begins.clone());
        }
    }

    pub(super) fn note_hook(&mut self, event: &str, claim: Claim, now: EpochMs) {
        self.seen.note(Evidence::new(Source::Hooks, event.to_owned(), claim, now));
    }
}
