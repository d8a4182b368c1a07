"""Parsers that move from worker to worker while they read, and altered snapshots."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import msgspec
from msgspec.msgpack import Ext

from wholecall import ToolCallParser
from wholecall.framing import FRAMINGS
from wholecall.framing.table import name_of
from wholecall.stream.options import MovedOptions
from wholecall.stream.snapshots.rows import Reading, Writing
from wholecall.stream.snapshots.shapes import shape_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from random import Random

_MOST = (1 << 63) - 1
FOLDED: tuple[Any, ...] = (  # rows of plain values, the last of them good
    *(
        [],
        [[None]],
        [{"a": None}],
        [1, 2],
        [[], 1],
        [[1], 1],
        [{"a": 1}, 1],
        [{1: None}, 1],
        [[[]]],
        [b""],
        {},
    ),
    *([Ext(9, b"")], [Ext(1, b"\xff")], [Ext(1, b"[[]]")], [[None], Ext(1, b"1" * 5000)], [[None, None], 1]),
    [{"a": None, "b": None}, [None], [], 1],
)
_ODDITIES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 2, 3, 7, -1, 255, 1 << 40, -(1 << 63), (1 << 63) - 1, 1.5, float("nan")),
    *(
        "",
        "a",
        "{",
        '{"a":',
        "ended",
        "pending",
        "streaming",
        "settled",
        "function",
        "custom",
        "\u00e9",
        b"",
        b"{",
    ),
    *(
        [],
        [[]],
        [0],
        [0, 0],
        [2, 0],
        [2, 1],
        [0, 1 << 40],
        [0, []],
        {},
        {"a": 1},
        {1: 2},
        {None: "a"},
        {("a", 1): 0},
        Ext(1, b"\xed\xa0\x80"),
    ),
    *(Ext(1, b"1" * 30), Ext(1, b"\xff"), Ext(1, b"[[]]"), Ext(9, b""), Ext(-1, b"\0\0\0\0"), *FOLDED),
)


class Moved(NamedTuple):
    """The result of a stream: its events, its turns, and its snapshot at the end."""

    events: list[Any]
    turns: tuple[Any, ...]
    snapshot: bytes


def moved(
    chunks: Iterable[bytes],
    parser: ToolCallParser[Any],
    *,
    moves: bool = True,
    tools: Any = None,
    lane: bool = False,
) -> Moved:
    """Feed a stream; with `moves` the parser is replaced before each chunk by one restored from its snapshot.

    A parser that took over from a lane has its knowledge in other rows; with `lane` the snapshot is left out.
    """
    events: list[Any] = []
    parser._may_begin_in = parser._may_begin_in if lane else ""
    for chunk in chunks:
        if moves:
            parser = replaced(parser, tools)
        events += parser.feed(chunk)
    parser = replaced(parser, tools) if moves else parser
    events += parser.close()
    return Moved(events, parser.turns, b"" if lane else besides_framing(parser))


def replaced(parser: ToolCallParser[Any], tools: Any = None) -> ToolCallParser[Any]:
    """Return a parser restored from this parser's snapshot, after a check that its own snapshot is the same."""
    data, turns = parser.snapshot(), parser.turns
    other = ToolCallParser.restore(data, tools=tools)
    assert turns == other.turns
    assert data == other.snapshot() == parser.snapshot()
    return other


def besides_framing(parser: ToolCallParser[Any]) -> bytes:
    """Return a parser's state, except for bytes that wait in its framing, and the count of bytes."""
    parser._made()  # a parser that waits for its first bytes has no state yet
    framing, parser._framing = parser._framing, None
    unweighed, parser._unweighed = parser._unweighed, 0
    try:
        return parser.snapshot()
    finally:
        parser._framing, parser._unweighed = framing, unweighed


def move_framing(parser: ToolCallParser[Any]) -> None:
    """Give a parser another framing, made from that in a snapshot."""
    framing = parser._framing
    assert framing is not None
    before = Writing([framing])
    rows = before.rows()
    parser._framing = FRAMINGS[name_of(framing)](parser._limits)
    Reading([*before.shapes], deepcopy(rows)).fill([parser._framing], {})
    assert rows == Writing([parser._framing]).rows()


def opened(data: bytes) -> Any:
    """Return the contents of a snapshot."""
    return msgspec.msgpack.decode(msgspec.msgpack.decode(data)[3])


def resealed(inside: Any) -> bytes:
    """Return a snapshot with other contents, and the right checksum."""
    return sealed(msgspec.msgpack.encode(inside))


def sealed(body: bytes) -> bytes:
    """Return a snapshot with this body and the right checksum."""
    return msgspec.msgpack.encode(["wholecall.snapshot.1", shape_of(MovedOptions), crc32(body), body])


def forged(data: bytes, rng: Random) -> bytes:
    """Return a snapshot in which some values were replaced, dropped, doubled or exchanged."""
    return resealed(changed(opened(data), rng))


def changed(inside: Any, rng: Random) -> Any:
    """Replace, drop, double or exchange one to five values in a snapshot's contents, in place."""
    for _ in range(rng.choice((1, 1, 2, 3, 5))):
        rows = len(inside) == 3 and type(inside[2]) is list and inside[2] and rng.random() < 0.9
        places = list(_places(inside[2] if rows else inside))
        if not places:
            break
        holder, place = rng.choice(places)
        others = [outer[inner] for outer, inner in places]
        alike = [value for value in (*others, *_ODDITIES) if type(value) is type(holder[place])]
        kind = rng.random()
        if kind < 0.05:
            del holder[place]
        elif kind < 0.1 and type(holder) is list:
            holder.insert(place, deepcopy(holder[place]))
        elif kind < 0.2:
            holder[place] = deepcopy(rng.choice((*others, *_ODDITIES)))
        elif kind < 0.4 and type(holder[place]) is int:
            holder[place] = max(min(holder[place] + rng.choice((-2, -1, 1, 2, 100)), _MOST), -_MOST)
        elif kind < 0.8 and type(holder[place]) is bool:
            holder[place] = not holder[place]
        else:
            holder[place] = deepcopy(rng.choice(alike))
    return inside


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for place, item in list(value.items() if type(value) is dict else enumerate(value)):
        yield value, place
        if type(item) in (list, dict):
            yield from _places(item)
