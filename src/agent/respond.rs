//! Answers to an agent's dialog: given once, to the dialog that was meant, and confirmed when that dialog is gone.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::asks::{Ask, Decision, Told};
use super::handle::Agent;
use super::press::{Missed, NOBODY_READS, Step, Way, press};
use super::refusal::ends_turn;
use super::steps::{Hands, TURN_WITHIN_MIN, seen_within};
use super::talk::{ALREADY_ANSWERED, Answer, Answered, Failure, NO_PROMPT, UNCONFIRMED, WRITER_BUSY, reason};
use super::view::View;
use crate::session::{Expect, InputKind, Phase, Prompt, StateKind, TurnId};

/// How long the agent may take to leave a dialog that was answered.
const LEFT_WITHIN: Duration = Duration::from_secs(10);

/// How long a dialog may take to be drawn after its hook has asked: 260 ms were measured on a busy machine.
const DRAWN_WITHIN: Duration = Duration::from_millis(1500);

impl Agent {
    /// Answers the dialog that is shown. The caller is answered in time; what was begun is finished in any case.
    pub async fn respond(&self, answer: Answer) -> Result<Answered, Failure> {
        let began = Instant::now();
        let view = self.view_when_drawn(answer.timeout).await;
        let refused = |kind, reason: &'static str| Answered {
            delivered: false,
            kind,
            ends_turn: None,
            reason: Some(reason.into()),
            receipt: None,
        };
        let Some(prompt) = view.state.prompt().filter(|_| view.pid.is_some()).cloned() else {
            return Ok(refused(None, NO_PROMPT));
        };
        let mut meant = answer.prompt_id.iter().chain(&answer.expect.prompt_id);
        if let Some(meant) = meant.find(|meant| **meant != prompt.id) {
            let (meant, shown) = (meant.clone(), prompt.id.clone());
            return Err(Failure::OtherPrompt { meant, shown, state: view.state.kind() });
        }
        let Some(claimed) = self.claim(&prompt.id) else { return Ok(refused(Some(prompt.kind), ALREADY_ANSWERED)) };
        let way = self.driver().way(&view, &prompt, &answer)?;
        let ends = |keys| ends_turn(&prompt, &answer, keys);
        let (ends_if_told, ends_if_pressed) = (ends(None), ends(way.keys()));
        let by_keys = Arc::new(AtomicBool::new(!matches!(way, Way::Decision { .. })));
        let expect = Expect { prompt_id: Some(prompt.id.clone()), ..answer.expect };
        let exit_confirms = leaves(&prompt, answer.accept, answer.option) && matches!(way, Way::Keys(_));
        let turn = self.session().begin_turn(InputKind::Respond, answer.writer, expect, exit_confirms);
        let Ok(turn) = tokio::time::timeout(answer.timeout.max(TURN_WITHIN_MIN), turn).await else {
            return Ok(refused(Some(prompt.kind), WRITER_BUSY));
        };
        let mut turn = turn?;
        let Some(mut ticket) = turn.take_ticket() else { return Ok(refused(Some(prompt.kind), UNCONFIRMED)) };
        let (agent, kind, pressed) = (self.clone(), prompt.kind, by_keys.clone());
        let typed_at_ms = self.session().last_input_at_ms();
        tokio::spawn(async move {
            let id = turn.id;
            let hands = Hands::new(&agent, turn);
            match agent.give(hands, &prompt, way, &pressed).await {
                Ok(()) => {
                    agent.session().progress(id, Phase::Written).await;
                    // Our own keys are the last that were typed; where a hook was told, nobody may have typed.
                    let typed_at_ms = match pressed.load(Ordering::Relaxed) {
                        true => agent.session().last_input_at_ms(),
                        false => typed_at_ms,
                    };
                    if agent.confirm(id, &prompt.id, typed_at_ms).await {
                        return claimed.keep();
                    }
                }
                Err(Missed::Refused(why)) => {
                    // Somebody may try again.
                    drop(claimed);
                    return agent.session().progress(id, Phase::Refused { why }).await;
                }
                Err(Missed::Unsure) => {}
            }
            let tried = Tried { number: claimed.number(), input_at_ms: agent.session().last_input_at_ms() };
            // Whoever sees the dialog still open may answer it.
            drop(claimed);
            agent.session().progress(id, Phase::Unconfirmed).await;
            agent.confirm_late(id, &prompt.id, tried).await;
        });
        let left = answer.timeout.saturating_sub(began.elapsed());
        let receipt = ticket.judged_within(left).await;
        let reason = reason(&receipt.phase);
        let ends_turn = if by_keys.load(Ordering::Relaxed) { ends_if_pressed } else { ends_if_told };
        let ends_turn = ends_turn.filter(|_| reason.is_none());
        Ok(Answered { delivered: reason.is_none(), kind: Some(kind), ends_turn, reason, receipt: Some(receipt) })
    }

    /// The agent as it is seen, once a dialog that is just opening is drawn: its options are not known before.
    async fn view_when_drawn(&self, timeout: Duration) -> Arc<View> {
        let view = self.view_as_told().await;
        let is_opening = |view: &View| view.state.prompt().is_some_and(|prompt| !prompt.ready);
        if !is_opening(&view) {
            return view;
        }
        let drawn = seen_within(&mut self.views(), timeout.min(DRAWN_WITHIN), |view| !is_opening(view)).await;
        drawn.unwrap_or(view)
    }

    async fn give(&self, mut hands: Hands, prompt: &Prompt, way: Way, by_keys: &AtomicBool) -> Result<(), Missed> {
        match way {
            Way::Decision { decision, keys } => {
                let prompt_id = prompt.id.clone();
                match self.ask(|reply| Ask::Decide { prompt_id, decision, reply }).await {
                    Ok(Told::HandedOn) => return Ok(()),
                    Ok(Told::Unheard) | Err(_) => return Err(Missed::Unsure),
                    Ok(Told::Gone) => {}
                }
                let keys = keys.ok_or("the agent's hook does not wait any more")?;
                by_keys.store(true, Ordering::Relaxed);
                press(&mut hands, self.driver().typing(), &prompt.id, &keys).await
            }
            Way::Undecided(keys) => {
                let prompt_id = prompt.id.clone();
                let decision: Decision = Box::new(|_| Value::Null);
                // Whether or not it still waited, the dialog is drawn now.
                let _ = self.ask(|reply| Ask::Decide { prompt_id, decision, reply }).await;
                press(&mut hands, self.driver().typing(), &prompt.id, &keys).await
            }
            Way::Keys(keys) => press(&mut hands, self.driver().typing(), &prompt.id, &keys).await,
        }
    }

    /// Waits until the dialog is gone, and says who saw it go; whether anybody did. Where somebody typed since then, it may
    /// be theirs that was taken.
    async fn confirm(&self, id: TurnId, prompt_id: &str, typed_at_ms: Option<u64>) -> bool {
        let left = seen_within(&mut self.views(), LEFT_WITHIN, |view| is_left(view, prompt_id)).await;
        if self.session().last_input_at_ms() == typed_at_ms {
            self.tell_left(id, left.as_deref()).await;
        } else if left.is_some() {
            self.session().progress(id, Phase::Unconfirmed).await;
        }
        left.is_some()
    }

    /// The same, for as long as it takes, unless somebody else answers or types: then nobody knows whose answer it was.
    async fn confirm_late(&self, id: TurnId, prompt_id: &str, tried: Tried) {
        let mut views = self.views();
        let left = views.wait_for(|view| is_left(view, prompt_id)).await.map(|view| view.clone());
        let nobody_typed = self.session().last_input_at_ms() == tried.input_at_ms;
        if nobody_typed && self.is_last_try(prompt_id, tried.number) {
            self.tell_left(id, left.ok().as_deref()).await;
        }
    }

    async fn tell_left(&self, id: TurnId, left: Option<&View>) {
        // A child that went before its dialog did: nobody will ever know, and the session says so.
        if let Some(view) = left.filter(|view| view.pid.is_some()) {
            self.session().progress(id, Phase::Accepted { witness: view.cause.clone() }).await;
        }
    }

    /// Presses keys at a dialog on nobody's behalf.
    pub(super) async fn press(&self, prompt_id: &str, steps: Vec<Step>) -> Result<TurnId, Cow<'static, str>> {
        let claimed = self.claim(prompt_id).ok_or(ALREADY_ANSWERED)?;
        let expect = Expect { prompt_id: Some(prompt_id.to_owned()), ..Expect::default() };
        let turn = self
            .session()
            .begin_turn(InputKind::Groom, None, expect, false)
            .await
            .map_err(|refusal| Cow::from(refusal.to_string()))?;
        let id = turn.id;
        let mut hands = Hands::new(self, turn);
        let why = match press(&mut hands, self.driver().typing(), prompt_id, &steps).await {
            Ok(()) => {
                claimed.keep();
                return Ok(id);
            }
            Err(Missed::Refused(why)) => why,
            Err(Missed::Unsure) => NOBODY_READS.into(),
        };
        self.session().progress(id, Phase::Refused { why: why.clone() }).await;
        Err(why)
    }
}

/// What the label of an option says that ends the agent.
const LEAVING: [&str; 3] = ["exit", "quit", "update"];

/// Whether this answer may end the agent, so that its end confirms it. Some dialogs of the start are left by leaving.
fn leaves(prompt: &Prompt, accept: Option<bool>, option: Option<u32>) -> bool {
    let chosen = option.and_then(|number| prompt.options.get(usize::try_from(number).ok()?.checked_sub(1)?));
    let says_so = |label: &String| LEAVING.iter().any(|word| label.to_lowercase().contains(word));
    prompt.is_of_start() && (accept == Some(false) || chosen.is_some_and(says_so))
}

/// How things were when an answer had been given and its dialog was still open.
struct Tried {
    /// Which of the answers to this dialog it was.
    number: u64,
    /// When something was last given to be typed, by anybody.
    input_at_ms: Option<u64>,
}

fn is_left(view: &View, prompt_id: &str) -> bool {
    view.pid.is_none()
        || view.state.kind() != StateKind::Prompt
        || view.state.prompt().is_none_or(|prompt| prompt.id != prompt_id)
}
