"""The weight of a translator's memory; a stream that exceeds its bound ends."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import pytest

from tests.support import encode
from tests.support.renderers import RENDERERS
from tests.support.turns import log
from wholecall import BadSnapshot, Limits, ToolCallParser
from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.calls.output.events import StreamFault
from wholecall.dialects.remembered import keep_piece, remembered

if TYPE_CHECKING:
    from collections.abc import Callable

MIB = 1024 * 1024
NARROW = Limits(max_total_arguments_bytes=1)  # a translator may always remember a mebibyte


class _Row(msgspec.Struct):
    text: str = ""


class _Book:
    DERIVED: ClassVar = frozenset({"again"})

    labels: set[str]
    rows: list[_Row]
    other: _Book | None
    again: list[str]

    def __init__(self, *labels: str) -> None:
        self.labels, self.rows, self.other, self.again = set(labels), [], None, []


def _weight_of(book: _Book) -> int:
    return remembered(book) - remembered(_Book())


@pytest.mark.parametrize(
    "fill",
    [
        lambda book: book.labels.add("x" * 100),
        lambda book: book.rows.append(_Row("x" * 100)),
        lambda book: setattr(book, "other", _Book("x" * 100)),
    ],
)
def test_what_is_annotated_weighs(fill: Callable[[_Book], None]) -> None:
    """Texts in sets, in rows and in other objects count with their length."""
    book = _Book()
    fill(book)

    assert 100 < _weight_of(book) < 600


def test_what_is_made_anew_weighs_nothing() -> None:
    """Attributes that a snapshot does not hold are not memory of the stream."""
    book = _Book()
    book.again += ["x" * 100]

    assert 0 == _weight_of(book)


def test_what_several_hold_weighs_once() -> None:
    """An object is there once, in a ring too: the ring ends, and so does the weighing."""
    ring, line = _Book("x" * 100), _Book("x" * 100)
    ring.other, line.other = ring, _Book("x" * 100)

    assert 100 < _weight_of(ring) < _weight_of(line) - 100


def test_depth_is_no_matter() -> None:
    """A value may nest as deep as it wants."""
    value: Any = []
    for _ in range(100_000):
        value = [value]

    assert remembered(value) > 100_000


@pytest.mark.sampled(11)
@pytest.mark.parametrize("dialect", RENDERERS)
def test_a_move_changes_no_weight(dialect: str) -> None:
    """Law 20: wherever a stream moves, its translator's memory weighs the same, so it ends at the same byte."""
    calls = [encode.Call(f"call_{number}", f"f{number}", f'{{"n":{number}}}') for number in range(6)]
    data = RENDERERS[dialect](encode.Turn(calls, text="hi", reasoning="so"), encode.every(3))
    parser: ToolCallParser[Any] = ToolCallParser()
    for start in range(0, len(data), 256):
        parser.feed(data[start : start + 256])
        again: ToolCallParser[Any] = ToolCallParser.restore(parser.snapshot())

        assert remembered(parser._translator) == remembered(again._translator)


# Streams that fill a book of their dialect's.


def _events(payloads: list[Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(payload).encode() + b"\n\n" for payload in payloads)


LONG = "x" * 180
ENDLESS: dict[str, Callable[[int], bytes]] = {
    "chat-completions": lambda n: _events(
        [
            {"choices": [{"delta": {"reasoning_details": [{"id": f"{k}{LONG}", "data": "x"}]}}]}
            for k in range(n)
        ]
    ),
    "responses": lambda n: _events(
        [{"type": "response.created", "stream_id": f"{k}{LONG}"} for k in range(n)]
    ),
    "copilot": lambda n: _events(
        [
            {"type": "assistant.tool_call_delta", "data": {"toolCallId": f"{k}{LONG}", "toolName": "f"}}
            for k in range(n)
        ]
    ),
    "vercel-data": lambda n: b"".join(b'9:{"toolCallId":"%d%s"}\n' % (k, LONG.encode()) for k in range(n)),
}
every_endless = pytest.mark.parametrize("dialect", ENDLESS)


def _read(
    dialect: str, chunks: list[bytes], limits: Limits = NARROW, *, weighs: bool = False
) -> tuple[list[Any], int]:
    """Return the events, and the most that the translator remembered after a chunk, if it is weighed."""
    parser: ToolCallParser[Any] = ToolCallParser(dialect, limits=limits)
    found: list[Any] = []
    most = 0
    for number, chunk in enumerate(chunks):
        found += parser.feed(chunk)
        if weighs and number % 64 == 0:
            most = max(most, remembered(parser._translator))
    return found + parser.close(), most


def _cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def _fatal(events: list[Any]) -> list[str]:
    return [event.kind for event in events if isinstance(event, StreamFault) and event.fatal]


@pytest.mark.sampled(5)
@every_endless
def test_endless_labels_end_their_stream(dialect: str) -> None:
    """A translator remembers no more than its limit, except for input since the last weighing; then the stream ends."""
    events, most = _read(dialect, _cut(ENDLESS[dialect](8000), 1460), weighs=True)

    assert ["stream_too_large"] == _fatal(events)
    assert MIB < most < 1.6 * MIB


@pytest.mark.sampled(7)
@every_endless
def test_where_it_ends_does_not_depend_on_the_cut(dialect: str) -> None:
    """Law 23: the stream ends at the same byte for every partition, and for the payloads of one."""
    data = ENDLESS[dialect](4000)
    whole, _ = _read(dialect, [data])

    for size in (97, 100_000):
        assert log(whole) == log(_read(dialect, _cut(data, size))[0]), size


@every_endless
def test_without_the_limit_it_goes_on(dialect: str) -> None:
    """Who switches the limit off has no bound here either."""
    assert [] == _fatal(_read(dialect, [ENDLESS[dialect](4000)], Limits(max_total_arguments_bytes=None))[0])


def test_open_calls_are_dropped() -> None:
    """A call that is open when the stream ends is never executed."""
    head = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}
    data = _events([{"choices": [{"delta": {"tool_calls": [head]}}]}]) + ENDLESS["chat-completions"](6000)
    done = _events([{"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}])
    events, _ = _read("chat-completions", [data, done])

    assert ["aborted"] == [event.reason for event in events if isinstance(event, ToolCallDropped)]


def test_payloads_count_as_bytes_do() -> None:
    """A stream that comes as payloads ends for the same reason."""
    parser: ToolCallParser[Any] = ToolCallParser("copilot", limits=NARROW)
    lines = [json.loads(line[6:]) for line in ENDLESS["copilot"](4000).split(b"\n\n") if line]

    assert ["stream_too_large"] == _fatal(
        [event for line in lines for event in parser.feed_event(line)] + parser.close()
    )


def test_a_call_that_opens_again_and_again_is_kept_once() -> None:
    """A choice's memory of its calls does not grow with the events that reopen one of them."""
    parser: ToolCallParser[Any] = ToolCallParser("vercel-data", limits=Limits(max_calls=4))
    parser.feed(b'f:{"messageId":"m"}\nb:{"toolCallId":"c","toolName":"t"}\n')
    parser.feed(b'c:{"toolCallId":"c","argsTextDelta":"{\\"a\\":1}"}\n')
    for number in range(1000):
        parser.feed(b'9:{"toolCallId":"c","toolName":"t%d","args":{"a":1}}\n' % number)
    choice = parser._assembler._choices[0]

    assert len(choice.slots.opened) + len(choice.slots.fresh) < 100


@pytest.mark.parametrize("size", [1, 6, 5000])
def test_pieces_of_a_kept_text_are_few(size: int) -> None:
    """A text that is kept takes little more than itself, however small its pieces were."""
    text = "abcdefghij" * 5000
    parts: list[str] = []
    for piece in encode.every(size)(text):
        keep_piece(parts, piece)

    assert text == "".join(parts)
    assert len(parts) < 40


@pytest.mark.sampled(7)
@pytest.mark.parametrize("dialect", RENDERERS)
def test_calls_within_the_limits_do_not_end_their_stream(dialect: str) -> None:
    """A translator's memory of healthy calls is no larger than their text, in any pieces."""
    calls = [encode.Call(f"call_{number}", "f", json.dumps({"a": "xy z" * 500})) for number in range(4)]
    data = RENDERERS[dialect](encode.Turn(calls, text="so " * 700), encode.every(6))
    parser: ToolCallParser[Any] = ToolCallParser()
    most = 0
    for start in range(0, len(data), max(len(data) // 24, 1)):
        parser.feed(data[start : start + max(len(data) // 24, 1)])
        parts = () if parser._translator is None else (parser._translator, parser._translator.wrapped)
        most = max(most, sum(map(remembered, parts)))

    assert most < 3 * sum(len(call.arguments) for call in calls)


@pytest.mark.parametrize("forged", [-1, MIB])
def test_a_weighing_that_is_not_due_is_forged(forged: int) -> None:
    """A snapshot cannot put off the next weighing, nor place it after the input."""
    parser: ToolCallParser[Any] = ToolCallParser("responses", limits=NARROW)
    parser._unweighed = forged

    with pytest.raises(BadSnapshot, match="weighed"):
        ToolCallParser.restore(parser.snapshot())
