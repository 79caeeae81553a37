//! What an agent said before it forgot, and what it cost.

use super::error::{ApiError, Code};
use super::service::Service;
use crate::agent::{Agent, Transcripts};
use crate::proto::v1;

impl Service {
    pub(super) async fn list_of_transcripts(&self) -> Result<v1::ListTranscriptsResponse, ApiError> {
        let store = self.transcript_store()?;
        let list = on_disk(move || store.list()).await?;
        let transcripts = list.into_iter().map(|taken| v1::TranscriptMeta {
            number: taken.number,
            timestamp: taken.timestamp,
            line_count: taken.line_count,
            byte_size: taken.byte_size,
        });
        Ok(v1::ListTranscriptsResponse { transcripts: transcripts.collect() })
    }

    pub(super) async fn one_transcript(&self, number: u32) -> Result<v1::GetTranscriptResponse, ApiError> {
        let store = self.transcript_store()?;
        let content = on_disk(move || store.read(number)).await.map_err(|error| match error.code {
            Code::NotFound => {
                let message = format!("there is no transcript {number}: GET /api/v1/transcripts lists them");
                ApiError::new(Code::NotFound, message)
            }
            _ => error,
        })?;
        Ok(v1::GetTranscriptResponse { number, content })
    }

    pub(super) async fn catchup(
        &self,
        request: v1::CatchupTranscriptsRequest,
    ) -> Result<v1::CatchupTranscriptsResponse, ApiError> {
        let (store, log) = (self.transcript_store()?, self.known_agent()?.view().log.clone());
        let (since_transcript, since_line) = (request.since_transcript, request.since_line);
        let caught = on_disk(move || store.catchup(since_transcript, since_line, log.as_deref())).await?;
        let transcripts = caught.transcripts.into_iter().map(|one| v1::CatchupTranscript {
            number: one.number,
            timestamp: one.timestamp,
            lines: one.lines,
        });
        Ok(v1::CatchupTranscriptsResponse {
            transcripts: transcripts.collect(),
            live_lines: caught.live_lines,
            current_transcript: caught.current_transcript,
            current_line: caught.current_line,
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

    fn transcript_store(&self) -> Result<Transcripts, ApiError> {
        let agent: &Agent = self.known_agent()?;
        let Some(conversation) = self.session.vitals().conversation.clone() else {
            let message = "the agent's conversation has no name yet: it has one after its start";
            return Err(ApiError::new(Code::NotReady, message));
        };
        agent.transcripts(&conversation).map_err(|error| failed(&error))
    }
}

/// Files are read on threads that may wait for a disk.
async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| ApiError::new(Code::Internal, error.to_string()))?.map_err(|error| failed(&error))
}

fn failed(error: &std::io::Error) -> ApiError {
    let code = match error.kind() {
        std::io::ErrorKind::NotFound => Code::NotFound,
        std::io::ErrorKind::FileTooLarge => Code::TooLarge,
        _ => Code::Internal,
    };
    ApiError::new(code, format!("transcripts: {error}"))
}
