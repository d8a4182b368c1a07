"""The framings by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from wholecall.deltas import WireFault
from wholecall.framing.base import BytesLike
from wholecall.framing.eventstream import EventStreamFraming
from wholecall.framing.frame import Frame, Like
from wholecall.framing.jsonarray import JSONArrayFraming
from wholecall.framing.jsonl import JSONLinesFraming
from wholecall.framing.sse import SSEFraming
from wholecall.framing.vercel import VercelFraming
from wholecall.limits import Limits


class Framing(Protocol):
    """The interface of a framing for a parser; nothing here raises on remote bytes.

    Attributes:
        faults: the faults that were not taken yet.
        replaced: whether any frame so far held bytes that are not UTF-8.
    """

    faults: list[WireFault]
    replaced: bool

    @property
    def room(self) -> int | None:
        """How many bytes may still come, None if the stream has no limit."""
        ...

    @room.setter
    def room(self, room: int | None) -> None: ...

    def feed(self, data: BytesLike, /) -> list[Frame]:
        """Read the next bytes of the stream and return the frames that they complete."""
        ...

    def read(self, data: BytesLike, /) -> tuple[list[str], Like]:
        """Read the next bytes like `feed`; return the texts of the frames, and their properties (see `framed`)."""
        ...

    def close(self) -> list[Frame]:
        """End the stream and return the frames that its end completes; idempotent."""
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
