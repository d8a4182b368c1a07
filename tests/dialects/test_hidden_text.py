"""Text of calls in members that no dialect reads: calls in doubt, and pieces that are lost."""

from __future__ import annotations

import json
from typing import Any

from tests.support.together import together
from wholecall.deltas import (
    CallSeen,
    CallUnread,
    CallWhole,
    Delta,
    Labelled,
    Noted,
    Restated,
    Slot,
    TextUnread,
    WireFault,
)
from wholecall.dialects.hidden_text import has_bare, lost_piece, reached, with_doubts

SEEN = CallSeen(0, 0, None, "c", "f")
NAMELESS = CallSeen(0, 0, None, None, "f")


def doubts(told: list[Delta], frame: dict[str, Any]) -> list[tuple[int, str | None]]:
    """Return the positions and the ids of the calls of a frame that are in doubt."""
    found = with_doubts(told, json.dumps(frame))
    return [(n, delta.id) for n, delta in enumerate(found) if isinstance(delta, TextUnread)]


@together(
    ("frame", "is_doubted"),
    [
        ({"id": "c", "name": "f"}, False),
        ({"id": "c", "name": "f", "args": {}}, False),
        ({"id": "c", "name": "f", "args": "{}"}, False),
        ({"id": "c", "name": "f", "args": None, "title": "The tide"}, False),
        ({"id": "c", "name": "f", "metadata": {"a": 1}, "providerMetadata": {"b": 2}}, False),
        ({"id": "c", "name": "f", "copy": {"id": "c", "name": "f"}}, False),
        ({"id": "c", "name": "f", "foo": {"a": 1}}, True),
        ({"id": "c", "name": "f", "foo": {"id": "x"}}, True),
        ({"id": "c", "name": "f", "state": {"a": 1}}, True),
        ({"id": "c", "name": "f", "foo": [0]}, True),
        ({"id": "c", "name": "f", "foo": '{"a":'}, True),
        ({"id": "c", "name": "f", "foo": "{"}, True),
        ({"id": "c", "function": {"name": "f", "foo": {"a": 1}}}, True),
        ({"id": "c", "args": {"a": 1}, "function": {"name": "f"}}, True),
        ({"id": "c", "call": {"value": {"name": "f", "foo": {"a": 1}}}}, True),
        ({"id": "c", "call": {"x": {"y": {"z": {"name": "f", "foo": {"a": 1}}}}}}, False),
        ({"id": "c", "name": "f", "tools": [{"name": "f", "parameters": {"type": "object"}}]}, True),
        ({"calls": [{"id": "c", "name": "f"}], "tools": [{"name": "f", "parameters": {"a": 1}}]}, False),
        ({"id": "d", "name": "f", "foo": {"a": 1}}, False),
        ({"id": "c", "name": "g", "foo": {"a": 1}}, False),
        ({"id": "c", "model": "f", "foo": {"a": 1}}, False),
    ],
)
def test_content_puts_a_call_in_doubt(frame: dict[str, Any], is_doubted: bool) -> None:
    """Content in the object of a call puts it in doubt; labels, and members about the call, do not."""
    assert ([(0, "c")] if is_doubted else []) == doubts([SEEN], frame)


def test_a_call_is_found_by_its_name_where_it_has_no_id() -> None:
    """Without an id the name decides; an object without content is that of a call without text."""
    assert [(0, None)] == doubts([NAMELESS], {"functionCall": {"name": "f", "foo": {"a": 1}}})
    assert [] == doubts([NAMELESS], {"calls": [{"name": "f", "args": {"a": 1}}, {"name": "f"}]})
    assert [] == doubts(
        [NAMELESS, CallWhole(0, 0, None, None, "f", "{}", 4)],
        {"calls": [{"name": "f", "args": {}}, {"name": "f", "args": {"a": 1}}]},
    )
    two = [NAMELESS, CallSeen(0, 1, None, None, "f")]
    assert [(1, None)] == doubts(two, {"calls": [{"name": "f", "foo": {"a": 1}}, {"name": "f"}]})


WHOLE = CallWhole(0, 0, None, "c", "f", '{"a":1}', 4)
EMPTY = CallWhole(0, 1, None, "d", "f", "{}", 4)


@together(
    ("told", "expected"),
    [
        ([SEEN], True),
        ([EMPTY], True),
        ([Labelled(0, 0, "c", "f")], True),
        ([Restated(0, (WHOLE, EMPTY))], True),
        ([WHOLE], False),
        ([Labelled(0, 0, "c", "f", "{")], False),
        ([Labelled(0, 0, "c", None)], False),
        ([CallSeen(0, 0, None, "c", "f", "server")], False),
        ([Slot(0, 0, None, "")], False),
    ],
)
def test_a_call_is_bare_without_text(told: list[Delta], expected: bool) -> None:
    """Calls that the client executes are bare as long as they have no text, or an empty object."""
    assert expected == has_bare(told)


def test_text_in_the_same_frame_settles_a_call() -> None:
    """A head whose text follows in its frame is not in doubt, and of listed calls only those without text are."""
    frame = {"calls": [{"id": "c", "name": "f", "foo": {"a": 1}}, {"id": "d", "name": "f", "foo": {"a": 1}}]}

    assert [] == doubts([SEEN, Slot(0, 0, None, "{")], frame)
    assert [(0, "d")] == doubts([Restated(0, (WHOLE, EMPTY))], frame)
    assert [(1, "d")] == doubts([WHOLE, EMPTY], frame)


PIECES = {'"piece"': "delta.text|text", '"inner"': "list.of:deep.args,input"}


@together(
    ("frame", "is_lost"),
    [
        ({"type": "piece", "delta": {"text": ""}, "foo": "x"}, False),
        ({"type": "piece", "text": None, "foo": "x"}, False),
        ({"type": "piece", "delta": [{"text": ""}], "foo": "x"}, False),
        ({"type": "piece", "delta": {}, "foo": "x"}, False),
        ({"type": "piece", "id": "x", "n": 1, "callId": "y", "metadata": {"a": "x"}}, False),
        ({"type": "piece", "delta": {"foo": "x"}}, True),
        ({"type": "piece", "foo": {"text": "x"}}, True),
        ({"type": "piece", "foo": {"n": 1}}, True),
        ({"type": "other", "foo": "x"}, False),
        ({"kind": "inner", "foo": "x"}, False),
        ({"kind": "inner", "list": {"of": [{"deep": {"input": ""}}]}}, False),
        ({"kind": "inner", "list": {"of": [{"deep": {"foo": "x"}}]}}, True),
        ({"kind": "inner", "list": {"of": [{"foo": "x"}]}}, True),
    ],
)
def test_a_piece_without_its_member_is_lost(frame: dict[str, Any], is_lost: bool) -> None:
    """Text beside an absent member for it is lost; an event of another kind, or in another place, has none."""
    assert is_lost == bool(lost_piece([], json.dumps(frame), PIECES))


def test_a_piece_with_text_is_not_lost() -> None:
    """An event that led to a text, or a head with the member for it, was read."""
    lost, head = '{"type":"piece","foo":"x"}', '{"kind":"inner","list":{"of":{"args":"","foo":"x"}}}'

    assert [] == lost_piece([Slot(0, 0, None, "x")], lost, PIECES)
    assert [True] == [fault.hole for fault in lost_piece([SEEN], lost, PIECES, is_head=True)]  # type: ignore[union-attr]
    assert [] == lost_piece([SEEN], head, PIECES, is_head=True)
    assert 1 == len(lost_piece([SEEN], head, PIECES))


LISTED = {'"inner"': "list.of:deep.args|list.of:args"}
BLANK, NAMED = Labelled(0, 1, None, None), Labelled(0, 1, None, "f")


@together(
    ("second", "is_lost"),
    [
        ({"deep": {"args": "y"}}, False),
        ({"args": "y"}, False),
        ({"deep": {"foo": "y"}}, True),
        ({"deep": {}, "foo": {"a": "y"}}, True),
        ({"foo": "y"}, True),
        ({"deep": {}, "id": "y", "function": "y"}, False),
    ],
)
def test_of_several_pieces_each_is_read_or_lost(second: dict[str, Any], is_lost: bool) -> None:
    """A piece that is read is no sign that another one of its frame was; one with a name is a head."""
    frame = json.dumps({"kind": "inner", "list": {"of": [{"deep": {"args": "x"}}, second]}})
    read = Slot(0, 0, None, "x")

    assert is_lost == bool(lost_piece([read, BLANK], frame, LISTED))
    assert [] == lost_piece([read, NAMED], frame, LISTED)
    assert [] == lost_piece([read, Labelled(0, 1, None, None, "y")], frame, LISTED)


@together(
    ("frame", "names"),
    [
        ({"kind": "inner", "list": {"of": [{"foo": [{"function": {"name": "f", "args": ""}}]}]}}, {"f"}),
        ({"kind": "inner", "list": {"of": [{"foo": {"name": "f"}}, {"foo": {"toolName": "g"}}]}}, {"f", "g"}),
        ({"kind": "inner", "list": {"of": [{"foo": [{"function": {"name": ""}}]}]}}, set()),
        ({"kind": "inner", "list": {"of": [{"foo": [{"id": "c", "type": "function"}]}]}}, set()),
        ({"kind": "inner", "list": {"of": [{"name": "f"}]}}, set()),
    ],
)
def test_a_head_without_its_place_is_unread(frame: dict[str, Any], names: set[str]) -> None:
    """A name in an unread object begins a call, whose text would be taken for another's; a name that is read does not."""
    expected = [CallUnread(names=frozenset(names), holds_text=True)] if names else []

    assert expected == lost_piece([], json.dumps(frame), PIECES)
    assert [] == lost_piece([CallSeen(0, 0, None, "c", "f", "server")], json.dumps(frame), PIECES)


UNKNOWN = Noted(0, "unknown_events")
OF_C = CallUnread(frozenset({"c"}), has_id=True, is_piece=True)


@together(
    ("frame", "expected"),
    [
        ({"type": "foo", "callId": "c", "text": "x"}, [OF_C]),
        ({"type": "foo", "call_id": "c", "delta": {"text": "x"}}, [OF_C]),
        ({"type": "foo", "callId": "c", "list": {"of": [{"deep": {"args": {"a": 1}}}]}}, [OF_C]),
        ({"type": "foo", "callId": "c", "text": ""}, []),
        ({"type": "foo", "callId": "c", "text": 1}, []),
        ({"type": "foo", "callId": "c", "text": {"a": 1}}, []),
        ({"type": "piece", "callId": "c", "text": "x"}, []),
        ({"foo": "piece", "callId": "c", "text": "x"}, [OF_C]),
        ({"type": "foo", "callId": "c", "delta": "x"}, []),
        ({"type": "foo", "callId": "c"}, []),
    ],
)
def test_an_unknown_event_with_text_in_its_place_is_a_piece(
    frame: dict[str, Any], expected: list[Delta]
) -> None:
    """An event of an unknown kind whose text is where pieces have theirs may be a piece of the calls that it names."""
    assert expected == lost_piece([UNKNOWN], json.dumps(frame), PIECES)
    assert [] == lost_piece([], json.dumps(frame), PIECES)


def test_an_unknown_piece_without_an_id_is_lost() -> None:
    """Without an id it may be a piece of any call; a kind that the dialect knows still lacks its member."""
    found = lost_piece([UNKNOWN], '{"type":"foo","n":3,"text":"x"}', PIECES)

    assert [True] == [fault.hole for fault in found if isinstance(fault, WireFault)]
    assert 1 == len(lost_piece([UNKNOWN], '{"type":"piece","foo":"x"}', PIECES))
    assert [] == lost_piece([UNKNOWN], '["text"]', PIECES)


def test_a_path_leads_through_lists() -> None:
    """A path reaches the objects of all lists on its way, under each spelling, and nothing else."""
    frame = {"a": [{"b": {"n": 1}}, {"c": [{"n": 2}, "x", {"n": 3}]}, {"d": {"n": 4}}]}

    assert [1, 2, 3] == [one["n"] for one in reached(frame, "a.b,c")]
    assert [] == reached(frame, "a.e")
    assert [] == reached(frame, "b")
