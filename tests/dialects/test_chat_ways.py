"""The three ways a chunk of chat completions is read: as a piece like the one before, by the narrow view, by the wide one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import pytest

from tests.support import share
from tests.support.together import together
from tests.support.told import in_pieces
from wholecall import ToolCallParser
from wholecall.deltas import Delta, Fragment, Labelled
from wholecall.dialects.openai.chat import translator as chat
from wholecall.dialects.openai.chat.chunks import ChoiceView, Chunk, DeltaView
from wholecall.dialects.openai.chat.translator import ChatTranslator
from wholecall.framing.frame import Frame

HEAD = {"id": "r1", "model": "m"}
DETAIL = {"type": "reasoning.text", "text": "b", "format": "unknown", "index": 0}
PIECES: dict[str, dict[str, Any]] = {
    "text": {"content": "a"},
    "reasoning": {"reasoning": "a"},
    "reasoning_content": {"reasoning_content": "a"},
    "both": {"reasoning_content": "a", "reasoning": "a"},
    "details": {"content": "", "role": "assistant", "reasoning": "b", "reasoning_details": [DETAIL]},
    "parts": {"content": [{"type": "text", "text": "a"}]},
    "call": {"tool_calls": [{"index": 0, "function": {"arguments": "1"}}]},
}
CALL = {"index": 0, "id": "c1", "function": {"name": "f", "arguments": ""}}
VALUES: list[Any] = [
    *(None, "", [], {}, "x", 0, 5, True, {"a": 1}, [{"a": 1}], [{}], ["x"]),
    *([CALL], CALL, {"name": "f", "arguments": "2"}, [{"name": "f", "arguments": "2"}]),
    *(
        [DETAIL],
        [DETAIL | {"signature": "s"}],
        [{"type": "text", "text": "c"}],
        {"usage": {"total_tokens": 3}},
    ),
]
STRANGE = ("token_id", "provider_specific_fields")


def chunk(delta: Any, chunk_beside: dict[str, Any] = {}, choice_beside: dict[str, Any] = {}) -> str:  # noqa: B006
    """Return the text of a chunk."""
    return json.dumps({**HEAD, **chunk_beside, "choices": [{"index": 0, "delta": delta, **choice_beside}]})


def streams() -> Iterator[list[str]]:
    """Yield streams of a head, two pieces and a piece that has one more member, in each place and of each value."""
    for name, value in product((*DeltaView.__struct_fields__, *STRANGE), VALUES):
        for piece in PIECES.values():
            yield [chunk(piece), chunk(piece), chunk({**piece, name: value}), chunk(piece)]
    for name, value in product((*ChoiceView.__struct_fields__, *STRANGE), VALUES):
        for piece in PIECES.values() if name not in ("index", "delta") else ():
            yield [chunk(piece), chunk(piece), chunk(piece, {}, {name: value}), chunk(piece)]
    for name, value in product((*Chunk.__struct_fields__, *STRANGE), VALUES):
        for piece in (
            PIECES.values() if name not in ("choices", "id", "model") else ()
        ):  # labels of pieces are not looked at
            yield [chunk(piece), chunk(piece), chunk(piece, {name: value}), chunk(piece)]


def told(texts: list[str]) -> list[Delta]:
    """Return a translator's output for frames that come one by one, a fragment as a labelled one."""
    translator = ChatTranslator()
    first = [chunk({"role": "assistant", "content": ""}), chunk({"tool_calls": [CALL]})]
    deltas = [
        delta
        for text in [*first, *texts, chunk({}, {}, {"finish_reason": "stop"})]
        for delta in in_pieces(translator.translate_texts([text], Frame("message", "", "")))
    ]
    return [
        Labelled(one.choice, one.index, None, None, one.text) if isinstance(one, Fragment) else one
        for one in deltas
    ]


def refuse(_: str) -> Any:
    """Refuse every chunk, as a narrow view refuses unreadable ones."""
    raise msgspec.DecodeError


@share.in_parts(9)
def test_short_ways_lose_nothing(part: share.Part) -> None:
    """Any member next to a piece, in its delta, its choice or its chunk: all ways give the same (quirk 39)."""
    tried = list(streams())
    every = part.of(tried, "ways")
    found = [told(texts) for texts in every]
    with (
        mock.patch.object(chat, "_narrow", refuse),
        mock.patch.dict(chat._PIECES, dict.fromkeys(chat._PIECES)),
    ):
        expected = [told(texts) for texts in every]

    assert len(tried) > 4500
    assert [(texts[2], one) for texts, one in zip(every, expected, strict=True)] == [
        (texts[2], one) for texts, one in zip(every, found, strict=True)
    ]


@together("kind", PIECES)
@together("beside", [dict.fromkeys(DeltaView.__struct_fields__), dict.fromkeys(STRANGE, 7)])
def test_what_says_nothing_takes_the_short_way(kind: str, beside: dict[str, Any]) -> None:
    """Members that are null, and members that no view reads, send no piece to the wide view."""
    with mock.patch.object(ChatTranslator, "_wide", autospec=True, side_effect=ChatTranslator._wide) as wide:
        told([chunk({**beside, **PIECES[kind]}) for _ in range(9)])

    assert wide.call_count <= 2, "of the head of the answer, and of the call"


def ways(folder: Path) -> tuple[int, float, float]:
    """Return how many events of recorded chat streams there are, and which share is not a piece, or needs the wide
    view.
    """
    counts = Counter[str]()

    def counting(name: str) -> Any:
        method = getattr(ChatTranslator, name)

        def counted(self: ChatTranslator, frame: Frame) -> list[Delta]:
            counts[name] += 1
            said: list[Delta] = method(self, frame)
            return said

        return mock.patch.object(ChatTranslator, name, counted)

    with counting("_any"), counting("_wide"):
        for path in sorted(folder.glob("**/*.sse")):
            if "chat-completions" in path.as_posix():
                data = path.read_bytes().replace(b"\r\n", b"\n")
                counts["events"] += data.count(b"\n\n")
                parser = ToolCallParser[Any]()
                parser.feed(data)
                parser.close()
    n = counts["events"]
    return n, counts["_any"] / n, counts["_wide"] / n


def test_most_recorded_events_take_a_short_way(corpora_dir: Path) -> None:
    """No more events of our recordings, which are short and odd, need a closer look than before."""
    n, singly, wide = ways(corpora_dir)

    assert n > 1000
    assert singly <= 0.51
    assert wide <= 0.24


@pytest.mark.cases
def test_most_events_of_servers_take_a_short_way(recordings_dir: Path) -> None:
    """No more events of real servers need a closer look than before."""
    n, singly, wide = ways(recordings_dir)

    assert n > 1000
    assert singly <= 0.17
    assert wide <= 0.083
