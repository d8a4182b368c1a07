"""Values of another shape than their field wants: read, ignored, or a frame that cannot be read."""

from __future__ import annotations

from typing import Any, Literal, Union

import msgspec
import pytest

from tests.support.together import together
from wholecall.dialects.decode import NO_TEXT, decode, wire_text


class Leaf(msgspec.Struct):
    """An object of the wire."""

    type: str | None = None


class View(msgspec.Struct):
    """A view with a field for each shape that dialects read."""

    one: Leaf | None = None
    many: list[Leaf] | None = None
    always: list[Leaf] = []
    mixed: list[Union[Leaf, str]] | None = None
    members: dict[str, Any] | None = None
    mode: Literal["a", "b"] | None = None
    count: int = 7
    raw: msgspec.Raw = NO_TEXT


DECODER = msgspec.json.Decoder(View)
X = Leaf("x")
ABSENT, UNREADABLE = object(), object()


def read(field: str, value: str) -> object:
    """Return the value of a field where the typed decoder refuses the frame for another member."""
    view = decode(DECODER, f'{{"type":NaN,"mode":5,"{field}": {value} }}')
    if view is None:
        return UNREADABLE
    found = getattr(view, field)
    return ABSENT if found == getattr(View(), field) else found


EMPTY = ["null", "5", "true", '""', '"words"', '"words {"', '"{}"', '" [ ] "']
FULL_TEXT = ['"{\\"a\\":1}"', '" [1"', '"{\\"a"']


@pytest.mark.parametrize("field", ["one", "many", "always", "members"])
def test_text_for_a_container(field: str) -> None:
    """Words are nothing where a container is due, and text that begins as a container may be arguments."""
    assert [ABSENT] * len(EMPTY) == [read(field, value) for value in EMPTY]
    assert [UNREADABLE] * len(FULL_TEXT) == [read(field, value) for value in FULL_TEXT]


@together(
    ("value", "found"),
    [
        ('{"type":"x"}', X),
        ('[{"type":"x"}]', X),
        ('[ {"other":1} ]', Leaf()),
        ("[]", ABSENT),
        ("[{}]", ABSENT),
        ("[null]", ABSENT),
        ('["words"]', ABSENT),
        ('[{"type":"x"},{}]', UNREADABLE),
        ('[{},{"type":"x"}]', UNREADABLE),
        ('[{},{},{"type":"x"}]', UNREADABLE),
        ('["{\\"a\\":1}"]', UNREADABLE),
        ("[[1]]", UNREADABLE),
    ],
)
def test_where_an_object_is_due(value: str, found: object) -> None:
    """A list of one is that object, a list of nothing is nothing, and several objects are not one (quirk 39)."""
    assert found == read("one", value)


@together("field", ["many", "always"])
@together(
    ("value", "found"),
    [
        ('[{"type":"x"},{"type":"x"}]', [X, X]),
        ('{"type":"x"}', [X]),
        ('[null,{"type":"x"},"words",[]]', [Leaf(), X, Leaf(), Leaf()]),
        ("{}", ABSENT),
        ('{"0":{"type":"x"}}', UNREADABLE),
        ("[[1]]", UNREADABLE),
        ('["{\\"a\\":1}"]', UNREADABLE),
    ],
)
def test_where_a_list_of_objects_is_due(field: str, value: str, found: object) -> None:
    """One object is a list of one if it is of that kind; elements without content keep their places (quirk 39)."""
    assert found == read(field, value)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ('["words",{"type":"x"},"{\\"a\\":1}"]', ["words", X, '{"a":1}']),
        ('[{"type":"x"},null]', [X, Leaf()]),
        ('{"type":"x"}', [X]),
        ('[["words"]]', UNREADABLE),
    ],
)
def test_where_a_list_of_objects_and_texts_is_due(value: str, found: object) -> None:
    """A text is that text, and an object an object, where a list may hold both."""
    assert found == read("mixed", value)


@together(
    ("value", "found"),
    [
        ('{"a":[1]}', {"a": [1]}),
        ('[{"a":1}]', {"a": 1}),
        ("{}", {}),
        ("[{}]", ABSENT),
        ('["words"]', ABSENT),
        ("[[1]]", UNREADABLE),
        ('["[1"]', UNREADABLE),
        ('[{"a":1},{"b":2}]', UNREADABLE),
    ],
)
def test_where_an_object_of_any_members_is_due(value: str, found: object) -> None:
    """The same holds where the dialect takes an object as it is."""
    assert found == read("members", value)


@pytest.mark.parametrize("value", ['"7 metres"', "{}", '{"a":1}', "[1]", "null", "1.5"])
def test_a_label_of_a_wrong_type_has_its_default(value: str) -> None:
    """A label holds no arguments, whatever is in its place."""
    assert 7 == View().count
    assert ABSENT is read("count", value)


def test_raw_text_keeps_half_a_pair() -> None:
    """A lone surrogate in a value that is sliced out is unchanged (quirk 35)."""
    view = decode(DECODER, '{"mode":5,"raw":"a\ud83d"}')

    assert view is not None
    assert "a\ud83d" == wire_text(view.raw)


def test_no_text() -> None:
    """An absent member has no text."""
    assert "" == wire_text(View().raw)
