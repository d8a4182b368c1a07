"""Bedrock: messages of a binary event stream, of Converse and of wrapped Anthropic events.

Both pad their messages with letters, `p`, so that lengths reveal nothing; here the padding grows and shrinks with a
message's number.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

from benchmarks.envelopes.anthropic import Anthropic
from benchmarks.envelopes.base import JSON, dumped
from benchmarks.texts import Call

_PADDING = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_STRING = 7  # the type of a header's value


def _header(name: str, value: str) -> bytes:
    return bytes((len(name),)) + name.encode() + struct.pack(">BH", _STRING, len(value)) + value.encode()


def _message(event: str, payload: JSON, number: int) -> bytes:
    """Return one message: lengths, headers, payload, and the checksums of both."""
    named = {":event-type": event, ":content-type": "application/json", ":message-type": "event"}
    headers = b"".join(_header(*pair) for pair in named.items())
    data = dumped({**payload, "p": _PADDING[: 4 + number * 7 % 58]}).encode()
    lengths = struct.pack(">II", 16 + len(headers) + len(data), len(headers))
    told = lengths + struct.pack(">I", zlib.crc32(lengths)) + headers + data
    return told + struct.pack(">I", zlib.crc32(told))


class Converse:
    """Converse: a block a call; the message's type names the event."""

    def __init__(self) -> None:
        self.events: list[bytes] = []

    def _say(self, event: str, **payload: object) -> None:
        self.events.append(_message(event, payload, len(self.events)))

    def opening(self) -> None:
        """Begin the turn."""
        self._say("messageStart", role="assistant")

    def head(self, index: int, call: Call) -> None:
        """Open a block."""
        use = {"toolUseId": call.id, "name": call.name}
        self._say("contentBlockStart", contentBlockIndex=index, start={"toolUse": use})

    def piece(self, index: int, text: str, id: str = "") -> None:  # noqa: ARG002 - deltas carry no id here
        """Send a piece of a call's arguments."""
        self._say("contentBlockDelta", contentBlockIndex=index, delta={"toolUse": {"input": text}})

    def tail(self, index: int, call: Call) -> None:  # noqa: ARG002
        """Close the block."""
        self._say("contentBlockStop", contentBlockIndex=index)

    def text(self, pieces: Sequence[str]) -> None:
        """Send a block of text, which has no start."""
        for piece in pieces:
            self._say("contentBlockDelta", contentBlockIndex=0, delta={"text": piece})
        self._say("contentBlockStop", contentBlockIndex=0)

    def ending(self, *, calls: bool) -> None:
        """End the turn."""
        self._say("messageStop", stopReason="tool_use" if calls else "end_turn")
        usage = {"inputTokens": 412, "outputTokens": 89, "totalTokens": 501}
        self._say("metadata", usage=usage, metrics={"latencyMs": 1042})


class InvokeAnthropic(Anthropic):
    """Invoke with a model of Anthropic's: each event in Base64, without its framing."""

    def _say(self, type_: str, **fields: object) -> None:
        event = base64.b64encode(dumped({"type": type_, **fields}).encode()).decode()
        self.events.append(_message("chunk", {"bytes": event}, len(self.events)))
