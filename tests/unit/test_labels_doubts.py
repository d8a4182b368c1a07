"""The call of a chat fragment where labels and text are at odds, beyond the rows of the table."""

from __future__ import annotations

import pytest

from tests.support.bound import A, B, Got, at, bound

# Invalid indices, limits, objects.


def _signs(found: list[Got]) -> list[Got | str]:
    return [got.sign if "too_many" in got.sign else got for got in found]


@pytest.mark.parametrize("index", [0, 7, "a"])
def test_an_index_is_a_key(index: int | str) -> None:
    """Any index will do, in any order (quirk 4)."""
    assert [Got("d", "g", B), Got("c", "f", A)] == bound(
        at(99, '{"b"', "d", "g"), at(index, '{"a"', "c", "f"), at(99, ":2}"), at(index, ":1}")
    )


# Labels that only repeat, and text that no call can begin with.


def test_a_head_without_id_opens_a_second_call() -> None:
    """A name alone after a complete call opens a tentative call: text makes it a call, nothing lets it vanish."""
    minted = "call_0_0_1"
    assert [Got("c", "f", A), Got(minted, "f", B, "bound_by_order id_generated")] == bound(
        at(0, A, "c", "f"), at(0, "", None, "f"), at(0, B)
    )
    assert [Got("c", "f", A)] == bound(at(0, A, "c", "f"), at(0, "", None, "f"))
    assert [Got("c", "f", A, "bound_by_order"), Got("d", "g", B)] == bound(
        at(0, A, "c", "f"), at(0, "", None, "f"), at(0, B, "d", "g")
    )


def test_a_tentative_call_is_no_first_piece_of_a_name() -> None:
    """Another name after a tentative call's is the name of another call, not its second piece (quirk 16)."""
    assert [Got("c", "go", A, "bound_by_order"), Got("call_0_0_1", "t", B, "id_generated")] == bound(
        at(0, A, "c", "go"), at(0, "", None, "go"), at(0, B, None, "t")
    )


def test_a_late_name_without_labels() -> None:
    """Id absent, index absent, name alone: it names the nameless call that was opened last (quirk 17)."""
    assert [Got("c", "f", A)] == bound(at(None, A, "c"), at(None, "", None, "f"))


def test_a_null_is_a_placeholder() -> None:
    """A null counts only if nothing else comes (quirks 25 and 26)."""
    assert [Got("c", "f", A, "placeholder")] == bound(at(0, "null", "c", "f"), at(0, A))
    assert [Got("c", "f", "null")] == bound(at(0, "null", "c", "f"))


def test_an_id_that_all_calls_have() -> None:
    """An id known at the same index means the call there; a repeat of its text belongs to no other call."""
    assert [Got("c", "f", ""), Got("c#2", "g", A, "duplicate_id repeated")] == bound(
        at(0, "", "c", "f"), at(1, A, "c", "g"), at(1, A, "c")
    )


def test_a_null_under_a_new_id() -> None:
    """After complete text a null under a new id is another call's text, and its name may come late."""
    assert [Got("c", "f", A), Got("d", "g", "null", "bound_by_order")] == bound(
        at(0, A, "c", "f"), at(0, "null", "d"), at(0, "", None, "g")
    )
    assert [Got("c", "f", A + " ", "id_churn")] == bound(at(0, A, "c", "f"), at(0, " ", "d"))


def test_a_later_call_ends_one_that_has_two_readings() -> None:
    """A possible whole snapshot does not continue after another call on its index."""
    snapshots = at(0, '{"a":', "c", "f"), at(0, '{"a":{}}')
    assert [
        Got("c", "f", '{"a":{}}', "bound_by_order snapshots"),
        Got("d", "g", "{}"),
        Got("e", "f", B, "bound_by_order"),
    ] == bound(*snapshots, at(0, "{}", "d", "g"), at(0, "", "e", "f"), at(0, B))
