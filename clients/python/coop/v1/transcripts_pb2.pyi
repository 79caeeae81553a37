from coop.v1 import options_pb2 as _options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class MessageSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MESSAGE_SOURCE_UNSPECIFIED: _ClassVar[MessageSource]
    MESSAGE_SOURCE_LOG: _ClassVar[MessageSource]
    MESSAGE_SOURCE_STDOUT: _ClassVar[MessageSource]
MESSAGE_SOURCE_UNSPECIFIED: MessageSource
MESSAGE_SOURCE_LOG: MessageSource
MESSAGE_SOURCE_STDOUT: MessageSource

class ListTranscriptsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class TranscriptMeta(_message.Message):
    __slots__ = ("number", "timestamp", "line_count", "byte_size")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    LINE_COUNT_FIELD_NUMBER: _ClassVar[int]
    BYTE_SIZE_FIELD_NUMBER: _ClassVar[int]
    number: int
    timestamp: str
    line_count: int
    byte_size: int
    def __init__(self, number: _Optional[int] = ..., timestamp: _Optional[str] = ..., line_count: _Optional[int] = ..., byte_size: _Optional[int] = ...) -> None: ...

class ListTranscriptsResponse(_message.Message):
    __slots__ = ("transcripts",)
    TRANSCRIPTS_FIELD_NUMBER: _ClassVar[int]
    transcripts: _containers.RepeatedCompositeFieldContainer[TranscriptMeta]
    def __init__(self, transcripts: _Optional[_Iterable[_Union[TranscriptMeta, _Mapping]]] = ...) -> None: ...

class GetTranscriptRequest(_message.Message):
    __slots__ = ("number",)
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    number: int
    def __init__(self, number: _Optional[int] = ...) -> None: ...

class GetTranscriptResponse(_message.Message):
    __slots__ = ("number", "content")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    number: int
    content: str
    def __init__(self, number: _Optional[int] = ..., content: _Optional[str] = ...) -> None: ...

class CatchupTranscriptsRequest(_message.Message):
    __slots__ = ("since_transcript", "since_line")
    SINCE_TRANSCRIPT_FIELD_NUMBER: _ClassVar[int]
    SINCE_LINE_FIELD_NUMBER: _ClassVar[int]
    since_transcript: int
    since_line: int
    def __init__(self, since_transcript: _Optional[int] = ..., since_line: _Optional[int] = ...) -> None: ...

class CatchupTranscript(_message.Message):
    __slots__ = ("number", "timestamp", "lines")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    LINES_FIELD_NUMBER: _ClassVar[int]
    number: int
    timestamp: str
    lines: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, number: _Optional[int] = ..., timestamp: _Optional[str] = ..., lines: _Optional[_Iterable[str]] = ...) -> None: ...

class CatchupTranscriptsResponse(_message.Message):
    __slots__ = ("transcripts", "live_lines", "current_transcript", "current_line", "session_id")
    TRANSCRIPTS_FIELD_NUMBER: _ClassVar[int]
    LIVE_LINES_FIELD_NUMBER: _ClassVar[int]
    CURRENT_TRANSCRIPT_FIELD_NUMBER: _ClassVar[int]
    CURRENT_LINE_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    transcripts: _containers.RepeatedCompositeFieldContainer[CatchupTranscript]
    live_lines: _containers.RepeatedScalarFieldContainer[str]
    current_transcript: int
    current_line: int
    session_id: str
    def __init__(self, transcripts: _Optional[_Iterable[_Union[CatchupTranscript, _Mapping]]] = ..., live_lines: _Optional[_Iterable[str]] = ..., current_transcript: _Optional[int] = ..., current_line: _Optional[int] = ..., session_id: _Optional[str] = ...) -> None: ...

class StreamTranscriptEventsRequest(_message.Message):
    __slots__ = ("after_seq",)
    AFTER_SEQ_FIELD_NUMBER: _ClassVar[int]
    after_seq: int
    def __init__(self, after_seq: _Optional[int] = ...) -> None: ...

class TranscriptEvent(_message.Message):
    __slots__ = ("number", "timestamp", "line_count", "seq")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    LINE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    number: int
    timestamp: str
    line_count: int
    seq: int
    def __init__(self, number: _Optional[int] = ..., timestamp: _Optional[str] = ..., line_count: _Optional[int] = ..., seq: _Optional[int] = ...) -> None: ...

class MessageEvent(_message.Message):
    __slots__ = ("data", "source", "byte_size", "seq")
    DATA_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    BYTE_SIZE_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    data: str
    source: MessageSource
    byte_size: int
    seq: int
    def __init__(self, data: _Optional[str] = ..., source: _Optional[_Union[MessageSource, str]] = ..., byte_size: _Optional[int] = ..., seq: _Optional[int] = ...) -> None: ...

class GetUsageRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Usage(_message.Message):
    __slots__ = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "total_cost_usd", "request_count")
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CACHE_READ_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CACHE_WRITE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_COST_USD_FIELD_NUMBER: _ClassVar[int]
    REQUEST_COUNT_FIELD_NUMBER: _ClassVar[int]
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    total_cost_usd: float
    request_count: int
    def __init__(self, input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cache_read_tokens: _Optional[int] = ..., cache_write_tokens: _Optional[int] = ..., total_cost_usd: _Optional[float] = ..., request_count: _Optional[int] = ...) -> None: ...
