from coop.v1 import agent_pb2 as _agent_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ReceiptPhase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RECEIPT_PHASE_UNSPECIFIED: _ClassVar[ReceiptPhase]
    RECEIPT_PHASE_QUEUED: _ClassVar[ReceiptPhase]
    RECEIPT_PHASE_WRITTEN: _ClassVar[ReceiptPhase]
    RECEIPT_PHASE_ECHOED: _ClassVar[ReceiptPhase]
    RECEIPT_PHASE_ACCEPTED: _ClassVar[ReceiptPhase]
    RECEIPT_PHASE_REFUSED: _ClassVar[ReceiptPhase]
    RECEIPT_PHASE_UNCONFIRMED: _ClassVar[ReceiptPhase]

class LockAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LOCK_ACTION_UNSPECIFIED: _ClassVar[LockAction]
    LOCK_ACTION_ACQUIRE: _ClassVar[LockAction]
    LOCK_ACTION_RELEASE: _ClassVar[LockAction]
RECEIPT_PHASE_UNSPECIFIED: ReceiptPhase
RECEIPT_PHASE_QUEUED: ReceiptPhase
RECEIPT_PHASE_WRITTEN: ReceiptPhase
RECEIPT_PHASE_ECHOED: ReceiptPhase
RECEIPT_PHASE_ACCEPTED: ReceiptPhase
RECEIPT_PHASE_REFUSED: ReceiptPhase
RECEIPT_PHASE_UNCONFIRMED: ReceiptPhase
LOCK_ACTION_UNSPECIFIED: LockAction
LOCK_ACTION_ACQUIRE: LockAction
LOCK_ACTION_RELEASE: LockAction

class Receipt(_message.Message):
    __slots__ = ("id", "phase", "witness", "offset", "at_ms", "seq")
    ID_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    WITNESS_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    id: int
    phase: ReceiptPhase
    witness: str
    offset: int
    at_ms: int
    seq: int
    def __init__(self, id: _Optional[int] = ..., phase: _Optional[_Union[ReceiptPhase, str]] = ..., witness: _Optional[str] = ..., offset: _Optional[int] = ..., at_ms: _Optional[int] = ..., seq: _Optional[int] = ...) -> None: ...

class Expect(_message.Message):
    __slots__ = ("state", "prompt_id", "screen_seq")
    STATE_FIELD_NUMBER: _ClassVar[int]
    PROMPT_ID_FIELD_NUMBER: _ClassVar[int]
    SCREEN_SEQ_FIELD_NUMBER: _ClassVar[int]
    state: _agent_pb2.AgentStateKind
    prompt_id: str
    screen_seq: int
    def __init__(self, state: _Optional[_Union[_agent_pb2.AgentStateKind, str]] = ..., prompt_id: _Optional[str] = ..., screen_seq: _Optional[int] = ...) -> None: ...

class SendInputRequest(_message.Message):
    __slots__ = ("text", "enter", "expect", "wait_for", "timeout_ms")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    ENTER_FIELD_NUMBER: _ClassVar[int]
    EXPECT_FIELD_NUMBER: _ClassVar[int]
    WAIT_FOR_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    text: str
    enter: bool
    expect: Expect
    wait_for: ReceiptPhase
    timeout_ms: int
    def __init__(self, text: _Optional[str] = ..., enter: _Optional[bool] = ..., expect: _Optional[_Union[Expect, _Mapping]] = ..., wait_for: _Optional[_Union[ReceiptPhase, str]] = ..., timeout_ms: _Optional[int] = ...) -> None: ...

class SendInputResponse(_message.Message):
    __slots__ = ("bytes_written", "receipt")
    BYTES_WRITTEN_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    bytes_written: int
    receipt: Receipt
    def __init__(self, bytes_written: _Optional[int] = ..., receipt: _Optional[_Union[Receipt, _Mapping]] = ...) -> None: ...

class SendInputRawRequest(_message.Message):
    __slots__ = ("data", "expect", "timeout_ms")
    DATA_FIELD_NUMBER: _ClassVar[int]
    EXPECT_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    expect: Expect
    timeout_ms: int
    def __init__(self, data: _Optional[bytes] = ..., expect: _Optional[_Union[Expect, _Mapping]] = ..., timeout_ms: _Optional[int] = ...) -> None: ...

class SendKeysRequest(_message.Message):
    __slots__ = ("keys", "expect", "timeout_ms")
    KEYS_FIELD_NUMBER: _ClassVar[int]
    EXPECT_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    keys: _containers.RepeatedScalarFieldContainer[str]
    expect: Expect
    timeout_ms: int
    def __init__(self, keys: _Optional[_Iterable[str]] = ..., expect: _Optional[_Union[Expect, _Mapping]] = ..., timeout_ms: _Optional[int] = ...) -> None: ...

class ResizeRequest(_message.Message):
    __slots__ = ("cols", "rows")
    COLS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    cols: int
    rows: int
    def __init__(self, cols: _Optional[int] = ..., rows: _Optional[int] = ...) -> None: ...

class ResizeResponse(_message.Message):
    __slots__ = ("cols", "rows")
    COLS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    cols: int
    rows: int
    def __init__(self, cols: _Optional[int] = ..., rows: _Optional[int] = ...) -> None: ...

class SendSignalRequest(_message.Message):
    __slots__ = ("signal",)
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    signal: str
    def __init__(self, signal: _Optional[str] = ...) -> None: ...

class SendSignalResponse(_message.Message):
    __slots__ = ("delivered",)
    DELIVERED_FIELD_NUMBER: _ClassVar[int]
    delivered: bool
    def __init__(self, delivered: _Optional[bool] = ...) -> None: ...

class AcquireLockRequest(_message.Message):
    __slots__ = ("ttl_secs",)
    TTL_SECS_FIELD_NUMBER: _ClassVar[int]
    ttl_secs: int
    def __init__(self, ttl_secs: _Optional[int] = ...) -> None: ...

class AcquireLockResponse(_message.Message):
    __slots__ = ("lock_id", "expires_in_ms")
    LOCK_ID_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_IN_MS_FIELD_NUMBER: _ClassVar[int]
    lock_id: str
    expires_in_ms: int
    def __init__(self, lock_id: _Optional[str] = ..., expires_in_ms: _Optional[int] = ...) -> None: ...

class ReleaseLockRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReleaseLockResponse(_message.Message):
    __slots__ = ("released",)
    RELEASED_FIELD_NUMBER: _ClassVar[int]
    released: bool
    def __init__(self, released: _Optional[bool] = ...) -> None: ...

class LockRequest(_message.Message):
    __slots__ = ("action", "ttl_secs")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    TTL_SECS_FIELD_NUMBER: _ClassVar[int]
    action: LockAction
    ttl_secs: int
    def __init__(self, action: _Optional[_Union[LockAction, str]] = ..., ttl_secs: _Optional[int] = ...) -> None: ...

class LockResult(_message.Message):
    __slots__ = ("held", "lock_id", "expires_in_ms")
    HELD_FIELD_NUMBER: _ClassVar[int]
    LOCK_ID_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_IN_MS_FIELD_NUMBER: _ClassVar[int]
    held: bool
    lock_id: str
    expires_in_ms: int
    def __init__(self, held: _Optional[bool] = ..., lock_id: _Optional[str] = ..., expires_in_ms: _Optional[int] = ...) -> None: ...
