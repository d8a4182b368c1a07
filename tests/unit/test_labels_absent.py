"""The call of a chat fragment without an id: one test for each decision, as in `test_labels`."""

from __future__ import annotations

import pytest

from tests.support.bound import A, B, Got, at, bound, orphan

# Id absent, index taken.


def test_absent_taken_without_name() -> None:
    """Id absent, index taken, no name: the latest call of the index that can continue, else the latest."""
    assert [Got("c", "f", A)] == bound(at(0, '{"a"', "c", "f"), at(0, ":1}"))
    assert [Got("c", "f", A), Got("d", "g", B, "bound_by_order")] == bound(
        at(0, A, "c", "f"), at(0, '{"b"', "d", "g"), at(0, ":2}")
    )
    assert [Got("c", "f", A), Got("d", "g", B + "}", "bound_by_order")] == bound(
        at(0, A, "c", "f"), at(0, B, "d", "g"), at(0, "}")
    )


def test_absent_taken_without_name_filled() -> None:
    """Id absent, index taken by a placeholder, no name, text starts: that call (quirk 25)."""
    assert [Got("c", "f", A, "placeholder")] == bound(at(0, "{}", "c", "f"), at(0, A))


def test_absent_taken_same_name() -> None:
    """Id absent, index taken, same name, call incomplete or text not a start: that call (quirk 15)."""
    assert [Got("c", "f", A)] == bound(at(0, '{"a"', "c", "f"), at(0, ":1}", None, "f"))
    assert [Got("c", "f", A)] == bound(at(0, A, "c", "f"), at(0, "", None, "f"))
    assert [Got("c", "f", '{"a":{"b":2}}')] == bound(at(0, '{"a":', "c", "f"), at(0, B + "}", None, "f"))


def test_absent_taken_same_name_repeated() -> None:
    """Id absent, index taken, same name, call complete, text repeats or fills it: that call."""
    assert [Got("c", "f", A, "repeated")] == bound(at(0, A, "c", "f"), at(0, A, None, "f"))
    assert [Got("c", "f", A, "placeholder")] == bound(at(0, "{}", "c", "f"), at(0, A, None, "f"))


def test_absent_taken_split_name() -> None:
    """Id absent, index taken, other name, no text yet: the name in pieces (quirk 16)."""
    assert [Got("c", "get_tide", A, "name_joined")] == bound(at(0, "", "c", "get_"), at(0, A, None, "tide"))
    assert [Got("c", "get_tide", A)] == bound(at(0, "", "c", "get_"), at(0, A, None, "get_tide"))


# Id absent, index free.


def test_absent_free_with_name() -> None:
    """Id absent, index free, name given: a new call."""
    assert [Got("c", "f", A), Got("call_0_0_1", "f", A, "id_generated")] == bound(
        at(0, A, "c", "f"), at(1, A, None, "f")
    )


def test_absent_free_sole() -> None:
    """Id absent, index free, no name, one call can continue: that call, its index changed (quirk 5)."""
    assert [Got("c", "f", A, "index_churn")] == bound(at(0, "", "c", "f"), at(1, A))
    assert [Got("c", "f", A, "index_churn")] == bound(at(0, '{"a"', "c", "f"), at(1, ":1}"))


@pytest.mark.parametrize("text", ["null", "None", " [1]", '"{}"'])
def test_what_a_call_without_text_takes(text: str) -> None:
    """Id absent, no index, no name: a call without text can begin with an array, a string or a null."""
    assert [(("c", "f"), text)] == [
        ((got.id, got.name), got.text) for got in bound(at(0, "", "c", "f"), at(None, text))
    ]


# Id absent, index absent.


def test_absent_absent_with_name() -> None:
    """No id, no index, name given: a new call, unless one is open that can continue under this name (quirk 15)."""
    assert [Got("c", "f", A), Got("call_0_0_1", "g", B, "id_generated")] == bound(
        at(None, A, "c", "f"), at(None, B, None, "g")
    )
    assert [Got("c", "f", A)] == bound(at(None, '{"a"', "c", "f"), at(None, ":1}", None, "f"))
    assert [Got("c", "f", A)] == bound(at(None, "", "c"), at(None, A, None, "f"))


def test_absent_absent_sole() -> None:
    """No id, no index, no name, one call can continue: that call."""
    assert [Got("c", "f", A)] == bound(at(None, '{"a"', "c", "f"), at(None, ":1}"))
    assert [Got("c", "f", A), Got("d", "g", B, "bound_by_order")] == bound(
        at(0, A, "c", "f"), at(1, "", "d", "g"), at(None, B)
    )


def test_absent_absent_latest() -> None:
    """No id, no index, no name, no call can continue: the latest."""
    assert [Got("c", "f", A), Got("d", "g", B + " ", "bound_by_order")] == bound(
        at(None, A, "c", "f"), at(None, B, "d", "g"), at(None, " ")
    )


def test_absent_absent_first() -> None:
    """No id, no index, no name, no calls at all: text of no call."""
    assert [orphan(A)] == bound(at(None, A))
