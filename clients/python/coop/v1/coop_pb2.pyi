from coop.v1 import agent_pb2 as _agent_pb2
from coop.v1 import gates_pb2 as _gates_pb2
from coop.v1 import input_pb2 as _input_pb2
from coop.v1 import lifecycle_pb2 as _lifecycle_pb2
from coop.v1 import nudge_pb2 as _nudge_pb2
from coop.v1 import options_pb2 as _options_pb2
from coop.v1 import screen_pb2 as _screen_pb2
from coop.v1 import session_pb2 as _session_pb2
from coop.v1 import terminals_pb2 as _terminals_pb2
from coop.v1 import transcripts_pb2 as _transcripts_pb2
from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf import descriptor as _descriptor
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor
