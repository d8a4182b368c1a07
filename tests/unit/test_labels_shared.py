"""The call of a chat fragment where calls share an id or an index, or where only a name came."""

from __future__ import annotations

import pytest

from tests.support.bound import A, B, Got, at, bound
from wholecall.deltas import Delta, Finish

TAKEN_BACK = Finish(0, "stop", None, drops=True)
OTHER = at(1, B, "h", "h")  # so that no call owns index 1
KEPT = Got("h", "h", B)


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
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
    """Each snapshot of a text begins with the previous one, also on an index that another call has used."""
    deltas = [at(0, B, "h", "h"), at(0, '{"a":', "c", "f"), at(0, '{"a":{"b"'), at(0, '{"a":{"b":1}}')]

    assert [KEPT, Got("c", "f", '{"a":{"b":1}}', "bound_by_order snapshots")] == bound(*deltas)


def test_free_text_goes_on_without_labels() -> None:
    """Free text may look like anything: an object after an empty one is more of it."""
    deltas = [at(None, "{}", "c", "f", "custom"), at(None, A, kind="custom")]

    assert [Got("c", "f", "{}" + A)] == bound(*deltas)
