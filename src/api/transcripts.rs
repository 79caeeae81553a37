//! What an agent said before it forgot, and what it cost.

use std::path::PathBuf;

use super::error::{ApiError, Code};
use super::service::Service;
use crate::agent::{Missing, Transcripts};
use crate::proto::v1;
use crate::session::Life;

impl Service {
    pub(super) async fn list_of_transcripts(&self) -> Result<v1::ListTranscriptsResponse, ApiError> {
        let list = self.on_disk(|store| Ok(store.list().to_vec())).await?;
        let transcripts = list.into_iter().map(|taken| v1::TranscriptMeta {
            number: taken.number,
            timestamp: taken.at.iso8601(),
            line_count: taken.line_count,
            byte_size: taken.byte_size,
        });
        Ok(v1::ListTranscriptsResponse { transcripts: transcripts.collect() })
    }

    pub(super) async fn one_transcript(&self, number: u32) -> Result<v1::GetTranscriptResponse, ApiError> {
        let content = self.on_disk(move |store| store.read(number)).await?;
        Ok(v1::GetTranscriptResponse { number, content })
    }

    pub(super) async fn catchup(
        &self,
        request: v1::CatchupTranscriptsRequest,
    ) -> Result<v1::CatchupTranscriptsResponse, ApiError> {
        let (session_id, log) = self.conversation().await?;
        let (since_transcript, since_line) = (request.since_transcript, request.since_line);
        let look = move |store: &Transcripts| store.catchup(since_transcript, since_line, log.as_deref());
        let caught = self.on_disk_of(session_id.clone(), look).await?;
        let transcripts = caught.transcripts.into_iter().map(|one| v1::CatchupTranscript {
            number: one.taken.number,
            timestamp: one.taken.at.iso8601(),
            lines: one.lines,
        });
        Ok(v1::CatchupTranscriptsResponse {
            transcripts: transcripts.collect(),
            live_lines: caught.live_lines,
            current_transcript: caught.current_transcript,
            current_line: caught.current_line,
            session_id: Some(session_id),
        })
    }

    pub(super) fn usage(&self) -> Result<v1::Usage, ApiError> {
        let agent = self.known_agent()?;
        let usage = agent.view().usage;
        Ok(v1::Usage {
            input_tokens: usage.tokens.input,
            output_tokens: usage.tokens.output,
            cache_read_tokens: usage.tokens.cache_read,
            cache_write_tokens: usage.tokens.cache_write,
            total_cost_usd: usage.cost_usd,
            request_count: usage.requests,
        })
    }

    /// Looks into the transcripts of the present conversation, on a thread that may wait for a disk.
    async fn on_disk<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Transcripts) -> Result<T, Missing> + Send + 'static,
    ) -> Result<T, ApiError> {
        let (conversation, _) = self.conversation().await?;
        self.on_disk_of(conversation, look).await
    }

    async fn on_disk_of<T: Send + 'static>(
        &self,
        conversation: String,
        look: impl FnOnce(&Transcripts) -> Result<T, Missing> + Send + 'static,
    ) -> Result<T, ApiError> {
        let agent = self.known_agent()?.clone();
        let looking = move || look(&agent.transcripts(&conversation)?);
        let looked = tokio::task::spawn_blocking(looking).await;
        looked.map_err(|error| ApiError::new(Code::Internal, error.to_string()))?.map_err(ApiError::from)
    }

    /// The present conversation and its log, both of one moment: by the latest look at the agent, which has them together. A
    /// child that goes on with one may not have said so yet.
    async fn conversation(&self) -> Result<(String, Option<PathBuf>), ApiError> {
        let agent = self.known_agent()?;
        let vitals = self.session.vitals();
        let view = if matches!(vitals.life, Life::Running { .. }) { agent.view_as_told().await } else { agent.view() };
        let Some(conversation) = view.conversation.clone().or_else(|| vitals.conversation.clone()) else {
            let message = "the agent's conversation has no name yet: it has one after its start";
            return Err(ApiError::new(Code::NotReady, message));
        };
        Ok((conversation, view.log.clone()))
    }
}

impl From<Missing> for ApiError {
    fn from(missing: Missing) -> Self {
        let code = match &missing {
            Missing::Unknown(_) => Code::NotFound,
            Missing::TooLarge { .. } => Code::TooLarge,
            Missing::Io(_) => Code::Internal,
        };
        Self::new(code, missing.to_string())
    }
}
