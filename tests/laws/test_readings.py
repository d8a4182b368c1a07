"""Laws of readings of oddly labelled pieces, over small worlds of pieces."""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from tests.support import corpora
from tests.support.together import together
from wholecall import ToolCallParser, parse_arguments
from wholecall.deltas import Labelled
from wholecall.machine.call import Call
from wholecall.machine.readings.partitions import PARTITIONS, Partition, Piece
from wholecall.machine.readings.solve import Solution, solve
from wholecall.machine.record import Record

SOLVER: Any = sys.modules["wholecall.machine.readings.solve"]
TEXTS = ["", "{}", '{"a":1}', '{"a"', ":1}", ":", "1}", '{"a":{}}', "null", "}"]
LABELS = st.tuples(
    st.sampled_from([None, 0, 1]), st.sampled_from([None, "c", "d"]), st.sampled_from([None, None, "f", "g"])
)
FRAGMENTS = st.lists(st.tuples(LABELS, st.sampled_from(TEXTS)), min_size=1, max_size=6)


def _pieces(fragments: list[tuple[tuple[Any, Any, Any], str]]) -> list[Piece]:
    return [Piece(*labels, text) for labels, text in fragments]


def _sure(solution: Solution) -> Counter[tuple[Any, str]]:
    told = zip(solution.calls, solution.sure, strict=True)
    return Counter((call.name, call.text or "{}") for call, is_sure in told if is_sure)


@given(FRAGMENTS, st.booleans())
def test_labels_may_be_called_anything(fragments: list[Any], cut: bool) -> None:
    """Law 68: the meanings of pieces, and their costs, do not depend on the spelling of indices and ids."""
    pieces = _pieces(fragments)
    others = [
        Piece(None if p.index is None else 7 - p.index, p.id and {"c": "x", "d": "a"}[p.id], p.name, p.text)
        for p in pieces
    ]

    assert solve(pieces, parse_arguments, cut=cut) == solve(others, parse_arguments, cut=cut)


@given(FRAGMENTS, st.integers(0, len(PARTITIONS) - 1), st.booleans())
def test_a_dearer_reading_adds_no_call(fragments: list[Any], without: int, cut: bool) -> None:
    """Law 69: one more way to assign pieces, if it is not the cheapest, can only take calls away."""
    pieces = _pieces(fragments)
    solution = solve(pieces, parse_arguments, cut=cut)
    fewer: tuple[Partition, ...] = PARTITIONS[:without] + PARTITIONS[without + 1 :]
    with patch.object(SOLVER, "PARTITIONS", fewer):
        before = solve(pieces, parse_arguments, cut=cut)

    if before.cost == solution.cost:
        assert _sure(solution) <= _sure(before)
    else:
        assert solution.cost < before.cost


@st.composite
def _streams(draw: st.DrawFn) -> list[Labelled]:
    """The fragments of one to three calls in a row, from a server with a habit for each label."""
    index = draw(st.sampled_from(["own", "one", "none", "first"]))
    id, name = (
        draw(st.sampled_from(["own", "one", "none", "every"])),
        draw(st.sampled_from(["first", "every"])),
    )
    found = []
    for n in range(draw(st.integers(1, 3))):
        text = draw(st.sampled_from([f'{{"a{n}":1}}', f'{{"b{n}":{{"c":[2,"x"]}}}}', "{}", ""]))
        cuts = sorted(draw(st.sets(st.integers(1, len(text) - 1), max_size=4))) if len(text) > 2 else []
        parts = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        for at, part in enumerate(parts):
            number = {"own": n, "one": 0, "none": None}.get(index, None if at else n)
            own = f"c{n}" if id in ("own", "every") else "c" if id == "one" else None
            labelled = id in ("one", "every") or not at
            named = "f" if name == "every" or not at else None
            found.append(Labelled(0, number, own if labelled else None, named, part))
    return found


@given(_streams())
def test_fragments_may_be_joined(fragments: list[Labelled]) -> None:
    """Law 70: a fragment that joins the piece before it keeps its own meaning, where texts are whole and differ."""
    joined, apart = Record(), Record()
    call = Call(0, 0, "function")
    for delta in fragments:
        joined.add(delta, call, goes_on=joined.goes_on(delta), spoilt=False)
        apart.add(delta, call, goes_on=False, spoilt=False)
    joined.close()

    assert _sure(solve(apart.pieces, parse_arguments)) == _sure(solve(joined.pieces, parse_arguments))


OBJECTS = st.recursive(
    st.none() | st.integers(0, 99) | st.text(st.sampled_from('ab"\\]} '), max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=6,
)


def _closed_at(text: str, cut: int) -> str | None:
    """Return the beginning of an object with its open parts closed, or None where that is not JSON."""
    text, closers, in_string, escaped = text[:cut], list[str](), False, False
    for char in text:
        if in_string:
            escaped, in_string = char == "\\" and not escaped, char != '"' or escaped
        elif char == '"':
            in_string = True
        elif char in "{[":
            closers.append("}" if char == "{" else "]")
        elif char in "}]":
            closers.pop()
    closed = text + '"' * in_string + "".join(reversed(closers))
    try:
        json.loads(closed)
    except ValueError:
        return None
    return closed


@given(st.dictionaries(st.sampled_from("xyz"), OBJECTS, min_size=1, max_size=3), st.data(), st.booleans())
def test_of_objects_that_grow_only_the_last_is_a_call(value: Any, data: st.DataObject, counts: bool) -> None:
    """Law 72: if a server closes the open parts in each snapshot, only the last snapshot is a call."""
    last = json.dumps(value)
    cuts = sorted(data.draw(st.lists(st.integers(1, len(last) - 1), max_size=5)))
    found = [closed for cut in cuts if (closed := _closed_at(last, cut)) is not None]
    texts = [*found, last]
    pieces = [Piece(n if counts else 0, "c", "f", text) for n, text in enumerate(texts)]
    told = {text for text in texts if text not in ("{}", last)}

    sure = _sure(solve(pieces, parse_arguments))

    if told:
        assert sure == Counter({("f", last): 1})


DOCUMENTED = [
    "arguments-unicode",
    "azure-filters",
    "choices-two",
    "custom-tool",
    "long-file",
    "parallel-interleaved",
    "parallel-sequential",
    "single-call",
    "zero-argument-empty",
]


@together("name", DOCUMENTED)
def test_documented_labels_ask_no_reading(name: str) -> None:
    """Law 71: while labels are as documented, the index alone identifies a fragment's call."""
    entries = {entry["name"]: entry for entry in corpora.cases()}
    parser: ToolCallParser[Any] = ToolCallParser()
    with patch("wholecall.machine.settling.solve", side_effect=AssertionError("it was asked")):
        parser.feed(corpora.recorded(entries[f"chat-completions/{name}"]))
        parser.close()

    assert parser.turn.calls


_NAMES = st.lists(st.sampled_from("abcdefg"), min_size=2, max_size=5, unique=True).map(
    "".join
)  # no piece begins with another
_VALUES = st.dictionaries(
    st.text("xy", max_size=2), st.integers(0, 99) | st.text("z{}", max_size=3), min_size=1, max_size=2
)
_CALLS = st.lists(st.tuples(_NAMES, _VALUES), min_size=2, max_size=4)


def _cut_stream_gives(fragments: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    """Return the calls of a turn that was cut for length after these fragments."""
    parser: ToolCallParser[Any] = ToolCallParser("chat-completions")
    for fragment in fragments:
        parser.feed_event({"choices": [{"index": 0, "delta": {"tool_calls": [fragment]}}]})
    parser.feed_event({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]})
    parser.close()
    return Counter((call.name, json.dumps(call.arguments)) for call in parser.turn.calls)


@given(_CALLS, st.data())
def test_a_cut_leaves_no_piece_of_a_name(
    calls: list[tuple[str, dict[str, Any]]], data: st.DataObject
) -> None:
    """Law 74: once a name has come in pieces, no cut lets a call out under a part of its name.

    The second piece of each name comes with the rest of the text, or after all of it.
    """
    fragments: list[dict[str, Any]] = []
    first = 0
    for number, (name, value) in enumerate(calls):
        text, at = json.dumps(value), data.draw(st.integers(1, len(name) - 1))
        cut = data.draw(st.integers(1, len(text)))
        pieces = [(name[:at], text[:cut]), (name[at:], text[cut:])]
        for nth, (piece, part) in enumerate(pieces):
            labels = {"index": number, **({"id": f"c{number}"} if nth == 0 else {})}
            fragments.append({**labels, "function": {"name": piece, "arguments": part}})
        first = first or len(fragments)
    kept = data.draw(st.integers(first, len(fragments)))
    sent = Counter((name, json.dumps(value)) for name, value in calls)

    assert not _cut_stream_gives(fragments[:kept]) - sent


@given(_CALLS, st.data())
def test_a_cut_repeats_no_call(calls: list[tuple[str, dict[str, Any]]], data: st.DataObject) -> None:
    """Law 75: where each text comes once more under another id, a cut inside the last call's makes no call of a repetition.

    Each fragment has the name; the last call's text came in two pieces and not once more.
    """
    fragments: list[dict[str, Any]] = []
    for number, (name, value) in enumerate(calls):
        text = json.dumps(value)
        at = data.draw(st.integers(1, len(text) - 1))
        for part in [text, text] if number < len(calls) - 1 else [text[:at], text[at:]]:
            function = {"name": name, "arguments": part}
            fragments.append({"index": number, "id": f"c{len(fragments)}", "function": function})
    sent = Counter((name, json.dumps(value)) for name, value in calls)

    assert not _cut_stream_gives(fragments) - sent
