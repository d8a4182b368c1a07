"""The short way of tables: an event that a narrow view reads is one piece of a text, and means nothing else."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar

import pytest

from tests.dialects.test_pieces import VALUES, places
from tests.dialects.test_translator import RECORDED, frames_of
from tests.support.together import together
from wholecall.deltas import Delta, ReasoningFragment, Slot, TextFragment
from wholecall.dialects import at, say
from wholecall.dialects.compiled import Node, members_of
from wholecall.dialects.decode import UNREADABLE
from wholecall.dialects.narrow import PieceTableTranslator
from wholecall.dialects.pieces import NO_PIECE, Key
from wholecall.dialects.table import DIALECTS, named
from wholecall.framing import Frame

TABLES = [dialect.name for dialect in DIALECTS if isinstance(dialect.start(), PieceTableTranslator)]


def toy() -> type[PieceTableTranslator]:
    """Return a dialect with a row of each sort, compiled now."""
    both = (say.given("delta", say.thought("thinking", at.index("/n")), say.text("text")),)

    class Toy(PieceTableTranslator):
        KINDS = ("kind", "type")
        BODIES: ClassVar[say.Rows] = {
            "whole": (say.own("_end", at.json_text("raw")), say.text("objects.text"))
        }
        ROWS: ClassVar[say.Rows] = {
            "own": (say.own("_end"),),
            "empty": (),
            "slotted": (say.thought("text", at.index("at.n")),),
            "text": (say.text("delta.text|text"),),
            "both": both,
            "plan": (say.thought("text", "plan"),),
            "call": (say.each("calls", say.piece(at.index("n"), "arguments|input"), alone=True),),
            "chunk": (
                say.text("text"),
                say.given(
                    "call", say.thought("text", "plan"), say.piece(at.index("n"), "of.arguments|arguments")
                ),
            ),
            "first": (say.thought("text", at.first_of(at.index("n"), at.index("m"))),),
            "many": (say.each("calls", say.piece(at.index("n"), "arguments")),),
            "again": both,
            "begun": (say.begin(), say.text("text")),
            "told": (say.text("text"), say.usage("usage")),
            "listed": (say.each("parts", say.text("text")),),
            "depends": (say.when(at.index("n"), (0,), say.text("text")),),
        }

    return Toy


def read(cls: type[PieceTableTranslator], data: str) -> tuple[Key, str]:
    """Return the piece that an event is, `NO_PIECE` if it is none."""
    try:
        key, piece = cls()._reader("")(data)
    except UNREADABLE:
        return NO_PIECE
    return (key, piece) if piece else NO_PIECE


def told(cls: type[PieceTableTranslator], data: str) -> list[Delta]:
    """Return the one delta of an event by the short way, none if it does not take that way."""
    key, piece = read(cls, data)
    of = cls().in_common(key) if piece else None
    return (
        []
        if of is None
        else [type(of)(**{**{name: getattr(of, name) for name in of.__struct_fields__}, "text": piece})]
    )


@together(
    ("event", "expected"),
    [
        ({"kind": "text", "delta": {"text": "x"}}, [TextFragment(0, "x")]),
        ({"kind": "text", "delta": {"text": "x"}, "unknown": {"a": 1}}, [TextFragment(0, "x")]),
        ({"kind": "text", "delta": {"text": "x", "thinking": None}}, [TextFragment(0, "x")]),
        ({"kind": "both", "n": 1, "delta": {"text": "x"}}, [TextFragment(0, "x")]),
        ({"kind": "both", "n": 1, "delta": {"thinking": "x", "text": ""}}, [ReasoningFragment(0, "x", 1)]),
        ({"kind": "again", "n": 1, "delta": {"text": "x"}}, [TextFragment(0, "x")]),
        ({"kind": "text", "delta": {"text": "x"}, "n": 1}, [TextFragment(0, "x")]),
        ({"kind": "slotted", "text": "x", "at": {"n": 1}}, [ReasoningFragment(0, "x", 1)]),
        ({"kind": "plan", "text": "x"}, [ReasoningFragment(0, "x", "plan")]),
        ({"kind": "first", "n": 1, "text": "x"}, [ReasoningFragment(0, "x", 1)]),
        ({"kind": "chunk", "text": "x"}, [TextFragment(0, "x")]),
        ({"kind": "chunk", "call": {"n": 1, "text": "x", "of": None}}, [ReasoningFragment(0, "x", "plan")]),
        ({"kind": "chunk", "call": {"n": 1, "of": {"arguments": "{"}}}, [Slot(0, 1, None, "{")]),
        ({"kind": "chunk", "text": "x", "call": {"n": 1}}, [TextFragment(0, "x")]),
        ({"kind": "call", "calls": {"n": 2, "arguments": "{"}}, [Slot(0, 2, None, "{")]),
    ],
)
def test_a_usual_piece_takes_the_short_way(event: dict[str, Any], expected: list[Delta]) -> None:
    """An event that holds one text at the first of its paths is a piece, whatever members nobody reads are in it."""
    made = toy()

    assert expected == told(made, json.dumps(event)) == made().translate(Frame("", json.dumps(event)))


@together(
    "event",
    [
        {"kind": "text", "text": "x"},
        {"kind": "text", "delta": {"text": ""}},
        {"kind": "text", "delta": {"text": 3}},
        {"kind": "text", "delta": {"text": "x"}, "text": "y"},
        {"kind": "text", "delta": {"text": "x"}, "error": "busy"},
        {"kind": "text", "delta": {"text": "x"}, "calls": {"arguments": "{"}},
        {"kind": "both", "n": 1, "delta": {"thinking": "x", "text": "y"}},
        {"kind": "both", "delta": {"thinking": "x"}},
        {"kind": "both", "n": -1, "delta": {"thinking": "x"}},
        {"kind": "call", "calls": [{"n": 2, "arguments": "{"}]},
        {"kind": "many", "calls": [{"n": 2, "arguments": "{"}]},
        {"kind": "many", "calls": {"n": 2, "arguments": "{"}},
        {"kind": "first", "m": 1, "text": "x"},
        {"kind": "first", "n": 1, "m": 1, "text": "x"},
        {"kind": "chunk"},
        {"kind": "chunk", "text": "x", "call": {"n": 1, "of": {"arguments": "{"}}},
        {"kind": "chunk", "call": {"n": 1, "text": "x", "of": {"arguments": "{"}}},
        {"kind": "chunk", "call": {"of": {"arguments": "{"}}},
        {"kind": "chunk", "call": {"n": 1, "arguments": "{"}},
        {"type": "text", "delta": {"text": "x"}},
        {"kind": "text", "delta": {"text": "x"}, "raw": "{}"},
        {"kind": "text", "delta": {"text": "x"}, "objects": {"text": "y"}},
        {"kind": "call", "calls": {"n": 2, "input": "{"}},
        {"kind": "begun", "text": "x"},
        {"kind": "told", "text": "x"},
        {"kind": "listed", "parts": [{"text": "x"}]},
        {"kind": "depends", "n": 0, "text": "x"},
        {"kind": "own"},
        {"kind": "empty"},
        {"kind": "slotted", "text": "x"},
        {"kind": "", "text": "x"},
        {"text": "x"},
    ],
)
def test_any_other_event_takes_the_long_way(event: dict[str, Any]) -> None:
    """A second meaning, another form of the piece, or a row with another statement is left to the wide view."""
    assert [] == told(toy(), json.dumps(event))


def test_a_single_kind_is_asked_for() -> None:
    """A table with one row of pieces takes no event without a kind for one of them."""

    class One(PieceTableTranslator):
        ROWS: ClassVar[say.Rows] = {"text": (say.text("text"),)}

    assert [TextFragment(0, "x")] == told(One, '{"type": "text", "text": "x"}')
    assert [] == told(One, '{"text": "x"}') + told(One, '{"type": "", "text": "x"}')


def odd_events(event: dict[str, Any], members: Node) -> Iterator[dict[str, Any]]:
    """Yield an event with each of its places changed to each of many values, and with each member that rows read."""
    for changed in VALUES:
        for number, _ in enumerate(places(event)):
            other = copy.deepcopy(event)
            where, key = list(places(other))[number]
            where[key] = changed
            yield other
        for path in _paths(members, ()):
            other = copy.deepcopy(event)
            where = other
            for name in path[:-1]:
                where = where.setdefault(name, {})
                if not isinstance(where, dict):
                    break
            else:
                where[path[-1]] = changed
                yield other


def _paths(members: Node, outer: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name, of in members.members.items():
        yield (*outer, name)
        if isinstance(of, Node):
            yield from _paths(of, (*outer, name))


@cache
def usual(dialect: str) -> list[dict[str, Any]]:
    """Return recorded pieces of a dialect, one for each kind of text."""
    cls = type(named(dialect).start())
    assert issubclass(cls, PieceTableTranslator)
    found: dict[Any, dict[str, Any]] = {}
    for entry in RECORDED:
        for frame in frames_of(entry) if entry["dialect"] == dialect else ():
            key, piece = read(cls, frame.data)
            if piece:
                found.setdefault((key[0], json.loads(frame.data).get(cls.KINDS[0])), json.loads(frame.data))
    return list(found.values())


@pytest.mark.parametrize("dialect", TABLES)
def test_a_narrow_view_reads_what_the_wide_view_reads(dialect: str) -> None:
    """Law 131: an event that takes the short way says by the long way exactly the same one piece."""
    cls = type(named(dialect).start())
    assert issubclass(cls, PieceTableTranslator)
    members = members_of([*cls.ROWS.values(), *cls.BODIES.values()])

    taken = 0
    for event in usual(dialect):
        for odd in odd_events(event, members):
            data = json.dumps(odd)
            if short := told(cls, data):
                assert short == cls().told(Frame("", data)), data
                taken += 1

    assert len({key for event in usual(dialect) for key in event}) > 1
    assert taken > 100
