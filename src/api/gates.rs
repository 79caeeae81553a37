//! The gates at an agent's start and stop, and what happens at them, in the contract's words.

use serde_json::Value;

use super::error::ApiError;
use super::service::Service;
use crate::agent::gates::{StartConfig, StartInjection, StopConfig, StopField, StopMode, StopSchema};
use crate::proto::v1;
use crate::session::{Began, Kept, Refusal, Stopped};
use crate::terminal::Seq;

pub fn stop_event(stopped: &Stopped, seq: Seq) -> v1::StopEvent {
    let (kind, signal, error_detail) = match stopped {
        Stopped::Allowed => (v1::StopType::Allowed, None, None),
        Stopped::Signaled(signal) => (v1::StopType::Signaled, Some(signal.clone()), None),
        Stopped::Error(detail) => (v1::StopType::Error, None, Some(detail.clone())),
        Stopped::SafetyValve => (v1::StopType::SafetyValve, None, None),
        Stopped::Blocked => (v1::StopType::Blocked, None, None),
    };
    v1::StopEvent { r#type: kind.into(), signal, error_detail, seq: seq.0 }
}

pub fn start_event(began: &Began, seq: Seq) -> v1::StartEvent {
    v1::StartEvent {
        source: began.source.clone(),
        session_id: began.conversation.clone(),
        injected: began.injected,
        seq: seq.0,
    }
}

pub fn transcript_event(kept: &Kept, seq: Seq) -> v1::TranscriptEvent {
    v1::TranscriptEvent {
        number: kept.number,
        timestamp: kept.timestamp.clone(),
        line_count: kept.line_count,
        seq: seq.0,
    }
}

impl Service {
    pub(super) fn stop_config(&self) -> Result<v1::StopConfig, ApiError> {
        Ok(stop_in_words(self.known_agent()?.gates().stop.config()))
    }

    pub(super) fn put_stop(&self, config: v1::StopConfig) -> Result<v1::StopConfig, ApiError> {
        let agent = self.known_agent()?;
        let config = stop_of_words(config)?;
        config.check().map_err(|bad| ApiError::bad_request(bad.to_string()))?;
        agent.gates().stop.put(config);
        self.stop_config()
    }

    pub(super) fn start_config(&self) -> Result<v1::StartConfig, ApiError> {
        Ok(start_in_words(self.known_agent()?.gates().start.config()))
    }

    pub(super) fn put_start(&self, config: v1::StartConfig) -> Result<v1::StartConfig, ApiError> {
        let agent = self.known_agent()?;
        let config = start_of_words(config);
        config.check().map_err(|bad| ApiError::bad_request(bad.to_string()))?;
        agent.gates().start.put(config);
        self.start_config()
    }

    /// Decides about a stop for a hook that asks by HTTP; `coop hook` asks over its own socket.
    pub(super) async fn decide_about_stop(
        &self,
        request: &v1::DecideStopRequest,
    ) -> Result<v1::DecideStopResponse, ApiError> {
        let payload = payload(request.payload.as_deref())?;
        let already_held = payload.get("stop_hook_active") == Some(&Value::Bool(true));
        let reason = self.driver()?.decide_stop(already_held).await.map_err(|_| Refusal::Exited)?;
        Ok(v1::DecideStopResponse { decision: reason.as_ref().map(|_| "block".to_owned()), reason })
    }

    pub(super) fn resolve_the_stop(
        &self,
        request: &v1::ResolveStopRequest,
    ) -> Result<v1::ResolveStopResponse, ApiError> {
        let signal = serde_json::from_str(&request.signal)
            .map_err(|error| ApiError::bad_request(format!("the signal is not JSON: {error}")))?;
        let resolved = self.known_agent()?.gates().stop.resolve(signal);
        resolved.map_err(|complaints| ApiError::bad_request(complaints.join("; ")))?;
        Ok(v1::ResolveStopResponse { accepted: true })
    }

    pub(super) async fn decide_about_start(
        &self,
        request: &v1::DecideStartRequest,
    ) -> Result<v1::DecideStartResponse, ApiError> {
        let payload = payload(request.payload.as_deref())?;
        let source = payload.get("source").and_then(Value::as_str).unwrap_or("startup");
        let script = self.driver()?.decide_start(source).await.map_err(|_| Refusal::Exited)?;
        Ok(v1::DecideStartResponse { script })
    }
}

/// What a hook sends; nothing is as good as an empty object.
fn payload(text: Option<&str>) -> Result<Value, ApiError> {
    match text.filter(|text| !text.trim().is_empty()) {
        Some(text) => serde_json::from_str(text)
            .map_err(|error| ApiError::bad_request(format!("the hook's payload is not JSON: {error}"))),
        None => Ok(Value::Null),
    }
}

fn stop_in_words(config: &StopConfig) -> v1::StopConfig {
    let mode = match config.mode {
        StopMode::Allow => v1::StopMode::Allow,
        StopMode::Auto => v1::StopMode::Auto,
        StopMode::Gate => v1::StopMode::Gate,
    };
    let field = |(name, field): (&String, &StopField)| {
        let words = v1::StopField {
            required: field.required,
            r#enum: field.words.clone(),
            descriptions: field.descriptions.clone().into_iter().collect(),
            description: field.description.clone(),
        };
        (name.clone(), words)
    };
    v1::StopConfig {
        mode: mode.into(),
        prompt: config.prompt.clone(),
        schema: config
            .schema
            .as_ref()
            .map(|schema| v1::StopSchema { fields: schema.fields.iter().map(field).collect() }),
        max_blocks: config.max_blocks,
    }
}

fn stop_of_words(config: v1::StopConfig) -> Result<StopConfig, ApiError> {
    let mode = match v1::StopMode::try_from(config.mode) {
        Ok(v1::StopMode::Unspecified | v1::StopMode::Allow) => StopMode::Allow,
        Ok(v1::StopMode::Auto) => StopMode::Auto,
        Ok(v1::StopMode::Gate) => StopMode::Gate,
        Err(_) => return Err(ApiError::bad_request("mode: use allow, auto or gate")),
    };
    let field = |(name, field): (String, v1::StopField)| {
        let field = StopField {
            required: field.required,
            words: field.r#enum,
            descriptions: field.descriptions.into_iter().collect(),
            description: field.description,
        };
        (name, field)
    };
    let schema = config.schema.map(|schema| StopSchema { fields: schema.fields.into_iter().map(field).collect() });
    Ok(StopConfig { mode, prompt: config.prompt, schema, max_blocks: config.max_blocks })
}

fn start_in_words(config: &StartConfig) -> v1::StartConfig {
    let event = config.event.iter().map(|(source, told)| {
        (source.clone(), v1::StartInjection { text: told.text.clone(), shell: told.shell.clone() })
    });
    v1::StartConfig { text: config.text.clone(), shell: config.shell.clone(), event: event.collect() }
}

fn start_of_words(config: v1::StartConfig) -> StartConfig {
    let event =
        config.event.into_iter().map(|(source, told)| (source, StartInjection { text: told.text, shell: told.shell }));
    StartConfig { text: config.text, shell: config.shell, event: event.collect() }
}
