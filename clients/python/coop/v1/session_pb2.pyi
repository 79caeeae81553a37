from coop.v1 import agent_pb2 as _agent_pb2
from coop.v1 import gates_pb2 as _gates_pb2
from coop.v1 import input_pb2 as _input_pb2
from coop.v1 import lifecycle_pb2 as _lifecycle_pb2
from coop.v1 import nudge_pb2 as _nudge_pb2
from coop.v1 import options_pb2 as _options_pb2
from coop.v1 import screen_pb2 as _screen_pb2
from coop.v1 import transcripts_pb2 as _transcripts_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EventMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EVENT_MODE_UNSPECIFIED: _ClassVar[EventMode]
    EVENT_MODE_RAW: _ClassVar[EventMode]
    EVENT_MODE_SCREEN: _ClassVar[EventMode]
    EVENT_MODE_STATE: _ClassVar[EventMode]
    EVENT_MODE_ALL: _ClassVar[EventMode]
    EVENT_MODE_MESSAGES: _ClassVar[EventMode]
EVENT_MODE_UNSPECIFIED: EventMode
EVENT_MODE_RAW: EventMode
EVENT_MODE_SCREEN: EventMode
EVENT_MODE_STATE: EventMode
EVENT_MODE_ALL: EventMode
EVENT_MODE_MESSAGES: EventMode

class StreamEventsRequest(_message.Message):
    __slots__ = ("mode", "after_seq", "from_offset", "subscribe")
    MODE_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQ_FIELD_NUMBER: _ClassVar[int]
    FROM_OFFSET_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIBE_FIELD_NUMBER: _ClassVar[int]
    mode: EventMode
    after_seq: int
    from_offset: int
    subscribe: _containers.RepeatedScalarFieldContainer[EventMode]
    def __init__(self, mode: _Optional[_Union[EventMode, str]] = ..., after_seq: _Optional[int] = ..., from_offset: _Optional[int] = ..., subscribe: _Optional[_Iterable[_Union[EventMode, str]]] = ...) -> None: ...

class AuthRequest(_message.Message):
    __slots__ = ("token",)
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    token: str
    def __init__(self, token: _Optional[str] = ...) -> None: ...

class Ping(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Pong(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Done(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ErrorEvent(_message.Message):
    __slots__ = ("code", "message")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class ClientMessage(_message.Message):
    __slots__ = ("request_id", "ping", "auth", "subscribe", "screen_get", "state_get", "status_get", "replay", "input", "input_raw", "keys", "resize", "signal", "lock", "nudge", "respond", "wait", "restart", "shutdown", "transcript_list", "transcript_get", "transcript_catchup")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    PING_FIELD_NUMBER: _ClassVar[int]
    AUTH_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIBE_FIELD_NUMBER: _ClassVar[int]
    SCREEN_GET_FIELD_NUMBER: _ClassVar[int]
    STATE_GET_FIELD_NUMBER: _ClassVar[int]
    STATUS_GET_FIELD_NUMBER: _ClassVar[int]
    REPLAY_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    INPUT_RAW_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    RESIZE_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    LOCK_FIELD_NUMBER: _ClassVar[int]
    NUDGE_FIELD_NUMBER: _ClassVar[int]
    RESPOND_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    RESTART_FIELD_NUMBER: _ClassVar[int]
    SHUTDOWN_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_LIST_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_GET_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_CATCHUP_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    ping: Ping
    auth: AuthRequest
    subscribe: StreamEventsRequest
    screen_get: _screen_pb2.GetScreenRequest
    state_get: _agent_pb2.GetAgentStateRequest
    status_get: _lifecycle_pb2.GetStatusRequest
    replay: _screen_pb2.GetOutputRequest
    input: _input_pb2.SendInputRequest
    input_raw: _input_pb2.SendInputRawRequest
    keys: _input_pb2.SendKeysRequest
    resize: _input_pb2.ResizeRequest
    signal: _input_pb2.SendSignalRequest
    lock: _input_pb2.LockRequest
    nudge: _nudge_pb2.NudgeRequest
    respond: _nudge_pb2.RespondRequest
    wait: _lifecycle_pb2.WaitRequest
    restart: _lifecycle_pb2.RestartRequest
    shutdown: _lifecycle_pb2.ShutdownRequest
    transcript_list: _transcripts_pb2.ListTranscriptsRequest
    transcript_get: _transcripts_pb2.GetTranscriptRequest
    transcript_catchup: _transcripts_pb2.CatchupTranscriptsRequest
    def __init__(self, request_id: _Optional[str] = ..., ping: _Optional[_Union[Ping, _Mapping]] = ..., auth: _Optional[_Union[AuthRequest, _Mapping]] = ..., subscribe: _Optional[_Union[StreamEventsRequest, _Mapping]] = ..., screen_get: _Optional[_Union[_screen_pb2.GetScreenRequest, _Mapping]] = ..., state_get: _Optional[_Union[_agent_pb2.GetAgentStateRequest, _Mapping]] = ..., status_get: _Optional[_Union[_lifecycle_pb2.GetStatusRequest, _Mapping]] = ..., replay: _Optional[_Union[_screen_pb2.GetOutputRequest, _Mapping]] = ..., input: _Optional[_Union[_input_pb2.SendInputRequest, _Mapping]] = ..., input_raw: _Optional[_Union[_input_pb2.SendInputRawRequest, _Mapping]] = ..., keys: _Optional[_Union[_input_pb2.SendKeysRequest, _Mapping]] = ..., resize: _Optional[_Union[_input_pb2.ResizeRequest, _Mapping]] = ..., signal: _Optional[_Union[_input_pb2.SendSignalRequest, _Mapping]] = ..., lock: _Optional[_Union[_input_pb2.LockRequest, _Mapping]] = ..., nudge: _Optional[_Union[_nudge_pb2.NudgeRequest, _Mapping]] = ..., respond: _Optional[_Union[_nudge_pb2.RespondRequest, _Mapping]] = ..., wait: _Optional[_Union[_lifecycle_pb2.WaitRequest, _Mapping]] = ..., restart: _Optional[_Union[_lifecycle_pb2.RestartRequest, _Mapping]] = ..., shutdown: _Optional[_Union[_lifecycle_pb2.ShutdownRequest, _Mapping]] = ..., transcript_list: _Optional[_Union[_transcripts_pb2.ListTranscriptsRequest, _Mapping]] = ..., transcript_get: _Optional[_Union[_transcripts_pb2.GetTranscriptRequest, _Mapping]] = ..., transcript_catchup: _Optional[_Union[_transcripts_pb2.CatchupTranscriptsRequest, _Mapping]] = ...) -> None: ...

class ServerMessage(_message.Message):
    __slots__ = ("request_id", "pong", "error", "output", "screen", "transition", "exit", "resize", "gap", "receipt", "status", "replay_result", "input_result", "lock_result", "nudge_result", "respond_result", "wait_result", "restart_result", "stop", "start", "transcript_saved", "transcript_list", "transcript_get", "transcript_catchup", "resize_result", "signal_result", "done", "message_raw", "stop_outcome", "start_outcome", "denied")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    PONG_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    SCREEN_FIELD_NUMBER: _ClassVar[int]
    TRANSITION_FIELD_NUMBER: _ClassVar[int]
    EXIT_FIELD_NUMBER: _ClassVar[int]
    RESIZE_FIELD_NUMBER: _ClassVar[int]
    GAP_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REPLAY_RESULT_FIELD_NUMBER: _ClassVar[int]
    INPUT_RESULT_FIELD_NUMBER: _ClassVar[int]
    LOCK_RESULT_FIELD_NUMBER: _ClassVar[int]
    NUDGE_RESULT_FIELD_NUMBER: _ClassVar[int]
    RESPOND_RESULT_FIELD_NUMBER: _ClassVar[int]
    WAIT_RESULT_FIELD_NUMBER: _ClassVar[int]
    RESTART_RESULT_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_SAVED_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_LIST_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_GET_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_CATCHUP_FIELD_NUMBER: _ClassVar[int]
    RESIZE_RESULT_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_RESULT_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_RAW_FIELD_NUMBER: _ClassVar[int]
    STOP_OUTCOME_FIELD_NUMBER: _ClassVar[int]
    START_OUTCOME_FIELD_NUMBER: _ClassVar[int]
    DENIED_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    pong: Pong
    error: ErrorEvent
    output: _screen_pb2.OutputChunk
    screen: _screen_pb2.ScreenSnapshot
    transition: _agent_pb2.AgentStateEvent
    exit: _agent_pb2.ExitEvent
    resize: _screen_pb2.ResizeEvent
    gap: _screen_pb2.Gap
    receipt: _input_pb2.Receipt
    status: _lifecycle_pb2.GetStatusResponse
    replay_result: _screen_pb2.GetOutputResponse
    input_result: _input_pb2.SendInputResponse
    lock_result: _input_pb2.LockResult
    nudge_result: _nudge_pb2.NudgeResponse
    respond_result: _nudge_pb2.RespondResponse
    wait_result: _lifecycle_pb2.WaitResponse
    restart_result: _lifecycle_pb2.RestartResponse
    stop: _gates_pb2.StopEvent
    start: _gates_pb2.StartEvent
    transcript_saved: _transcripts_pb2.TranscriptEvent
    transcript_list: _transcripts_pb2.ListTranscriptsResponse
    transcript_get: _transcripts_pb2.GetTranscriptResponse
    transcript_catchup: _transcripts_pb2.CatchupTranscriptsResponse
    resize_result: _input_pb2.ResizeResponse
    signal_result: _input_pb2.SendSignalResponse
    done: Done
    message_raw: _transcripts_pb2.MessageEvent
    stop_outcome: _gates_pb2.StopEvent
    start_outcome: _gates_pb2.StartEvent
    denied: DenialEvent
    def __init__(self, request_id: _Optional[str] = ..., pong: _Optional[_Union[Pong, _Mapping]] = ..., error: _Optional[_Union[ErrorEvent, _Mapping]] = ..., output: _Optional[_Union[_screen_pb2.OutputChunk, _Mapping]] = ..., screen: _Optional[_Union[_screen_pb2.ScreenSnapshot, _Mapping]] = ..., transition: _Optional[_Union[_agent_pb2.AgentStateEvent, _Mapping]] = ..., exit: _Optional[_Union[_agent_pb2.ExitEvent, _Mapping]] = ..., resize: _Optional[_Union[_screen_pb2.ResizeEvent, _Mapping]] = ..., gap: _Optional[_Union[_screen_pb2.Gap, _Mapping]] = ..., receipt: _Optional[_Union[_input_pb2.Receipt, _Mapping]] = ..., status: _Optional[_Union[_lifecycle_pb2.GetStatusResponse, _Mapping]] = ..., replay_result: _Optional[_Union[_screen_pb2.GetOutputResponse, _Mapping]] = ..., input_result: _Optional[_Union[_input_pb2.SendInputResponse, _Mapping]] = ..., lock_result: _Optional[_Union[_input_pb2.LockResult, _Mapping]] = ..., nudge_result: _Optional[_Union[_nudge_pb2.NudgeResponse, _Mapping]] = ..., respond_result: _Optional[_Union[_nudge_pb2.RespondResponse, _Mapping]] = ..., wait_result: _Optional[_Union[_lifecycle_pb2.WaitResponse, _Mapping]] = ..., restart_result: _Optional[_Union[_lifecycle_pb2.RestartResponse, _Mapping]] = ..., stop: _Optional[_Union[_gates_pb2.StopEvent, _Mapping]] = ..., start: _Optional[_Union[_gates_pb2.StartEvent, _Mapping]] = ..., transcript_saved: _Optional[_Union[_transcripts_pb2.TranscriptEvent, _Mapping]] = ..., transcript_list: _Optional[_Union[_transcripts_pb2.ListTranscriptsResponse, _Mapping]] = ..., transcript_get: _Optional[_Union[_transcripts_pb2.GetTranscriptResponse, _Mapping]] = ..., transcript_catchup: _Optional[_Union[_transcripts_pb2.CatchupTranscriptsResponse, _Mapping]] = ..., resize_result: _Optional[_Union[_input_pb2.ResizeResponse, _Mapping]] = ..., signal_result: _Optional[_Union[_input_pb2.SendSignalResponse, _Mapping]] = ..., done: _Optional[_Union[Done, _Mapping]] = ..., message_raw: _Optional[_Union[_transcripts_pb2.MessageEvent, _Mapping]] = ..., stop_outcome: _Optional[_Union[_gates_pb2.StopEvent, _Mapping]] = ..., start_outcome: _Optional[_Union[_gates_pb2.StartEvent, _Mapping]] = ..., denied: _Optional[_Union[DenialEvent, _Mapping]] = ...) -> None: ...

class DenialEvent(_message.Message):
    __slots__ = ("host", "port", "reason", "untold", "seq")
    HOST_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    UNTOLD_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    host: str
    port: int
    reason: str
    untold: int
    seq: int
    def __init__(self, host: _Optional[str] = ..., port: _Optional[int] = ..., reason: _Optional[str] = ..., untold: _Optional[int] = ..., seq: _Optional[int] = ...) -> None: ...

class AttachHello(_message.Message):
    __slots__ = ("cols", "rows", "view", "answers", "terminal", "from_offset")
    COLS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    TERMINAL_FIELD_NUMBER: _ClassVar[int]
    FROM_OFFSET_FIELD_NUMBER: _ClassVar[int]
    cols: int
    rows: int
    view: bool
    answers: bool
    terminal: str
    from_offset: int
    def __init__(self, cols: _Optional[int] = ..., rows: _Optional[int] = ..., view: _Optional[bool] = ..., answers: _Optional[bool] = ..., terminal: _Optional[str] = ..., from_offset: _Optional[int] = ...) -> None: ...

class AttachRequest(_message.Message):
    __slots__ = ("hello", "input", "resize")
    HELLO_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    RESIZE_FIELD_NUMBER: _ClassVar[int]
    hello: AttachHello
    input: bytes
    resize: _input_pb2.ResizeRequest
    def __init__(self, hello: _Optional[_Union[AttachHello, _Mapping]] = ..., input: _Optional[bytes] = ..., resize: _Optional[_Union[_input_pb2.ResizeRequest, _Mapping]] = ...) -> None: ...

class AttachReady(_message.Message):
    __slots__ = ("cols", "rows", "offset")
    COLS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    cols: int
    rows: int
    offset: int
    def __init__(self, cols: _Optional[int] = ..., rows: _Optional[int] = ..., offset: _Optional[int] = ...) -> None: ...

class AttachResponse(_message.Message):
    __slots__ = ("ready", "output", "resize", "exit", "transition", "error")
    READY_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    RESIZE_FIELD_NUMBER: _ClassVar[int]
    EXIT_FIELD_NUMBER: _ClassVar[int]
    TRANSITION_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    ready: AttachReady
    output: bytes
    resize: _screen_pb2.ResizeEvent
    exit: _agent_pb2.ExitEvent
    transition: _agent_pb2.AgentStateEvent
    error: ErrorEvent
    def __init__(self, ready: _Optional[_Union[AttachReady, _Mapping]] = ..., output: _Optional[bytes] = ..., resize: _Optional[_Union[_screen_pb2.ResizeEvent, _Mapping]] = ..., exit: _Optional[_Union[_agent_pb2.ExitEvent, _Mapping]] = ..., transition: _Optional[_Union[_agent_pb2.AgentStateEvent, _Mapping]] = ..., error: _Optional[_Union[ErrorEvent, _Mapping]] = ...) -> None: ...
