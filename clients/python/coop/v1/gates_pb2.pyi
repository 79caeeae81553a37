from coop.v1 import options_pb2 as _options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class StopMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STOP_MODE_UNSPECIFIED: _ClassVar[StopMode]
    STOP_MODE_ALLOW: _ClassVar[StopMode]
    STOP_MODE_AUTO: _ClassVar[StopMode]
    STOP_MODE_GATE: _ClassVar[StopMode]

class StopType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STOP_TYPE_UNSPECIFIED: _ClassVar[StopType]
    STOP_TYPE_SIGNALED: _ClassVar[StopType]
    STOP_TYPE_ERROR: _ClassVar[StopType]
    STOP_TYPE_SAFETY_VALVE: _ClassVar[StopType]
    STOP_TYPE_BLOCKED: _ClassVar[StopType]
    STOP_TYPE_ALLOWED: _ClassVar[StopType]
STOP_MODE_UNSPECIFIED: StopMode
STOP_MODE_ALLOW: StopMode
STOP_MODE_AUTO: StopMode
STOP_MODE_GATE: StopMode
STOP_TYPE_UNSPECIFIED: StopType
STOP_TYPE_SIGNALED: StopType
STOP_TYPE_ERROR: StopType
STOP_TYPE_SAFETY_VALVE: StopType
STOP_TYPE_BLOCKED: StopType
STOP_TYPE_ALLOWED: StopType

class DecideStopRequest(_message.Message):
    __slots__ = ("payload",)
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    payload: str
    def __init__(self, payload: _Optional[str] = ...) -> None: ...

class DecideStopResponse(_message.Message):
    __slots__ = ("decision", "reason")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    decision: str
    reason: str
    def __init__(self, decision: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class ResolveStopRequest(_message.Message):
    __slots__ = ("signal",)
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    signal: str
    def __init__(self, signal: _Optional[str] = ...) -> None: ...

class ResolveStopResponse(_message.Message):
    __slots__ = ("accepted",)
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    accepted: bool
    def __init__(self, accepted: _Optional[bool] = ...) -> None: ...

class StopField(_message.Message):
    __slots__ = ("required", "enum", "descriptions", "description")
    class DescriptionsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    ENUM_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTIONS_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    required: bool
    enum: _containers.RepeatedScalarFieldContainer[str]
    descriptions: _containers.ScalarMap[str, str]
    description: str
    def __init__(self, required: _Optional[bool] = ..., enum: _Optional[_Iterable[str]] = ..., descriptions: _Optional[_Mapping[str, str]] = ..., description: _Optional[str] = ...) -> None: ...

class StopSchema(_message.Message):
    __slots__ = ("fields",)
    class FieldsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: StopField
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[StopField, _Mapping]] = ...) -> None: ...
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    fields: _containers.MessageMap[str, StopField]
    def __init__(self, fields: _Optional[_Mapping[str, StopField]] = ...) -> None: ...

class StopConfig(_message.Message):
    __slots__ = ("mode", "prompt", "schema", "max_blocks")
    MODE_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    MAX_BLOCKS_FIELD_NUMBER: _ClassVar[int]
    mode: StopMode
    prompt: str
    schema: StopSchema
    max_blocks: int
    def __init__(self, mode: _Optional[_Union[StopMode, str]] = ..., prompt: _Optional[str] = ..., schema: _Optional[_Union[StopSchema, _Mapping]] = ..., max_blocks: _Optional[int] = ...) -> None: ...

class GetStopConfigRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PutStopConfigRequest(_message.Message):
    __slots__ = ("config",)
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    config: StopConfig
    def __init__(self, config: _Optional[_Union[StopConfig, _Mapping]] = ...) -> None: ...

class StreamStopEventsRequest(_message.Message):
    __slots__ = ("after_seq",)
    AFTER_SEQ_FIELD_NUMBER: _ClassVar[int]
    after_seq: int
    def __init__(self, after_seq: _Optional[int] = ...) -> None: ...

class StopEvent(_message.Message):
    __slots__ = ("type", "signal", "error_detail", "seq")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    ERROR_DETAIL_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    type: StopType
    signal: str
    error_detail: str
    seq: int
    def __init__(self, type: _Optional[_Union[StopType, str]] = ..., signal: _Optional[str] = ..., error_detail: _Optional[str] = ..., seq: _Optional[int] = ...) -> None: ...

class DecideStartRequest(_message.Message):
    __slots__ = ("payload",)
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    payload: str
    def __init__(self, payload: _Optional[str] = ...) -> None: ...

class DecideStartResponse(_message.Message):
    __slots__ = ("script",)
    SCRIPT_FIELD_NUMBER: _ClassVar[int]
    script: str
    def __init__(self, script: _Optional[str] = ...) -> None: ...

class StartInjection(_message.Message):
    __slots__ = ("text", "shell")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SHELL_FIELD_NUMBER: _ClassVar[int]
    text: str
    shell: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, text: _Optional[str] = ..., shell: _Optional[_Iterable[str]] = ...) -> None: ...

class StartConfig(_message.Message):
    __slots__ = ("text", "shell", "event")
    class EventEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: StartInjection
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[StartInjection, _Mapping]] = ...) -> None: ...
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SHELL_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    text: str
    shell: _containers.RepeatedScalarFieldContainer[str]
    event: _containers.MessageMap[str, StartInjection]
    def __init__(self, text: _Optional[str] = ..., shell: _Optional[_Iterable[str]] = ..., event: _Optional[_Mapping[str, StartInjection]] = ...) -> None: ...

class GetStartConfigRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PutStartConfigRequest(_message.Message):
    __slots__ = ("config",)
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    config: StartConfig
    def __init__(self, config: _Optional[_Union[StartConfig, _Mapping]] = ...) -> None: ...

class StreamStartEventsRequest(_message.Message):
    __slots__ = ("after_seq",)
    AFTER_SEQ_FIELD_NUMBER: _ClassVar[int]
    after_seq: int
    def __init__(self, after_seq: _Optional[int] = ...) -> None: ...

class StartEvent(_message.Message):
    __slots__ = ("source", "session_id", "injected", "seq")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    INJECTED_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    source: str
    session_id: str
    injected: bool
    seq: int
    def __init__(self, source: _Optional[str] = ..., session_id: _Optional[str] = ..., injected: _Optional[bool] = ..., seq: _Optional[int] = ...) -> None: ...
