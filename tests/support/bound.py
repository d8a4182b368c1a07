"""Deltas in, calls out: how the tests of binding see what became of each call."""

from __future__ import annotations

from typing import NamedTuple

from wholecall.assembler import Assembler
from wholecall.deltas import Delta
from wholecall.events import CustomToolCall, ToolCall, ToolCallDropped, TurnFinished
from wholecall.limits import Limits
from wholecall.policy import Policy

__all__ = ["Got", "assembled"]


class Got(NamedTuple):
    """One call as it ended: `sign` is its flags, or the reason why it was dropped."""

    id: str | None
    name: str | None
    text: str
    sign: str = ""


def assembled(*deltas: Delta, limits: Limits | None = None) -> tuple[list[Got], tuple[str, ...]]:
    """Return the calls of a stream that ends with these deltas, in their order, and its anomalies."""
    assembler = Assembler(Policy(), limits or Limits())
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
