from coop.v1 import screen_pb2 as _screen_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OpenTerminalRequest(_message.Message):
    __slots__ = ("command", "cwd", "env", "cols", "rows")
    class EnvEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    CWD_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    COLS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    command: _containers.RepeatedScalarFieldContainer[str]
    cwd: str
    env: _containers.ScalarMap[str, str]
    cols: int
    rows: int
    def __init__(self, command: _Optional[_Iterable[str]] = ..., cwd: _Optional[str] = ..., env: _Optional[_Mapping[str, str]] = ..., cols: _Optional[int] = ..., rows: _Optional[int] = ...) -> None: ...

class Terminal(_message.Message):
    __slots__ = ("id", "command", "pid", "size", "opened_at_ms")
    ID_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    OPENED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    id: str
    command: _containers.RepeatedScalarFieldContainer[str]
    pid: int
    size: _screen_pb2.TerminalSize
    opened_at_ms: int
    def __init__(self, id: _Optional[str] = ..., command: _Optional[_Iterable[str]] = ..., pid: _Optional[int] = ..., size: _Optional[_Union[_screen_pb2.TerminalSize, _Mapping]] = ..., opened_at_ms: _Optional[int] = ...) -> None: ...

class ListTerminalsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListTerminalsResponse(_message.Message):
    __slots__ = ("terminals",)
    TERMINALS_FIELD_NUMBER: _ClassVar[int]
    terminals: _containers.RepeatedCompositeFieldContainer[Terminal]
    def __init__(self, terminals: _Optional[_Iterable[_Union[Terminal, _Mapping]]] = ...) -> None: ...

class CloseTerminalRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class CloseTerminalResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class CommandStart(_message.Message):
    __slots__ = ("command", "cwd", "env")
    class EnvEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    CWD_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    command: _containers.RepeatedScalarFieldContainer[str]
    cwd: str
    env: _containers.ScalarMap[str, str]
    def __init__(self, command: _Optional[_Iterable[str]] = ..., cwd: _Optional[str] = ..., env: _Optional[_Mapping[str, str]] = ...) -> None: ...

class RunCommandRequest(_message.Message):
    __slots__ = ("start", "stdin")
    START_FIELD_NUMBER: _ClassVar[int]
    STDIN_FIELD_NUMBER: _ClassVar[int]
    start: CommandStart
    stdin: bytes
    def __init__(self, start: _Optional[_Union[CommandStart, _Mapping]] = ..., stdin: _Optional[bytes] = ...) -> None: ...

class CommandStarted(_message.Message):
    __slots__ = ("pid",)
    PID_FIELD_NUMBER: _ClassVar[int]
    pid: int
    def __init__(self, pid: _Optional[int] = ...) -> None: ...

class CommandEnded(_message.Message):
    __slots__ = ("code", "signal")
    CODE_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    code: int
    signal: int
    def __init__(self, code: _Optional[int] = ..., signal: _Optional[int] = ...) -> None: ...

class RunCommandResponse(_message.Message):
    __slots__ = ("started", "stdout", "stderr", "ended")
    STARTED_FIELD_NUMBER: _ClassVar[int]
    STDOUT_FIELD_NUMBER: _ClassVar[int]
    STDERR_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    started: CommandStarted
    stdout: bytes
    stderr: bytes
    ended: CommandEnded
    def __init__(self, started: _Optional[_Union[CommandStarted, _Mapping]] = ..., stdout: _Optional[bytes] = ..., stderr: _Optional[bytes] = ..., ended: _Optional[_Union[CommandEnded, _Mapping]] = ...) -> None: ...
