from google.protobuf import descriptor_pb2 as _descriptor_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Access(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACCESS_UNSPECIFIED: _ClassVar[Access]
    ACCESS_OPEN: _ClassVar[Access]
    ACCESS_READ: _ClassVar[Access]
    ACCESS_WRITE: _ClassVar[Access]
    ACCESS_HOOK: _ClassVar[Access]
ACCESS_UNSPECIFIED: Access
ACCESS_OPEN: Access
ACCESS_READ: Access
ACCESS_WRITE: Access
ACCESS_HOOK: Access
RPC_FIELD_NUMBER: _ClassVar[int]
rpc: _descriptor.FieldDescriptor
JSON_TEXT_FIELD_NUMBER: _ClassVar[int]
json_text: _descriptor.FieldDescriptor
MESSAGE_ACCESS_FIELD_NUMBER: _ClassVar[int]
message_access: _descriptor.FieldDescriptor

class RpcOptions(_message.Message):
    __slots__ = ("access", "body_bytes_max")
    ACCESS_FIELD_NUMBER: _ClassVar[int]
    BODY_BYTES_MAX_FIELD_NUMBER: _ClassVar[int]
    access: Access
    body_bytes_max: int
    def __init__(self, access: _Optional[_Union[Access, str]] = ..., body_bytes_max: _Optional[int] = ...) -> None: ...
