"""Equality of decoded values: what means the same to a tool, and what one writer can have meant by two texts."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

from tests.support.together import together
from wholecall.calls.arguments.equal import key_of, same_text, same_value, spelled_alike

# Values, those that mean the same in one row; in a row those that are spelled alike are in one list.
ROWS: list[list[list[Any]]] = [
    [[None]],
    [[True]],
    [[False]],
    [[0], [0.0], [-0.0]],
    [[1], [1.0]],
    [["1"]],
    [[""]],
    [["a"]],
    [["ab"]],
    [[[]]],
    [[{}]],
    [[[1, 2]], [[1.0, 2]], [[1, 2.0]]],
    [[[2, 1]]],
    [[[1]], [[1.0]]],
    [[[True]]],
    [[[1, 2, 3]]],
    [[{"a": 1}], [{"a": 1.0}]],
    [[{"a": True}]],
    [[{"a": 2}]],
    [[{"b": 1}]],
    [[{"a": 1, "b": [2, {"c": 3}]}, {"b": [2, {"c": 3}], "a": 1}], [{"a": 1, "b": [2, {"c": 3.0}]}]],
    [[{"a": 1, "b": [2, {"c": 4}]}]],
    [[{"a": 2, "b": [2, {"c": 3}]}]],
    [[[{"a": 1}, {"b": 2}]]],
    [[[{"a": 1}, {"b": 3}]]],
    [[[{"a": 3}, {"b": 2}]]],
    [[[[1], [2]]], [[[1], [2.0]]]],
    [[[[3], [2]]]],
    [[[[1], [3]]]],
    [[[[], 1]]],
]
VALUES = [
    (row, alike, value) for row, lists in enumerate(ROWS) for alike, of in enumerate(lists) for value in of
]


@together(("row", "alike", "value"), VALUES)
def test_equality(row: int, alike: int, value: Any) -> None:
    """Values mean the same whatever their order and the types of their numbers; spelled alike are those of one type."""
    same = [(other, same_value(value, other)) for _, _, other in VALUES]
    spelled = [(other, spelled_alike(value, other)) for _, _, other in VALUES]

    assert [(other, row == in_row) for in_row, _, other in VALUES] == same
    assert [(other, (row, alike) == (in_row, of)) for in_row, of, other in VALUES] == spelled


def test_one_key() -> None:
    """Values have one key if they mean the same, and only then."""
    for (row, _, one), (in_row, _, other) in product(VALUES, VALUES):
        assert (row == in_row) == (key_of(one) == key_of(other))


@together(
    ("text", "same"),
    [("", False), (" 1", True), ("1.0", True), ("2", False), ("x", False), ("y", False)],
)
def test_texts(text: str, same: bool) -> None:
    """Texts mean the same if their values do; texts without a value do if they are one text."""

    def value_of(text: str) -> object:
        return None if text in ("", "x", "y") else json.loads(text)

    assert same == same_text("1", text, value_of)
    assert same == same_text(text, "1", value_of)
    assert (text == "x") == same_text("x", text, value_of)


def test_integers_have_any_size() -> None:
    """An integer that is too long to be written is compared like any other."""
    large = 10**5000

    assert spelled_alike([large], [10**5000])
    assert not spelled_alike(large, large + 1)
