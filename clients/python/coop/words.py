"""The contract's enums as the words that coop's JSON has."""

from dataclasses import dataclass

from coop.v1 import agent_pb2, input_pb2

from .errors import NotDelivered


def word(kind, value: int) -> str:
    """The value's word: `word(agent_pb2.AgentStateKind, 3)` is "idle"."""
    name = kind.Name(value)
    # AgentStateKind → AGENT_STATE_KIND_
    prefix = "".join(f"_{c}" if c.isupper() else c.upper() for c in kind.DESCRIPTOR.name).lstrip("_") + "_"
    return name.removeprefix(prefix).lower()


def state_word(value: int) -> str:
    return word(agent_pb2.AgentStateKind, value)


def state_value(state: str) -> int:
    """The value of a state's word."""
    try:
        return agent_pb2.AgentStateKind.Value(f"AGENT_STATE_KIND_{state.upper()}")
    except ValueError:
        known = ", ".join(map(state_word, agent_pb2.AgentStateKind.values()[1:]))
        raise ValueError(f"{state!r} is no state: use one of {known}") from None


@dataclass(frozen=True)
class Delivery:
    """What became of a message or an answer; true exactly when a witness saw the agent take it."""

    delivered: bool
    #: Why it was not delivered, such as "agent_busy", "no_prompt" or "queued".
    reason: str
    #: What the agent did afterwards.
    state: str
    #: How far it got ("written", "accepted", …), and who saw that; empty when nothing was written.
    phase: str
    witness: str

    def __bool__(self) -> bool:
        return self.delivered

    def check(self) -> "Delivery":
        """Itself, or NotDelivered."""
        if not self.delivered:
            raise NotDelivered(self)
        return self

    @classmethod
    def of(cls, answer) -> "Delivery":
        phase = word(input_pb2.ReceiptPhase, answer.receipt.phase) if answer.HasField("receipt") else ""
        return cls(answer.delivered, answer.reason, state_word(answer.state), phase, answer.receipt.witness)


@dataclass(frozen=True)
class StateEvent:
    """A change of the agent's state, or its current state (`previous` equals `state`)."""

    state: str
    previous: str
    seq: int
    #: The dialog that is shown, or None.
    prompt: agent_pb2.PromptContext | None
    #: How often the connection was made anew since the stream began.
    reconnects: int
    #: Events before this one are missing: coop does not hold them any more, or another coop runs at the address now.
    lost: bool
    #: Everything else that the contract tells: exit, error, last words, gap.
    event: agent_pb2.AgentStateEvent

    @classmethod
    def of(cls, event, reconnects: int, lost: bool) -> "StateEvent":
        prompt = event.prompt if event.HasField("prompt") else None
        lost = lost or event.HasField("gap")
        return cls(state_word(event.next), state_word(event.prev), event.seq, prompt, reconnects, lost, event)
