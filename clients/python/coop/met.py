"""Which coop it is that answers: another one may have taken its place."""

import time
from dataclasses import dataclass

from coop.v1 import lifecycle_pb2

#: How far two looks at the same coop may differ in when it began, in seconds: uptimes are whole ones, and answers take time.
SAME_WITHIN = 3.0


@dataclass(frozen=True)
class Met:
    """A coop as it was when it was asked."""

    #: When its child was started, and how often that was again.
    started_at_ms: int
    restarts: int
    #: When it began itself, on our clock.
    began: float

    @classmethod
    def of(cls, status: lifecycle_pb2.GetStatusResponse) -> "Met":
        return cls(status.started_at_ms, status.restarts, time.monotonic() - status.uptime_secs)

    def is_same(self, later: "Met") -> bool:
        """Whether it is the same coop that is asked again."""
        if later.restarts == self.restarts:
            return later.started_at_ms == self.started_at_ms
        return later.restarts > self.restarts and abs(later.began - self.began) <= SAME_WITHIN
