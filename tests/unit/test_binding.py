"""Which call a chat fragment belongs to: one test for each decision of the table.

Each docstring names the row: what the id says (known, unseen, absent), what the index says (here, elsewhere,
taken, free, absent), and what name and text say.
"""

from __future__ import annotations

from itertools import product

import pytest

from tests.support.bound import Got, assembled
from wholecall.binding import ROWS
from wholecall.deltas import INVALID_INDEX, OBJECT, Delta, Finish, Fragment, Labelled, TurnEnded
from wholecall.limits import Limits
from wholecall.vocabulary import Kind

A, B = '{"a":1}', '{"b":2}'


def at(
    index: int | str | None,
    text: str = "",
    id: str | None = None,
    name: str | None = None,
    kind: Kind = "function",
) -> Labelled:
    """Return a fragment at an index."""
    return Labelled(0, index, id, name, text, kind)


def whole(index: int | None, text: str, id: str | None = None, name: str | None = None) -> Labelled:
    """Return an object where fragments are usual."""
    return Labelled(0, index, id, name, text, "function", OBJECT)


def stream(*deltas: Delta, limits: Limits | None = None) -> tuple[list[Got], tuple[str, ...]]:
    """Stream the deltas to a clean end; return the calls in their order, and the anomalies."""
    return assembled(*deltas, Finish(0, "tool_calls", "tool_calls"), TurnEnded(), limits=limits)


def bound(*deltas: Delta, limits: Limits | None = None) -> list[Got]:
    """Return the calls of a stream."""
    return stream(*deltas, limits=limits)[0]


def lost(id: str | None, name: str | None, text: str) -> Got:
    """Return a call that lost text."""
    return Got(id, name, text, "dropped: incomplete_input")


def stray(text: str, id: str | None = None) -> Got:
    """Return text that is no call's."""
    return Got(id, None, text, "dropped: nameless")


def test_rows_are_total() -> None:
    """There is a row for all that id and index can say together; a free index cannot be a known id's."""
    possible = {
        *product(["known"], ["absent", "here", "elsewhere"]),
        *product(["unseen", "absent"], ["absent", "taken", "free"]),
    }

    assert possible == set(ROWS)


# What says nothing.


def test_nothing() -> None:
    """A fragment without id, name and text opens nothing (quirk 101)."""
    assert ([], ("reason_without_call",)) == stream(at(0), at(None), Fragment(0, 7, ""), at(INVALID_INDEX))


# Id known, index here.


def test_known_here_without_name() -> None:
    """Id known, index here, no name: that call, whatever the text is."""
    assert [Got("c", "f", A)] == bound(at(0, '{"a"', "c", "f"), at(0, ":1}", "c"))
    assert [Got("c", "f", A + B, "dropped: multiple_objects")] == bound(at(0, A, "c", "f"), at(0, B, "c"))


def test_known_here_with_name_incomplete() -> None:
    """Id known, index here, name given, call incomplete: that call (quirk 13)."""
    assert [Got("c", "f", A)] == bound(at(0, '{"a"', "c", "f"), at(0, ":1}", "c", "f"))


def test_known_here_with_name_no_start() -> None:
    """Id known, index here, same name, call complete, text is no start: that call."""
    assert [Got("c", "f", A)] == bound(at(0, A, "c", "f"), at(0, "", "c", "f"))
    assert [Got("c", "f", A + "}", "")] == bound(at(0, A, "c", "f"), at(0, "}", "c", "f"))


def test_known_here_with_name_anew() -> None:
    """Id known, index here, same name, call complete, text starts: a new call under a taken id."""
    assert [Got("c", "f", A), Got("c#2", "f", B, "duplicate_id")] == bound(
        at(0, A, "c", "f"), at(0, B, "c", "f")
    )


def test_known_here_with_name_repeated() -> None:
    """Id known, index here, same name, call complete, text is the call's: that call (quirk 23)."""
    assert [Got("c", "f", A, "repeated")] == bound(at(0, A, "c", "f"), at(0, A, "c", "f"))
    assert [Got("c", "f", A)] == bound(whole(0, A, "c", "f"), whole(0, A, "c", "f"))


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


def test_known_here_with_other_name() -> None:
    """Id known, index here, other name, call complete: a new call; incomplete: ambiguous."""
    assert [Got("c", "f", A), Got("c#2", "g", B, "duplicate_id")] == bound(
        at(0, A, "c", "f"), at(0, B, "c", "g")
    )
    assert [Got("c", "f", A, "dropped: ambiguous")] == bound(at(0, '{"a"', "c", "f"), at(0, ":1}", "c", "g"))


def test_known_here_after_its_end() -> None:
    """Id known, index here, call ended: that call, and the text is an anomaly (quirk 44)."""
    late = [at(0, A, "c", "f"), Finish(0, "stop", "stop"), at(0, B, "c", "f")]

    assert ([Got("c", "f", A)], ("late_fragment",)) == stream(*late)


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
    """Id known in several calls, index here: the call that can go on."""
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
    assert [Got("c", "f", A), Got("d", "f", B)] == bound(at(0, A, "c", "f"), at(0, "", "d", "f"), at(0, B))


def test_unseen_taken_same_name_anew() -> None:
    """Id unseen, index taken, same name, text begins anew: a new call; it opened inside a cut namesake."""
    assert [Got("c", "f", '{"a"', "dropped: truncated"), Got("d", "f", B, "dropped: ambiguous")] == bound(
        at(0, '{"a"', "c", "f"), at(0, B, "d", "f")
    )


def test_unseen_taken_same_name_incomplete() -> None:
    """Id unseen, index taken, same name, call incomplete: its id changed, the first stays public (quirk 10)."""
    assert [Got("c", "f", A, "id_churn")] == bound(at(0, '{"a"', "c", "f"), at(0, ":1}", "d", "f"))
    assert [Got("c", "f", A, "id_churn")] == bound(at(0, "", "c", "f"), at(0, A, "d", "f"))
    assert [Got("c", "f", '{"a":{"b":2}}', "id_churn")] == bound(
        at(0, '{"a":', "c", "f"), at(0, B + "}", "d", "f")
    )


def test_unseen_taken_extended_name() -> None:
    """Id unseen, index taken, the name extended: as the same name (quirk 16)."""
    assert [Got("c", "fetch", A, "id_churn")] == bound(at(0, "", "c", "fe"), at(0, A, "d", "fetch"))


def test_unseen_taken_snapshot() -> None:
    """Id unseen, index taken, same name, text is a snapshot of the call's: its id changed (quirk 24)."""
    assert [Got("c", "f", A, "id_churn snapshots")] == bound(at(0, '{"a":1', "c", "f"), at(0, A, "d", "f"))


def test_unseen_taken_late_id() -> None:
    """Id unseen, index taken by a call without id, text no start or the same: the id came late (quirk 11)."""
    assert [Got("c", "f", A)] == bound(at(0, '{"a"', None, "f"), at(0, ":1}", "c", "f"))
    assert [Got("c", "f", A)] == bound(at(0, A, None, "f"), at(0, "", "c", "f"))
    assert [Got("c", "f", A, "repeated")] == bound(at(0, A, None, "f"), at(0, A, "c", "f"))
    assert [Got("c", "f", A)] == bound(at(0, A, None, "f"), at(0, "", "c"))


def test_unseen_taken_no_late_id() -> None:
    """Id unseen, index taken by a whole call without id, same name, other text that starts: a new call."""
    calls = bound(at(0, A, None, "f"), at(0, B, "c", "f"))

    assert [Got("call_0_0_0", "f", A, "id_generated"), Got("c", "f", B)] == calls


def test_unseen_taken_custom() -> None:
    """Id unseen, index taken by free text, same name: a new call if that one has text, else its id changed."""
    assert [Got("c", "f", "ab"), Got("d", "f", "cd")] == bound(
        at(0, "ab", "c", "f", "custom"), at(0, "cd", "d", "f", "custom")
    )
    assert [Got("c", "f", "cd", "id_churn")] == bound(
        at(0, "", "c", "f", "custom"), at(0, "cd", "d", "f", "custom")
    )
    assert [Got("c", "f", "cd")] == bound(at(0, "c", None, "f", "custom"), at(0, "d", "c", "f", "custom"))


def test_unseen_taken_without_name_incomplete() -> None:
    """Id unseen, index taken, no name, call incomplete: its id changed."""
    assert [Got("c", "f", A, "id_churn")] == bound(at(0, '{"a"', "c", "f"), at(0, ":1}", "d"))
    assert [Got("c", "f", '{"a":{"b":2}}', "id_churn")] == bound(
        at(0, '{"a":', "c", "f"), at(0, B + "}", "d")
    )


def test_unseen_taken_without_name_complete() -> None:
    """Id unseen, index taken, no name, call complete, text starts: a new call, whose name may follow."""
    assert [Got("c", "f", A), Got("d", "g", B)] == bound(
        at(0, A, "c", "f"), at(0, B, "d"), at(0, "", "d", "g")
    )
    assert [Got("c", "f", A), stray(B, "d")] == bound(at(0, A, "c", "f"), at(0, B, "d"))
    assert [Got("c", "f", A)] == bound(at(0, A, "c", "f"), at(0, "", "d"))
    assert [Got("c", "f", A), Got("d", "g", B)] == bound(
        at(0, A, "c", "f"), at(0, "", "d"), at(0, B, None, "g")
    )


def test_unseen_taken_without_name_filled() -> None:
    """Id unseen, index taken, no name, call is a placeholder, text starts: its id changed (quirk 25)."""
    assert [Got("c", "f", A, "id_churn placeholder")] == bound(at(0, "{}", "c", "f"), at(0, A, "d"))


def test_phantom() -> None:
    """A call opened on the index of a call whose id churned, with nothing in it, vanishes."""
    churned = [at(0, '{"a"', "c", "f"), at(0, ":1}", "d", "f")]

    assert [Got("c", "f", A, "id_churn")] == bound(*churned, at(0, "", "e", "f"))
    assert [Got("c", "f", A, "id_churn"), Got("e", "f", B)] == bound(*churned, at(0, B, "e", "f"))
    assert [Got("c", "f", A, "id_churn"), Got("e", "g", "")] == bound(*churned, at(0, "", "e", "g"))


# Id unseen, index free or absent.


@pytest.mark.parametrize("index", [1, None, INVALID_INDEX])
def test_unseen_free_with_name(index: int | None) -> None:
    """Id unseen, index free or absent, name given: a new call."""
    assert [Got("c", "f", A), Got("d", "g", B)] == bound(at(0, A, "c", "f"), at(index, B, "d", "g"))


@pytest.mark.parametrize("index", [1, None, INVALID_INDEX])
def test_unseen_free_adopted(index: int | None) -> None:
    """Id unseen, index free or absent, no name, one call can go on and has no id: that call (quirk 11)."""
    assert [Got("c", "f", A)] == bound(at(0, '{"a"', None, "f"), at(index, ":1}", "c"))


@pytest.mark.parametrize("index", [1, None])
def test_unseen_free_not_adopted(index: int | None) -> None:
    """Id unseen, index free or absent, no name, the one call that can go on has an id: a call without name."""
    assert [Got("c", "f", '{"a"', "dropped: truncated"), stray(":1}", "d")] == bound(
        at(0, '{"a"', "c", "f"), at(index, ":1}", "d")
    )


def test_unseen_free_several() -> None:
    """Id unseen, index free, no name, several calls can go on: a call of its own, whose name may follow."""
    opened = [at(0, '{"a"', None, "f"), at(1, '{"a"', None, "f")]
    rest = [at(0, ":1}"), at(1, ":1}")]
    both = [Got("call_0_0_0", "f", A, "id_generated"), Got("call_0_0_1", "f", A, "id_generated")]

    assert [*both, Got("d", "g", B)] == bound(*opened, at(2, B, "d"), at(2, "", None, "g"), *rest)


def test_unseen_free_waits_for_its_name() -> None:
    """Id unseen, index free, no name, nothing open: a new call, named by what comes at its index (quirk 17)."""
    assert [Got("c", "f", A)] == bound(at(0, "", "c"), at(0, A), at(0, "", None, "f"))


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


# Invalid indices, limits, objects.


def test_invalid_index_alone() -> None:
    """An invalid index without id and name: the text may be any open call's, so none of them comes out."""
    opened = [at(0, A, "c", "f"), at(1, '{"b"', "d", "g")]

    assert ([lost("c", "f", A), lost("d", "g", B), stray("x")], ("invalid_index",)) == stream(
        *opened, Fragment(0, INVALID_INDEX, "x"), at(1, ":2}")
    )


def test_overflow() -> None:
    """Calls beyond the limit share one drop, and text without labels cannot be told from theirs."""
    one = Limits(max_calls=1)

    for further in (at(None, B, "d", "g"), at(1, B, "d"), at(0, B, "d", "g")):
        assert [Got("c", "f", A), "dropped: too_many_calls"] == _signs(
            bound(at(0, A, "c", "f"), further, limits=one)
        )
    opened = [at(0, '{"a"', "c", "f"), at(None, B, "d", "g")]
    for tail in (at(None, "x"), at(1, "x"), at(1, "x", "e")):
        assert [Got("c", "f", A), "dropped: too_many_calls"] == _signs(
            bound(*opened, tail, at(0, ":1}"), limits=one)
        )


def _signs(found: list[Got]) -> list[Got | str]:
    return [got.sign if "too_many" in got.sign else got for got in found]


def test_objects_are_starts() -> None:
    """An object where fragments are usual starts a value, whatever its spelling."""
    assert [Got("c", "f", A), Got("d", "f", B)] == bound(whole(0, A, "c", "f"), whole(0, B, "d", "f"))
    assert [Got("c", "f", A), Got("d", "g", B)] == bound(whole(None, A, "c", "f"), whole(None, B, "d", "g"))
    assert [Got("c", "f", A), Got("call_0_0_1", "f", B, "id_generated")] == bound(
        whole(0, A, "c", "f"), whole(0, B, None, "f")
    )


@pytest.mark.parametrize("index", [0, 7, "a"])
def test_an_index_is_a_key(index: int | str) -> None:
    """Any index will do, in any order (quirk 4)."""
    assert [Got("d", "g", B), Got("c", "f", A)] == bound(
        at(99, '{"b"', "d", "g"), at(index, '{"a"', "c", "f"), at(99, ":2}"), at(index, ":1}")
    )


def test_inside_an_unfinished_namesake() -> None:
    """A call opened inside an unfinished one of its name comes out only if that one does."""
    first, second = at(0, '{"a":1', "c", "f"), at(0, B, "d", "f")

    assert [Got("c", "f", A), Got("d", "f", B)] == bound(first, second, at(0, "}", "c"))
    assert [Got("c", "f", '{"a":1', "dropped: truncated"), Got("d", "f", B, "dropped: ambiguous")] == bound(
        first, second
    )


# Labels that only come again, and text that no call can begin with.


def test_a_head_without_id_opens_a_second_call() -> None:
    """A name alone after a complete call opens a phantom: text makes it a call, nothing lets it vanish."""
    minted = "call_0_0_1"
    assert [Got("c", "f", A), Got(minted, "f", B, "id_generated")] == bound(
        at(0, A, "c", "f"), at(0, "", None, "f"), at(0, B)
    )
    assert [Got("c", "f", A)] == bound(at(0, A, "c", "f"), at(0, "", None, "f"))
    assert [Got("c", "f", A), Got("d", "g", B)] == bound(
        at(0, A, "c", "f"), at(0, "", None, "f"), at(0, B, "d", "g")
    )


def test_a_phantom_is_no_first_piece_of_a_name() -> None:
    """Another name after a phantom's is the name of another call, not its second piece (quirk 16)."""
    assert [Got("c", "go", A), Got("call_0_0_1", "t", B, "id_generated")] == bound(
        at(0, A, "c", "go"), at(0, "", None, "go"), at(0, B, None, "t")
    )


def test_text_that_begins_no_value_has_lost_its_head() -> None:
    """A name that comes late cannot make text whole that no call's text begins with."""
    assert [lost(None, "f", "1}")] == bound(at(0, "1}"), at(0, "", None, "f"))


def test_a_late_name_without_labels() -> None:
    """Id absent, index absent, name alone: it names the nameless call that was opened last (quirk 17)."""
    assert [Got("c", "f", A)] == bound(at(None, A, "c"), at(None, "", None, "f"))


def test_an_object_that_two_calls_wait_for() -> None:
    """Text for a call without text, or in place of the latest one's null, is ambiguous."""
    assert [lost("c", "f", ""), lost("d", "g", "null"), stray(A)] == bound(
        at(None, "", "c", "f"), at(None, "null", "d", "g"), at(None, A)
    )


def test_a_null_is_a_placeholder() -> None:
    """A null counts only if nothing else comes (quirks 25 and 26)."""
    assert [Got("c", "f", A, "placeholder")] == bound(at(0, "null", "c", "f"), at(0, A))
    assert [Got("c", "f", "null")] == bound(at(0, "null", "c", "f"))


def test_a_repeat_may_be_the_next_calls_text() -> None:
    """A repeat on an index of its own is believed, but a call that then comes without text is not."""
    assert [Got("c", "f", A, "repeated"), Got(None, "g", "", "dropped: ambiguous")] == bound(
        at(0, A, "c", "f"), at(1, A), at(1, "", None, "g")
    )


def test_an_id_that_all_calls_have() -> None:
    """An id known at the same index means the call there; a repeat of its text is no other call's."""
    assert [Got("c", "f", ""), Got("c#2", "g", A, "duplicate_id repeated")] == bound(
        at(0, "", "c", "f"), at(1, A, "c", "g"), at(1, A, "c")
    )


def test_a_late_id_or_a_late_name() -> None:
    """Text under a new id on another's index is the earlier named call's, or waits for its own name."""
    heads = at(0, "", None, "f"), at(1, B, "c", "g"), at(1, A, "d")
    assert [Got(None, "f", "", "dropped: ambiguous"), Got("c", "g", B), stray(A, "d")] == bound(*heads)
    name = at(1, "", None, "h")
    refused = [
        Got(None, "f", "", "dropped: ambiguous"),
        Got("c", "g", B),
        Got("d", "h", A, "dropped: ambiguous"),
    ]
    assert refused == bound(*heads, name)
    assert [Got("b", "f", ""), Got("c", "g", B), Got("d", "h", A)] == bound(
        at(0, "", "b", "f"), *heads[1:], name
    )


def test_a_null_in_pieces() -> None:
    """The beginning of a null begins a call's text, also where the call has no name yet or no index of its own."""
    assert [Got("call_0_0_0", "f", "null", "id_generated")] == bound(
        at(0, "n"), at(0, "ul", None, "f"), at(0, "l")
    )
    assert [Got("c", "f", A), Got("d", "g", "None", "index_churn")] == bound(
        at(0, A, "c", "f"), at(1, "", "d", "g"), at(2, "No"), at(3, "ne")
    )
    assert [lost(None, "f", "nothing")] == bound(at(0, "nothing"), at(0, "", None, "f"))


def test_a_late_name_for_a_call_on_an_index_of_its_own() -> None:
    """Text under a new id may be that of either named call without text, so a name that comes late proves nothing."""
    heads = at(0, "", "c", "f"), at(1, "", None, "g"), at(2, A, "d")
    empty = [Got("c", "f", "", "dropped: ambiguous"), Got(None, "g", "", "dropped: ambiguous")]
    assert [*empty, Got("d", "h", A, "dropped: ambiguous")] == bound(*heads, at(2, "", None, "h"))
    assert [Got("c", "f", ""), Got("call_0_0_1", "g", "", "id_generated"), Got("d", "h", A)] == bound(
        *heads[:2], at(2, "", "d"), at(2, "", None, "h"), at(2, A)
    )


def test_a_repeated_snapshot_beside_a_call_without_text() -> None:
    """A snapshot that comes again is the repeat of its call, or the text of the call that waits for it."""
    snapshots = at(0, '{"', "c", "f"), at(1, '{"a'), at(1, '{"a":1}')
    assert [Got("c", "f", A, "index_churn snapshots"), lost("d", "g", "")] == bound(
        *snapshots, at(0, "", "d", "g"), at(1, A)
    )
    assert [Got("c", "f", A, "index_churn snapshots"), Got("d", "g", B)] == bound(
        *snapshots, at(0, "", "d", "g"), at(1, B)
    )


def test_a_repeat_beside_an_empty_call_with_the_same_id() -> None:
    """Where all calls have one id, a repeat of one text may be the first text of another call."""
    pieces = at(0, "", "c", "f"), at(1, A, "c"), at(1, "", "c", "g")
    assert [Got("c", "f", A, "index_churn repeated"), Got("c", "g", "", "dropped: ambiguous")] == bound(
        *pieces, at(0, A, "c")
    )
    assert [Got("c", "f", A, "index_churn"), Got("c#2", "g", "", "duplicate_id")] == bound(*pieces)


def test_a_null_under_a_new_id() -> None:
    """Behind complete text a null under a new id is another call's text, and its name may come late."""
    assert [Got("c", "f", A), Got("d", "g", "null")] == bound(
        at(0, A, "c", "f"), at(0, "null", "d"), at(0, "", None, "g")
    )
    assert [Got("c", "f", A + " ", "id_churn")] == bound(at(0, A, "c", "f"), at(0, " ", "d"))


def test_a_blank_is_no_text_of_its_own() -> None:
    """A call that holds nothing but a blank is empty only if no text is left over elsewhere (quirk 26)."""
    assert [Got("c", "f", " ")] == bound(at(0, " ", "c", "f"))
    assert [stray("1}"), Got("c", "f", " ", "dropped: ambiguous")] == bound(at(0, "1}"), at(1, " ", "c", "f"))


def test_a_later_call_ends_one_that_has_two_readings() -> None:
    """What may be a whole snapshot does not go on behind another call on its index."""
    snapshots = at(0, '{"a":', "c", "f"), at(0, '{"a":{}}')
    assert [Got("c", "f", '{"a":{}}', "snapshots"), Got("d", "g", "{}"), Got("e", "f", B)] == bound(
        *snapshots, at(0, "{}", "d", "g"), at(0, "", "e", "f"), at(0, B)
    )
