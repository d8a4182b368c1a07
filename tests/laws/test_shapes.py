"""The shapes of members: an object is read as a list of one, and no member with content counts as absent.

The laws are tried on every view of every dialect and on every member that takes objects, so that a new dialect is held
to them without a separate test. `tests/damage` reshapes recordings.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

import msgspec
import pytest

import wholecall.dialects
from tests.damage.shapes import SHAPES, Place, container_of, places, with_value
from tests.damage.shapes import named as named_place
from tests.damage.streams import Stream, called, of_corpora, told
from tests.damage.ways import with_other
from tests.dialects.test_translator import frames_of
from tests.support import corpora
from tests.support.told import told_and_counted
from wholecall import ToolCallParser
from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.calls.output.events import StreamFault, TurnFinished
from wholecall.deltas import WireFault
from wholecall.dialects.decode import decode, plain, read
from wholecall.dialects.table import DIALECTS, named
from wholecall.framing import Frame

View = type[msgspec.Struct]


class Member(NamedTuple):
    """A member of a view that takes an object, or a list of objects, of an inner view."""

    view: View
    name: str
    inner: View
    many: bool
    takes_text: bool


def _decoders() -> Iterator[msgspec.json.Decoder[Any]]:
    """Yield the decoders that modules of dialects have, and those of their classes."""
    for found in pkgutil.walk_packages(wholecall.dialects.__path__, "wholecall.dialects."):
        names = vars(importlib.import_module(found.name))
        places = [names, *(vars(value) for value in names.values() if isinstance(value, type))]
        yield from (
            one for place in places for one in place.values() if isinstance(one, msgspec.json.Decoder)
        )


def _inner(type_: Any) -> Iterator[tuple[View, bool]]:
    """Yield the views that a type takes, and whether a list of them."""
    if isinstance(type_, msgspec.inspect.StructType):
        yield type_.cls, False
    elif isinstance(type_, msgspec.inspect.ListType):
        items = getattr(type_.item_type, "types", (type_.item_type,))
        yield from ((item.cls, True) for item in items if isinstance(item, msgspec.inspect.StructType))
    elif isinstance(type_, msgspec.inspect.UnionType):
        yield from (one for option in type_.types for one in _inner(option))


def _takes_text(type_: Any) -> bool:
    return any(isinstance(option, msgspec.inspect.StrType) for option in getattr(type_, "types", ()))


@cache
def _members() -> list[Member]:
    """Return the members of all views."""
    return members_of(_decoders())


def members_of(decoders: Iterable[msgspec.json.Decoder[Any]]) -> list[Member]:
    """Return the members of the decoders' views; a member that a narrow view requires has no default."""
    waiting = [view for decoder in decoders for view, _ in _inner(msgspec.inspect.type_info(decoder.type))]
    seen: set[View] = set()
    found: list[Member] = []
    while waiting:
        view = waiting.pop()
        fields = msgspec.inspect.type_info(view).fields  # type: ignore[attr-defined]
        if view in seen or any(field.required for field in fields):
            continue
        seen.add(view)
        for field in fields:
            taken = list(_inner(field.type))
            waiting += [inner for inner, _ in taken]
            if len(taken) == 1:
                found.append(Member(view, field.encode_name, *taken[0], _takes_text(field.type)))
    return found


def _by_module() -> dict[str, list[Member]]:
    """Return the members of the views of each module."""
    found: dict[str, list[Member]] = {}
    for member in _members():
        found.setdefault(member.view.__module__.rpartition(".")[2], []).append(member)
    return found


each_module = pytest.mark.parametrize("members", _by_module().values(), ids=_by_module())


def _decoded(member: Member, value: Any) -> Any:
    return decode(msgspec.json.Decoder(member.view), json.dumps({member.name: value}))


def _one(view: View) -> dict[str, Any]:
    """An object of a view, with a member that it knows."""
    return {msgspec.structs.fields(view)[0].encode_name: "x"}


def test_every_dialect_has_views() -> None:
    """The laws hold for something: more than a hundred members of more than fifty views."""
    assert len(_members()) > 100
    assert len({member.view for member in _members()}) > 50


@each_module
def test_one_object_is_a_list_of_one(members: list[Member]) -> None:
    """Law 104: an object and a list of it mean the same, whichever form the dialect has."""
    for member in members:
        one = _one(member.inner)

        assert _decoded(member, one) == _decoded(member, [one]), member
        assert _decoded(member, one) not in (None, _decoded(member, None)), member


@each_module
def test_what_holds_something_is_not_absent(members: list[Member]) -> None:
    """Law 105: a container of another shape, or its text, makes the frame unreadable: it may contain arguments."""
    for member in members:
        one = _one(member.inner)
        others: list[Any] = [[[one]]]
        others += [] if member.takes_text else [json.dumps(one), json.dumps([one]), f" {json.dumps([one])}"]
        others += [{"0": one}] if member.many else [[one, one], [[one], {}]]

        assert [None] * len(others) == [_decoded(member, other) for other in others], member


@each_module
def test_what_holds_nothing_is_absent(members: list[Member]) -> None:
    """Law 105: a label where a container is due, and an empty one, lose no frame: the member is absent or empty."""
    empty: tuple[Any, ...] = (None, False, 0, 1.5, "", "x", "{}", "[]", {}, [])
    for member in members:
        views = [_decoded(member, value) for value in empty]
        nothing = _decoded(member, {})

        assert [] == [
            value for value, view in zip(empty, views, strict=True) if not _is_nothing(view, nothing, value)
        ], member


def _is_nothing(view: Any, nothing: Any, value: Any) -> bool:
    """Return whether a view is equal to an empty view; a word may be where the view accepts one."""
    said = [
        (getattr(view, name), getattr(nothing, name))
        for name in nothing.__struct_fields__
        if view is not None
    ]
    return view is not None and all(one in (None, [], "", value) or one == other for one, other in said)


@pytest.mark.parametrize("lines", [2, 3])
def test_one_unreadable_line_of_several_is_said(lines: int) -> None:
    """Law 105: of joined lines of one event each is read, or is a fault with a hole."""
    decoder = msgspec.json.Decoder(next(member.view for member in _members() if member.many))
    good, bad = "{}", json.dumps({member.name: [[1, 2]] for member in _members()})
    found = read(decoder, Frame("", "\n".join([bad, *[good] * (lines - 1)])))

    assert lines - 1 == len(found.views)
    assert [True] == [fault.hole for fault in found.deltas if isinstance(fault, WireFault)]


# The short way: narrow views, and frames in a row.

_ODD: tuple[Any, ...] = ([{"a": {"b": 1}}, {"c": 2}], '{"arguments":"x"}', {"0": {"q": "x"}})


def _foreign(dialect: str) -> list[str]:
    """Return the names of members that take objects, in the views of a dialect and of those that it is made of."""
    modules = {kind.__module__ for kind in type(named(dialect).start()).__mro__} & set(sys.modules)
    places = [vars(sys.modules[name]) for name in modules if name.startswith("wholecall.dialects")]
    places += [vars(kind) for kind in type(named(dialect).start()).__mro__]
    decoders = [one for place in places for one in place.values() if isinstance(one, msgspec.json.Decoder)]
    return sorted({member.name for member in members_of(decoders)})


def _objects(value: Any) -> list[Place]:
    """Return the ways to a payload and to the objects in it, but for those in arguments."""
    return [(), *(place for place in places(value) if isinstance(_at(value, place), dict))]


def _at(value: Any, place: Place) -> Any:
    for key in place:
        value = value[key]
    return value


def _rows(dialect: str) -> Iterator[list[Frame]]:
    """Yield frames in a row of which one has an odd member: each kind of frame, each object in it, each name."""
    seen: set[Any] = set()
    names = _foreign(dialect)
    for entry in corpora.cases():
        frames = frames_of(entry) if entry["dialect"] == dialect else []
        for n, frame in enumerate(frames):
            payload = plain(frame.data)
            for place in _objects(payload) if isinstance(payload, dict) else ():
                sign = (frame.event, payload.get("type"), named_place(place), *sorted(payload))
                if sign in seen:
                    continue
                seen.add(sign)
                for number, name in enumerate(names):
                    value = _ODD[(number + len(seen)) % len(_ODD)]
                    odd = with_value(
                        payload, place, lambda holder, name=name, value=value: {**holder, name: value}
                    )
                    yield [
                        *frames[max(0, n - 4) : n],
                        Frame(frame.event, json.dumps(odd)),
                        *frames[n + 1 : n + 3],
                    ]


@pytest.mark.sampled(19)
@pytest.mark.parametrize("dialect", [dialect.name for dialect in DIALECTS])
def test_a_narrow_view_refuses_what_a_wide_one_refuses(dialect: str) -> None:
    """Law 106: with any content in members of another event, frames in a row give the same events as one by one."""
    for row in _rows(dialect):
        one_by_one, in_row = named(dialect).start(), named(dialect).start()
        told = (delta for frame in row for delta in one_by_one.told(frame))

        assert told_and_counted(told) == told_and_counted(in_row.translate_all(row)), row


# Servers that always send one object for a list, or a list of one for an object.


def _all_so(stream: Stream, name: str, shape: str) -> bytes:
    """The stream with all containers of one place in another shape."""
    return b"".join(_reshaped(frame, name, shape) for frame in stream.frames)


def _reshaped(frame: bytes, name: str, shape: str) -> bytes:
    value = container_of(frame)
    for place in sorted(places(value), key=len, reverse=True) if value is not None else ():
        if named_place(place) == name:
            value = with_value(value, place, SHAPES[shape])
    return (
        frame
        if value is None
        else with_other(frame, json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    )


def _habits(stream: Stream) -> Iterator[tuple[str, str]]:
    """Yield the places where a server may have the habit: all lists hold one object, or all are objects."""
    found: dict[str, list[Any]] = {}
    for value in filter(None, map(container_of, stream.frames)):
        for place in places(value):
            found.setdefault(named_place(place), []).append(_at(value, place))
    for name, values in found.items():
        if all(isinstance(value, dict) for value in values) and not name.endswith("*"):
            yield name, "in a list"
        elif all(
            isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict) for value in values
        ):
            yield name, "alone"


def _troubles(events: list[Any]) -> Counter[str]:
    """The report of lost calls."""
    drops = Counter(event.reason for event in events if isinstance(event, ToolCallDropped))
    faults = Counter(event.kind for event in events if isinstance(event, StreamFault))
    return (
        drops
        + faults
        + Counter(one for event in events if isinstance(event, TurnFinished) for one in event.anomalies)
    )


@pytest.mark.sampled(17)
@pytest.mark.parametrize("dialect", of_corpora().dialects())
def test_a_habit_of_shapes_loses_nothing_in_silence(dialect: str) -> None:
    """Law 107: a server that always sends one object for a list, or a list of one, gives the calls, or a reason."""
    wrong = []
    for stream in of_corpora().streams:
        if stream.dialect != dialect:
            continue
        usual = list(told(ToolCallParser(), [stream.data]))
        for name, shape in _habits(stream):
            events = list(told(ToolCallParser(), [_all_so(stream, name, shape)]))
            lost = called(usual) - called(events)
            if called(events) - stream.held or (lost and not _troubles(events)):
                wrong.append((stream.name, name, shape))

    assert [] == wrong
