//! The contract's service: each call of coop.v1, handed to the file that knows how.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use futures_util::StreamExt;
use tonic::{Request, Response, Status};

use super::access::Gate;
use super::attach::attach;
use super::commands::{Commands, run_command};
use super::conversation::{Conversation, Speech, converse};
use super::error::ApiError;
use super::extensions::{Encoded, HttpStatus, Trusted, WantsJson};
use super::faces::{Face, Faces};
use super::side_terminals::SideTerminals;
use super::streams::{self, Messages};
use super::warnings::Warnings;
use crate::agent::Agent;
use crate::log::LogTail;
use crate::proto::v1::{self, coop_server::Coop};
use crate::session::{LockId, Session};

/// What the operator said about the session, for its status.
#[derive(Clone, Debug)]
pub struct About {
    /// The kind of agent: `claude`, `codex`, `gemini` or `unknown`.
    pub agent: String,
    pub command: Vec<String>,
    pub cwd: String,
    pub labels: BTreeMap<String, String>,
    pub version: &'static str,
    /// Whose the terminal is: `pty`, `tmux` or `screen`.
    pub backend: &'static str,
    /// Where programs of this machine call it over HTTP, if there is a port.
    pub url: Option<String>,
    /// How long a witness is waited for, unless a caller says otherwise.
    pub nudge_timeout_ms: Option<u32>,
    /// What was asked for and cannot be enforced on this machine.
    pub warnings: Warnings,
    /// Ports of the machine that lead into its box.
    pub published: Vec<String>,
}

/// Everything that coop.v1 can do.
pub struct Service {
    pub session: Session,
    /// The driver of the program inside, when there is one.
    pub agent: Option<Agent>,
    pub about: About,
    pub gate: Gate,
    pub log: LogTail,
    /// Shells beside the program.
    pub terminals: SideTerminals,
    /// Commands beside the program, without a terminal.
    pub commands: Commands,
    pub(super) faces: Faces,
    ws_clients: AtomicU32,
    locks: AtomicU64,
}

/// Counts a WebSocket for as long as it is open.
pub struct WsClient(Arc<Service>);

impl Drop for WsClient {
    fn drop(&mut self) {
        self.0.ws_clients.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Service {
    pub fn new(
        session: Session,
        agent: Option<Agent>,
        about: About,
        gate: Gate,
        log: LogTail,
        terminals: SideTerminals,
    ) -> Self {
        let commands = Commands::new(terminals.side());
        let (faces, ws_clients, locks) = (Faces::default(), AtomicU32::new(0), AtomicU64::new(1));
        Self { session, agent, about, gate, log, terminals, commands, faces, ws_clients, locks }
    }

    pub fn ws_clients(&self) -> u32 {
        self.ws_clients.load(Ordering::Relaxed)
    }

    pub fn count_ws_client(self: &Arc<Self>) -> WsClient {
        self.ws_clients.fetch_add(1, Ordering::Relaxed);
        WsClient(self.clone())
    }

    /// A lock's name; not a secret, but not to be guessed by accident either.
    pub(super) fn new_lock_id(&self) -> LockId {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        LockId(format!("lock-{}-{now:x}", self.locks.fetch_add(1, Ordering::Relaxed)))
    }
}

/// The lock that a writer holds.
fn writer<T>(request: &Request<T>) -> Option<LockId> {
    request.metadata().get("coop-lock").and_then(|id| id.to_str().ok()).map(|id| LockId(id.to_owned()))
}

type Answer<T> = Result<Response<T>, Status>;

/// The service as tonic and the gateway hold it.
#[derive(Clone)]
pub struct Api(pub Arc<Service>);

impl std::ops::Deref for Api {
    type Target = Service;

    fn deref(&self) -> &Service {
        &self.0
    }
}

impl Api {
    /// An answer without end, which counts for as long as it is read.
    fn follow<T: 'static>(&self, face: Face, stream: Messages<T>) -> Answer<Messages<T>> {
        Ok(Response::new(self.faces.counted(face, stream)))
    }
}

#[tonic::async_trait]
impl Coop for Api {
    async fn get_health(&self, _: Request<v1::GetHealthRequest>) -> Answer<v1::GetHealthResponse> {
        Ok(Response::new(self.health()))
    }

    async fn get_ready(&self, _: Request<v1::GetReadyRequest>) -> Answer<v1::GetReadyResponse> {
        let ready = self.ready();
        let status = HttpStatus(if ready.ready { 200 } else { 503 });
        let mut response = Response::new(ready);
        response.extensions_mut().insert(status);
        Ok(response)
    }

    async fn get_status(&self, _: Request<v1::GetStatusRequest>) -> Answer<v1::GetStatusResponse> {
        Ok(Response::new(self.status()))
    }

    async fn get_screen(&self, request: Request<v1::GetScreenRequest>) -> Answer<v1::ScreenSnapshot> {
        let as_json = request.extensions().get::<WantsJson>().is_some();
        let request = request.into_inner();
        if as_json && request == v1::GetScreenRequest::default() {
            let mut response = Response::new(v1::ScreenSnapshot::default());
            response.extensions_mut().insert(Encoded(self.screen_json().await?));
            return Ok(response);
        }
        Ok(Response::new(self.screen(&request).await?))
    }

    async fn get_output(&self, request: Request<v1::GetOutputRequest>) -> Answer<v1::GetOutputResponse> {
        Ok(Response::new(self.output(request.get_ref())))
    }

    async fn send_input(&self, request: Request<v1::SendInputRequest>) -> Answer<v1::SendInputResponse> {
        let writer = writer(&request);
        Ok(Response::new(self.input(request.into_inner(), writer).await?.response().await))
    }

    async fn send_input_raw(&self, request: Request<v1::SendInputRawRequest>) -> Answer<v1::SendInputResponse> {
        let writer = writer(&request);
        Ok(Response::new(self.raw(request.into_inner(), writer).await?.response().await))
    }

    async fn send_keys(&self, request: Request<v1::SendKeysRequest>) -> Answer<v1::SendInputResponse> {
        let writer = writer(&request);
        Ok(Response::new(self.keys(request.into_inner(), writer).await?.response().await))
    }

    async fn resize(&self, request: Request<v1::ResizeRequest>) -> Answer<v1::ResizeResponse> {
        Ok(Response::new(self.resize_to(request.into_inner()).await?))
    }

    async fn send_signal(&self, request: Request<v1::SendSignalRequest>) -> Answer<v1::SendSignalResponse> {
        Ok(Response::new(self.signal(request.get_ref()).await?))
    }

    async fn acquire_lock(&self, request: Request<v1::AcquireLockRequest>) -> Answer<v1::AcquireLockResponse> {
        // Whoever holds the lock renews it under its name.
        let id = writer(&request).unwrap_or_else(|| self.new_lock_id());
        Ok(Response::new(self.acquire(request.get_ref().ttl_secs, id).await?))
    }

    async fn release_lock(&self, request: Request<v1::ReleaseLockRequest>) -> Answer<v1::ReleaseLockResponse> {
        let Some(id) = writer(&request) else {
            return Err(ApiError::bad_request("which lock? send its id in coop-lock").into());
        };
        Ok(Response::new(v1::ReleaseLockResponse { released: self.session.release(id).await? }))
    }

    type StreamOutputStream = Messages<v1::OutputChunk>;

    async fn stream_output(&self, request: Request<v1::StreamOutputRequest>) -> Answer<Self::StreamOutputStream> {
        self.follow(Face::of(&request), self.output_stream(request.get_ref())?)
    }

    type StreamScreenStream = Messages<v1::ScreenSnapshot>;

    async fn stream_screen(&self, request: Request<v1::StreamScreenRequest>) -> Answer<Self::StreamScreenStream> {
        self.follow(Face::of(&request), self.screen_stream(request.get_ref())?)
    }

    async fn get_agent_state(&self, request: Request<v1::GetAgentStateRequest>) -> Answer<v1::AgentState> {
        Ok(Response::new(self.agent_state(request.into_inner()).await))
    }

    async fn nudge(&self, request: Request<v1::NudgeRequest>) -> Answer<v1::NudgeResponse> {
        let writer = writer(&request);
        Ok(Response::new(self.nudge_agent(request.into_inner(), writer).await?))
    }

    async fn respond(&self, request: Request<v1::RespondRequest>) -> Answer<v1::RespondResponse> {
        let writer = writer(&request);
        Ok(Response::new(self.respond_to_prompt(request.into_inner(), writer).await?))
    }

    async fn wait(&self, request: Request<v1::WaitRequest>) -> Answer<v1::WaitResponse> {
        Ok(Response::new(self.wait_until(request.get_ref()).await?))
    }

    type StreamStateStream = Messages<v1::AgentStateEvent>;

    async fn stream_state(&self, request: Request<v1::StreamStateRequest>) -> Answer<Self::StreamStateStream> {
        self.follow(Face::of(&request), streams::state_stream(&self.0, request.get_ref())?)
    }

    type StreamEventsStream = Messages<v1::ServerMessage>;

    async fn stream_events(&self, request: Request<v1::StreamEventsRequest>) -> Answer<Self::StreamEventsStream> {
        self.follow(Face::of(&request), streams::event_stream(&self.0, request.get_ref())?)
    }

    type SessionStream = Messages<v1::ServerMessage>;

    async fn session(&self, request: Request<tonic::Streaming<v1::ClientMessage>>) -> Answer<Self::SessionStream> {
        let trusted = request.extensions().get::<Trusted>().is_some();
        let incoming =
            request.into_inner().map(|message| message.map_err(|status| ApiError::from_status(&status).into()));
        let begin = Conversation { service: self.0.clone(), trusted, subscribe: None };
        let speech = tokio_stream::wrappers::ReceiverStream::new(converse(begin, incoming));
        let told = Box::pin(speech.map(|speech| match speech {
            Speech::Say(message) => Ok(message.into_message()),
            Speech::Refuse(error) => Err(error.into()),
        }));
        self.follow(Face::Grpc, told)
    }

    type AttachStream = Messages<v1::AttachResponse>;

    async fn attach(&self, request: Request<tonic::Streaming<v1::AttachRequest>>) -> Answer<Self::AttachStream> {
        let incoming = request.into_inner().map(|message| message.map_err(|status| ApiError::from_status(&status)));
        let told = tokio_stream::wrappers::ReceiverStream::new(attach(self.0.clone(), incoming));
        Ok(Response::new(Box::pin(told.map(|message| message.map_err(Status::from)))))
    }

    async fn open_terminal(&self, request: Request<v1::OpenTerminalRequest>) -> Answer<v1::Terminal> {
        Ok(Response::new(self.terminals.open(request.get_ref())?))
    }

    async fn list_terminals(&self, _: Request<v1::ListTerminalsRequest>) -> Answer<v1::ListTerminalsResponse> {
        Ok(Response::new(self.terminals.list()))
    }

    async fn close_terminal(&self, request: Request<v1::CloseTerminalRequest>) -> Answer<v1::CloseTerminalResponse> {
        self.terminals.close(&request.get_ref().id).await?;
        Ok(Response::new(v1::CloseTerminalResponse {}))
    }

    type RunCommandStream = Messages<v1::RunCommandResponse>;

    async fn run_command(
        &self,
        request: Request<tonic::Streaming<v1::RunCommandRequest>>,
    ) -> Answer<Self::RunCommandStream> {
        let incoming = request.into_inner().map(|message| message.map_err(|status| ApiError::from_status(&status)));
        let told = tokio_stream::wrappers::ReceiverStream::new(run_command(self.0.clone(), incoming));
        Ok(Response::new(Box::pin(told.map(|message| message.map_err(Status::from)))))
    }

    async fn decide_stop(&self, request: Request<v1::DecideStopRequest>) -> Answer<v1::DecideStopResponse> {
        Ok(Response::new(self.decide_about_stop(request.get_ref()).await?))
    }

    async fn resolve_stop(&self, request: Request<v1::ResolveStopRequest>) -> Answer<v1::ResolveStopResponse> {
        Ok(Response::new(self.resolve_the_stop(request.get_ref())?))
    }

    async fn decide_start(&self, request: Request<v1::DecideStartRequest>) -> Answer<v1::DecideStartResponse> {
        Ok(Response::new(self.decide_about_start(request.get_ref()).await?))
    }

    async fn get_stop_config(&self, _: Request<v1::GetStopConfigRequest>) -> Answer<v1::StopConfig> {
        Ok(Response::new(self.stop_config()?))
    }

    async fn put_stop_config(&self, request: Request<v1::PutStopConfigRequest>) -> Answer<v1::StopConfig> {
        Ok(Response::new(self.put_stop(request.into_inner().config.unwrap_or_default())?))
    }

    async fn get_start_config(&self, _: Request<v1::GetStartConfigRequest>) -> Answer<v1::StartConfig> {
        Ok(Response::new(self.start_config()?))
    }

    async fn put_start_config(&self, request: Request<v1::PutStartConfigRequest>) -> Answer<v1::StartConfig> {
        Ok(Response::new(self.put_start(request.into_inner().config.unwrap_or_default())?))
    }

    type StreamStopEventsStream = Messages<v1::StopEvent>;

    async fn stream_stop_events(
        &self,
        request: Request<v1::StreamStopEventsRequest>,
    ) -> Answer<Self::StreamStopEventsStream> {
        self.known_agent()?;
        self.follow(Face::of(&request), self.stop_events(request.get_ref().after_seq)?)
    }

    type StreamStartEventsStream = Messages<v1::StartEvent>;

    async fn stream_start_events(
        &self,
        request: Request<v1::StreamStartEventsRequest>,
    ) -> Answer<Self::StreamStartEventsStream> {
        self.known_agent()?;
        self.follow(Face::of(&request), self.start_events(request.get_ref().after_seq)?)
    }

    async fn list_transcripts(&self, _: Request<v1::ListTranscriptsRequest>) -> Answer<v1::ListTranscriptsResponse> {
        Ok(Response::new(self.list_of_transcripts().await?))
    }

    async fn catchup_transcripts(
        &self,
        request: Request<v1::CatchupTranscriptsRequest>,
    ) -> Answer<v1::CatchupTranscriptsResponse> {
        Ok(Response::new(self.catchup(request.into_inner()).await?))
    }

    async fn get_transcript(&self, request: Request<v1::GetTranscriptRequest>) -> Answer<v1::GetTranscriptResponse> {
        Ok(Response::new(self.one_transcript(request.get_ref().number).await?))
    }

    type StreamTranscriptEventsStream = Messages<v1::TranscriptEvent>;

    async fn stream_transcript_events(
        &self,
        request: Request<v1::StreamTranscriptEventsRequest>,
    ) -> Answer<Self::StreamTranscriptEventsStream> {
        self.known_agent()?;
        self.follow(Face::of(&request), self.transcript_events(request.get_ref().after_seq)?)
    }

    async fn get_usage(&self, _: Request<v1::GetUsageRequest>) -> Answer<v1::Usage> {
        Ok(Response::new(self.usage()?))
    }

    async fn restart(&self, request: Request<v1::RestartRequest>) -> Answer<v1::RestartResponse> {
        Ok(Response::new(self.restart_child(request.into_inner(), true).await?))
    }

    async fn get_environment(&self, request: Request<v1::GetEnvironmentRequest>) -> Answer<v1::Environment> {
        Ok(Response::new(self.environment(request.get_ref()).await?))
    }

    async fn set_environment(&self, request: Request<v1::SetEnvironmentRequest>) -> Answer<v1::Environment> {
        Ok(Response::new(self.change_environment(request.into_inner()).await?))
    }

    async fn get_variable(&self, request: Request<v1::GetVariableRequest>) -> Answer<v1::Variable> {
        Ok(Response::new(self.variable(request.into_inner().key).await?))
    }

    async fn set_variable(&self, request: Request<v1::SetVariableRequest>) -> Answer<v1::Variable> {
        Ok(Response::new(self.change_variable(request.into_inner()).await?))
    }

    async fn shutdown(&self, _: Request<v1::ShutdownRequest>) -> Answer<v1::ShutdownResponse> {
        self.session.shutdown().await;
        Ok(Response::new(v1::ShutdownResponse { accepted: true }))
    }

    type StreamLogStream = Messages<v1::LogLine>;

    async fn stream_log(&self, request: Request<v1::StreamLogRequest>) -> Answer<Self::StreamLogStream> {
        let face = Face::of(&request);
        self.follow(face, streams::log_stream(&self.log, request.into_inner()))
    }
}
