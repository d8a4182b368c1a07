"""Text of calls in members that no dialect reads: which object is a call's, what is content, and the limits of a search."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.together import together
from wholecall.deltas import (
    OBJECT,
    CallRefused,
    CallSeen,
    CallUnread,
    CallWhole,
    Delta,
    Fragment,
    Labelled,
    Noted,
    Slot,
    TextFragment,
    TextUnread,
    WireFault,
)
from wholecall.dialects.hidden_text import has_bare, lost_piece, with_doubts

SEEN = CallSeen(0, 0, None, "c", "f")
OTHER = CallSeen(0, 1, None, "d", "f")
FOO = {"foo": {"a": 1}}
CALL = {"id": "c", "name": "f"}
ABOUT = {"metadata": {"a": 1}}  # a member that is about the call, and makes the frame one that is searched


def is_doubted(frame: dict[str, Any], *told: Delta) -> bool:
    """Return whether the call of a frame is in doubt."""
    found = with_doubts(list(told) or [SEEN], json.dumps(frame))
    return any(isinstance(delta, TextUnread) for delta in found)


# The object of a call.


@together(
    ("frame", "expected"),
    [
        ({"id": "c", "x": {"y": {"z": {"name": "f", **FOO}}}}, True),
        ({"id": "c", "w": {"x": {"y": {"z": {"name": "f", **FOO}}}}}, False),
        ({"id": "c", "calls": [{"name": "f", **FOO}]}, True),
        ({"id": "c", "x": {"calls": [{"name": "f", **FOO}]}}, True),
        ({"id": "c", "x": {"y": {"calls": [{"name": "f", **FOO}]}}}, False),
        ({"id": "c", "args": {"a": 1}, "x": {"name": "f"}}, True),
        ({"args": {"a": 1}, "x": {"id": "c", "y": {"name": "f"}}}, False),
        ({"id": "c", "name_of_port": "f", **FOO}, False),
        ({"id": "c", "tool_name": "f", **FOO}, True),
    ],
)
def test_the_object_of_a_call(frame: dict[str, Any], expected: bool) -> None:
    """It has the call's name, and its id in it or in one of three objects around it; arguments may stand right beside it."""
    assert expected == is_doubted(frame)


def test_labels_around_a_call_are_bounded() -> None:
    """An object of many members holds no labels of the calls in it: each of these would be compared with all of them."""
    frames = [
        {"id": "c", "call": {"name": "f", **FOO}} | {f"m{n}": n for n in range(many)} for many in (62, 63)
    ]

    assert [True, False] == [is_doubted(frame) for frame in frames]


# Content.


@together(
    ("member", "expected"),
    [
        ({"x": 5}, False),
        ({"x": True}, False),
        ({"x": "text"}, False),
        ({"x": "{ } \n"}, False),
        ({"x": ' \n"{\\"a\\":1}"'}, True),
        ({"x": {"y": "c", "z": ["f", None, ""]}}, False),
        ({"x": {"y": "c", "z": ["f", 0]}}, True),
        ({"x": {"c": 1}}, True),
        ({"x": {"f": {"c": "f"}}}, False),
        ({"userMetadata": {"a": 1}}, False),
        ({"partialArgs": [{"jsonPath": "$.a"}]}, False),
        ({"partial_args": [{"json_path": "$.a"}]}, False),
        ({"x": [None] * 255}, False),
        ({"x": [None] * 256}, True),
        ({"x": {str(n): None for n in range(300)}}, True),
    ],
)
def test_content_says_more_than_labels(member: dict[str, Any], expected: bool) -> None:
    """Content is an object or a list with another value than the call's labels, or its text; a large one is content."""
    assert expected == is_doubted({**CALL, **ABOUT, **member})


@together("member", ["delta", "item", "function", "functionCall", "parts", "tool_calls"])
def test_members_around_calls_are_content_within_them(member: str) -> None:
    """A member that is around the calls of some dialects is content where it stands in the object of one."""
    assert is_doubted({**CALL, member: {"a": 1}})
    assert not is_doubted({member: {**CALL}})
    assert not is_doubted({member: {**CALL}, "usage": {"prompt_tokens_details": {"cached": 1}}})


@together("name", ["arguments", "args", "input", "parameters"])
def test_arguments_stand_beside_a_call(name: str) -> None:
    """Beside the object of a call only a member that is named for arguments is content."""
    assert is_doubted({"id": "c", name: {"a": 1}, "function": {"name": "f"}})
    assert not is_doubted({"id": "c", "x": {"a": 1}, "function": {"name": "f"}})


# Calls without text.


@together(
    ("told", "expected"),
    [
        ([TextFragment(0, "x"), SEEN], True),
        ([CallSeen(0, 0, None, "c", "f", "custom")], True),
        ([CallSeen(0, 0, None, "c", "bash", "builtin")], False),
        ([Labelled(0, 0, "c", "f", "{}")], False),
        ([Labelled(0, 0, "c", "f", "{}", "function", OBJECT)], True),
        ([CallWhole(0, 0, None, "c", "f", "{", 4)], False),
        ([CallWhole(0, 0, None, "c", "f", "{ }\n", 4)], True),
    ],
)
def test_an_empty_piece_is_text(told: list[Delta], expected: bool) -> None:
    """An empty object is no text where it came whole; as a piece it is text, which may go on."""
    assert expected == has_bare(told)


@together(
    "filling",
    [
        Fragment(0, 0, "{"),
        CallWhole(0, 0, None, "c", "f", '{"a":1}', 4),
        CallRefused(0, 0, None, "unparseable", "no JSON"),
    ],
)
def test_text_at_the_index_of_a_call_settles_it(filling: Delta) -> None:
    """A head whose text, or refusal, is in the same frame is not in doubt; the head of another index is."""
    assert not is_doubted({**CALL, **FOO}, SEEN, filling)
    assert is_doubted({"id": "d", "name": "f", **FOO}, OTHER, filling)


def test_text_settles_only_the_call_at_its_index() -> None:
    """Other heads in the frame do not change which of them have text; heads without an index are calls of their own."""
    frame = {"calls": [{**CALL, **FOO}, {"id": "d", "name": "f", **FOO}]}
    heads = [CallWhole(0, None, None, id, "f", "", 4) for id in ("c", "d")]

    for told, ids in (([OTHER, SEEN, Slot(0, 0, None, "{")], ["d"]), (heads, ["c", "d"])):
        found = with_doubts([*told], json.dumps(frame))
        assert ids == [delta.id for delta in found if isinstance(delta, TextUnread)]


def test_a_call_with_text_is_not_in_doubt() -> None:
    """A call that came whole has its text, also without an index."""
    assert not is_doubted({**CALL, **FOO}, CallWhole(0, None, None, "c", "f", '{"a":1}', 4), OTHER)


def test_doubts_stand_before_their_calls() -> None:
    """Each doubt comes right before its call, and all deltas stay in their order."""
    frame = {"calls": [{**CALL, **FOO}, {"id": "d", "name": "f", **FOO}]}
    text = TextFragment(0, "x")
    doubts = TextUnread(0, "c", "f"), TextUnread(0, "d", "f")

    assert [text, doubts[0], SEEN, text, doubts[1], OTHER, text] == with_doubts(
        [text, SEEN, text, OTHER, text], json.dumps(frame)
    )


# Pieces.

PIECES = {'"piece"': "delta.text|text", '"inner"': "list.of:deep.args,input", '"two"': "a:args|b:input"}


@together(
    ("frame", "expected"),
    [
        ({"kind": "piece", "text": {"a": "x"}}, False),
        ({"kind": "piece", "foo": ["x"]}, True),
        ({"kind": "piece", "foo": [[], ["", "x"]]}, True),
        ({"kind": "piece", "foo": ["", None]}, False),
        ({"kind": "piece", "foo": 1}, False),
        ({"kind": "piece", "foo": {"a": ""}}, False),
        ({"kind": "piece", "identity": "x"}, True),
        ({"kind": "piece", "state": "x"}, False),
        ({"kind": "piece", "state": {"a": "x"}}, True),
        ({"kind": "inner", "list": {"of": [{"deep": {}}, {"deep": {"foo": "x"}}]}}, True),
    ],
)
def test_text_of_a_piece(frame: dict[str, Any], expected: bool) -> None:
    """Text is any string that is no label, and any value within another object, in lists as well."""
    assert expected == bool(lost_piece([], json.dumps(frame), PIECES))


@together(
    ("text", "expected"),
    [
        ('{"kind":"piece","foo":{"text":""},"bar":"x"}', True),
        ('{"kind":"inner","list":{"of":{"foo":"x"}}}', True),
        ('{"kind":"inner","list":{"of":{"args":"","foo":"x"}}}', False),
        ('{"kind":"two","b":{"foo":"x"},"c":{"args":""}}', False),
        ('{"kind":"two","b":{"foo":"x"}}', True),
    ],
)
def test_a_head_has_the_member_for_text(text: str, expected: bool) -> None:
    """The head of a call lost no text if it has one of the members for text, where these have a place of their own."""
    assert expected == bool(lost_piece([SEEN], text, PIECES, is_head=True))


UNKNOWN = Noted(0, "unknown_events")
OF_C = CallUnread(frozenset({"c"}), has_id=True, is_piece=True)


@together(
    ("frame", "expected"),
    [
        ({"type": "foo", "call": {"id": "c"}, "text": "x", "tags": ["a"]}, [OF_C]),
        (
            {"type": "foo", "callId": "c", "list": {"of": [{"deep": {"args": "x"}}, {"deep": {"args": ""}}]}},
            [OF_C],
        ),
        ({"type": "piece", "callId": "c", "text": "x"}, []),
        ({"event": "piece", "callId": "c", "text": "x"}, []),
        ({"event_type": "piece", "callId": "c", "text": "x"}, []),
    ],
)
def test_a_piece_of_an_unknown_kind(frame: dict[str, Any], expected: list[Delta]) -> None:
    """It is any event with text at a place of pieces whose kind is not known, whatever else is in it."""
    assert expected == lost_piece([UNKNOWN], json.dumps(frame), PIECES)


def test_a_number_is_no_id_of_a_call() -> None:
    """A piece of an unknown kind with a number may be any call's."""
    found = lost_piece([UNKNOWN], '{"type":"foo","callId":3,"text":"x"}', PIECES)

    assert [True] == [fault.hole for fault in found if isinstance(fault, WireFault)]


def test_only_an_unknown_kind_is_a_piece_of_unknown_kind() -> None:
    """An event that its dialect knows, and has another oddity, is no piece of a call."""
    assert [] == lost_piece([Noted(0, "data_after_end")], '{"type":"foo","callId":"c","text":"x"}', PIECES)


def test_a_name_is_the_whole_name_of_a_member() -> None:
    """A label that only begins with the word for a name does not begin a call."""
    frames = [{"kind": "inner", "list": {"of": [{"foo": [{key: "f"}]}]}} for key in ("name", "name_id")]

    assert [1, 0] == [len(lost_piece([], json.dumps(frame), PIECES)) for frame in frames]


@pytest.mark.parametrize("text", ["{}", '{"kind":"piece","text":"x"}', '{"kind":"piece"}'])
def test_nothing_is_lost(text: str) -> None:
    """An event of another kind, one with its member, and one without any text lost nothing."""
    assert [] == lost_piece([], text, PIECES)
