from coop.v1 import agent_pb2 as _agent_pb2
from coop.v1 import input_pb2 as _input_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class NudgeRequest(_message.Message):
    __slots__ = ("message", "queue", "strict", "expect", "timeout_ms", "command", "steer")
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    EXPECT_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    STEER_FIELD_NUMBER: _ClassVar[int]
    message: str
    queue: bool
    strict: bool
    expect: _input_pb2.Expect
    timeout_ms: int
    command: bool
    steer: bool
    def __init__(self, message: _Optional[str] = ..., queue: _Optional[bool] = ..., strict: _Optional[bool] = ..., expect: _Optional[_Union[_input_pb2.Expect, _Mapping]] = ..., timeout_ms: _Optional[int] = ..., command: _Optional[bool] = ..., steer: _Optional[bool] = ...) -> None: ...

class NudgeResponse(_message.Message):
    __slots__ = ("delivered", "state_before", "reason", "state", "receipt")
    DELIVERED_FIELD_NUMBER: _ClassVar[int]
    STATE_BEFORE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    delivered: bool
    state_before: _agent_pb2.AgentStateKind
    reason: str
    state: _agent_pb2.AgentStateKind
    receipt: _input_pb2.Receipt
    def __init__(self, delivered: _Optional[bool] = ..., state_before: _Optional[_Union[_agent_pb2.AgentStateKind, str]] = ..., reason: _Optional[str] = ..., state: _Optional[_Union[_agent_pb2.AgentStateKind, str]] = ..., receipt: _Optional[_Union[_input_pb2.Receipt, _Mapping]] = ...) -> None: ...

class QuestionAnswer(_message.Message):
    __slots__ = ("option", "options", "text")
    OPTION_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    option: int
    options: _containers.RepeatedScalarFieldContainer[int]
    text: str
    def __init__(self, option: _Optional[int] = ..., options: _Optional[_Iterable[int]] = ..., text: _Optional[str] = ...) -> None: ...

class RespondRequest(_message.Message):
    __slots__ = ("accept", "option", "text", "answers", "prompt_id", "strict", "expect", "timeout_ms")
    ACCEPT_FIELD_NUMBER: _ClassVar[int]
    OPTION_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    PROMPT_ID_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    EXPECT_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    accept: bool
    option: int
    text: str
    answers: _containers.RepeatedCompositeFieldContainer[QuestionAnswer]
    prompt_id: str
    strict: bool
    expect: _input_pb2.Expect
    timeout_ms: int
    def __init__(self, accept: _Optional[bool] = ..., option: _Optional[int] = ..., text: _Optional[str] = ..., answers: _Optional[_Iterable[_Union[QuestionAnswer, _Mapping]]] = ..., prompt_id: _Optional[str] = ..., strict: _Optional[bool] = ..., expect: _Optional[_Union[_input_pb2.Expect, _Mapping]] = ..., timeout_ms: _Optional[int] = ...) -> None: ...

class RespondResponse(_message.Message):
    __slots__ = ("delivered", "prompt_type", "reason", "state", "receipt", "ends_turn")
    DELIVERED_FIELD_NUMBER: _ClassVar[int]
    PROMPT_TYPE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    ENDS_TURN_FIELD_NUMBER: _ClassVar[int]
    delivered: bool
    prompt_type: _agent_pb2.PromptType
    reason: str
    state: _agent_pb2.AgentStateKind
    receipt: _input_pb2.Receipt
    ends_turn: bool
    def __init__(self, delivered: _Optional[bool] = ..., prompt_type: _Optional[_Union[_agent_pb2.PromptType, str]] = ..., reason: _Optional[str] = ..., state: _Optional[_Union[_agent_pb2.AgentStateKind, str]] = ..., receipt: _Optional[_Union[_input_pb2.Receipt, _Mapping]] = ..., ends_turn: _Optional[bool] = ...) -> None: ...
