"""Drives sessions of coop: terminal programs, AI coding agents above all, that run as a service.

    with coop.connect() as session:
        session.nudge("run the tests").check()
        for event in session.states():
            print(event.state)

The generated half is `coop.v1`; everything of the contract can be called as `session.calls`.
"""

from .errors import (
    BadRequest,
    Borrowed,
    Error,
    Exited,
    NoDriver,
    NoSession,
    NotDelivered,
    NotStarted,
    Refused,
    StateChanged,
    Timeout,
    Unauthorized,
    Unreachable,
    WriterBusy,
    typed,
)
from .find import connect, runtime_dir, sessions, start
from .session import Session
from .words import Delivery, StateEvent, word

__all__ = [
    "BadRequest",
    "Borrowed",
    "Delivery",
    "Error",
    "Exited",
    "NoDriver",
    "NoSession",
    "NotDelivered",
    "NotStarted",
    "Refused",
    "Session",
    "StateChanged",
    "StateEvent",
    "Timeout",
    "Unauthorized",
    "Unreachable",
    "WriterBusy",
    "connect",
    "runtime_dir",
    "sessions",
    "start",
    "typed",
    "word",
]
