"""Which call a chat fragment without an id belongs to: one test for each decision, as in `test_binding`."""

from __future__ import annotations

import pytest

from tests.support.bound import A, B, Got, at, bound, lost, stray, stream
from wholecall.deltas import Finish

# Id absent, index taken.


def test_absent_taken_without_name() -> None:
    """Id absent, index taken, no name: the latest call of the index that can go on, else the latest."""
    assert [Got("c", "f", A)] == bound(at(0, '{"a"', "c", "f"), at(0, ":1}"))
    assert [Got("c", "f", A), Got("d", "g", B)] == bound(
        at(0, A, "c", "f"), at(0, '{"b"', "d", "g"), at(0, ":2}")
    )
    assert [Got("c", "f", A), Got("d", "g", B + "}", "")] == bound(
        at(0, A, "c", "f"), at(0, B, "d", "g"), at(0, "}")
    )


def test_absent_taken_without_name_filled() -> None:
    """Id absent, index taken by a placeholder, no name, text starts: that call (quirk 25)."""
    assert [Got("c", "f", A, "placeholder")] == bound(at(0, "{}", "c", "f"), at(0, A))


def test_absent_taken_tail_of_the_latest() -> None:
    """Id absent, index of a whole call, no name, an object: the latest call's, if that is hollow (quirk 5)."""
    assert [Got("c", "f", A, "index_churn"), Got("d", "g", B)] == bound(
        at(0, "", "c", "f"), at(1, A), at(0, "", "d", "g"), at(1, B)
    )


def test_absent_taken_tail_that_repeats() -> None:
    """Id absent, index of a whole call, no name, its own text: a repeat, and the latest call has a hole."""
    assert [Got("c", "f", A, "index_churn repeated"), lost("d", "g", "")] == bound(
        at(0, "", "c", "f"), at(1, A), at(0, "", "d", "g"), at(1, A)
    )


def test_absent_taken_tail_of_an_open_call() -> None:
    """Id absent, index of a whole call, no name, no start: that call, and the latest call has a hole."""
    heads = [at(0, "", "c", "f"), at(1, A), at(0, '{"b"', "d", "g")]

    assert [Got("c", "f", A + ":2}", "dropped: ambiguous"), lost("d", "g", '{"b"')] == bound(
        *heads, at(1, ":2}")
    )
    assert [Got("c", "f", A + " ", "index_churn"), Got("d", "g", B)] == bound(
        *heads, at(1, " "), at(0, ":2}")
    )


def test_absent_taken_own_index() -> None:
    """Id absent, index of a whole call, no name: that call, if the latest has an index to itself."""
    assert [
        Got("c", "f", A + B, "dropped: multiple_objects"),
        Got("d", "g", "", "dropped: ambiguous"),
    ] == bound(at(0, A, "c", "f"), at(1, "", "d", "g"), at(0, B))


def test_absent_taken_same_name() -> None:
    """Id absent, index taken, same name, call incomplete or text no start: that call (quirk 15)."""
    assert [Got("c", "f", A)] == bound(at(0, '{"a"', "c", "f"), at(0, ":1}", None, "f"))
    assert [Got("c", "f", A)] == bound(at(0, A, "c", "f"), at(0, "", None, "f"))
    assert [Got("c", "f", '{"a":{"b":2}}')] == bound(at(0, '{"a":', "c", "f"), at(0, B + "}", None, "f"))


def test_absent_taken_same_name_anew() -> None:
    """Id absent, index taken, same name, call complete, text starts: a new call."""
    assert [Got("c", "f", A), Got("call_0_0_1", "f", B, "id_generated")] == bound(
        at(0, A, "c", "f"), at(0, B, None, "f")
    )


def test_absent_taken_same_name_repeated() -> None:
    """Id absent, index taken, same name, call complete, text repeats or fills it: that call."""
    assert [Got("c", "f", A, "repeated")] == bound(at(0, A, "c", "f"), at(0, A, None, "f"))
    assert [Got("c", "f", A, "placeholder")] == bound(at(0, "{}", "c", "f"), at(0, A, None, "f"))


def test_absent_taken_same_name_late() -> None:
    """Id absent, index of an ended call, same name: that call, and the text is an anomaly."""
    late = [at(0, A, "c", "f"), Finish(0, "stop", "stop"), at(0, B, None, "f")]

    assert ([Got("c", "f", A)], ("late_fragment",)) == stream(*late)


def test_absent_taken_split_name() -> None:
    """Id absent, index taken, other name, no text yet: the name in pieces (quirk 16)."""
    assert [Got("c", "get_tide", A)] == bound(at(0, "", "c", "get_"), at(0, A, None, "tide"))
    assert [Got("c", "get_tide", A)] == bound(at(0, "", "c", "get_"), at(0, A, None, "get_tide"))


def test_absent_taken_other_name() -> None:
    """Id absent, index taken, other name, text has come: a new call (quirk 3)."""
    assert [Got("c", "f", A), Got("call_0_0_1", "g", B, "id_generated")] == bound(
        at(0, A, "c", "f"), at(0, B, None, "g")
    )
    assert [Got("c", "f", '{"a"', "dropped: truncated"), Got("call_0_0_1", "g", B, "id_generated")] == bound(
        at(0, '{"a"', "c", "f"), at(0, B, None, "g")
    )


# Id absent, index free.


def test_absent_free_with_name() -> None:
    """Id absent, index free, name given: a new call."""
    assert [Got("c", "f", A), Got("call_0_0_1", "f", A, "id_generated")] == bound(
        at(0, A, "c", "f"), at(1, A, None, "f")
    )


def test_absent_free_sole() -> None:
    """Id absent, index free, no name, one call can go on: that call, its index changed (quirk 5)."""
    assert [Got("c", "f", A, "index_churn")] == bound(at(0, "", "c", "f"), at(1, A))
    assert [Got("c", "f", A, "index_churn")] == bound(at(0, '{"a"', "c", "f"), at(1, ":1}"))


def test_absent_free_placeholder() -> None:
    """Id absent, index free, no name, an object, the latest call is a placeholder: ambiguous (law 31)."""
    assert [lost("c", "f", "{}"), stray(A)] == bound(at(0, "{}", "c", "f"), at(1, A))


def test_absent_free_anew() -> None:
    """Id absent, index free, no name, the text begins anew in the one open call: ambiguous (law 31)."""
    assert [lost("c", "f", '{"a"'), stray(B)] == bound(at(0, '{"a"', "c", "f"), at(1, B))


def test_absent_free_several() -> None:
    """Id absent, index free, no name, several calls can go on: ambiguous, none of them comes out (law 31)."""
    opened = [at(0, '{"a"', "c", "f"), at(1, '{"a"', "d", "g"), at(2, A, "e", "h")]

    assert [lost("c", "f", A), lost("d", "g", A), Got("e", "h", A), stray(":1}")] == bound(
        *opened, at(3, ":1}"), at(0, ":1}"), at(1, ":1}")
    )


def test_absent_free_none() -> None:
    """Id absent, index free, no name, no call can go on: a repeat of the latest, else text of no call."""
    assert [Got("c", "f", A, "repeated")] == bound(at(0, A, "c", "f"), at(1, A))
    assert [Got("c", "f", A), stray(B)] == bound(at(0, A, "c", "f"), at(1, B))
    assert [stray(A)] == bound(at(1, A))


def test_a_call_without_text_takes_only_a_start() -> None:
    """Id absent, index free, no name, no start: a call without text cannot go on with it."""
    assert [Got("c", "f", "", "dropped: ambiguous"), stray(":1}")] == bound(at(0, "", "c", "f"), at(1, ":1}"))


@pytest.mark.parametrize("text", ["null", "None", " [1]", '"{}"'])
def test_what_a_call_without_text_takes(text: str) -> None:
    """Id absent, no index, no name: a call without text can begin with an array, a string or a null."""
    assert [(("c", "f"), text)] == [
        ((got.id, got.name), got.text) for got in bound(at(0, "", "c", "f"), at(None, text))
    ]


# Id absent, index absent.


def test_absent_absent_with_name() -> None:
    """No id, no index, name given: a new call, unless one is open that can go on under this name (quirk 15)."""
    assert [Got("c", "f", A), Got("call_0_0_1", "g", B, "id_generated")] == bound(
        at(None, A, "c", "f"), at(None, B, None, "g")
    )
    assert [Got("c", "f", A)] == bound(at(None, '{"a"', "c", "f"), at(None, ":1}", None, "f"))
    assert [Got("c", "f", A)] == bound(at(None, "", "c"), at(None, A, None, "f"))


def test_absent_absent_with_other_name() -> None:
    """No id, no index, other name, one call can go on: a new call."""
    assert [Got("c", "f", '{"a"', "dropped: truncated"), Got("call_0_0_1", "g", B, "id_generated")] == bound(
        at(None, '{"a"', "c", "f"), at(None, B, None, "g")
    )


def test_absent_absent_with_name_anew() -> None:
    """No id, no index, same name, text begins anew: a new call inside an unfinished one."""
    assert [
        Got("c", "f", '{"a"', "dropped: truncated"),
        Got(None, "f", B, "dropped: ambiguous"),
    ] == bound(at(None, '{"a"', "c", "f"), at(None, B, None, "f"))


def test_absent_absent_sole() -> None:
    """No id, no index, no name, one call can go on: that call."""
    assert [Got("c", "f", A)] == bound(at(None, '{"a"', "c", "f"), at(None, ":1}"))
    assert [Got("c", "f", A), Got("d", "g", B)] == bound(at(0, A, "c", "f"), at(1, "", "d", "g"), at(None, B))


def test_absent_absent_latest() -> None:
    """No id, no index, no name, no call can go on: the latest."""
    assert [Got("c", "f", A), Got("d", "g", B + " ")] == bound(
        at(None, A, "c", "f"), at(None, B, "d", "g"), at(None, " ")
    )


def test_absent_absent_several() -> None:
    """No id, no index, no name, several calls can go on: ambiguous, none of them comes out (law 31)."""
    opened = [at(None, '{"a"', "c", "f"), at(None, '{"b"', "d", "g")]

    assert [lost("c", "f", A), lost("d", "g", '{"b"'), stray(":2}")] == bound(
        *opened, at(None, ":2}"), at(None, ":1}", "c")
    )


def test_absent_absent_first() -> None:
    """No id, no index, no name, no calls at all: text of no call."""
    assert [stray(A)] == bound(at(None, A))
