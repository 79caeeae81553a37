"""What can go wrong, as exceptions that a caller can tell apart."""

import grpc
from google.rpc import error_details_pb2, status_pb2


class Error(Exception):
    """Anything that goes wrong with a session."""


class Unreachable(Error):
    """No coop answers at the address: it has ended, or was never there."""


class NoSession(Error):
    """No session was found on this machine, or several and none was chosen."""


class NotStarted(Error):
    """coop did not start; the message is what it complained of."""


class Timeout(Error):
    """It did not come true in time."""


class NotDelivered(Error):
    """Nobody saw the agent take the message or the answer; `delivery` tells how far it got."""

    def __init__(self, delivery):
        super().__init__(f"not delivered: {delivery.reason or delivery.phase}; the agent is {delivery.state}")
        self.delivery = delivery


class Refused(Error):
    """coop said no. `reason` is the word of its error table, `facts` what it found instead."""

    reason = ""

    def __init__(self, message, reason="", facts=None):
        super().__init__(f"{reason or self.reason}: {message}")
        self.reason = reason or self.reason
        self.facts = facts or {}


class BadRequest(Refused):
    """Something about the call makes no sense; the message names it."""


class Unauthorized(Refused):
    """No token, or a wrong one."""


class NoDriver(Refused):
    """A call for an agent, but coop has no driver for this program."""


class Exited(Refused):
    """The child has exited."""


class WriterBusy(Refused):
    """Another writer holds the lock."""


class StateChanged(Refused):
    """What was expected did not hold: another prompt is shown, or another state."""


class Borrowed(Refused):
    """Only a child of coop's own can do that; this session is one of tmux or GNU screen."""


_REASONS = {
    "BAD_REQUEST": BadRequest,
    "UNAUTHORIZED": Unauthorized,
    "NO_DRIVER": NoDriver,
    "EXITED": Exited,
    "WRITER_BUSY": WriterBusy,
    "STATE_CHANGED": StateChanged,
    "BORROWED": Borrowed,
}
for _reason, _kind in _REASONS.items():
    _kind.reason = _reason


def typed(error: grpc.RpcError) -> Error:
    """The exception for what gRPC says."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                info = error_details_pb2.ErrorInfo()
                if detail.Unpack(info) and info.domain == "coop":
                    kind = _REASONS.get(info.reason, Refused)
                    return kind(error.details(), info.reason, dict(info.metadata))
    if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
        return Timeout(error.details())
    if error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED):
        return Unreachable(error.details())
    # Not coop's own word, but that of gRPC.
    return Refused(error.details(), f"GRPC_{error.code().name}")
