"""One call as naive accumulators read it: its labels whole and once, and text that only needs to be joined."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.together import together
from wholecall.repairing.strict import Track, is_text

HALF = "\ud83d"  # half of a character


def track() -> Track:
    """Return a call of chat, before its first fragment."""
    return Track("function", "arguments")


@together(
    ("value", "expected"),
    [("", True), ("text", True), ("\U0001f600", True), (HALF, False), (f"a{HALF}b", False)]
    + [(value, False) for value in (None, 1, True, b"text", [], {})],
)
def test_text(value: object, expected: bool) -> None:
    """Text is a string, and every decoder of UTF-8 takes it."""
    assert expected is is_text(value)


def test_a_call_before_it_begins() -> None:
    """A call that has not begun has no labels and no text, and nothing restated it."""
    call = track()

    assert ("function", "", "", None, False, "") == (
        *(call.kind, call.id, call.name, call.item_id, call.is_restated),
        call.text,
    )


def test_a_call_in_pieces() -> None:
    """Its labels are those of the first fragment, and its text is that of all fragments."""
    call = track()
    taken = [call.begin("c", {"name": "f", "arguments": "{"}), call.go_on({"arguments": "}"}), call.add(" ")]

    assert ([True] * 3, "c", "f", "{} ") == (taken, call.id, call.name, call.text)


@together(
    ("id", "body", "expected"),
    [
        (None, {"name": "f", "arguments": ""}, True),  # the older form
        ("c", {"name": "f", "arguments": ""}, True),
        ("", {"name": "f", "arguments": ""}, False),
        (1, {"name": "f", "arguments": ""}, False),
        ("c", {"name": "", "arguments": ""}, False),
        ("c", {"name": None, "arguments": ""}, False),
        ("c", {"name": 1, "arguments": ""}, False),
        ("c", {"arguments": ""}, False),
        ("c", {"name": "f"}, False),
        ("c", {"name": "f", "arguments": {}}, False),
        ("c", {"name": "f", "arguments": HALF}, False),
        ("c", {"name": "f", "input": ""}, False),
    ],
)
def test_first_fragments(id: object, body: dict[str, Any], expected: bool) -> None:
    """A call begins with its whole name, an id unless it is of the older form, and text."""
    assert expected is track().begin(id, body)


def test_a_call_without_an_id_has_an_empty_one() -> None:
    """The older form has no ids."""
    call = track()

    assert (True, "", "f") == (call.begin(None, {"name": "f", "arguments": ""}), call.id, call.name)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"arguments": "x"}, True),
        ({"name": None, "arguments": "x"}, True),
        ({"name": "f", "arguments": "x"}, False),
        ({"name": "", "arguments": "x"}, False),
        ({"arguments": None}, False),
        ({}, False),
    ],
)
def test_further_fragments(body: dict[str, Any], expected: bool) -> None:
    """A further fragment has text and no name, for some accumulators would append it."""
    call = track()
    call.begin("c", {"name": "f", "arguments": "{"})

    assert (expected, "{x" if expected else "{") == (call.go_on(body), call.text)
