"""Silence is not emptiness: a call without text comes out only where the wire shows that it ended.

The calls of `tests/models` have every set of end marks that servers are known for; here every dialect's call is cut
behind its head, and then comes what does not end it: ends of other dialects, and the end of an answer without calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.damage.ways import marks_for
from tests.fuzz.mutate import events_of
from tests.support.encode import Call, Turn, every
from tests.support.renderers import RENDERERS
from wholecall import EXECUTABLE, ToolCallParser
from wholecall.output.events import ToolCallDropped

TEXT = "QUAYSIDE"
CALLED = Turn(calls=(Call("call_1", "dredge", f'{{"at":"{TEXT}"}}'),))
SPOKEN = Turn(text="Aye.")
# Their calls have no ends of their own, or Gemini's no other reason: servers say `stop` of calls, too.
WITHOUT_ENDS = frozenset(
    {
        *("chat-completions", "bedrock-invoke-chat-completions", "sap-orchestration"),
        *("dashscope", "dashscope, restating", "gemini, with streamed arguments"),
    }
)


def _dialect(renderer: str) -> str:
    return renderer.partition(",")[0]


def _head(renderer: str) -> list[bytes]:
    """Return the frames of a call before the first of its text; nothing where they come together."""
    frames = events_of(RENDERERS[renderer](CALLED, every(1000)))
    n = next((n for n, frame in enumerate(frames) if TEXT.encode() in frame), 0)
    return frames[:n]


def _ends(renderer: str) -> Iterator[tuple[str, bytes]]:
    """Yield what ends no call of a dialect."""
    head = b"".join(_head(renderer))
    yield "nothing", b""
    yield from marks_for(_dialect(renderer), head)
    if renderer not in WITHOUT_ENDS:
        frames = events_of(RENDERERS[renderer](SPOKEN, every(1000)))
        yield "the end of an answer without calls", frames[-1]


def _told(data: bytes) -> list[Any]:
    parser = ToolCallParser()
    return [*parser.feed(data), *parser.close()]


def _is_announced(renderer: str) -> bool:
    return any(
        isinstance(event, ToolCallDropped) and event.name == "dredge"
        for event in _told(b"".join(_head(renderer)))
    )


ANNOUNCED = [renderer for renderer in RENDERERS if _is_announced(renderer)]


def test_most_dialects_announce_calls() -> None:
    """The law holds for something: where a call comes whole there is no silence to judge."""
    assert len(ANNOUNCED) >= 15


@pytest.mark.parametrize("renderer", ANNOUNCED)
def test_silence_before_an_end_that_is_not_its_own_is_no_call(renderer: str) -> None:
    """Law 98: neither ends of others, nor the end of an answer without calls, make a call of a head."""
    head = b"".join(_head(renderer))
    wrong = [
        what for what, end in _ends(renderer) if any(isinstance(e, EXECUTABLE) for e in _told(head + end))
    ]

    assert [] == wrong
