"""Labels of calls, as servers send them."""

from __future__ import annotations

import pytest

from tests.support.together import together
from wholecall import ToolCallParser, TurnFinished
from wholecall.deltas import HIGHEST_INDEX, INVALID_INDEX
from wholecall.dialects.labels import choice_label, id_label, index_label, name_label, text_label


@together(
    ("wire", "label"),
    [
        (None, None),
        (0, 0),
        (7, 7),
        (2**61 - 2, 2**61 - 2),
        (2**61 - 1, INVALID_INDEX - 1 - 1),
        (2**70, INVALID_INDEX - 1 - 2**70 % (2**61 - 2)),
        (1.0, 1),
        (-0.0, 0),
        (1e20, INVALID_INDEX - 1 - 10**20 % (2**61 - 2)),
        ("3", 3),
        ("007", 7),
        ("9" * 39, INVALID_INDEX - 1 - int("9" * 39) % (2**61 - 2)),
    ],
)
def test_an_index_is_any_spelling_of_a_whole_number(wire: object, label: int | str | None) -> None:
    """Null is not an index; integral floats and digits count as their integer (quirks 1, 2 and 4)."""
    assert label == index_label(wire)
    assert type(label) is type(index_label(wire))


@together(
    "wire",
    [
        *(-1, -2, -2.0, 1.5, float("nan"), float("inf"), True, False, [], {}, [0]),
        *("", "x", "-1", "1.0", " 1", "\u00b2", "\u0967", "9" * 40),
    ],
)
def test_what_is_no_index_is_told_from_an_absent_one(wire: object) -> None:
    """A value that no call could have as its index is invalid, never silently absent."""
    assert INVALID_INDEX == index_label(wire)


@pytest.mark.parametrize(
    ("wire", "label"),
    [
        ("call_1", "call_1"),
        (" call_1 ", " call_1 "),
        ("nullable", "nullable"),
        ("none", "none"),
        (0, "0"),
        (12, "12"),
        (-3, "-3"),
    ],
)
def test_an_id_is_kept_as_it_came(wire: object, label: str) -> None:
    """Ids are not trimmed; numbers become strings, and 0 is an id (quirk 12)."""
    assert label == id_label(wire)


@together("wire", [None, "", " ", "\n\t", "null", "None", " null ", 1.5, True, False, [], {}])
def test_some_values_are_no_id(wire: object) -> None:
    """Blanks, the words null and None, and other types are not ids (quirks 7 and 9)."""
    assert id_label(wire) is None


@pytest.mark.parametrize("wire", ["f", " f\n", "null", "f<|channel|>commentary", "é"])
def test_a_name_is_passed_on_as_it_came(wire: str) -> None:
    """Trimming a name is left to the assembler: pieces of a name may begin with white space (quirk 59)."""
    assert wire == name_label(wire)


@together("wire", [None, "", " ", "\n\t", 5, True, [], {}])
def test_some_values_are_no_name(wire: object) -> None:
    """Blanks and other types never overwrite a name (quirks 18 and 19)."""
    assert name_label(wire) is None


@pytest.mark.parametrize(
    ("wire", "label"),
    [("x", "x"), (" ", " "), ("\ud83d", "\ud83d"), ("", None), (None, None), (5, None), (["x"], None)],
)
def test_a_text_is_a_string_that_is_not_empty(wire: object, label: str | None) -> None:
    """White space is text; other types are not text."""
    assert label == text_label(wire)


def test_large_indices_are_told_apart() -> None:
    """Numbers that hash badly are separate keys as well, below the number that means no index."""
    keys = [index_label(number) for number in (2**61 - 1, 2**63, 2**64, 10**30)]

    assert all(isinstance(key, int) and key < INVALID_INDEX for key in keys)
    assert len(set(keys)) == len(keys)


# Choices.

NO_CHOICES = [-1, -2, 0.5, "x", "y", "-1", "", True, 2**61 - 1, 2**61, 10**5000, "9" * 50, [], {}]


@pytest.mark.parametrize(
    ("wire", "number"), [(None, 0), (0, 0), (3, 3), (3.0, 3), ("3", 3), (HIGHEST_INDEX, HIGHEST_INDEX)]
)
def test_the_number_of_a_choice(wire: object, number: int) -> None:
    """A choice is numbered as an index is; the first one may be without a number."""
    assert number == choice_label(wire)


def test_what_can_be_no_number_is_a_choice_of_its_own() -> None:
    """Two invalid labels are two choices, beyond all that have numbers; only containers are not told apart."""
    numbers = [choice_label(wire) for wire in NO_CHOICES]

    assert len(NO_CHOICES) - 1 == len(set(numbers))
    assert [] == [number for number in numbers if not HIGHEST_INDEX < number < 2**63]


def test_no_call_is_made_of_the_text_of_two_choices() -> None:
    """Text under an invalid number is not appended to the text of choice 0; the turn says that it was odd."""
    chunk = 'data: {{"object":"chat.completion.chunk","choices":[{{"index":{},"delta":{{"tool_calls":[{}]}}}}]}}\n\n'
    head = '{"index":0,"id":"c","function":{"name":"f","arguments":"{\\"a\\""}}'
    more = '{"index":0,"function":{"arguments":":1}"}}'
    for wire in ("-1", '"x"', "0.5"):
        parser = ToolCallParser()
        for at, call in (("0", head), (wire, more)):
            parser.feed(chunk.format(at, call).encode())
        ends = [event for event in parser.close() if isinstance(event, TurnFinished)]

        assert () == parser.turn.calls
        assert [False, True] == ["invalid_choice" in end.anomalies for end in ends]


def test_the_number_of_a_choice_stays_what_it_is() -> None:
    """A number that was made of a label maps to itself: data written with it is read back the same."""
    numbers = [choice_label(wire) for wire in (0, 7, *NO_CHOICES)]

    assert numbers == [choice_label(number) for number in numbers]
