"""Calls that are shown while they arrive: names and pieces of arguments, in the strict form of the dialect.

A call is shown as soon as its id is known; a call whose id comes last is written whole. Slips in its arguments are
repaired before they are shown (`live_text`). A shown call cannot be taken back: if the verdict differs from it, the
stream has to end with an error.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from wholecall.encoders.base import Encoder, Executable, OpenCall, argument_text
from wholecall.limits import Limits
from wholecall.output.events import (
    ArgumentsDelta,
    ArgumentsReset,
    BuiltinToolCall,
    CustomToolCall,
    Event,
    ToolCall,
    ToolCallDropped,
    ToolCallStarted,
)
from wholecall.repairing.live_text import LiveText

__all__ = ["LIVE", "LiveCalls", "Void"]

# The events of a shown call.
LIVE = frozenset({ArgumentsDelta, ArgumentsReset, ToolCall, CustomToolCall, BuiltinToolCall, ToolCallDropped})

Key = tuple[int, int, int]  # turn, choice, index


class Void(Exception):
    """The error for a shown call that is not valid any more; the message says why, without argument text."""


class _Shown:
    """A call that was begun: its shown part."""

    def __init__(self, call: OpenCall, limits: Limits) -> None:
        self.call = call
        self.text = LiveText(limits, is_json=call.kind == "function")


class LiveCalls:
    """The writer of calls while their events come.

    Attributes:
        n_begun: how many were begun so far.
    """

    def __init__(self, encoder: Encoder, limits: Limits) -> None:
        self.n_begun = 0
        self._limits = limits
        self._encoder = encoder
        self._shown: dict[Key, _Shown] = {}

    def begin(self, event: ToolCallStarted) -> bytes:
        """Return the beginning of a call; nothing if it cannot be shown before its verdict."""
        if not event.id or event.kind not in ("function", "custom"):
            return b""
        call, data = self._encoder.begin(event.choice, event.id, event.name, "", event.kind)
        self.n_begun += 1
        self._shown[event.turn, event.choice, event.index] = _Shown(
            replace(call, id=event.id, name=event.name), self._limits
        )
        return data

    def is_shown(self, event: Any) -> bool:
        """Return whether the call of an event was begun and not ended."""
        return (event.turn, event.choice, event.index) in self._shown

    def go_on(self, event: Event[Any]) -> bytes:
        """Return the bytes that an event adds to a shown call.

        Raises:
            Void: the shown part is not valid.
        """
        key = event.turn, event.choice, event.index  # type: ignore[union-attr]
        shown = self._shown[key]
        if isinstance(event, (ArgumentsDelta, ArgumentsReset)):
            text = shown.text
            new = (
                text.add(event.delta)
                if isinstance(event, ArgumentsDelta)
                else text.reset(event.raw_arguments)
            )
            return self._encoder.more(shown.call, new) if new else b""
        del self._shown[key]
        if isinstance(event, ToolCallDropped):
            raise Void(f"a tool call must not be executed: {event.reason}")
        return self._end(shown, event)  # type: ignore[arg-type]

    def _end(self, shown: _Shown, call: Executable) -> bytes:
        if isinstance(call, BuiltinToolCall) or (call.id, call.name) != (shown.call.id, shown.call.name):
            raise Void("a tool call was relabelled after it was shown")
        rest = shown.text.rest(argument_text(call))
        if rest is None:
            raise Void("the arguments of a tool call were corrected after they were shown")
        more = self._encoder.more(shown.call, rest) if rest else b""
        return more + self._encoder.end(shown.call, call)
