"""Which call a chat fragment belongs to where labels and text are at odds, beyond the rows of the table."""

from __future__ import annotations

import pytest

from tests.support.bound import A, B, Got, at, bound, lost, stray, stream, whole
from wholecall.deltas import INVALID_INDEX, Fragment
from wholecall.limits import Limits

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
