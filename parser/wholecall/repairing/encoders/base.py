"""Base class of encoders: events in, the bytes of a strict stream out.

Theory of operation. An encoder writes one turn. It writes calls only when they are whole, each with its whole name, its
id, its own index that counts from 0, and its arguments as JSON text, so that even a naive accumulator gets them right.
Anything that the dialect cannot express is left out: signatures and other fields in `extra`, calls of a kind without a
form in it (`ServerToolCall` in all of them), and choices other than the first if it has only one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final, Union

import msgspec

from wholecall.calls.output.call_events import BuiltinToolCall, CustomToolCall, ToolCall
from wholecall.calls.output.events import Event, StreamFault, TurnFinished
from wholecall.calls.output.usage import tokens_of as usage_tokens
from wholecall.discreet import compact
from wholecall.types import Kind

Executable = Union[ToolCall[Any], CustomToolCall, BuiltinToolCall]

_UNENDED: Final = frozenset({"error", "aborted", "unknown"})  # reasons of turns that broke off
# Readers that split decoded text take these for line ends (U+0085, U+2028, U+2029); JSON may escape them.
_LINE_ENDS: Final = {b"\xc2\x85": b"\\u0085", b"\xe2\x80\xa8": b"\\u2028", b"\xe2\x80\xa9": b"\\u2029"}


class OpenCall(msgspec.Struct, frozen=True):
    """A call that has begun and not ended: its choice, its index in the stream, its kind, and its labels."""

    choice: int
    index: int
    kind: Kind
    id: str = ""
    name: str = ""
    item_id: str = ""


class Encoder(ABC):
    """Encode the events of one turn, of any dialect, as a strict event stream of the encoder's dialect.

    `encode` takes all events. The other methods write single things: a whole call, or one in pieces (`begin`, `more`,
    `end`).
    """

    # Writers by kind of event; others have no form: functions, because bound methods would hold us in a cycle.
    _events: ClassVar[dict[type, Callable[[Any, Any], bytes]]]
    _has_choices = False  # whether a turn may hold several; else the first is written
    _failed = False  # a fatal fault was reported

    def encode(self, events: Iterable[Event[Any]]) -> bytes:
        """Return the frames for the events."""
        known, every = self._events, self._has_choices
        return b"".join(
            known[type(event)](self, event)
            for event in events
            if type(event) in known and (every or event.choice == 0)
        )

    @abstractmethod
    def close(self) -> bytes:
        """Return the frames that end the stream after the last event."""

    @abstractmethod
    def call(self, call: Executable) -> bytes:
        """Return the frames of a whole call; nothing for a kind that has no form in the dialect."""

    @abstractmethod
    def begin(self, choice: int, id: str, name: str, text: str, kind: Kind) -> tuple[OpenCall, bytes]:
        """Return a call with the next index, and the frames that begin it."""

    @abstractmethod
    def more(self, call: OpenCall, text: str) -> bytes:
        """Return further text of a call."""

    @abstractmethod
    def end(self, call: OpenCall, whole: Executable) -> bytes:
        """Return the frames that end a call after all of its text."""

    @abstractmethod
    def error(self, message: str, code: str = "stream_error") -> bytes:
        """Return the frames that report an error, in the form for which clients raise.

        Args:
            message: for people.
            code: for programs, where the dialect has a place for it.
        """

    def _fault(self, event: StreamFault) -> bytes:
        self._failed = self._failed or event.fatal
        return self.error(event.detail, event.kind) if event.fatal else b""

    def _is_broken_off(self, event: TurnFinished, n_calls: int) -> bool:
        """Return whether a turn gets no end: it failed, or stopped without a reason or a call."""
        return self._failed or (event.reason in _UNENDED and not n_calls)


def argument_text(call: Executable) -> str:
    """Return the JSON text of a call's arguments (of a free-text call its input).

    It is the wire's own text if that was exact, else the compact JSON of the value read.
    """
    if isinstance(call, CustomToolCall):
        return call.input
    if isinstance(call, ToolCall) and call.status == "exact":
        return call.raw_arguments
    return compact(call.arguments)


def json_bytes(value: object) -> bytes:
    """Return compact JSON in one line, even for readers that split at more than LF and CR."""
    try:
        data = msgspec.json.encode(value)
    except UnicodeEncodeError:  # a lone surrogate
        data = compact(value).encode("utf-8", "backslashreplace")
    if data.isascii():
        return data
    for end, escape in _LINE_ENDS.items():
        data = data.replace(end, escape)
    return data


def server_sent(payload: object, event: str | None = None) -> bytes:
    """Return one server-sent event."""
    head = b"" if event is None else b"event: " + event.encode() + b"\n"
    return head + b"data: " + json_bytes(payload) + b"\n\n"


def tokens_of(usage: Mapping[str, Any] | None) -> tuple[int, int]:
    """Return the tokens of the prompt and of the answer in any provider's words; 0 for a missing count."""
    prompt, answer = usage_tokens(usage or {})
    return prompt or 0, answer or 0
