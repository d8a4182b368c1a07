"""Law 115: text never waits, and each choice has one reason, after all of its content."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import product

import pytest

from tests.support import corpora, quirky
from wholecall import ReasoningDelta, TextDelta, ToolCallParser
from wholecall.dialects.reasons import turn_reason
from wholecall.repairing import Repairer

REASONS = [None, "stop", "length", "tool_calls"]
DELTAS = [
    {},
    {"content": "a"},
    {"reasoning_content": "b"},
    {"content": ""},
]  # a role repeated after a reason begins another answer
HEAD = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
DONE = b"data: [DONE]\n\n"


def chunk(delta: dict[str, str], reason: str | None, choice: int = 0) -> bytes:
    """Return an event of a chat stream."""
    listed = [{"index": choice, "delta": delta, "finish_reason": reason}]
    return b"data: " + json.dumps({**HEAD, "choices": listed}).encode() + b"\n\n"


def said(parser: ToolCallParser, data: bytes) -> str:
    """Return a parser's events for text in bytes."""
    return "".join(
        event.text for event in parser.feed(data) if isinstance(event, (TextDelta, ReasoningDelta))
    )


def late(events: list[bytes]) -> list[int]:
    """Return after which events not all of the text that came has gone out."""
    before, after = ToolCallParser(), ToolCallParser("chat-completions")
    repairer = Repairer()
    found: list[int] = []
    came = gone = ""
    for number, event in enumerate(events):
        came += said(before, event)
        gone += said(after, repairer.feed(event))
        if len(gone) < len(came):
            found.append(number)
    return found


def reasons(data: bytes) -> Counter[int]:
    """Return how many reasons each choice of a stream has."""
    found: Counter[int] = Counter()
    for line in data.splitlines():
        if not line.startswith(b"data: {"):
            continue
        for choice in json.loads(line[6:]).get("choices", ()):
            found[choice.get("index", 0)] += turn_reason(choice.get("finish_reason")) is not None
    return found


def repaired(events: list[bytes]) -> bytes:
    """Return a repairer's output for a stream."""
    repairer = Repairer()
    return b"".join([*map(repairer.feed, events), repairer.close()])


def small(n: int) -> Iterator[list[bytes]]:
    """Yield all streams of a number of chunks with content, each with a reason or without."""
    first = chunk({"role": "assistant", "content": "x"}, None)
    for frames in product(product(DELTAS, REASONS), repeat=n):
        yield [first, *(chunk(delta, reason) for delta, reason in frames), DONE]


SIZES = [1, 2, pytest.param(3, marks=pytest.mark.slow)]


@pytest.mark.parametrize("n", SIZES)
def test_text_waits_for_no_reason(n: int) -> None:
    """With any reasons, in the text's frame, before or after it, text leaves at once."""
    assert [] == [events for events in small(n) if late(events)]


@pytest.mark.parametrize("n", SIZES)
def test_a_choice_has_one_reason(n: int) -> None:
    """Of any number of reasons one is passed on, and no text comes after it."""
    wrong: list[bytes] = []
    for events in small(n):
        data = repaired(events)
        blocks = data.split(b"\n\n")
        ends = [at for at, block in enumerate(blocks) if reasons(block)[0]]
        texts = [at for at, block in enumerate(blocks) if b'"a"' in block or b'"b"' in block]
        n_came = sum(reasons(event)[0] for event in events)
        if len(ends) != min(n_came, 1) and b'"error"' not in data:
            wrong.append(data)
        if ends and texts and max(texts) > min(ends):
            wrong.append(data)

    assert [] == wrong


@pytest.mark.sampled(7)
@pytest.mark.parametrize("mode", quirky.MODES)
def test_text_of_quirky_servers_waits_for_nothing(mode: str) -> None:
    """The same for the streams of every server with a quirk; and each choice has one reason at most."""
    for number in range(3):
        data = quirky.make(f"text:{number}", (mode,)).bytes()
        events = [block + b"\n\n" for block in data.split(b"\n\n") if block]

        assert [] == late(events), number
        assert all(n <= 1 for n in reasons(repaired(events)).values()), number


def test_text_of_recordings_waits_for_nothing() -> None:
    """The same for all recordings of this dialect."""
    found = {}
    for path in corpora.streams():
        if path.parent.name == "chat-completions" and path.suffix == ".sse":
            events = [block + b"\n\n" for block in path.read_bytes().split(b"\n\n") if block]
            if numbers := late(events):
                found[path.stem] = numbers

    assert {} == found


def tokens(total: int) -> dict[str, int]:
    """Return counts of this sum."""
    return {"prompt_tokens": 0, "completion_tokens": total, "total_tokens": total}


@pytest.mark.parametrize("usages", [[None], [1], [1, None]])
def test_of_many_reasons_and_counts_the_last_ones_go_on(usages: list[int | None]) -> None:
    """A server that sends them with each piece: one frame has both, whatever came with the last piece."""
    counts = [usages[at % len(usages)] for at in range(9)]
    events = [chunk({"role": "assistant", "content": "x"}, None)]
    for at, n in enumerate(counts):
        told = {} if n is None else {"usage": tokens(at)}
        payload = json.loads(chunk({"content": "y"}, "stop")[6:])
        events.append(b"data: " + json.dumps({**payload, **told}).encode() + b"\n\n")
    out = [
        json.loads(line[6:]) for line in repaired([*events, DONE]).splitlines() if line.startswith(b"data: {")
    ]
    last = max((at for at, n in enumerate(counts) if n is not None), default=None)

    assert [one.get("usage") for one in out] == [None] * 10 + [None if last is None else tokens(last)]
    assert [one["choices"][0]["finish_reason"] for one in out] == [None] * 10 + ["stop"]


@pytest.mark.parametrize("usage", [b"", b'"usage":{"total_tokens":1},'])
@pytest.mark.parametrize("reason", ["stop", None])
def test_memory_is_bounded_behind_a_reason(reason: str | None, usage: bytes) -> None:
    """No part of a text of any length waits, whether a reason came before it or with each piece, counts or none."""
    repairer = Repairer()
    held = 0
    first = [chunk({"role": "assistant", "content": "x"}, None), chunk({}, "stop")]
    piece = chunk({"content": "y" * 100}, reason).replace(b'"choices"', usage + b'"choices"')
    for event in [*first, *[piece] * 2000]:
        repairer.feed(event)
        held = max(held, repairer.report.held)

    assert held < 1000
