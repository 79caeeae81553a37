from coop.v1 import agent_pb2 as _agent_pb2
from coop.v1 import options_pb2 as _options_pb2
from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class BoxState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BOX_STATE_UNSPECIFIED: _ClassVar[BoxState]
    BOX_STATE_STARTING: _ClassVar[BoxState]
    BOX_STATE_RUNNING: _ClassVar[BoxState]
    BOX_STATE_ENDED: _ClassVar[BoxState]
    BOX_STATE_PARKED: _ClassVar[BoxState]
    BOX_STATE_STOPPED: _ClassVar[BoxState]
    BOX_STATE_LOST: _ClassVar[BoxState]

class WorkspaceMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WORKSPACE_MODE_UNSPECIFIED: _ClassVar[WorkspaceMode]
    WORKSPACE_MODE_RW: _ClassVar[WorkspaceMode]
    WORKSPACE_MODE_RO: _ClassVar[WorkspaceMode]
    WORKSPACE_MODE_OVERLAY: _ClassVar[WorkspaceMode]

class NetworkMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NETWORK_MODE_UNSPECIFIED: _ClassVar[NetworkMode]
    NETWORK_MODE_HOST: _ClassVar[NetworkMode]
    NETWORK_MODE_NONE: _ClassVar[NetworkMode]
    NETWORK_MODE_FILTERED: _ClassVar[NetworkMode]

class ChangeKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CHANGE_KIND_UNSPECIFIED: _ClassVar[ChangeKind]
    CHANGE_KIND_ADDED: _ClassVar[ChangeKind]
    CHANGE_KIND_MODIFIED: _ClassVar[ChangeKind]
    CHANGE_KIND_DELETED: _ClassVar[ChangeKind]
    CHANGE_KIND_TYPE_CHANGED: _ClassVar[ChangeKind]
    CHANGE_KIND_MODE_CHANGED: _ClassVar[ChangeKind]
BOX_STATE_UNSPECIFIED: BoxState
BOX_STATE_STARTING: BoxState
BOX_STATE_RUNNING: BoxState
BOX_STATE_ENDED: BoxState
BOX_STATE_PARKED: BoxState
BOX_STATE_STOPPED: BoxState
BOX_STATE_LOST: BoxState
WORKSPACE_MODE_UNSPECIFIED: WorkspaceMode
WORKSPACE_MODE_RW: WorkspaceMode
WORKSPACE_MODE_RO: WorkspaceMode
WORKSPACE_MODE_OVERLAY: WorkspaceMode
NETWORK_MODE_UNSPECIFIED: NetworkMode
NETWORK_MODE_HOST: NetworkMode
NETWORK_MODE_NONE: NetworkMode
NETWORK_MODE_FILTERED: NetworkMode
CHANGE_KIND_UNSPECIFIED: ChangeKind
CHANGE_KIND_ADDED: ChangeKind
CHANGE_KIND_MODIFIED: ChangeKind
CHANGE_KIND_DELETED: ChangeKind
CHANGE_KIND_TYPE_CHANGED: ChangeKind
CHANGE_KIND_MODE_CHANGED: ChangeKind

class Box(_message.Message):
    __slots__ = ("name", "state", "workspace", "workspace_mode", "image", "network", "agent", "command", "labels", "created_at_ms", "socket", "pid", "version", "agent_state", "warnings", "error", "published")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_MODE_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    NETWORK_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    SOCKET_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    AGENT_STATE_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    PUBLISHED_FIELD_NUMBER: _ClassVar[int]
    name: str
    state: BoxState
    workspace: str
    workspace_mode: WorkspaceMode
    image: str
    network: NetworkMode
    agent: str
    command: _containers.RepeatedScalarFieldContainer[str]
    labels: _containers.ScalarMap[str, str]
    created_at_ms: int
    socket: str
    pid: int
    version: str
    agent_state: _agent_pb2.AgentState
    warnings: _containers.RepeatedScalarFieldContainer[str]
    error: str
    published: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., state: _Optional[_Union[BoxState, str]] = ..., workspace: _Optional[str] = ..., workspace_mode: _Optional[_Union[WorkspaceMode, str]] = ..., image: _Optional[str] = ..., network: _Optional[_Union[NetworkMode, str]] = ..., agent: _Optional[str] = ..., command: _Optional[_Iterable[str]] = ..., labels: _Optional[_Mapping[str, str]] = ..., created_at_ms: _Optional[int] = ..., socket: _Optional[str] = ..., pid: _Optional[int] = ..., version: _Optional[str] = ..., agent_state: _Optional[_Union[_agent_pb2.AgentState, _Mapping]] = ..., warnings: _Optional[_Iterable[str]] = ..., error: _Optional[str] = ..., published: _Optional[_Iterable[str]] = ...) -> None: ...

class GetInfoRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetInfoResponse(_message.Message):
    __slots__ = ("version", "pid", "socket", "home", "boxes", "started_at_ms")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    SOCKET_FIELD_NUMBER: _ClassVar[int]
    HOME_FIELD_NUMBER: _ClassVar[int]
    BOXES_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    version: str
    pid: int
    socket: str
    home: str
    boxes: int
    started_at_ms: int
    def __init__(self, version: _Optional[str] = ..., pid: _Optional[int] = ..., socket: _Optional[str] = ..., home: _Optional[str] = ..., boxes: _Optional[int] = ..., started_at_ms: _Optional[int] = ...) -> None: ...

class BoxSource(_message.Message):
    __slots__ = ("directory", "name", "image", "agent", "command", "workspace_mode", "network", "allow", "publish", "env", "exported", "labels", "cols", "rows")
    class EnvEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class ExportedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_MODE_FIELD_NUMBER: _ClassVar[int]
    NETWORK_FIELD_NUMBER: _ClassVar[int]
    ALLOW_FIELD_NUMBER: _ClassVar[int]
    PUBLISH_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    EXPORTED_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    COLS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    directory: str
    name: str
    image: str
    agent: str
    command: _containers.RepeatedScalarFieldContainer[str]
    workspace_mode: WorkspaceMode
    network: NetworkMode
    allow: _containers.RepeatedScalarFieldContainer[str]
    publish: _containers.RepeatedScalarFieldContainer[str]
    env: _containers.ScalarMap[str, str]
    exported: _containers.ScalarMap[str, str]
    labels: _containers.ScalarMap[str, str]
    cols: int
    rows: int
    def __init__(self, directory: _Optional[str] = ..., name: _Optional[str] = ..., image: _Optional[str] = ..., agent: _Optional[str] = ..., command: _Optional[_Iterable[str]] = ..., workspace_mode: _Optional[_Union[WorkspaceMode, str]] = ..., network: _Optional[_Union[NetworkMode, str]] = ..., allow: _Optional[_Iterable[str]] = ..., publish: _Optional[_Iterable[str]] = ..., env: _Optional[_Mapping[str, str]] = ..., exported: _Optional[_Mapping[str, str]] = ..., labels: _Optional[_Mapping[str, str]] = ..., cols: _Optional[int] = ..., rows: _Optional[int] = ...) -> None: ...

class CreateBoxRequest(_message.Message):
    __slots__ = ("source",)
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    source: BoxSource
    def __init__(self, source: _Optional[_Union[BoxSource, _Mapping]] = ...) -> None: ...

class GetBoxRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class ListBoxesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListBoxesResponse(_message.Message):
    __slots__ = ("boxes",)
    BOXES_FIELD_NUMBER: _ClassVar[int]
    boxes: _containers.RepeatedCompositeFieldContainer[Box]
    def __init__(self, boxes: _Optional[_Iterable[_Union[Box, _Mapping]]] = ...) -> None: ...

class StopBoxRequest(_message.Message):
    __slots__ = ("name", "now")
    NAME_FIELD_NUMBER: _ClassVar[int]
    NOW_FIELD_NUMBER: _ClassVar[int]
    name: str
    now: bool
    def __init__(self, name: _Optional[str] = ..., now: _Optional[bool] = ...) -> None: ...

class RestartBoxRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class DeleteBoxRequest(_message.Message):
    __slots__ = ("name", "force")
    NAME_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    name: str
    force: bool
    def __init__(self, name: _Optional[str] = ..., force: _Optional[bool] = ...) -> None: ...

class DeleteBoxResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WatchBoxesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class BoxEvent(_message.Message):
    __slots__ = ("changed", "removed", "all_told")
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    ALL_TOLD_FIELD_NUMBER: _ClassVar[int]
    changed: Box
    removed: str
    all_told: bool
    def __init__(self, changed: _Optional[_Union[Box, _Mapping]] = ..., removed: _Optional[str] = ..., all_told: _Optional[bool] = ...) -> None: ...

class PullImageRequest(_message.Message):
    __slots__ = ("image",)
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    image: str
    def __init__(self, image: _Optional[str] = ...) -> None: ...

class BuildBoxRequest(_message.Message):
    __slots__ = ("source",)
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    source: BoxSource
    def __init__(self, source: _Optional[_Union[BoxSource, _Mapping]] = ...) -> None: ...

class BuildProgress(_message.Message):
    __slots__ = ("step", "what", "done_bytes", "total_bytes", "line")
    STEP_FIELD_NUMBER: _ClassVar[int]
    WHAT_FIELD_NUMBER: _ClassVar[int]
    DONE_BYTES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    step: str
    what: str
    done_bytes: int
    total_bytes: int
    line: str
    def __init__(self, step: _Optional[str] = ..., what: _Optional[str] = ..., done_bytes: _Optional[int] = ..., total_bytes: _Optional[int] = ..., line: _Optional[str] = ...) -> None: ...

class DiffWorkspaceRequest(_message.Message):
    __slots__ = ("name", "paths", "names_only")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PATHS_FIELD_NUMBER: _ClassVar[int]
    NAMES_ONLY_FIELD_NUMBER: _ClassVar[int]
    name: str
    paths: _containers.RepeatedScalarFieldContainer[str]
    names_only: bool
    def __init__(self, name: _Optional[str] = ..., paths: _Optional[_Iterable[str]] = ..., names_only: _Optional[bool] = ...) -> None: ...

class WorkspaceChange(_message.Message):
    __slots__ = ("path", "kind")
    PATH_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    path: str
    kind: ChangeKind
    def __init__(self, path: _Optional[str] = ..., kind: _Optional[_Union[ChangeKind, str]] = ...) -> None: ...

class DiffWorkspaceResponse(_message.Message):
    __slots__ = ("changes", "text", "is_cut", "exact")
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    IS_CUT_FIELD_NUMBER: _ClassVar[int]
    EXACT_FIELD_NUMBER: _ClassVar[int]
    changes: _containers.RepeatedCompositeFieldContainer[WorkspaceChange]
    text: str
    is_cut: bool
    exact: bytes
    def __init__(self, changes: _Optional[_Iterable[_Union[WorkspaceChange, _Mapping]]] = ..., text: _Optional[str] = ..., is_cut: _Optional[bool] = ..., exact: _Optional[bytes] = ...) -> None: ...

class ApplyWorkspaceRequest(_message.Message):
    __slots__ = ("name", "paths", "force")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PATHS_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    name: str
    paths: _containers.RepeatedScalarFieldContainer[str]
    force: bool
    def __init__(self, name: _Optional[str] = ..., paths: _Optional[_Iterable[str]] = ..., force: _Optional[bool] = ...) -> None: ...

class ApplyWorkspaceResponse(_message.Message):
    __slots__ = ("applied", "refused")
    APPLIED_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    applied: _containers.RepeatedScalarFieldContainer[str]
    refused: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, applied: _Optional[_Iterable[str]] = ..., refused: _Optional[_Iterable[str]] = ...) -> None: ...

class DiscardWorkspaceRequest(_message.Message):
    __slots__ = ("name", "paths")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PATHS_FIELD_NUMBER: _ClassVar[int]
    name: str
    paths: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., paths: _Optional[_Iterable[str]] = ...) -> None: ...

class DiscardWorkspaceResponse(_message.Message):
    __slots__ = ("discarded",)
    DISCARDED_FIELD_NUMBER: _ClassVar[int]
    discarded: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, discarded: _Optional[_Iterable[str]] = ...) -> None: ...

class ShutdownDaemonRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ShutdownDaemonResponse(_message.Message):
    __slots__ = ("running",)
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    running: int
    def __init__(self, running: _Optional[int] = ...) -> None: ...
