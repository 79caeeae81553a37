//! The agent's calls. Without a driver for the program inside, they say so.

use super::error::{ApiError, Code};
use super::service::Service;
use super::states::Context;
use crate::proto::v1;

impl Service {
    /// What is known about the program inside, whether or not there is a driver for it.
    pub(super) fn agent_state(&self, request: v1::GetAgentStateRequest) -> v1::AgentState {
        let vitals = self.session.vitals();
        let state = v1::AgentStateKind::from(vitals.state.kind());
        let tier = v1::DetectionTier::from(vitals.cause.tier);
        let context = Context::from(&vitals.state);
        let evidence = v1::Evidence {
            tier: tier.into(),
            source: vitals.cause.rule.to_string(),
            claim: state.into(),
            decisive: true,
            ..Default::default()
        };
        v1::AgentState {
            agent: self.about.agent.clone(),
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
            last_message: vitals.last_message.clone(),
            evidence: if request.explain { vec![evidence] } else { Vec::new() },
            ..Default::default()
        }
    }

    /// The answer to every call that needs a driver.
    pub(super) fn no_driver(&self) -> ApiError {
        let agent = &self.about.agent;
        let message =
            format!("no driver for agent {agent:?}: use the terminal calls (input, keys, screen, wait) instead");
        ApiError::new(Code::NoDriver, message)
    }
}
