"""Many small cases as one test."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.together import together


def failure_of(test: Callable[..., None], **fixtures: Any) -> list[str]:
    """Return the lines that tell how a test fails."""
    with pytest.raises(AssertionError) as raised:
        test(**fixtures)
    return str(raised.value).splitlines()


def test_every_case_is_tried() -> None:
    """Also those behind a case that fails; with a decorator for each of two parameters every pair."""
    tried = []

    @together("n", [1, 2])
    @together("letter", "ab")
    def pairs(n: int, letter: str) -> None:
        tried.append((n, letter))
        raise ValueError("no")

    assert "2 of 2 cases fail" == failure_of(pairs)[0]
    assert [(1, "a"), (1, "b"), (2, "a"), (2, "b")] == tried


def test_a_failure_names_its_cases() -> None:
    """By the id, else by the name of the parameter set, else by the values; cases that hold are not named."""

    @together(("n", "m"), [(1, 2), (2, 2), pytest.param(3, 4, id="odd and even")])
    def equal(n: int, m: int) -> None:
        if n != m:
            pytest.fail("they differ")

    assert ["2 of 3 cases fail", "[1, 2] Failed: they differ", "[odd and even] Failed: they differ"] == (
        failure_of(equal)
    )
    assert (
        "[one] Failed: they differ"
        == failure_of(
            together("n, m", [(1, 2)], ids=["one"])(equal.__wrapped__)  # type: ignore[attr-defined]
        )[1]
    )


def test_the_first_failure_is_the_cause() -> None:
    """Its traceback is shown as of a test of its own."""
    errors = [ValueError("a"), ValueError("b")]

    @together("error", errors)
    def fails(error: Exception) -> None:
        raise error

    with pytest.raises(AssertionError) as raised:
        fails()

    assert raised.value.__cause__ is errors[0]


@together("n", range(3))
def test_fixtures_are_given(n: int, project_dir: Any) -> None:
    """Parameters that no case sets are fixtures, the same for all cases."""
    assert (n in range(3), True) == (True, (project_dir / "tests").is_dir())


def test_a_case_has_no_marks() -> None:
    """A mark is about a whole test: it would be lost."""
    with pytest.raises(TypeError, match="no marks of their own"):
        together("n", [pytest.param(1, marks=pytest.mark.slow)])


def test_a_case_has_a_value_for_each_parameter() -> None:
    """Too few or too many are an error."""

    @together("n, m", [(1, 2, 3)])
    def test(n: int, m: int) -> None:
        raise AssertionError((n, m))

    with pytest.raises(ValueError, match="zip"):
        test()


def test_quick_tests_take_some_cases() -> None:
    """With `one_in` a part of the cases is tried, and all others by the slow tests; without a part all are."""
    tried = []

    @together("n", range(6), one_in=3)
    def note(n: int, other: str) -> None:
        tried.append((n, other))

    (mark,) = note.pytestmark  # type: ignore[attr-defined]
    parts = [param.values[0] for param in mark.args[1]]
    for part in parts:
        note(other="x", portion=part._replace(rest_in=1))

    assert ["other", "portion"] == [*inspect.signature(note).parameters]
    assert [(n, "x") for n in range(6)] == sorted(tried)
    assert [False, True] == [part.is_rest for part in parts]
    assert 2 == len(parts[0].of(range(6), "a name"))
