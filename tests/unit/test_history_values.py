"""JSON values walked without recursion: dumped as strictly as they are checked, copied without sharing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.together import together
from tests.support.turns import canonical, values
from wholecall.history.values import copied, dumped, walk


@given(values)
def test_dumps_are_compact_json(value: Any) -> None:
    """Dumped text is compact, keeps non-ASCII, and is the same value again."""
    assert json.dumps(value, ensure_ascii=False, separators=(",", ":")) == dumped(value)


@given(values)
def test_copies_are_equal(value: Any) -> None:
    """A copy is the same value, with other containers throughout."""
    copy = copied(value)
    mine = {id(item) for kind, item in walk(value) if kind in "{["}

    assert canonical(value) == canonical(copy)
    assert set() == mine & {id(item) for kind, item in walk(copy) if kind in "{["}


def test_tuples_are_arrays() -> None:
    """A tuple is an array, and comes back as a list."""
    assert ('{"a":[1,[]]}', {"a": [1, []]}) == (dumped({"a": (1, ())}), copied({"a": (1, ())}))


def test_the_same_container_twice() -> None:
    """A container may be in several places, as long as it does not contain itself."""
    shared = ["x"]
    copy = copied({"a": shared, "b": shared})

    assert {"a": ["x"], "b": ["x"]} == copy
    assert copy["a"] is not copy["b"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("\ud83d", r'"\ud83d"'),
        ("é\udfff→", r'"é\udfff→"'),
        ({"\udc80": 1}, r'{"\udc80":1}'),
        ("\ud83d\ude00", r'"\ud83d\ude00"'),
    ],
)
def test_lone_surrogates_are_escaped(value: Any, text: str) -> None:
    r"""A lone surrogate is written as `\udXXX`: the text is UTF-8, and reads back the same."""
    assert text == dumped(value)
    assert text.encode().decode() == text


@pytest.mark.parametrize("read", [copied, dumped])
@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_no_number_that_json_lacks(read: Callable[[Any], Any], number: float) -> None:
    """NaN and the infinities are refused: no reader accepts them."""
    with pytest.raises(ValueError, match="neither NaN nor infinities"):
        read({"a": [1, number]})


@together("read", [copied, dumped])
@together(
    ("value", "message"),
    [
        ({"a": b"x"}, "no bytes"),
        ({"a": {1}}, "no set"),
        ({1: "a"}, "strings, not int"),
        ({None: 1}, "NoneType"),
    ],
)
def test_no_type_that_json_lacks(read: Callable[[Any], Any], value: Any, message: str) -> None:
    """Values outside JSON are refused by their type; the value is not shown."""
    with pytest.raises(TypeError, match=message):
        read(value)


@pytest.mark.parametrize("read", [copied, dumped])
def test_nothing_holds_itself(read: Callable[[Any], Any]) -> None:
    """A value that contains itself has no end."""
    value: dict[str, Any] = {"a": []}
    value["a"].append(value)

    with pytest.raises(ValueError, match="holds itself"):
        read(value)


@settings(max_examples=5)
@given(st.integers(3000, 5000))
def test_no_depth_is_too_deep(depth: int) -> None:
    """Depth costs no stack."""
    value: Any = 1
    for n in range(depth):
        value = [value] if n % 2 else {"k": value}

    assert dumped(value) == dumped(copied(value))
    assert depth == dumped(value).count("[") + dumped(value).count("{")
