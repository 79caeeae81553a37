from coop.v1 import agent_pb2 as _agent_pb2
from coop.v1 import screen_pb2 as _screen_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SessionState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SESSION_STATE_UNSPECIFIED: _ClassVar[SessionState]
    SESSION_STATE_STARTING: _ClassVar[SessionState]
    SESSION_STATE_RUNNING: _ClassVar[SessionState]
    SESSION_STATE_EXITED: _ClassVar[SessionState]
SESSION_STATE_UNSPECIFIED: SessionState
SESSION_STATE_STARTING: SessionState
SESSION_STATE_RUNNING: SessionState
SESSION_STATE_EXITED: SessionState

class GetHealthRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetHealthResponse(_message.Message):
    __slots__ = ("status", "pid", "uptime_secs", "agent", "terminal", "ws_clients", "version")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    UPTIME_SECS_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    TERMINAL_FIELD_NUMBER: _ClassVar[int]
    WS_CLIENTS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    status: SessionState
    pid: int
    uptime_secs: int
    agent: str
    terminal: _screen_pb2.TerminalSize
    ws_clients: int
    version: str
    def __init__(self, status: _Optional[_Union[SessionState, str]] = ..., pid: _Optional[int] = ..., uptime_secs: _Optional[int] = ..., agent: _Optional[str] = ..., terminal: _Optional[_Union[_screen_pb2.TerminalSize, _Mapping]] = ..., ws_clients: _Optional[int] = ..., version: _Optional[str] = ...) -> None: ...

class GetReadyRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetReadyResponse(_message.Message):
    __slots__ = ("ready", "reason")
    READY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    ready: bool
    reason: str
    def __init__(self, ready: _Optional[bool] = ..., reason: _Optional[str] = ...) -> None: ...

class GetStatusRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetStatusResponse(_message.Message):
    __slots__ = ("state", "pid", "uptime_secs", "exit_code", "screen_seq", "bytes_read", "bytes_written", "ws_clients", "exit_signal", "error", "seq", "agent", "command", "cwd", "labels", "restarts", "terminal", "oldest_offset", "input_queued", "version", "started_at_ms", "last_output_at_ms", "last_input_at_ms", "backend", "restarts_at_ms", "parked", "warnings", "url", "published")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    STATE_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    UPTIME_SECS_FIELD_NUMBER: _ClassVar[int]
    EXIT_CODE_FIELD_NUMBER: _ClassVar[int]
    SCREEN_SEQ_FIELD_NUMBER: _ClassVar[int]
    BYTES_READ_FIELD_NUMBER: _ClassVar[int]
    BYTES_WRITTEN_FIELD_NUMBER: _ClassVar[int]
    WS_CLIENTS_FIELD_NUMBER: _ClassVar[int]
    EXIT_SIGNAL_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    CWD_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    RESTARTS_FIELD_NUMBER: _ClassVar[int]
    TERMINAL_FIELD_NUMBER: _ClassVar[int]
    OLDEST_OFFSET_FIELD_NUMBER: _ClassVar[int]
    INPUT_QUEUED_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    LAST_OUTPUT_AT_MS_FIELD_NUMBER: _ClassVar[int]
    LAST_INPUT_AT_MS_FIELD_NUMBER: _ClassVar[int]
    BACKEND_FIELD_NUMBER: _ClassVar[int]
    RESTARTS_AT_MS_FIELD_NUMBER: _ClassVar[int]
    PARKED_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    PUBLISHED_FIELD_NUMBER: _ClassVar[int]
    state: SessionState
    pid: int
    uptime_secs: int
    exit_code: int
    screen_seq: int
    bytes_read: int
    bytes_written: int
    ws_clients: int
    exit_signal: int
    error: str
    seq: int
    agent: str
    command: _containers.RepeatedScalarFieldContainer[str]
    cwd: str
    labels: _containers.ScalarMap[str, str]
    restarts: int
    terminal: _screen_pb2.TerminalSize
    oldest_offset: int
    input_queued: int
    version: str
    started_at_ms: int
    last_output_at_ms: int
    last_input_at_ms: int
    backend: str
    restarts_at_ms: int
    parked: bool
    warnings: _containers.RepeatedScalarFieldContainer[str]
    url: str
    published: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, state: _Optional[_Union[SessionState, str]] = ..., pid: _Optional[int] = ..., uptime_secs: _Optional[int] = ..., exit_code: _Optional[int] = ..., screen_seq: _Optional[int] = ..., bytes_read: _Optional[int] = ..., bytes_written: _Optional[int] = ..., ws_clients: _Optional[int] = ..., exit_signal: _Optional[int] = ..., error: _Optional[str] = ..., seq: _Optional[int] = ..., agent: _Optional[str] = ..., command: _Optional[_Iterable[str]] = ..., cwd: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., restarts: _Optional[int] = ..., terminal: _Optional[_Union[_screen_pb2.TerminalSize, _Mapping]] = ..., oldest_offset: _Optional[int] = ..., input_queued: _Optional[int] = ..., version: _Optional[str] = ..., started_at_ms: _Optional[int] = ..., last_output_at_ms: _Optional[int] = ..., last_input_at_ms: _Optional[int] = ..., backend: _Optional[str] = ..., restarts_at_ms: _Optional[int] = ..., parked: _Optional[bool] = ..., warnings: _Optional[_Iterable[str]] = ..., url: _Optional[str] = ..., published: _Optional[_Iterable[str]] = ...) -> None: ...

class WaitRequest(_message.Message):
    __slots__ = ("states", "text", "regex", "quiet_ms", "offset", "exited", "all", "timeout_ms")
    STATES_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    REGEX_FIELD_NUMBER: _ClassVar[int]
    QUIET_MS_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    EXITED_FIELD_NUMBER: _ClassVar[int]
    ALL_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    states: _containers.RepeatedScalarFieldContainer[_agent_pb2.AgentStateKind]
    text: str
    regex: str
    quiet_ms: int
    offset: int
    exited: bool
    all: bool
    timeout_ms: int
    def __init__(self, states: _Optional[_Iterable[_Union[_agent_pb2.AgentStateKind, str]]] = ..., text: _Optional[str] = ..., regex: _Optional[str] = ..., quiet_ms: _Optional[int] = ..., offset: _Optional[int] = ..., exited: _Optional[bool] = ..., all: _Optional[bool] = ..., timeout_ms: _Optional[int] = ...) -> None: ...

class WaitResponse(_message.Message):
    __slots__ = ("matched", "condition", "seq", "state", "offset", "elapsed_ms", "line", "exit", "reason")
    MATCHED_FIELD_NUMBER: _ClassVar[int]
    CONDITION_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_MS_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    EXIT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    matched: bool
    condition: str
    seq: int
    state: _agent_pb2.AgentStateKind
    offset: int
    elapsed_ms: int
    line: str
    exit: _agent_pb2.ExitEvent
    reason: str
    def __init__(self, matched: _Optional[bool] = ..., condition: _Optional[str] = ..., seq: _Optional[int] = ..., state: _Optional[_Union[_agent_pb2.AgentStateKind, str]] = ..., offset: _Optional[int] = ..., elapsed_ms: _Optional[int] = ..., line: _Optional[str] = ..., exit: _Optional[_Union[_agent_pb2.ExitEvent, _Mapping]] = ..., reason: _Optional[str] = ...) -> None: ...

class RestartRequest(_message.Message):
    __slots__ = ("env", "resume")
    class EnvEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ENV_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    env: _containers.ScalarMap[str, str]
    resume: bool
    def __init__(self, env: _Optional[_Mapping[str, str]] = ..., resume: _Optional[bool] = ...) -> None: ...

class RestartResponse(_message.Message):
    __slots__ = ("pid", "seq")
    PID_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    pid: int
    seq: int
    def __init__(self, pid: _Optional[int] = ..., seq: _Optional[int] = ...) -> None: ...

class GetEnvironmentRequest(_message.Message):
    __slots__ = ("names",)
    NAMES_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, names: _Optional[_Iterable[str]] = ...) -> None: ...

class SetEnvironmentRequest(_message.Message):
    __slots__ = ("set", "unset")
    class SetEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    SET_FIELD_NUMBER: _ClassVar[int]
    UNSET_FIELD_NUMBER: _ClassVar[int]
    set: _containers.ScalarMap[str, str]
    unset: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, set: _Optional[_Mapping[str, str]] = ..., unset: _Optional[_Iterable[str]] = ...) -> None: ...

class Environment(_message.Message):
    __slots__ = ("variables", "unset")
    class VariablesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    VARIABLES_FIELD_NUMBER: _ClassVar[int]
    UNSET_FIELD_NUMBER: _ClassVar[int]
    variables: _containers.ScalarMap[str, str]
    unset: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, variables: _Optional[_Mapping[str, str]] = ..., unset: _Optional[_Iterable[str]] = ...) -> None: ...

class GetVariableRequest(_message.Message):
    __slots__ = ("key",)
    KEY_FIELD_NUMBER: _ClassVar[int]
    key: str
    def __init__(self, key: _Optional[str] = ...) -> None: ...

class SetVariableRequest(_message.Message):
    __slots__ = ("key", "value")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: str
    value: str
    def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class Variable(_message.Message):
    __slots__ = ("key", "value")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: str
    value: str
    def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class ShutdownRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ShutdownResponse(_message.Message):
    __slots__ = ("accepted",)
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    accepted: bool
    def __init__(self, accepted: _Optional[bool] = ...) -> None: ...

class StreamLogRequest(_message.Message):
    __slots__ = ("tail", "follow")
    TAIL_FIELD_NUMBER: _ClassVar[int]
    FOLLOW_FIELD_NUMBER: _ClassVar[int]
    tail: int
    follow: bool
    def __init__(self, tail: _Optional[int] = ..., follow: _Optional[bool] = ...) -> None: ...

class LogLine(_message.Message):
    __slots__ = ("line",)
    LINE_FIELD_NUMBER: _ClassVar[int]
    line: str
    def __init__(self, line: _Optional[str] = ...) -> None: ...
