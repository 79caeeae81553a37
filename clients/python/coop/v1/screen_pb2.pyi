from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ScreenFormat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SCREEN_FORMAT_UNSPECIFIED: _ClassVar[ScreenFormat]
    SCREEN_FORMAT_TEXT: _ClassVar[ScreenFormat]
    SCREEN_FORMAT_ANSI: _ClassVar[ScreenFormat]
SCREEN_FORMAT_UNSPECIFIED: ScreenFormat
SCREEN_FORMAT_TEXT: ScreenFormat
SCREEN_FORMAT_ANSI: ScreenFormat

class TerminalSize(_message.Message):
    __slots__ = ("cols", "rows")
    COLS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    cols: int
    rows: int
    def __init__(self, cols: _Optional[int] = ..., rows: _Optional[int] = ...) -> None: ...

class CursorPosition(_message.Message):
    __slots__ = ("row", "col", "visible")
    ROW_FIELD_NUMBER: _ClassVar[int]
    COL_FIELD_NUMBER: _ClassVar[int]
    VISIBLE_FIELD_NUMBER: _ClassVar[int]
    row: int
    col: int
    visible: bool
    def __init__(self, row: _Optional[int] = ..., col: _Optional[int] = ..., visible: _Optional[bool] = ...) -> None: ...

class ChangedRow(_message.Message):
    __slots__ = ("row", "text")
    ROW_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    row: int
    text: str
    def __init__(self, row: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class GetScreenRequest(_message.Message):
    __slots__ = ("format", "cursor", "since_seq", "lines", "scrollback")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    SINCE_SEQ_FIELD_NUMBER: _ClassVar[int]
    LINES_FIELD_NUMBER: _ClassVar[int]
    SCROLLBACK_FIELD_NUMBER: _ClassVar[int]
    format: ScreenFormat
    cursor: bool
    since_seq: int
    lines: int
    scrollback: int
    def __init__(self, format: _Optional[_Union[ScreenFormat, str]] = ..., cursor: _Optional[bool] = ..., since_seq: _Optional[int] = ..., lines: _Optional[int] = ..., scrollback: _Optional[int] = ...) -> None: ...

class ScreenSnapshot(_message.Message):
    __slots__ = ("lines", "cols", "rows", "alt_screen", "cursor", "seq", "changed", "title", "offset")
    LINES_FIELD_NUMBER: _ClassVar[int]
    COLS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    ALT_SCREEN_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    lines: _containers.RepeatedScalarFieldContainer[str]
    cols: int
    rows: int
    alt_screen: bool
    cursor: CursorPosition
    seq: int
    changed: _containers.RepeatedCompositeFieldContainer[ChangedRow]
    title: str
    offset: int
    def __init__(self, lines: _Optional[_Iterable[str]] = ..., cols: _Optional[int] = ..., rows: _Optional[int] = ..., alt_screen: _Optional[bool] = ..., cursor: _Optional[_Union[CursorPosition, _Mapping]] = ..., seq: _Optional[int] = ..., changed: _Optional[_Iterable[_Union[ChangedRow, _Mapping]]] = ..., title: _Optional[str] = ..., offset: _Optional[int] = ...) -> None: ...

class Gap(_message.Message):
    __slots__ = ("from_seq", "to_seq", "from_offset", "to_offset", "redraw")
    FROM_SEQ_FIELD_NUMBER: _ClassVar[int]
    TO_SEQ_FIELD_NUMBER: _ClassVar[int]
    FROM_OFFSET_FIELD_NUMBER: _ClassVar[int]
    TO_OFFSET_FIELD_NUMBER: _ClassVar[int]
    REDRAW_FIELD_NUMBER: _ClassVar[int]
    from_seq: int
    to_seq: int
    from_offset: int
    to_offset: int
    redraw: bytes
    def __init__(self, from_seq: _Optional[int] = ..., to_seq: _Optional[int] = ..., from_offset: _Optional[int] = ..., to_offset: _Optional[int] = ..., redraw: _Optional[bytes] = ...) -> None: ...

class GetOutputRequest(_message.Message):
    __slots__ = ("offset", "limit")
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    offset: int
    limit: int
    def __init__(self, offset: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class GetOutputResponse(_message.Message):
    __slots__ = ("data", "offset", "next_offset", "total_written")
    DATA_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    NEXT_OFFSET_FIELD_NUMBER: _ClassVar[int]
    TOTAL_WRITTEN_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    offset: int
    next_offset: int
    total_written: int
    def __init__(self, data: _Optional[bytes] = ..., offset: _Optional[int] = ..., next_offset: _Optional[int] = ..., total_written: _Optional[int] = ...) -> None: ...

class StreamOutputRequest(_message.Message):
    __slots__ = ("from_offset",)
    FROM_OFFSET_FIELD_NUMBER: _ClassVar[int]
    from_offset: int
    def __init__(self, from_offset: _Optional[int] = ...) -> None: ...

class OutputChunk(_message.Message):
    __slots__ = ("data", "offset", "gap")
    DATA_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    GAP_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    offset: int
    gap: Gap
    def __init__(self, data: _Optional[bytes] = ..., offset: _Optional[int] = ..., gap: _Optional[_Union[Gap, _Mapping]] = ...) -> None: ...

class StreamScreenRequest(_message.Message):
    __slots__ = ("format", "cursor")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    format: ScreenFormat
    cursor: bool
    def __init__(self, format: _Optional[_Union[ScreenFormat, str]] = ..., cursor: _Optional[bool] = ...) -> None: ...

class ResizeEvent(_message.Message):
    __slots__ = ("cols", "rows", "seq")
    COLS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    cols: int
    rows: int
    seq: int
    def __init__(self, cols: _Optional[int] = ..., rows: _Optional[int] = ..., seq: _Optional[int] = ...) -> None: ...
