"""A stream may move between workers at any byte: a restored parser continues as if it had never stopped."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.test_split import SMALL
from tests.laws.test_timeline import RECORDINGS, cut
from tests.support import corpora, encode, quirky, share
from tests.support.renderers import RENDERERS
from tests.support.snapshots import (
    besides_framing,
    forged,
    move_framing,
    moved,
    opened,
    replaced,
    resealed,
    sealed,
)
from tests.support.together import together
from tests.support.turns import Plan, chunk, partitions, plans, split
from wholecall import BadSnapshot, Limits, Policy, StreamClosed, ToolCallParser, Tools
from wholecall.framing import FRAMINGS
from wholecall.framing.table import name_of

if TYPE_CHECKING:
    from pathlib import Path

PARSERS: dict[str, dict[str, Any]] = {
    "plain": {},
    "live": {"live": True},
    "calls only": {"events": "calls"},
    "watching": {"watch": {"go": ("a",), "run": "path", "get_tide": "port"}},
    "holding": {"policy": Policy(on_bad_sibling="reject_all"), "live": True},
    "unterminated": {"policy": Policy(require_terminal=False, lone_surrogates="keep")},
    "narrow": {
        "limits": Limits(
            max_arguments_bytes=40, max_total_arguments_bytes=90, max_calls=2, max_aliases=2, max_faults=1
        )
    },
    "short of lines": {"limits": Limits(max_line_bytes=300, max_event_bytes=290, max_stream_bytes=4000)},
}


def _places(data: bytes, count: int, rng: random.Random) -> list[bytes]:
    """Cut the bytes at some places."""
    return split(data, sorted(rng.randrange(len(data) + 1) for _ in range(count)))


EVERY = corpora.streams()


def _smallest() -> list[Path]:
    """Return the smallest recording of each dialect."""
    by_dialect: dict[str, list[Path]] = {}
    for path in RECORDINGS:
        by_dialect.setdefault(path.parent.name, []).append(path)
    return [min(paths, key=lambda path: path.stat().st_size) for paths in by_dialect.values()]


@pytest.mark.sampled(47)
@pytest.mark.parametrize("paths", corpora.groups(RECORDINGS))
def test_recordings_go_on_after_a_move(paths: list[Path], rng: random.Random) -> None:
    """Law 20: every recording gives the same events when its parser moves at some places, and at frames' ends."""
    for path in paths:
        data, options = path.read_bytes(), PARSERS[rng.choice(list(PARSERS))]
        chunks = _places(data, 4, rng)

        assert moved(chunks, ToolCallParser(**options), moves=False) == moved(
            chunks, ToolCallParser(**options)
        ), path.name
        assert (
            moved(chunks, ToolCallParser(), moves=False)[:2] == moved(chunks, ToolCallParser(), lane=True)[:2]
        )


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("paths", share.every(9, corpora.groups(RECORDINGS), "many moves"))
def test_recordings_go_on_after_many_moves(paths: list[Path], rng: random.Random) -> None:
    """Law 20: the same at more places."""
    for path in paths:
        chunks = [chunk for _, chunk in cut(path.read_bytes()[:6000], rng)]
        options = PARSERS[rng.choice(list(PARSERS))]
        before, after = (ToolCallParser(**options) for _ in range(2))

        assert moved(chunks, before, moves=False) == moved(chunks, after), path.name


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", _smallest(), ids=lambda path: path.parent.name)
def test_small_recordings_go_on_after_every_byte(path: Path) -> None:
    """Law 20: the same for live parsers that move at every single byte."""
    data = path.read_bytes()[:500]
    chunks = [data[n : n + 1] for n in range(len(data))]
    before, after = (ToolCallParser(live=True) for _ in range(2))

    assert moved(chunks, before, moves=False) == moved(chunks, after)


def _byte_by_byte(data: bytes) -> tuple[list[list[Any]], set[int], ToolCallParser[Any]]:
    """Return the events of each byte, the bytes that end a frame or a search for the framing, and the parser."""
    parser, events, loud = ToolCallParser(), list[list[Any]](), set[int]()
    framing: Any = None  # in addition to the parser's own
    for place in range(len(data)):
        events.append(parser.feed(data[place : place + 1]))
        if framing is None or framing.feed(data[place : place + 1]) or events[-1]:
            loud.add(place)
        if framing is None and parser._framing is not None:
            framing = FRAMINGS[name_of(parser._framing)](Limits())
            framing.feed(data[: place + 1])
    return events, loud, parser


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", share.every(19, EVERY, "resume"), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_every_recording_goes_on_after_every_byte(path: Path) -> None:
    """Law 20: a stream that moves at every byte of a recording gives the events of one that stays.

    The whole parser moves before and after each byte that ends a frame. At the bytes between them only the framing
    moves, and the rest of the parser is checked to be the same from frame to frame: moving it 1.4 million times would
    add nothing, and take ten minutes. A run moves a nineteenth of the recordings.
    """
    data = path.read_bytes()
    told, loud, stayed = _byte_by_byte(data)
    parser, rest = ToolCallParser(), None
    for place in range(len(data)):
        if place in loud:
            assert rest in (None, besides_framing(parser))
            rest = None
        elif rest is None:
            rest = besides_framing(parser)
        if place in loud or place - 1 in loud:
            parser = replaced(parser)
        else:
            move_framing(parser)
        assert told[place] == parser.feed(data[place : place + 1])

    assert stayed.close() == parser.close()
    assert stayed.turns == parser.turns


@together("name", SMALL, one_in=5)
def test_odd_streams_go_on_after_every_few_bytes(name: str) -> None:
    """Law 20: bytes that are cut, no text, no stream, in characters or in line ends."""
    data = SMALL[name]
    chunks = [data[n : n + 13] for n in range(0, len(data), 13)]

    assert moved(chunks, ToolCallParser(), moves=False) == moved(chunks, ToolCallParser())


@given(
    plans(),
    st.integers(1, 30),
    st.sampled_from(sorted(RENDERERS)),
    st.sampled_from(sorted(PARSERS)),
    st.data(),
)
def test_every_dialect_goes_on_after_a_move(
    plan: Plan, size: int, dialect: str, name: str, data: st.DataObject
) -> None:
    """Law 20: any turn in any dialect, cut anywhere, under any policy and limits."""
    calls = [encode.Call(f"call_{n}", plan.names[n], plan.raw(n)) for n in range(len(plan))]
    stream = RENDERERS[dialect](encode.Turn(calls), encode.every(size))
    chunks = split(stream, data.draw(partitions(len(stream)))[:4])
    before, after = (ToolCallParser(**PARSERS[name]) for _ in range(2))

    assert moved(chunks, before, moves=False) == moved(chunks, after)


@pytest.mark.sampled(55)
@pytest.mark.parametrize("dialect", sorted(RENDERERS))
def test_calls_beyond_a_limit_go_on_after_a_move(dialect: str) -> None:
    """Law 20: the same for calls whose text was too large, in fragments or as a whole, before they began or after."""
    calls = [encode.Call(f"call_{n}", "go", f'{{"a": "{"x" * 40 * n}"}}') for n in range(3)]
    stream = RENDERERS[dialect](encode.Turn(calls), encode.every(30))
    chunks = [stream[n : n + 31] for n in range(0, len(stream), 31)]
    before, after = (ToolCallParser(limits=Limits(max_arguments_bytes=30)) for _ in range(2))

    assert moved(chunks, before, moves=False) == moved(chunks, after)


@together("number", range(60), one_in=6)
def test_quirky_streams_go_on_after_a_move(number: int) -> None:
    """Law 20: labels that lie, and other habits of servers."""
    data, rng = quirky.make_numbered(20, number).bytes(), random.Random(number)
    chunks = _places(data, 8, rng)
    options = PARSERS[rng.choice(list(PARSERS))]

    assert moved(chunks, ToolCallParser(**options), moves=False) == moved(chunks, ToolCallParser(**options))


@together("number", range(20))
def test_previews_go_on_after_a_move(number: int) -> None:
    """Law 20: the state of half-finished arguments is the same."""
    data, rng = quirky.make_numbered(21, number).bytes(), random.Random(number)
    before = ToolCallParser(live=True)
    for piece in _places(data, 10, rng):
        followed = [
            event for event in before.feed(piece) if hasattr(event, "delta") and hasattr(event, "index")
        ]
        after = ToolCallParser.restore(before.snapshot())
        assert [repr(before.partial(event)) for event in followed] == [
            repr(after.partial(event)) for event in followed
        ]
        values = [(before.partial(event), after.partial(event)) for event in followed]
        assert all(one.value == other.value for one, other in values if one is not None and other is not None)


def test_the_other_door_goes_on_after_a_move() -> None:
    """Law 20: payloads and bytes may go through the doors of different workers."""
    payloads = [
        chunk(quirky_fragment)
        for quirky_fragment in Plan(("go",), ({"a": 1},), (('{"a"', ":1}"),)).fragments()
    ] + [chunk(finish="tool_calls")]
    staying, moving = ToolCallParser(), ToolCallParser()
    before, after = [], []
    for payload in payloads:
        before += staying.feed_event(payload)
        moving = ToolCallParser.restore(moving.snapshot())
        after += moving.feed_event(payload)

    assert before + staying.close() == after + moving.close()


def test_the_end_travels() -> None:
    """Law 20: a closed parser stays closed, wherever it moves."""
    parser = ToolCallParser()
    parser.feed(SMALL["chat"])
    parser.close()
    other = ToolCallParser.restore(parser.snapshot())

    assert ([], []) == (other.close(), other.abort())
    assert parser.turns == other.turns
    with pytest.raises(StreamClosed):
        other.feed(b"data: {}\n\n")


class Tide(msgspec.Struct):
    """Where to look."""

    port: str
    n: list[Any]


@dataclass
class Now:
    """Nothing to say."""


def test_values_are_made_anew_by_the_tools() -> None:
    """Law 20: calls that were held against their tools have their values in another worker."""
    tools = Tools({"get_tide": Tide, "now": Now})
    chunks = [SMALL["chat"][n : n + 40] for n in range(0, len(SMALL["chat"]), 40)]
    stayed = moved(chunks, ToolCallParser(tools=tools), moves=False)
    went = moved(chunks, ToolCallParser(tools=tools), tools=tools)

    assert stayed == went
    assert [Tide("Brést", [1, {"x": '}"'}]), Now()] == [call.value for call in went.turns[0].calls]


# The writer of a snapshot.


def _snapshot(path: Path, rng: random.Random) -> tuple[bytes, bytes]:
    """Return a snapshot somewhere in a recording, and the bytes after it."""
    data = path.read_bytes()[:20_000]
    place = rng.randrange(len(data) + 1)
    parser = ToolCallParser(**PARSERS[rng.choice(list(PARSERS))])
    parser.feed(data[:place])
    return parser.snapshot(), data[place:]


def _ends(snapshot: bytes, rest: bytes) -> bool:
    """Restore a possibly invalid snapshot; run all methods of the parser, if any; return whether it ended."""
    try:
        parser = ToolCallParser.restore(snapshot)
    except BadSnapshot:
        return True
    if "closed" not in repr(parser):
        parser.feed(rest)
    parser.forget()
    parser.close()
    parser.snapshot()
    return parser.close() == [] and parser.turns == parser.turns_from(0)


@pytest.mark.sampled(21)
@pytest.mark.parametrize("paths", corpora.groups(RECORDINGS[::3]))
def test_a_forged_snapshot_is_refused_or_a_parser(paths: list[Path], rng: random.Random) -> None:
    """Law 20: values of a snapshot may be anything; it is a `BadSnapshot`, or a parser that never raises."""
    for path in paths:
        snapshot, rest = _snapshot(path, rng)
        for _ in range(8):
            assert _ends(forged(snapshot, rng), rest), path.name


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", _smallest(), ids=lambda path: path.parent.name)
def test_any_byte_of_a_snapshot_may_be_another(path: Path, rng: random.Random) -> None:
    """Law 20: the same for any byte of it, under the right checksum."""
    snapshot, rest = _snapshot(path, rng)
    body = bytearray(msgspec.msgpack.decode(snapshot)[3])
    for place, octet in enumerate(body):
        body[place] = rng.choice((0, 0x80, 0x90, 0xC0, octet ^ 1, rng.randrange(256)))
        assert _ends(sealed(bytes(body)), rest)
        body[place] = octet


@given(st.sampled_from(RECORDINGS), st.randoms(use_true_random=False))
def test_a_damaged_snapshot_is_refused(path: Path, rng: random.Random) -> None:
    """Law 20: a snapshot that is cut, or differs in a byte, is a `BadSnapshot`."""
    snapshot, _ = _snapshot(path, rng)
    place, bit = rng.randrange(len(snapshot)), 1 << rng.randrange(8)
    flipped = bytearray(snapshot)
    flipped[place] ^= bit
    for damaged in (snapshot[:place], bytes(flipped), snapshot + b"\0"):
        with pytest.raises(BadSnapshot):
            ToolCallParser.restore(damaged)


@given(st.binary(max_size=200))
def test_no_bytes_make_restoring_raise_anything_else(data: bytes) -> None:
    """Law 20: any bytes, also under the right checksum, are a `BadSnapshot`."""
    told = opened(ToolCallParser().snapshot())
    for hostile in (data, resealed(data), resealed([told[0], data, told[2]]), resealed([*told[:2], [data]])):
        with pytest.raises(BadSnapshot):
            ToolCallParser.restore(hostile)
