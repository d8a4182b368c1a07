"""Which call a chat fragment belongs to where calls share an id or an index, or where nothing but a name came."""

from __future__ import annotations

import pytest

from tests.support.bound import A, B, Got, at, bound
from tests.support.words import CALLS, END, told
from wholecall.deltas import Delta, Finish
from wholecall.limits import Limits

TAKEN_BACK = Finish(0, "stop", None, drops=True)
OTHER = at(1, B, "h", "h")  # so that index 1 is nobody's own
KEPT = Got("h", "h", B)


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        pytest.param(
            [
                at(0, A, "c", "f"),
                at(0, B, "c", "f"),
                at(1, '{"a"', "c", "g"),
                at(0, B, "c"),
                at(1, ":1}", "c"),
            ],
            [
                Got("c", "f", A),
                Got("c#2", "f", B, "duplicate_id repeated"),
                Got("c#3", "g", A, "duplicate_id"),
            ],
            id="a repeat is that of the latest call at its index",
        ),
        pytest.param(
            [OTHER, at(0, '{"a":', "c", "f"), at(1, "", "c", "g"), at(0, "1}", "c")],
            [KEPT, Got("c", "f", A), Got("c#2", "g", "", "duplicate_id")],
            id="text that goes on is no repeat",
        ),
        pytest.param(
            [OTHER, at(0, '{"a":', "c", "f"), at(1, "", "c", "g"), at(0, B, "c"), at(0, "}", "c")],
            [KEPT, Got("c", "f", '{"a":{"b":2}}'), Got("c#2", "g", "", "duplicate_id")],
            id="nor is an object inside",
        ),
        pytest.param(
            [OTHER, at(0, "ha", "c", "f", "custom"), at(1, "", "c", "g"), at(0, "ha", "c")],
            [KEPT, Got("c", "f", "haha"), Got("c#2", "g", "", "duplicate_id")],
            id="nor is free text that says a thing twice",
        ),
        pytest.param(
            [OTHER, at(0, A, "c", "f"), at(1, "{}", "c", "g"), at(1, "{}", "c")],
            [KEPT, Got("c", "f", A), Got("c#2", "g", "{}", "duplicate_id repeated")],
            id="an empty object repeated is no text of another call",
        ),
        pytest.param(
            [OTHER, at(0, A, "c", "f"), at(1, "", "c", "g"), TAKEN_BACK, at(0, A, "c"), at(5, "", "n", "n")],
            [
                *(
                    Got(id, name, text, "dropped: aborted")
                    for id, name, text in (("h", "h", B), ("c", "f", A), ("c", "g", ""))
                ),
                Got("n", "n", ""),
            ],
            id="what a refusal took back waits for no text",
        ),
    ],
)
def test_calls_with_one_id(deltas: list[Delta], calls: list[Got]) -> None:
    """Where calls share an id, an empty one is in doubt only if text repeats that could have been its own."""
    assert calls == bound(*deltas)


def test_snapshots_on_a_shared_index() -> None:
    """Each snapshot of a text begins with the one before, also on an index that another call has used."""
    deltas = [at(0, B, "h", "h"), at(0, '{"a":', "c", "f"), at(0, '{"a":{"b"'), at(0, '{"a":{"b":1}}')]

    assert [KEPT, Got("c", "f", '{"a":{"b":1}}', "snapshots")] == bound(*deltas)


def test_a_placeholder_is_filled_at_its_index() -> None:
    """Text at the index of an empty object fills that one, whatever call without text came later."""
    deltas = [at(0, "{}", "c", "f"), at(None, "", "d", "g"), at(0, A)]

    assert [Got("c", "f", A, "placeholder"), Got("d", "g", "")] == bound(*deltas)


def test_free_text_goes_on_without_labels() -> None:
    """Free text may look like anything: an object behind an empty one is more of it."""
    deltas = [at(None, "{}", "c", "f", "custom"), at(None, A, kind="custom")]

    assert [Got("c", "f", "{}" + A)] == bound(*deltas)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("", Got("call_0_0_0", "f", "", "id_generated")),
        ('{"a":1', Got(None, "f", '{"a":1', "dropped: truncated")),
    ],
    ids=["no text", "half of a text"],
)
def test_two_names_are_two_calls(text: str, first: Got) -> None:
    """Without id and index another name is another call, whatever came of the one before it."""
    found = bound(at(None, text, None, "f"), at(None, "", None, "g"))

    assert [first, Got("call_0_0_1", "g", "", "id_generated")] == found


def test_the_calls_beyond_the_limit_wait_for_none_of_themselves() -> None:
    """Their one drop comes with the finish like any call's, though a second one of its name came inside the first."""
    deltas = [at(0, A, "c", "f"), at(1, '{"b"', "d", "g"), at(None, "", "e", "g"), at(1, ":2}")]
    said = told(*deltas, CALLS, END, limits=Limits(max_calls=1))

    assert [f"call {A}", f"drop {B} too_many_calls"] == said[4]
