"""Names that servers send in pieces, and frames that are lost with a trace: every small world of one server's habits.

The name comes in one to three pieces, the id on the first fragment, on all of them or on none, the index is each call's
own or always the same. For any lost frames, no call is emitted under the rest of its name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import pytest

from tests.support import encode
from wholecall import ToolCall, ToolCallParser

NAMES = (["get_tide"], ["get_", "tide"], ["g", "et_", "tide"])
TEXTS = (['{"a":1}'], ['{"a"', ":1}"])
MOST_LOST = 3


def _chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return encode.sse({"id": "x", "object": "chat.completion.chunk", "choices": [choice]})


def _call(number: int, name: list[str], text: list[str], ids: str, index: str) -> Iterator[bytes]:
    functions = [*({"name": piece} for piece in name), *({"arguments": piece} for piece in text)]
    for at, function in enumerate(functions):
        fragment: dict[str, Any] = {"index": number if index == "own" else 0, "function": function}
        if ids == "all" or (ids == "first" and at == 0):
            fragment["id"] = f"call_{number}"
        yield _chunk({"tool_calls": [fragment]})


def _damaged(frame: bytes) -> bytes:
    return frame.replace(b'"object"', b'"obj\xffct"', 1)


def _worlds(ids: str, index: str, n: int) -> Iterator[list[bytes]]:
    """Yield the frames of each stream, but for its end, with up to three of them damaged."""
    for name in NAMES:
        for text in TEXTS:
            frames = [_chunk({"role": "assistant", "content": ""})]
            frames += [frame for number in range(n) for frame in _call(number, name, text, ids, index)]
            for lost in (
                places for k in range(MOST_LOST + 1) for places in combinations(range(len(frames)), k)
            ):
                yield [_damaged(frame) if at in lost else frame for at, frame in enumerate(frames)]


# Two calls under one index without ids, whose names come in pieces, are three habits at once: where no tools are
# declared, a piece cannot be identified as a name, even if no frame is lost.
WORLDS = [
    world
    for world in product(("first", "all", "none"), ("own", "one"), (1, 2))
    if world != ("none", "one", 2)
]


@pytest.mark.sampled(13)
@pytest.mark.parametrize(("ids", "index", "n"), WORLDS)
def test_no_call_has_the_rest_of_a_name(ids: str, index: str, n: int) -> None:
    """Law 67: emitted calls were sent, name and arguments, and a whole stream emits some."""
    came = list[int]()
    for frames in _worlds(ids, index, n):
        parser = ToolCallParser("chat-completions")
        data = b"".join([*frames, _chunk({}, "tool_calls"), b"data: [DONE]\n\n"])
        events = [*parser.feed(data), *parser.close()]
        calls = Counter((event.name, str(event.arguments)) for event in events if isinstance(event, ToolCall))

        assert Counter() == calls - Counter({("get_tide", "{'a': 1}"): n})
        came.append(calls.total())
    assert max(came) >= 1
