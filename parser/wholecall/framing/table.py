"""The framings by name, and which one a stream's first bytes ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from wholecall.deltas import WireFault
from wholecall.framing.base import BOM, BytesLike
from wholecall.framing.eventstream import PRELUDE_BYTES, EventStreamFraming, is_prelude
from wholecall.framing.frame import Frame
from wholecall.framing.jsonarray import JSONArrayFraming
from wholecall.framing.jsonl import JSONLinesFraming
from wholecall.framing.sse import SSEFraming
from wholecall.framing.vercel import VercelFraming, is_coded
from wholecall.limits import Limits

__all__ = ["FRAMINGS", "Framing", "name_of", "sniff"]


class Framing(Protocol):
    """What a parser needs of a framing; nothing here raises on remote bytes.

    Attributes:
        faults: what went wrong and was not taken yet.
        replaced: whether any frame so far held bytes that are not UTF-8.
    """

    faults: list[WireFault]
    replaced: bool

    def feed(self, data: BytesLike, /) -> list[Frame]:
        """Read the next bytes of the stream and return the frames that they complete."""
        ...

    def close(self) -> list[Frame]:
        """Tell that the stream is over and return what its end completes; idempotent."""
        ...

    def take_faults(self) -> list[tuple[int, WireFault]]:
        """Return the faults and forget them, each with the number of frames before it that its read returned."""
        ...


def _lenient_sse(limits: Limits) -> Framing:
    return SSEFraming(limits, dispatch_at_eof=True, raw_json=True, misspelt=True)


FRAMINGS: dict[str, Callable[[Limits], Framing]] = {
    "sse": _lenient_sse,
    "jsonl": JSONLinesFraming,
    "jsonarray": JSONArrayFraming,
    "eventstream": EventStreamFraming,
    "vercel": VercelFraming,
}


def name_of(framing: Framing) -> str:
    """Return the name of the framing."""
    return _NAMES[type(framing)]


_NAMES: dict[type, str] = {
    SSEFraming: "sse",
    JSONLinesFraming: "jsonl",
    JSONArrayFraming: "jsonarray",
    EventStreamFraming: "eventstream",
    VercelFraming: "vercel",
}
_CODE = b"0:"
_CODED_VALUES = (b'"', b"{", b"[")
_BINARY = (b"\0", b"\1")  # a message has less than 32 MiB


def sniff(first_bytes: bytes) -> str | None:
    """Return the name of the framing of a stream that begins so, or None while that is open.

    One byte decides, the first that is neither of a byte order mark nor white space. Everything that is
    not JSON is SSE, also what is no stream at all: that framing finds no frame in it. Only a byte with
    which a binary event stream can begin asks for the rest of its first head, whose checksum decides, one
    that can be the code of a line of Vercel's asks for the colon and what begins a value, and a bracket for what
    follows it: lines of LangGraph's are arrays that begin with a word or with an array (quirk 122).
    """
    if first_bytes.startswith(_BINARY):
        if len(first_bytes) < PRELUDE_BYTES:
            return None
        return "eventstream" if is_prelude(first_bytes) else "sse"
    if len(first_bytes) < len(BOM) and BOM.startswith(first_bytes):
        return None
    text = first_bytes.removeprefix(BOM).lstrip(b" \t\r\n")
    if not text:
        return None
    if is_coded(text[:1] + b":") and b":".startswith(text[1:2]):
        if len(text) <= len(_CODE):
            return None
        return "vercel" if text[len(_CODE) :].startswith(_CODED_VALUES) else "sse"
    if text[:1] == b"[":
        return _array(text[1:].lstrip(b" \t\r\n")[:1])
    return "jsonl" if text[:1] == b"{" else "sse"


def _array(first: bytes) -> str | None:
    """Tell lines that are arrays from one array by what stands first in it."""
    return {b"": None, b'"': "jsonl", b"[": "jsonl"}.get(first, "jsonarray")
