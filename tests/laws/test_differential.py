"""Against readers that are always there: the standard library, msgspec, and the standard's text for event streams."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import example, given

from tests.support.differences import DAMAGED, SSE_STREAMS, STREAMS, TEXTS, cells, disagreement, of_peer, ours
from tests.support.references import SSEvent, sse_events
from tests.support.together import together
from wholecall.framing import SSEFraming

READERS: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "msgspec": lambda text: msgspec.json.decode(text.encode("utf-8", "surrogatepass")),
}


def frames(stream: bytes, **leniencies: bool) -> list[SSEvent]:
    """Return the events that the framing makes of a stream."""
    framing = SSEFraming(**leniencies)
    found = [*framing.feed(stream), *framing.close()]
    return [SSEvent(frame.event, frame.data, frame.id, frame.retry) for frame in found]


@together("name", TEXTS)
def test_listed_texts(name: str) -> None:
    """Law 11: docs/differences.md states the results of us, the standard library and msgspec for each text."""
    columns = ["wholecall", *READERS]
    found = [ours(TEXTS[name]), *(of_peer(read, TEXTS[name]) for read in READERS.values())]

    assert cells("Argument texts", columns)[name] == found


def test_the_document_lists_what_is_tried() -> None:
    """Exactly the rows of the document are tried."""
    assert [*TEXTS] == [*cells("Argument texts", [])]
    assert [*SSE_STREAMS] == [*cells("Event streams", [])]


@pytest.mark.parametrize("name", READERS)
@given(text=DAMAGED)
@example(text='{"a":-0}')
@example(text='{"a":1E-400}')
@example(text='{"a":"\\u0000"}')
def test_nothing_else_differs(name: str, text: str) -> None:
    """Law 11: over JSON with some characters changed, readers differ from us only as the document says."""
    assert disagreement(READERS[name], text) is None


@together("name", SSE_STREAMS)
def test_listed_streams(name: str) -> None:
    """Law 30: the document counts the events right."""
    stream = SSE_STREAMS[name]
    lenient = frames(stream, dispatch_at_eof=True, raw_json=True, misspelt=True)
    found = [len(sse_events(stream)), len(frames(stream)), len(lenient)]

    assert [int(cell) for cell in cells("Event streams", ["standard", "SSEFraming", "parser"])[name]] == found


@given(STREAMS)
@example(b"id: 1\n\nevent: x\n\ndata: a\n\n")
@example(b"data: \xe2\x82\ndata: \x80\n\n")
def test_the_framing_is_the_standard(stream: bytes) -> None:
    """Law 30: the framing gives the events of a reader that follows the standard over the whole input."""
    assert sse_events(stream) == frames(stream)
