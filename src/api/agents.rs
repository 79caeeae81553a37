//! The agent's calls: what it is doing, messages to it, answers to its dialogs. Without a driver they say so.

use std::time::{Duration, Instant};

use super::convert;
use super::error::{ApiError, Code};
use super::service::Service;
use super::states::Context;
use crate::agent::{
    AGENT_BUSY, Agent, Answer, Chosen, EpochMs, Explained, Failure, NO_INPUT_BOX, NO_PROMPT, Nudge, Shown, WRITER_BUSY,
};
use crate::proto::v1;
use crate::session::{Life, LockId, Receipt};

/// How long a witness is waited for unless the caller or COOP_NUDGE_TIMEOUT_MS says otherwise; callers themselves give
/// up after 3 s.
const WITNESS_TIMEOUT_MS: u32 = 2500;

/// The shortest that COOP_NUDGE_TIMEOUT_MS makes the rule. It once said when Enter is pressed again, and orchestrators
/// set it to 100 ms; whoever took a message for lost so soon would type it a second time. A caller may ask for less.
const WITNESS_TIMEOUT_MS_MIN: u32 = 1000;

/// The longest that a caller may ask for.
const WITNESS_TIMEOUT_MS_MAX: u32 = 600_000;

impl Service {
    /// What is known about the program inside, whether or not there is a driver for it.
    pub(super) async fn agent_state(&self, request: v1::GetAgentStateRequest) -> v1::AgentState {
        let explained = match &self.agent {
            Some(agent) if request.explain => agent.explain().await.ok(),
            _ => None,
        };
        let vitals = self.session.vitals();
        let state = v1::AgentStateKind::from(vitals.state.kind());
        let tier = v1::DetectionTier::from(vitals.cause.tier);
        let context = Context::from(&vitals.state);
        let itself = v1::Evidence {
            tier: tier.into(),
            source: vitals.cause.rule.to_string(),
            claim: state.into(),
            age_ms: u64::try_from(vitals.times.in_present(Instant::now()).as_millis()).unwrap_or(u64::MAX),
            decisive: true,
            ..Default::default()
        };
        let (evidence, disagreement) = match explained {
            Some(Explained { evidence, disagreement }) => (evidence.iter().map(shown).collect(), disagreement),
            None if request.explain => (vec![itself], None),
            None => (Vec::new(), None),
        };
        v1::AgentState {
            agent: self.about.agent.clone(),
            session_id: vitals.conversation.clone(),
            state: state.into(),
            since_seq: vitals.state_since.0,
            screen_seq: self.session.screen_seq().0,
            detection_tier: tier.into(),
            detection_cause: vitals.cause.rule.to_string(),
            prompt: context.prompt,
            error_detail: context.error_detail,
            error_category: context.error_category,
            parked_reason: context.parked_reason,
            resume_at_epoch_ms: context.resume_at_epoch_ms,
            idle_grace_remaining_secs: self.agent.as_ref().and_then(idle_grace_remaining_secs),
            last_message: vitals.last_message.clone(),
            evidence,
            disagreement,
        }
    }

    pub(super) async fn nudge_agent(
        &self,
        request: v1::NudgeRequest,
        writer: Option<LockId>,
    ) -> Result<v1::NudgeResponse, ApiError> {
        let agent = self.driver()?;
        let nudge = Nudge {
            message: request.message,
            queue: request.queue,
            steer: request.steer,
            command: request.command,
            expect: convert::expect(request.expect)?,
            writer,
            timeout: self.witness_timeout(request.timeout_ms),
        };
        let nudged = agent.nudge(nudge).await?;
        let before = v1::AgentStateKind::from(nudged.before);
        let obstacle = nudged.reason.as_deref().filter(|_| request.strict && nudged.receipt.is_none());
        if obstacle == Some(WRITER_BUSY) {
            return Err(someone_types());
        }
        let way_out = match obstacle {
            Some(AGENT_BUSY) => {
                Some("wait for idle (POST /api/v1/wait), answer its prompt, or queue the message (queue:true)")
            }
            Some(NO_INPUT_BOX) => {
                Some("its input box is covered: close what was opened above it (POST /api/v1/input/keys, often escape)")
            }
            _ => None,
        };
        if let Some(way_out) = way_out {
            let state = nudged.before.word();
            let mut error = ApiError::new(Code::AgentBusy, format!("the agent is in state {state}: {way_out}"));
            error.facts.insert("state".into(), state.into());
            return Err(error);
        }
        Ok(v1::NudgeResponse {
            delivered: nudged.delivered,
            state_before: Some(before.into()),
            reason: nudged.reason.map(Into::into),
            state: Some(self.state_now().into()),
            receipt: nudged.receipt.map(in_words),
        })
    }

    pub(super) async fn respond_to_prompt(
        &self,
        request: v1::RespondRequest,
        writer: Option<LockId>,
    ) -> Result<v1::RespondResponse, ApiError> {
        let agent = self.driver()?;
        let answer = Answer {
            accept: request.accept,
            option: request.option,
            text: request.text,
            answers: request.answers.into_iter().map(chosen).collect(),
            prompt_id: request.prompt_id,
            expect: convert::expect(request.expect)?,
            writer,
            timeout: self.witness_timeout(request.timeout_ms),
        };
        let answered = agent.respond(answer).await?;
        match answered.reason.as_deref().filter(|_| request.strict && answered.receipt.is_none()) {
            Some(NO_PROMPT) => {
                let message = "the agent shows no dialog: look at its state (GET /api/v1/agent/state)";
                return Err(ApiError::new(Code::NoPrompt, message));
            }
            Some(WRITER_BUSY) => return Err(someone_types()),
            _ => {}
        }
        Ok(v1::RespondResponse {
            delivered: answered.delivered,
            prompt_type: answered.kind.map(|kind| v1::PromptType::from(kind).into()),
            reason: answered.reason.map(Into::into),
            state: Some(self.state_now().into()),
            receipt: answered.receipt.map(in_words),
            ends_turn: answered.ends_turn,
        })
    }

    fn state_now(&self) -> v1::AgentStateKind {
        self.session.vitals().state.kind().into()
    }

    fn witness_timeout(&self, asked_ms: Option<u32>) -> Duration {
        witness_timeout(asked_ms, self.about.nudge_timeout_ms)
    }

    /// The driver of the program inside, for calls that need it alive.
    pub(super) fn driver(&self) -> Result<&Agent, ApiError> {
        let agent = self.known_agent()?;
        match self.session.vitals().life {
            Life::Exited(_) => Err(crate::session::Refusal::Exited.into()),
            _ => Ok(agent),
        }
    }

    /// The driver of the program inside, also after its end.
    pub(super) fn known_agent(&self) -> Result<&Agent, ApiError> {
        self.agent.as_ref().ok_or_else(|| {
            let agent = &self.about.agent;
            let message =
                format!("no driver for agent {agent:?}: use the terminal calls (input, keys, screen, wait) instead");
            ApiError::new(Code::NoDriver, message)
        })
    }
}

fn chosen(answer: v1::QuestionAnswer) -> Chosen {
    Chosen { option: answer.option, options: answer.options, text: answer.text }
}

fn in_words(receipt: Receipt) -> v1::Receipt {
    convert::receipt(&receipt, None)
}

/// How long an agent that has stopped is not yet called idle.
fn idle_grace_remaining_secs(agent: &Agent) -> Option<f64> {
    let view = agent.view();
    let at = view.idle_at.filter(|_| agent.setup().idle_grace_ms > 0 && view.pid.is_some())?;
    Some(Duration::from_millis(at.since(EpochMs::now())).as_secs_f64())
}

fn shown(shown: &Shown) -> v1::Evidence {
    v1::Evidence {
        tier: v1::DetectionTier::from(shown.tier).into(),
        source: shown.source.clone(),
        claim: shown.claim.map_or(0, |claim| v1::AgentStateKind::from(claim).into()),
        detail: shown.detail.clone(),
        age_ms: shown.age_ms,
        decisive: shown.decisive,
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        let message = failure.to_string();
        match failure {
            Failure::Refused(refusal) => refusal.into(),
            Failure::Bad(_) => Self::bad_request(message),
            Failure::OtherPrompt { state, .. } => {
                let mut error = Self::new(Code::StateChanged, message);
                error.facts.insert("state".into(), state.word().into());
                error
            }
        }
    }
}

fn witness_timeout(asked_ms: Option<u32>, rule_ms: Option<u32>) -> Duration {
    let rule = rule_ms.map_or(WITNESS_TIMEOUT_MS, |ms| ms.max(WITNESS_TIMEOUT_MS_MIN));
    Duration::from_millis(asked_ms.unwrap_or(rule).min(WITNESS_TIMEOUT_MS_MAX).into())
}

fn someone_types() -> ApiError {
    let message = "somebody else types, and did not come to an end in time: try again, or give it longer (timeout_ms)";
    ApiError::new(Code::WriterBusy, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_is_too_short_for_any_witness_is_raised_and_a_caller_may_ask_for_anything() {
        let ms = |asked, rule| witness_timeout(asked, rule).as_millis();
        assert_eq!((ms(None, None), ms(None, Some(100)), ms(None, Some(4000))), (2500, 1000, 4000));
        assert_eq!((ms(Some(0), Some(100)), ms(Some(u32::MAX), None)), (0, 600_000));
    }
}
