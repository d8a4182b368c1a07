"""Laws of `events="calls"`: other events are unchanged, and the events left out are not even made."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import corpora, encode, quirky
from tests.support.renderers import RENDERERS
from tests.support.turns import Plan, partitions, plans, split, stream
from wholecall import ToolCallParser, acollect, aturns, collect, turns, wrap
from wholecall.calls.output.events import PIECES
from wholecall.machine import assembler, call, phases, routes
from wholecall.stream.lanes import answer

if TYPE_CHECKING:
    from collections.abc import Sequence

STREAMS = corpora.streams()
_ENDS: dict[str, Callable[[ToolCallParser[Any]], list[Any]]] = {
    "closed": lambda parser: parser.close(),
    "aborted": lambda parser: parser.abort("enough"),
    "failed": lambda parser: parser.fail("the connection was lost"),
}


def read(chunks: Sequence[bytes], end: str = "closed", **options: Any) -> tuple[list[list[Any]], Any]:
    """Return the events of each chunk and of the end, and the turns."""
    parser: ToolCallParser[Any] = ToolCallParser(**options)
    return [*map(parser.feed, chunks), _ENDS[end](parser)], parser.turns


def without_pieces(events: list[Any]) -> list[Any]:
    """Return the events other than pieces of text."""
    return [event for event in events if not isinstance(event, PIECES)]


def differs(chunks: Sequence[bytes], end: str = "closed", **options: Any) -> bool:
    """Return whether the events or the turns are others than those of the full mode without its pieces of text."""
    found, views = read(chunks, end, events="calls", **options)
    full, expected = read(chunks, end, **options)
    return [*map(_log, found)] != [_log(without_pieces(events)) for events in full] or views != expected


def _log(events: list[Any]) -> list[bytes]:
    """Return events as lines, in which a NaN is equal to itself."""
    return [event.to_json() for event in events]


def pieces(data: bytes, rng: Random, most: int) -> list[bytes]:
    """Cut bytes into pieces of random sizes."""
    cuts = [0]
    while cuts[-1] < len(data):
        cuts.append(cuts[-1] + rng.randint(1, most))
    return split(data, cuts[1:-1])


def damaged(data: bytes, rng: Random) -> bytes:
    """Change, lose and repeat some bytes at random places."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at, size = rng.randrange(len(out) + 1), rng.choice((0, 1, 1, 7, 200))
        out[at : at + size] = rng.choice((b"", b"\xff", b"\n\n", b'"', b"{", b"}", out[at - 300 : at]))
    return bytes(out)


@pytest.mark.sampled(35)
@pytest.mark.parametrize("paths", corpora.groups(STREAMS))
def test_every_recording(paths: list[Path], rng: Random) -> None:
    """Law 76: with `events="calls"` a recording gives, chunk by chunk, the events of the full mode but pieces of text."""
    for path in paths:
        data = path.read_bytes()
        cuts = ([data], pieces(data, rng, 1460), pieces(data, rng, max(len(data) // 50, 9)))

        assert [] == [len(chunks) for chunks in cuts for end in _ENDS if differs(chunks, end)], path.name


@pytest.mark.sampled(11)
@pytest.mark.parametrize("paths", corpora.groups(STREAMS))
def test_every_recording_damaged(paths: list[Path], rng: Random) -> None:
    """Law 76: also when bytes are lost or changed."""
    for path in paths:
        found = [damaged(path.read_bytes(), rng) for _ in range(3)]

        assert [] == [data for data in found if differs(pieces(data, rng, max(len(data) // 20, 9)))], (
            path.name
        )


@pytest.mark.sampled(5)
@pytest.mark.parametrize("dialect", RENDERERS)
def test_every_dialect(dialect: str, rng: Random) -> None:
    """Law 76: in every dialect that can be rendered, whole or cut, named or found."""
    calls = [encode.Call(f"call_{n}", "f", f'{{"n":{n},"text":"Brést \\ud83d\\ude00"}}') for n in range(3)]
    data = RENDERERS[dialect](encode.Turn(calls, text="to the harbour"), encode.every(5))
    cases = [data, data[: len(data) * 2 // 3]]

    assert [] == [
        (n, name)
        for n, one in enumerate(cases)
        for name in ("auto", dialect.partition(",")[0])
        if differs(pieces(one, rng, 90), dialect=name)
    ]


@given(st.integers(0, 10**6), st.data())
def test_quirky_streams(number: int, data: Any) -> None:
    """Law 76: for any labels and texts of servers."""
    octets = quirky.make_numbered(76, number).bytes("\n")

    assert not differs(split(octets, data.draw(partitions(len(octets)))))


@given(plans(), st.data())
def test_a_parser_that_moves(plan: Plan, data: Any) -> None:
    """Law 76: a snapshot holds the wanted kinds of events, and otherwise the content of a full-mode snapshot."""
    octets = b"".join(stream(plan.fragments()))
    at = data.draw(st.integers(0, len(octets)))
    parsers: list[ToolCallParser[Any]] = [ToolCallParser(events="calls"), ToolCallParser()]
    for parser in parsers:
        parser.feed(octets[:at])
    told = [
        [*moved.feed(octets[at:]), *moved.close()]
        for moved in (ToolCallParser.restore(parser.snapshot()) for parser in parsers)
    ]

    assert told[0] == without_pieces(told[1])


# No event is made and thrown away.


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the name of each piece of text of which an event is made."""
    found: list[str] = []
    for module in (answer, assembler, call, phases, routes):
        for kind in PIECES:
            name = kind.__name__

            def make(*fields: Any, name: str = name, kind: Any = kind) -> Any:
                found.append(name)
                return kind(*fields)

            if hasattr(module, name):
                monkeypatch.setattr(module, name, make)
    return found


def _read(path: Path, **options: Any) -> None:
    parser: ToolCallParser[Any] = ToolCallParser(**options)
    parser.feed(path.read_bytes())
    parser.close()


def test_none_is_made(made: list[str]) -> None:
    """Of no recording is a piece of text made into an event; in the full mode pieces of all four kinds are."""
    for path in STREAMS:
        _read(path, events="calls")
    assert [] == made

    for path in STREAMS:
        _read(path)
    assert {kind.__name__ for kind in PIECES} - {"ArgumentsProgress", "OutputProgress"} == set(made)


async def _asynchronous(chunks: list[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


def _by_shells(chunks: list[bytes], **options: Any) -> list[Any]:
    """Return the turns that each shell gives which hands no event on."""

    async def later() -> list[Any]:
        last = await acollect(_asynchronous(chunks), **options)
        found = [turn async for turn in aturns(_asynchronous(chunks), **options)]
        wrapped = wrap(_asynchronous(chunks), **options)
        async for _ in wrapped:
            pass
        return [last, found, list(wrapped.turns)]

    wrapped = wrap(iter(chunks), **options)
    assert chunks == list(wrapped)
    now = [collect(iter(chunks), **options), list(turns(iter(chunks), **options)), list(wrapped.turns)]
    return now + asyncio.run(later())


@pytest.mark.sampled(5)
@pytest.mark.parametrize("dialect", RENDERERS)
def test_shells_that_hand_no_event_on_make_none(dialect: str, made: list[str]) -> None:
    """Turns do not need the pieces: `turns`, `collect`, `wrap` and their twins are as in the full mode, without them."""
    turn = encode.Turn([encode.Call("call_1", "f", '{"n":1}')], text="to the harbour")
    chunks = pieces(RENDERERS[dialect](turn, encode.every(3)), Random(dialect), 200)
    found = _by_shells(chunks)
    assert [] == made

    assert _by_shells(chunks, events="all") == found
    assert made
