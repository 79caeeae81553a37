"""One session: its screen, its input, its agent."""

import random
import subprocess
import threading
import time
from collections.abc import Iterator

import grpc
from coop.v1 import agent_pb2, coop_pb2_grpc, input_pb2, lifecycle_pb2, nudge_pb2, screen_pb2

from .channel import BACKOFF_MS_MAX, BACKOFF_MS_MIN, open_channel
from .errors import BadRequest, Exited, Timeout, Unreachable, typed
from .met import Met
from .words import Delivery, StateEvent, state_value, state_word

#: How long a call may take, beyond what it was told to wait for, in seconds.
ANSWER_WITHIN = 10.0
#: What coop waits for at most in one call, in seconds; a longer wait is several.
WAIT_MAX = 600.0
#: Why coop ends a wait early: the child is gone for good. One that is started again by itself has exited, too, but only for a while.
IN_VAIN = "exited"
#: After so long without an answer a stream gives up, in seconds.
GIVE_UP_AFTER = 120.0
#: How often it is looked whether a coop that was told to end has ended, in seconds.
GONE_EVERY = 0.02


class Session:
    """A connection to one coop; a context manager that closes the connection, not the session.

    `calls` are the generated calls, for whatever has no method here; they carry the token, and raise grpc.RpcError.
    """

    def __init__(self, address: str, token: str | None = None):
        self.address = address
        self._channel = open_channel(address, token)
        self._closed = threading.Event()
        #: Of the coop that this process started.
        self._process: subprocess.Popen | None = None
        self.calls = coop_pb2_grpc.CoopStub(self._channel)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection, and ends streams that other threads read; the session itself goes on."""
        self._closed.set()
        self._channel.close()

    def _call(self, call, request, waits: float = 0.0):
        try:
            return call(request, timeout=ANSWER_WITHIN + waits)
        except grpc.RpcError as error:
            raise typed(error) from None

    def status(self) -> lifecycle_pb2.GetStatusResponse:
        """How the session stands: the child's life, its process id, directory, labels and counters."""
        return self._call(self.calls.GetStatus, lifecycle_pb2.GetStatusRequest())

    def screen(self, scrollback: int = 0) -> str:
        """The text of the screen, with so many lines above it, without the empty rows at its end."""
        screen = self._call(self.calls.GetScreen, screen_pb2.GetScreenRequest(scrollback=scrollback))
        return "\n".join(screen.lines).rstrip("\n")

    def type(self, text: str, enter: bool = True) -> input_pb2.Receipt:
        """Types text as it is, then Enter. For messages to an agent use `nudge`, which sees them arrive."""
        return self._call(self.calls.SendInput, input_pb2.SendInputRequest(text=text, enter=enter)).receipt

    def keys(self, *keys: str) -> input_pb2.Receipt:
        """Presses keys: "enter", "escape", "up", "ctrl-c", "alt-x", "shift-tab", or single characters."""
        return self._call(self.calls.SendKeys, input_pb2.SendKeysRequest(keys=keys)).receipt

    def state(self) -> str:
        """What the agent does: "idle", "working", "prompt", …"""
        return state_word(self.agent_state().state)

    def agent_state(self, explain: bool = False) -> agent_pb2.AgentState:
        """The same with everything about it: the prompt, the error, the last words, the evidence."""
        return self._call(self.calls.GetAgentState, agent_pb2.GetAgentStateRequest(explain=explain))

    def nudge(self, message: str, *, queue: bool = False, steer: bool = False, timeout: float = 2.5) -> Delivery:
        """Gives an idle agent a message. A busy one is not disturbed, unless it may queue the message, or shall take it into
        what it does now (`steer`, which only Codex can; BadRequest for others)."""
        request = nudge_pb2.NudgeRequest(message=message, queue=queue, steer=steer, timeout_ms=int(timeout * 1000))
        return Delivery.of(self._call(self.calls.Nudge, request, timeout))

    def respond(
        self,
        prompt: agent_pb2.PromptContext | None = None,
        *,
        accept: bool | None = None,
        option: int | None = None,
        text: str | None = None,
        timeout: float = 2.5,
    ) -> Delivery:
        """Answers the dialog that the agent shows: yes or no, an option counted from 1, or own words. With a `prompt`,
        another one that took its place is not answered (StateChanged)."""
        request = nudge_pb2.RespondRequest(
            accept=accept, option=option, text=text, prompt_id=prompt.id if prompt else None, timeout_ms=int(timeout * 1000)
        )
        return Delivery.of(self._call(self.calls.Respond, request, timeout))

    def wait_idle(self, timeout: float | None = None) -> None:
        """Waits until the agent waits for a message; Exited when the child is gone."""
        self.wait_state("idle", timeout=timeout)

    def wait_state(self, *states: str, timeout: float | None = None) -> str:
        """Waits until the agent is in one of these states, and tells which."""
        answer = self._wait(timeout, states=map(state_value, states))
        return state_word(answer.state)

    def wait_text(self, text: str, timeout: float | None = None) -> None:
        """Waits until the screen shows this text."""
        self._wait(timeout, text=text)

    def _wait(self, timeout: float | None, **condition) -> lifecycle_pb2.WaitResponse:
        deadline = None if timeout is None else time.monotonic() + timeout
        request = lifecycle_pb2.WaitRequest(**condition)
        while True:
            left = WAIT_MAX if deadline is None else max(0.0, min(WAIT_MAX, deadline - time.monotonic()))
            request.timeout_ms = int(left * 1000)
            answer = self._call(self.calls.Wait, request, left)
            if answer.matched:
                return answer
            if answer.reason == IN_VAIN:
                raise Exited("the child has exited")
            if deadline is not None and time.monotonic() >= deadline:
                raise Timeout(f"not within {timeout} s: the agent is still {state_word(answer.state)}")

    def states(self, after_seq: int | None = None, give_up_after: float = GIVE_UP_AFTER) -> Iterator[StateEvent]:
        """The agent's states, the current one first, or those after a sequence number. A broken connection is made anew,
        and the stream goes on where it was; Unreachable after so many seconds without an answer."""
        reconnects, lost, backoff = 0, False, BACKOFF_MS_MIN / 1000
        heard = time.monotonic()
        met: Met | None = None
        while not self._closed.is_set():
            stream, reached, failure = None, False, Unreachable("the stream has ended")
            try:
                now = Met.of(self.calls.GetStatus(lifecycle_pb2.GetStatusRequest(), timeout=ANSWER_WITHIN))
                if met is not None and not met.is_same(now):
                    # The events of another coop are no continuation, whatever their numbers are.
                    after_seq, lost = None, True
                met, reached = now, True
                stream = self.calls.StreamState(agent_pb2.StreamStateRequest(after_seq=after_seq))
                for event in stream:
                    backoff, after_seq = BACKOFF_MS_MIN / 1000, event.seq
                    yield StateEvent.of(event, reconnects, lost)
                    lost = False
            except grpc.RpcError as error:
                failure = typed(error)
            finally:
                # Also when the caller leaves the loop.
                if stream is not None:
                    stream.cancel()
            if reached:
                # It was good until it broke, however quiet it was.
                heard = time.monotonic()
            if isinstance(failure, BadRequest) and after_seq is not None:
                # The number is ahead of this session: another coop runs here now.
                after_seq, lost = None, True
            elif not _is_break(failure):
                raise failure
            elif time.monotonic() - heard + backoff > give_up_after:
                raise Unreachable(f"{self.address}: given up: {failure}")
            reconnects += 1
            # A little more or less, so that many clients do not come at once.
            self._closed.wait(backoff * random.uniform(0.75, 1.25))
            backoff = min(2 * backoff, BACKOFF_MS_MAX / 1000)

    def kill(self, timeout: float = 30.0) -> None:
        """Ends the child with every process of its session, then coop, and returns when nobody answers any more."""
        deadline = time.monotonic() + timeout
        try:
            self._call(self.calls.Shutdown, lifecycle_pb2.ShutdownRequest())
            while self._process is None and time.monotonic() < deadline:
                self._call(self.calls.GetHealth, lifecycle_pb2.GetHealthRequest())
                time.sleep(GONE_EVERY)
        except Unreachable:
            pass
        if self._process is not None:
            try:
                self._process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise Timeout(f"{self.address} has not ended within {timeout} s") from None
        elif time.monotonic() >= deadline:
            raise Timeout(f"{self.address} has not ended within {timeout} s")


def _is_break(failure: Exception) -> bool:
    """Whether the connection failed, and not the request."""
    # A Timeout is ours: a proxy holds the connection, and coop behind it stalls.
    return isinstance(failure, (Unreachable, Timeout)) or getattr(failure, "reason", "") in ("GRPC_UNKNOWN", "GRPC_INTERNAL", "NOT_READY")
