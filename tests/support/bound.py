"""Deltas in, calls out: the outcome of each call for the tests of binding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from wholecall.calls.output.call_events import CustomToolCall, ToolCall, ToolCallDropped
from wholecall.calls.output.events import TurnFinished
from wholecall.calls.tools.tool import Tools
from wholecall.deltas import OBJECT, Delta, Finish, Labelled, TurnEnded
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy
from wholecall.types import Kind


class Got(NamedTuple):
    """One call as it ended: `sign` is its flags, or the reason why it was dropped."""

    id: str | None
    name: str | None
    text: str
    sign: str = ""


def assembled(
    *deltas: Delta, limits: Limits | None = None, tools: Sequence[str] | None = None
) -> tuple[list[Got], tuple[str, ...]]:
    """Return the calls of a stream that ends with these deltas, in their order, and its anomalies.

    `tools` are the names of the tools that the model was given.
    """
    known = None if tools is None else Tools(dict.fromkeys(tools, _anything))
    assembler = Assembler(Policy(), limits or Limits(), known)
    for delta in deltas:
        assembler.advance([delta])
    assembler.close()
    found: dict[int, Got] = {}
    anomalies: tuple[str, ...] = ()
    for event in assembler.take():
        if isinstance(event, ToolCall):
            found[event.index] = Got(event.id, event.name, event.raw_arguments, " ".join(event.flags))
        elif isinstance(event, CustomToolCall):
            found[event.index] = Got(event.id, event.name, event.input, " ".join(event.flags))
        elif isinstance(event, ToolCallDropped):
            found[event.index] = Got(event.id, event.name, event.raw_arguments, f"dropped: {event.reason}")
        elif isinstance(event, TurnFinished):
            anomalies = event.anomalies
    return [found[index] for index in sorted(found)], anomalies


def _anything(**arguments: Any) -> None:
    """Be a tool that takes any arguments."""


# Streams of labels.

A, B = '{"a":1}', '{"b":2}'


def at(
    index: int | str | None,
    text: str = "",
    id: str | None = None,
    name: str | None = None,
    kind: Kind = "function",
) -> Labelled:
    """Return a fragment at an index."""
    return Labelled(0, index, id, name, text, kind)


def whole(index: int | None, text: str, id: str | None = None, name: str | None = None) -> Labelled:
    """Return an object where fragments are usual."""
    return Labelled(0, index, id, name, text, "function", OBJECT)


def stream(
    *deltas: Delta, limits: Limits | None = None, tools: Sequence[str] | None = None
) -> tuple[list[Got], tuple[str, ...]]:
    """Stream the deltas to a clean end; return the calls in their order, and the anomalies."""
    return assembled(*deltas, Finish(0, "tool_calls", "tool_calls"), TurnEnded(), limits=limits, tools=tools)


def bound(*deltas: Delta, limits: Limits | None = None, tools: Sequence[str] | None = None) -> list[Got]:
    """Return the calls of a stream."""
    return stream(*deltas, limits=limits, tools=tools)[0]


def lost(id: str | None, name: str | None, text: str) -> Got:
    """Return a call that lost text."""
    return Got(id, name, text, "dropped: incomplete_input")


def orphan(text: str, id: str | None = None) -> Got:
    """Return text that belongs to no call."""
    return Got(id, None, text, "dropped: nameless")
