from coop.v1 import screen_pb2 as _screen_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AgentStateKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AGENT_STATE_KIND_UNSPECIFIED: _ClassVar[AgentStateKind]
    AGENT_STATE_KIND_STARTING: _ClassVar[AgentStateKind]
    AGENT_STATE_KIND_WORKING: _ClassVar[AgentStateKind]
    AGENT_STATE_KIND_IDLE: _ClassVar[AgentStateKind]
    AGENT_STATE_KIND_PROMPT: _ClassVar[AgentStateKind]
    AGENT_STATE_KIND_ERROR: _ClassVar[AgentStateKind]
    AGENT_STATE_KIND_PARKED: _ClassVar[AgentStateKind]
    AGENT_STATE_KIND_RESTARTING: _ClassVar[AgentStateKind]
    AGENT_STATE_KIND_EXITED: _ClassVar[AgentStateKind]
    AGENT_STATE_KIND_UNKNOWN: _ClassVar[AgentStateKind]

class PromptType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROMPT_TYPE_UNSPECIFIED: _ClassVar[PromptType]
    PROMPT_TYPE_PERMISSION: _ClassVar[PromptType]
    PROMPT_TYPE_PLAN: _ClassVar[PromptType]
    PROMPT_TYPE_QUESTION: _ClassVar[PromptType]
    PROMPT_TYPE_SETUP: _ClassVar[PromptType]

class DetectionTier(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DETECTION_TIER_UNSPECIFIED: _ClassVar[DetectionTier]
    DETECTION_TIER_HOOKS: _ClassVar[DetectionTier]
    DETECTION_TIER_SESSION_LOG: _ClassVar[DetectionTier]
    DETECTION_TIER_STREAM: _ClassVar[DetectionTier]
    DETECTION_TIER_PROCESS: _ClassVar[DetectionTier]
    DETECTION_TIER_SCREEN: _ClassVar[DetectionTier]

class ErrorCategory(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERROR_CATEGORY_UNSPECIFIED: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_UNAUTHORIZED: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_OUT_OF_CREDITS: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_RATE_LIMITED: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_NO_INTERNET: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_SERVER_ERROR: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_CONTEXT_WINDOW: _ClassVar[ErrorCategory]
    ERROR_CATEGORY_OTHER: _ClassVar[ErrorCategory]
AGENT_STATE_KIND_UNSPECIFIED: AgentStateKind
AGENT_STATE_KIND_STARTING: AgentStateKind
AGENT_STATE_KIND_WORKING: AgentStateKind
AGENT_STATE_KIND_IDLE: AgentStateKind
AGENT_STATE_KIND_PROMPT: AgentStateKind
AGENT_STATE_KIND_ERROR: AgentStateKind
AGENT_STATE_KIND_PARKED: AgentStateKind
AGENT_STATE_KIND_RESTARTING: AgentStateKind
AGENT_STATE_KIND_EXITED: AgentStateKind
AGENT_STATE_KIND_UNKNOWN: AgentStateKind
PROMPT_TYPE_UNSPECIFIED: PromptType
PROMPT_TYPE_PERMISSION: PromptType
PROMPT_TYPE_PLAN: PromptType
PROMPT_TYPE_QUESTION: PromptType
PROMPT_TYPE_SETUP: PromptType
DETECTION_TIER_UNSPECIFIED: DetectionTier
DETECTION_TIER_HOOKS: DetectionTier
DETECTION_TIER_SESSION_LOG: DetectionTier
DETECTION_TIER_STREAM: DetectionTier
DETECTION_TIER_PROCESS: DetectionTier
DETECTION_TIER_SCREEN: DetectionTier
ERROR_CATEGORY_UNSPECIFIED: ErrorCategory
ERROR_CATEGORY_UNAUTHORIZED: ErrorCategory
ERROR_CATEGORY_OUT_OF_CREDITS: ErrorCategory
ERROR_CATEGORY_RATE_LIMITED: ErrorCategory
ERROR_CATEGORY_NO_INTERNET: ErrorCategory
ERROR_CATEGORY_SERVER_ERROR: ErrorCategory
ERROR_CATEGORY_CONTEXT_WINDOW: ErrorCategory
ERROR_CATEGORY_OTHER: ErrorCategory

class QuestionContext(_message.Message):
    __slots__ = ("question", "header", "options", "descriptions", "multi_select")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    HEADER_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTIONS_FIELD_NUMBER: _ClassVar[int]
    MULTI_SELECT_FIELD_NUMBER: _ClassVar[int]
    question: str
    header: str
    options: _containers.RepeatedScalarFieldContainer[str]
    descriptions: _containers.RepeatedScalarFieldContainer[str]
    multi_select: bool
    def __init__(self, question: _Optional[str] = ..., header: _Optional[str] = ..., options: _Optional[_Iterable[str]] = ..., descriptions: _Optional[_Iterable[str]] = ..., multi_select: _Optional[bool] = ...) -> None: ...

class PromptContext(_message.Message):
    __slots__ = ("id", "type", "subtype", "tool", "input", "auth_url", "options", "options_fallback", "questions", "question_current", "ready", "summary", "screen_lines", "input_full")
    ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SUBTYPE_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    AUTH_URL_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FALLBACK_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    QUESTION_CURRENT_FIELD_NUMBER: _ClassVar[int]
    READY_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    SCREEN_LINES_FIELD_NUMBER: _ClassVar[int]
    INPUT_FULL_FIELD_NUMBER: _ClassVar[int]
    id: str
    type: PromptType
    subtype: str
    tool: str
    input: str
    auth_url: str
    options: _containers.RepeatedScalarFieldContainer[str]
    options_fallback: bool
    questions: _containers.RepeatedCompositeFieldContainer[QuestionContext]
    question_current: int
    ready: bool
    summary: str
    screen_lines: _containers.RepeatedScalarFieldContainer[str]
    input_full: str
    def __init__(self, id: _Optional[str] = ..., type: _Optional[_Union[PromptType, str]] = ..., subtype: _Optional[str] = ..., tool: _Optional[str] = ..., input: _Optional[str] = ..., auth_url: _Optional[str] = ..., options: _Optional[_Iterable[str]] = ..., options_fallback: _Optional[bool] = ..., questions: _Optional[_Iterable[_Union[QuestionContext, _Mapping]]] = ..., question_current: _Optional[int] = ..., ready: _Optional[bool] = ..., summary: _Optional[str] = ..., screen_lines: _Optional[_Iterable[str]] = ..., input_full: _Optional[str] = ...) -> None: ...

class Evidence(_message.Message):
    __slots__ = ("tier", "source", "claim", "detail", "age_ms", "decisive")
    TIER_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    CLAIM_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    AGE_MS_FIELD_NUMBER: _ClassVar[int]
    DECISIVE_FIELD_NUMBER: _ClassVar[int]
    tier: DetectionTier
    source: str
    claim: AgentStateKind
    detail: str
    age_ms: int
    decisive: bool
    def __init__(self, tier: _Optional[_Union[DetectionTier, str]] = ..., source: _Optional[str] = ..., claim: _Optional[_Union[AgentStateKind, str]] = ..., detail: _Optional[str] = ..., age_ms: _Optional[int] = ..., decisive: _Optional[bool] = ...) -> None: ...

class GetAgentStateRequest(_message.Message):
    __slots__ = ("explain",)
    EXPLAIN_FIELD_NUMBER: _ClassVar[int]
    explain: bool
    def __init__(self, explain: _Optional[bool] = ...) -> None: ...

class AgentState(_message.Message):
    __slots__ = ("agent", "session_id", "state", "since_seq", "screen_seq", "detection_tier", "detection_cause", "prompt", "error_detail", "error_category", "parked_reason", "resume_at_epoch_ms", "idle_grace_remaining_secs", "last_message", "evidence", "disagreement")
    AGENT_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SINCE_SEQ_FIELD_NUMBER: _ClassVar[int]
    SCREEN_SEQ_FIELD_NUMBER: _ClassVar[int]
    DETECTION_TIER_FIELD_NUMBER: _ClassVar[int]
    DETECTION_CAUSE_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    ERROR_DETAIL_FIELD_NUMBER: _ClassVar[int]
    ERROR_CATEGORY_FIELD_NUMBER: _ClassVar[int]
    PARKED_REASON_FIELD_NUMBER: _ClassVar[int]
    RESUME_AT_EPOCH_MS_FIELD_NUMBER: _ClassVar[int]
    IDLE_GRACE_REMAINING_SECS_FIELD_NUMBER: _ClassVar[int]
    LAST_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    DISAGREEMENT_FIELD_NUMBER: _ClassVar[int]
    agent: str
    session_id: str
    state: AgentStateKind
    since_seq: int
    screen_seq: int
    detection_tier: DetectionTier
    detection_cause: str
    prompt: PromptContext
    error_detail: str
    error_category: ErrorCategory
    parked_reason: str
    resume_at_epoch_ms: int
    idle_grace_remaining_secs: float
    last_message: str
    evidence: _containers.RepeatedCompositeFieldContainer[Evidence]
    disagreement: str
    def __init__(self, agent: _Optional[str] = ..., session_id: _Optional[str] = ..., state: _Optional[_Union[AgentStateKind, str]] = ..., since_seq: _Optional[int] = ..., screen_seq: _Optional[int] = ..., detection_tier: _Optional[_Union[DetectionTier, str]] = ..., detection_cause: _Optional[str] = ..., prompt: _Optional[_Union[PromptContext, _Mapping]] = ..., error_detail: _Optional[str] = ..., error_category: _Optional[_Union[ErrorCategory, str]] = ..., parked_reason: _Optional[str] = ..., resume_at_epoch_ms: _Optional[int] = ..., idle_grace_remaining_secs: _Optional[float] = ..., last_message: _Optional[str] = ..., evidence: _Optional[_Iterable[_Union[Evidence, _Mapping]]] = ..., disagreement: _Optional[str] = ...) -> None: ...

class ExitEvent(_message.Message):
    __slots__ = ("code", "signal", "seq", "error")
    CODE_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    code: int
    signal: int
    seq: int
    error: str
    def __init__(self, code: _Optional[int] = ..., signal: _Optional[int] = ..., seq: _Optional[int] = ..., error: _Optional[str] = ...) -> None: ...

class StreamStateRequest(_message.Message):
    __slots__ = ("after_seq",)
    AFTER_SEQ_FIELD_NUMBER: _ClassVar[int]
    after_seq: int
    def __init__(self, after_seq: _Optional[int] = ...) -> None: ...

class AgentStateEvent(_message.Message):
    __slots__ = ("prev", "next", "seq", "prompt", "error_detail", "error_category", "cause", "last_message", "parked_reason", "resume_at_epoch_ms", "exit", "gap")
    PREV_FIELD_NUMBER: _ClassVar[int]
    NEXT_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    ERROR_DETAIL_FIELD_NUMBER: _ClassVar[int]
    ERROR_CATEGORY_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    LAST_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    PARKED_REASON_FIELD_NUMBER: _ClassVar[int]
    RESUME_AT_EPOCH_MS_FIELD_NUMBER: _ClassVar[int]
    EXIT_FIELD_NUMBER: _ClassVar[int]
    GAP_FIELD_NUMBER: _ClassVar[int]
    prev: AgentStateKind
    next: AgentStateKind
    seq: int
    prompt: PromptContext
    error_detail: str
    error_category: ErrorCategory
    cause: str
    last_message: str
    parked_reason: str
    resume_at_epoch_ms: int
    exit: ExitEvent
    gap: _screen_pb2.Gap
    def __init__(self, prev: _Optional[_Union[AgentStateKind, str]] = ..., next: _Optional[_Union[AgentStateKind, str]] = ..., seq: _Optional[int] = ..., prompt: _Optional[_Union[PromptContext, _Mapping]] = ..., error_detail: _Optional[str] = ..., error_category: _Optional[_Union[ErrorCategory, str]] = ..., cause: _Optional[str] = ..., last_message: _Optional[str] = ..., parked_reason: _Optional[str] = ..., resume_at_epoch_ms: _Optional[int] = ..., exit: _Optional[_Union[ExitEvent, _Mapping]] = ..., gap: _Optional[_Union[_screen_pb2.Gap, _Mapping]] = ...) -> None: ...
