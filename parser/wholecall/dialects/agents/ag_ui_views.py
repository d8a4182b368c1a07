"""The views of AG-UI events, and the deltas of some of them."""

from __future__ import annotations

from typing import Any, Union

import msgspec

from wholecall.deltas import Delta
from wholecall.dialects import report
from wholecall.dialects.decode import NO_TEXT
from wholecall.dialects.labels import id_label

__all__ = [
    "DECODER",
    "Event",
    "Message",
    "Outcome",
    "ToolCallView",
    "counted",
    "named_ids",
    "thought",
]


class _Function(msgspec.Struct, gc=False):
    name: Any = None
    arguments: msgspec.Raw = NO_TEXT


class ToolCallView(msgspec.Struct, gc=False, rename="camel"):
    """A call of a message in a snapshot."""

    id: Any = None
    function: _Function | None = None
    encrypted_value: Any = None


class Message(msgspec.Struct, gc=False, rename="camel"):
    """A message of a snapshot, or of the input that a run repeats."""

    role: Any = None
    tool_calls: list[ToolCallView] | None = None
    tool_call_id: Any = None


class _Input(msgspec.Struct, gc=False):
    messages: list[Message] | None = None


class _Interrupt(msgspec.Struct, gc=False, rename="camel"):
    tool_call_id: Any = None


class Outcome(msgspec.Struct, gc=False, rename="camel"):
    """The outcome of a run: its end, and the calls that wait for an interrupt."""

    type: Any = None
    pending_tool_call_ids: Any = None
    interrupts: list[_Interrupt] | None = None


class Event(msgspec.Struct, gc=False, rename="camel"):
    """The view of an event of any type."""

    type: str | None = None
    tool_call_id: Any = None
    delta: Any = None
    tool_call_name: Any = None
    message_id: Any = None
    role: Any = None
    subagent_run_id: Any = None
    metadata: Any = None
    messages: list[Message] | None = None
    run_id: Any = None
    input: _Input | None = None
    outcome: Union[Outcome, str, None] = None  # a word in drafts of the protocol
    usage: Any = None
    message: Any = None
    code: Any = None
    subtype: Any = None
    entity_id: Any = None
    encrypted_value: Any = None
    error: Any = None

    @property
    def extra(self) -> dict[str, Any] | None:
        """Return the other members of a call."""
        return report.extra(subagentRunId=self.subagent_run_id, metadata=self.metadata)


DECODER = msgspec.json.Decoder(Event)


def named_ids(messages: list[Message] | None) -> set[str]:
    """Return the ids of all calls in the messages."""
    calls = [call for message in messages or () for call in message.tool_calls or ()]
    return {id_ for call in calls if (id_ := id_label(call.id)) is not None}


def counted(usage: object) -> list[Delta]:
    """Return the token counts of a run, summed: there is one entry per model."""
    totals: dict[str, Any] = {}
    for entry in usage if isinstance(usage, list) else ():
        for name, count in entry.items() if isinstance(entry, dict) else ():
            if type(count) is int:
                totals[name] = totals.get(name, 0) + count
    return report.usage(totals)


def thought(event: Event) -> list[Delta]:
    """Return a piece of reasoning; pieces of one message are one block."""
    id_ = id_label(event.message_id)
    return report.thought(event.delta, id_, id=id_)
