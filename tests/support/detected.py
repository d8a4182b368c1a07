"""The dialects for which each frame of a stream is decisive, when all of the table are asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wholecall import Limits
from wholecall.dialects.decode import payloads, plain
from wholecall.dialects.envelope import opened
from wholecall.dialects.table import DIALECTS
from wholecall.framing import FRAMINGS
from wholecall.framing.frame import Frame
from wholecall.framing.opening import framing_of


def decided(data: bytes) -> Iterator[tuple[str, ...]]:
    """Yield the dialects for which each frame of a stream is decisive, in an envelope or without."""
    for frame in _frames(data):
        for one in (frame, opened(frame)):
            yield from (_willing(payload, one.event) for payload in _payloads(one))


def first_decided(data: bytes) -> tuple[str, ...]:
    """Return the dialects for which the first frame is decisive that is so for any; its name may replace its type."""
    for frame in _frames(data):
        for one in (frame, opened(frame)):
            told = _payloads(one)
            named = [dict.fromkeys(("type", "event_type"), one.event) | payload for payload in told]
            for payload in told + (named if not one.event.isalpha() else []):
                if found := _willing(payload, one.event):
                    return found
    return ()


def _frames(data: bytes) -> Iterator[Frame]:
    framing = FRAMINGS[framing_of(data) or "sse"](Limits())
    yield from framing.feed(data)
    yield from framing.close()


def _payloads(frame: Frame) -> list[dict[str, Any]]:
    texts = payloads(frame.data)
    return [(plain(text) or {}) if text.lstrip().startswith("{") else {} for text in texts]


def _willing(payload: dict[str, Any], event: str) -> tuple[str, ...]:
    return tuple(dialect.name for dialect in DIALECTS if dialect.detect(payload, event))
