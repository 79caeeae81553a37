//! From a message's name to its Rust type, and from its bytes to its JSON and back.

use coop::proto::v1;
use prost::Message;
use serde_json::{Map, Value};

/// Every message by name; those of a conversation are read by their `event` word.
macro_rules! messages {
    (plain: $($plain:ident)*; by_word: $($word:ident)*) => {
        /// The JSON of a message that is given as bytes, in the order and spelling in which it is written;
        /// `None` for what has no JSON form, such as the binary frames of an attach.
        pub fn json(name: &str, bytes: &[u8]) -> Option<String> {
            let written = match name {
                $(stringify!($plain) => serde_json::to_string_pretty(&v1::$plain::decode(bytes).unwrap()),)*
                $(stringify!($word) => serde_json::to_string_pretty(&v1::$word::decode(bytes).unwrap()),)*
                other => panic!("{other} is new: add it to the list"),
            };
            written.ok()
        }

        /// The bytes of a message that is given as JSON.
        pub fn read(name: &str, json: &str) -> Result<Vec<u8>, serde_json::Error> {
            match name {
                $(stringify!($plain) => serde_json::from_str::<v1::$plain>(json).map(|message| message.encode_to_vec()),)*
                $(stringify!($word) => {
                    let (word, request_id, fields) = take_apart(json);
                    let message = v1::$word::from_event(&word, Value::Object(fields))?;
                    let mut bytes = message.encode_to_vec();
                    if let Some(id) = request_id {
                        prost::encoding::string::encode(1, &id, &mut bytes);
                    }
                    Ok(bytes)
                })*
                other => panic!("{other} is new: add it to the list"),
            }
        }
    };
}

fn take_apart(json: &str) -> (String, Option<String>, Map<String, Value>) {
    let mut fields: Map<String, Value> = serde_json::from_str(json).unwrap();
    let mut text = |name: &str| fields.remove(name).and_then(|value| value.as_str().map(str::to_owned));
    let (word, request_id) = (text("event").unwrap(), text("request_id"));
    (word, request_id, fields)
}

messages! {
    plain:
        AcquireLockRequest AcquireLockResponse AgentState AgentStateEvent AttachHello AttachReady AuthRequest
        CatchupTranscript CatchupTranscriptsRequest CatchupTranscriptsResponse ChangedRow CursorPosition
        DecideStartRequest DecideStartResponse DecideStopRequest DecideStopResponse DenialEvent Done Environment ErrorEvent Evidence
        ExitEvent Expect Gap GetAgentStateRequest GetEnvironmentRequest GetHealthRequest GetHealthResponse GetOutputRequest GetOutputResponse GetReadyRequest
        GetReadyResponse GetScreenRequest GetStartConfigRequest GetStatusRequest GetStatusResponse GetStopConfigRequest
        GetTranscriptRequest GetTranscriptResponse GetUsageRequest GetVariableRequest ListTranscriptsRequest ListTranscriptsResponse
        LockRequest LockResult LogLine MessageEvent NudgeRequest NudgeResponse OutputChunk Ping Pong PromptContext
        PutStartConfigRequest PutStopConfigRequest QuestionAnswer QuestionContext Receipt ReleaseLockRequest
        ReleaseLockResponse ResizeEvent ResizeRequest ResizeResponse ResolveStopRequest ResolveStopResponse
        RespondRequest RespondResponse RestartRequest RestartResponse ScreenSnapshot SendInputRawRequest
        SendInputRequest SendInputResponse SendKeysRequest SendSignalRequest SendSignalResponse SetEnvironmentRequest SetVariableRequest ShutdownRequest
        ShutdownResponse StartConfig StartEvent StartInjection StopConfig StopEvent StopField StopSchema
        StreamEventsRequest StreamLogRequest StreamOutputRequest StreamScreenRequest StreamStartEventsRequest
        StreamStateRequest StreamStopEventsRequest StreamTranscriptEventsRequest TerminalSize TranscriptEvent
        TranscriptMeta Usage Variable WaitRequest WaitResponse
        OpenTerminalRequest Terminal ListTerminalsRequest ListTerminalsResponse CloseTerminalRequest CloseTerminalResponse
        CommandStart CommandStarted CommandEnded
        Box GetInfoRequest GetInfoResponse BoxSource CreateBoxRequest GetBoxRequest ListBoxesRequest ListBoxesResponse
        StopBoxRequest RestartBoxRequest DeleteBoxRequest DeleteBoxResponse WatchBoxesRequest BoxEvent PullImageRequest
        BuildBoxRequest BuildProgress DiffWorkspaceRequest WorkspaceChange DiffWorkspaceResponse ApplyWorkspaceRequest
        ApplyWorkspaceResponse DiscardWorkspaceRequest DiscardWorkspaceResponse ShutdownDaemonRequest
        ShutdownDaemonResponse;
    by_word: ClientMessage ServerMessage AttachRequest AttachResponse RunCommandRequest RunCommandResponse
}
