"""The interface of a dialect for leaks in its streams, and for its whole bodies.

Theory of operation. `leaks` knows which blocks hold text that was read, the part of it to show, and the emitted calls.
A wire knows the places of text in a dialect's frames, the frames without it, and how to write text and calls. Only the
rewriter that follows has to understand the result: numbers of blocks and indices of calls are corrected there.

A frame is *seen* on arrival, and passes, whole or stripped, when it is sent. `bodies` does the same with a whole body,
and knows the verdicts; the wire's `Body` knows its reasons, and how its calls are read and written.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec.structs import replace

from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.calls.output.events import Event, TextDelta
from wholecall.repairing.pieces import Piece
from wholecall.repairing.rewriter import lasting
from wholecall.repairing.schema import Schema
from wholecall.types import TurnReason

Payload = dict[str, Any]


class LeakWire(ABC):
    """The frames of one stream with leaked calls.

    Args:
        most: bytes of an event, and of a text that is to be restated.
    """

    def __init__(self, most: int) -> None:
        self._most = most

    @abstractmethod
    def see(self, piece: Piece) -> bool:
        """Note a received frame; return whether it is new: repeated frames must not be sent again."""

    @abstractmethod
    def ends(self, piece: Piece) -> bool:
        """Return whether the frame ends a choice or the stream: calls come before it."""

    @abstractmethod
    def stripped(self, piece: Piece) -> bytes | None:
        """Return the frame without its text, nothing if it has no other effect; None if it has no text."""

    def passing(self, piece: Piece) -> bytes:
        """Return the frame to send; it is another one if it restates text that was stripped before."""
        return piece.raw

    @abstractmethod
    def said(self, choice: int, text: str, *, reasoning: bool) -> bytes:
        """Return the frame that says this text; nothing if a later frame says it."""

    @abstractmethod
    def call(self, choice: int, id: str, name: str, arguments: str) -> list[bytes]:
        """Return the frames that hold a whole call."""


class Leaked(NamedTuple):
    """The content of a body with leaked calls: all events, those that end calls from text, and the response's id."""

    events: list[Event[Any]]
    ours: list[ToolCall[Any] | ToolCallDropped]
    response_id: str | None

    def is_told(self, choice: int | None = None) -> bool:
        """Return whether a call was emitted from the text, or was a duplicate."""
        return any(
            choice in (None, event.choice) and (isinstance(event, ToolCall) or event.reason == "told_twice")
            for event in self.ours
        )

    def text(self, choice: int) -> str:
        """Return the shown part of a choice's text; text that is not a call is text again."""
        said = [e.text for e in self.events if isinstance(e, TextDelta) and e.choice == choice]
        kept = [
            event.raw_arguments
            for event in self.ours
            if isinstance(event, ToolCallDropped) and event.choice == choice and event.reason != "told_twice"
        ]
        return "".join([*said, *kept])

    def calls(self, choice: int) -> list[ToolCall[Any]]:
        """Return the calls from a choice's text, with unique ids."""
        calls = [event for event in self.ours if isinstance(event, ToolCall) and event.choice == choice]
        return [replace(call, id=lasting(call, self.response_id).id) for call in calls]


class Body(NamedTuple):
    """The rules for a dialect's whole bodies.

    Attributes:
        claims: returns the reasons for which an answer ended, in our words.
        rewrite: returns an answer with the emitted calls, and with the reason that fits them; the same value if it has
            both. With `has_older_form` it takes `legacy`, too.
        error: returns the body that reports an error, from its message and code.
        unleaked: returns an answer whose leaked calls are structured ones.
        kind: its type.
        schema: its published schema, where it is checked.
        has_older_form: whether clients may ask for calls in an older form.
    """

    claims: Callable[[Any], list[TurnReason]]
    rewrite: Callable[..., Any]
    error: Callable[[str, str], Payload]
    unleaked: Callable[[Payload, Leaked], Payload]
    kind: Any = dict
    schema: Schema | None = None
    has_older_form: bool = False


def placed(things: list[Any], is_call: Callable[[Any], bool], calls: list[Payload]) -> list[Any]:
    """Return the list with other calls, at the place of its first call."""
    place = next((at for at, thing in enumerate(things) if is_call(thing)), len(things))
    rest = [thing for thing in things if not is_call(thing)]
    return [*rest[:place], *calls, *rest[place:]]
