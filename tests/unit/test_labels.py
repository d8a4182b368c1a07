"""The call of a chat fragment: one test for each decision of the table.

Each docstring names the row: the id (known, unseen, absent), the index (here, elsewhere, taken, free, absent), and name
and text.
"""

from __future__ import annotations

import pytest

from tests.support.bound import A, B, Got, at, bound, stream
from wholecall.deltas import INVALID_INDEX, Fragment

# Empty fragments.


def test_nothing() -> None:
    """A fragment without id, name and text opens nothing (quirk 101)."""
    assert ([], ("reason_without_call",)) == stream(at(0), at(None), Fragment(0, 7, ""), at(INVALID_INDEX))


# Id known, index here.


def test_known_here_without_name() -> None:
    """Id known, index here, no name: that call, whatever the text."""
    assert [Got("c", "f", A)] == bound(at(0, '{"a"', "c", "f"), at(0, ":1}", "c"))
    assert [Got("c", "f", A + B, "dropped: multiple_objects")] == bound(at(0, A, "c", "f"), at(0, B, "c"))


def test_known_here_with_name_incomplete() -> None:
    """Id known, index here, name given, call incomplete: that call (quirk 13)."""
    assert [Got("c", "f", A)] == bound(at(0, '{"a"', "c", "f"), at(0, ":1}", "c", "f"))


def test_known_here_with_name_no_start() -> None:
    """Id known, index here, same name, call complete, text is not a start: that call."""
    assert [Got("c", "f", A)] == bound(at(0, A, "c", "f"), at(0, "", "c", "f"))
    assert [Got("c", "f", A + "}", "")] == bound(at(0, A, "c", "f"), at(0, "}", "c", "f"))


@pytest.mark.parametrize(("id", "sign"), [("c", "snapshots"), (None, "id_generated snapshots")])
def test_known_here_with_name_grown(id: str | None, sign: str) -> None:
    """Id known (or absent), same name, the text is the call's next snapshot: that call (quirk 24).

    The first snapshots are fragments by their looks, and joined they seem complete.
    """
    text = '{"a": [["}"]]}'
    grown = [at(0, text[:size], id, "f") for size in (2, 4, 6, 8, 10, 12, 14)]

    assert [(text, sign)] == [(call.text, call.sign) for call in bound(*grown)]


def test_known_here_with_name_filled() -> None:
    """Id known, index here, same name, call is a placeholder, text starts: that call (quirk 25)."""
    assert [Got("c", "f", A, "placeholder")] == bound(at(0, "{}", "c", "f"), at(0, A, "c", "f"))


# Id known, index absent.


def test_known_without_index() -> None:
    """Id known, no index: the call that has the id (quirk 1)."""
    assert [Got("c", "f", A), Got("d", "g", B)] == bound(
        at(None, '{"a"', "c", "f"), at(None, '{"b"', "d", "g"), at(None, ":1}", "c"), at(None, ":2}", "d")
    )


def test_known_without_index_anew() -> None:
    """Id known, no index, same name, call complete, text starts: a new call under a taken id."""
    assert [Got("c", "f", A), Got("c#2", "f", B, "duplicate_id")] == bound(
        at(None, A, "c", "f"), at(None, B, "c", "f")
    )


def test_known_at_an_invalid_index() -> None:
    """Id known, index invalid: the index counts as absent, and is an anomaly."""
    assert ([Got("c", "f", A)], ("invalid_index",)) == stream(
        at(0, '{"a"', "c", "f"), at(INVALID_INDEX, ":1}", "c")
    )


# Id known, index elsewhere.


def test_known_elsewhere_without_name() -> None:
    """Id known, index elsewhere, no name: that call, its index changed (quirk 5)."""
    assert [Got("c", "f", A, "index_churn")] == bound(at(0, '{"a"', "c", "f"), at(3, ":1}", "c"))


def test_known_elsewhere_with_name() -> None:
    """Id known, index elsewhere, same name, call incomplete: that call, its index changed."""
    assert [Got("c", "f", A, "index_churn")] == bound(at(0, '{"a"', "c", "f"), at(3, ":1}", "c", "f"))


def test_known_elsewhere_complete() -> None:
    """Id known, index elsewhere, same name, call complete: a new call; ids repeat over parallel calls."""
    assert [Got("c", "f", A), Got("c#2", "f", B, "duplicate_id")] == bound(
        at(0, A, "c", "f"), at(1, B, "c", "f")
    )


def test_known_elsewhere_with_other_name() -> None:
    """Id known, index elsewhere, other name: a new call, complete or not; later text goes by its index."""
    assert [Got("c", "f", A), Got("c#2", "g", B, "duplicate_id")] == bound(
        at(0, "", "c", "f"), at(1, "", "c", "g"), at(0, A), at(1, B)
    )


def test_ids_repeated_over_parallel_calls() -> None:
    """Id known in several calls, index here: the call that can continue."""
    assert [
        Got("c", "f", A),
        Got("c#2", "f", B, "duplicate_id"),
        Got("c#3", "f", A, "duplicate_id"),
    ] == bound(at(0, A, "c", "f"), at(1, '{"b"', "c", "f"), at(1, ":2}", "c"), at(2, A, "c", "f"))


# Id unseen, index taken.


def test_unseen_taken_other_name() -> None:
    """Id unseen, index taken, other name: a new call (quirks 3 and 6)."""
    assert [Got("c", "f", A), Got("d", "g", B)] == bound(at(0, A, "c", "f"), at(0, B, "d", "g"))
    assert [Got("c", "f", "", ""), Got("d", "g", B)] == bound(at(0, "", "c", "f"), at(0, B, "d", "g"))


def test_unseen_taken_same_name_complete() -> None:
    """Id unseen, index taken, same name, call complete: a new call (quirk 6)."""
    assert [Got("c", "f", A), Got("d", "f", B)] == bound(at(0, A, "c", "f"), at(0, B, "d", "f"))
    assert [Got("c", "f", A), Got("d", "f", B, "bound_by_order")] == bound(
        at(0, A, "c", "f"), at(0, "", "d", "f"), at(0, B)
    )


def test_unseen_taken_same_name_incomplete() -> None:
    """Id unseen, index taken, same name, call incomplete: its id changed, the first stays public (quirk 10)."""
    assert [Got("c", "f", A, "id_churn")] == bound(at(0, '{"a"', "c", "f"), at(0, ":1}", "d", "f"))
    assert [Got("c", "f", A, "id_churn")] == bound(at(0, "", "c", "f"), at(0, A, "d", "f"))
    assert [Got("c", "f", '{"a":{"b":2}}', "id_churn")] == bound(
        at(0, '{"a":', "c", "f"), at(0, B + "}", "d", "f")
    )


def test_unseen_taken_snapshot() -> None:
    """Id unseen, index taken, same name, text is a snapshot of the call's: its id changed (quirk 24)."""
    assert [Got("c", "f", A, "id_churn snapshots")] == bound(at(0, '{"a":1', "c", "f"), at(0, A, "d", "f"))


def test_unseen_taken_late_id() -> None:
    """Id unseen, index taken by a call without id, text not a start or the same: the id came late (quirk 11)."""
    assert [Got("c", "f", A)] == bound(at(0, '{"a"', None, "f"), at(0, ":1}", "c", "f"))
    assert [Got("c", "f", A)] == bound(at(0, A, None, "f"), at(0, "", "c", "f"))
    assert [Got("c", "f", A, "repeated")] == bound(at(0, A, None, "f"), at(0, A, "c", "f"))
    assert [Got("c", "f", A)] == bound(at(0, A, None, "f"), at(0, "", "c"))


def test_unseen_taken_without_name_incomplete() -> None:
    """Id unseen, index taken, no name, call incomplete: its id changed."""
    assert [Got("c", "f", A, "id_churn")] == bound(at(0, '{"a"', "c", "f"), at(0, ":1}", "d"))
    assert [Got("c", "f", '{"a":{"b":2}}', "id_churn")] == bound(
        at(0, '{"a":', "c", "f"), at(0, B + "}", "d")
    )


def test_unseen_taken_without_name_filled() -> None:
    """Id unseen, index taken, no name, call is a placeholder, text starts: its id changed (quirk 25)."""
    assert [Got("c", "f", A, "id_churn placeholder")] == bound(at(0, "{}", "c", "f"), at(0, A, "d"))


def test_tentative() -> None:
    """A call opened on the index of a call whose id churned, with no content, vanishes."""
    churned = [at(0, '{"a"', "c", "f"), at(0, ":1}", "d", "f")]

    assert [Got("c", "f", A, "id_churn")] == bound(*churned, at(0, "", "e", "f"))
    assert [Got("c", "f", A, "id_churn"), Got("e", "f", B)] == bound(*churned, at(0, B, "e", "f"))
    assert [Got("c", "f", A, "id_churn"), Got("e", "g", "")] == bound(*churned, at(0, "", "e", "g"))


# Id unseen, index free or absent.


@pytest.mark.parametrize("index", [1, None, INVALID_INDEX])
def test_unseen_free_with_name(index: int | None) -> None:
    """Id unseen, index free or absent, name given: a new call."""
    assert [Got("c", "f", A), Got("d", "g", B)] == bound(at(0, A, "c", "f"), at(index, B, "d", "g"))


def test_unseen_free_several() -> None:
    """Id unseen, index free, no name, several calls can continue: a separate call, whose name may follow."""
    opened = [at(0, '{"a"', None, "f"), at(1, '{"a"', None, "f")]
    rest = [at(0, ":1}"), at(1, ":1}")]
    both = [Got("call_0_0_0", "f", A, "id_generated"), Got("call_0_0_1", "f", A, "id_generated")]

    assert [*both, Got("d", "g", B)] == bound(*opened, at(2, B, "d"), at(2, "", None, "g"), *rest)


def test_unseen_free_waits_for_its_name() -> None:
    """Id unseen, index free, no name, nothing open: a new call, named by a later fragment at its index (quirk 17)."""
    assert [Got("c", "f", A)] == bound(at(0, "", "c"), at(0, A), at(0, "", None, "f"))
