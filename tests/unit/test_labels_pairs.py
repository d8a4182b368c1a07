"""The call of a chat fragment that two calls could claim, and the evidence that decides."""

from __future__ import annotations

import pytest

from tests.support.bound import A, B, Got, at, bound
from wholecall.deltas import Delta, Finish
from wholecall.limits import Limits

STOP = Finish(0, "stop", "stop")
TAKEN_BACK = Finish(0, "stop", None, drops=True)
# Of a call whose text came on another index (quirk 5), and the head of a second call on its own index.
HEADS = [at(0, "", "c", "f"), at(1, A), at(0, "", "d", "g")]


def generated(number: int, name: str, text: str) -> Got:
    """Return a call whose id we made."""
    return Got(f"call_0_0_{number}", name, text, "id_generated")


def cut(id: str | None, name: str, text: str) -> Got:
    """Return a call whose text has no end."""
    return Got(id, name, text, "dropped: truncated")


def doubtful(id: str | None, name: str, text: str = "") -> Got:
    """Return a call that may be another than it seems."""
    return Got(id, name, text, "dropped: ambiguous")


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        pytest.param(
            [at(None, A, "c", "f"), at(None, B, "d", "g"), at(None, A, "e", "h"), at(None, " ")],
            [Got("c", "f", A), Got("d", "g", B), Got("e", "h", A + " ", "bound_by_order")],
            id="the latest of whole calls",
        ),
    ],
)
def test_text_without_id_and_name(deltas: list[Delta], calls: list[Got]) -> None:
    """The owner of the last text."""
    assert calls == bound(*deltas)


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        pytest.param(
            [at(0, "{}", "c", "f"), TAKEN_BACK, at(1, A), at(1, "", None, "g")],
            [Got("c", "f", "{}", "dropped: aborted"), generated(1, "g", A)],
            id="text at a free index, when the placeholder before it was taken back",
        ),
        pytest.param(
            [at(0, "", "c", "f"), TAKEN_BACK, at(0, A, None, "g")],
            [Got("c", "f", "", "dropped: aborted"), generated(1, "g", A)],
            id="another name behind a call that was taken back",
        ),
        pytest.param(
            [at(0, A, "d"), at(1, "", None, "g"), at(0, "", None, "f")],
            [Got("d", "f", A), generated(1, "g", "")],
            id="a late name, before the head of the next call",
        ),
        pytest.param(
            [at(0, "", None, "f"), TAKEN_BACK, at(1, A, "d"), at(1, "", None, "g")],
            [Got(None, "f", "", "dropped: aborted"), Got("d", "g", A)],
            id="a late name, when the call that lacked text was taken back",
        ),
        *(
            pytest.param(
                [at(None, head, "c", "f "), at(None, tail, None, " f")],
                [Got("c", "f", A)],
                id=f"blanks round a name are no other name, {when} the text",
            )
            for head, tail, when in (("", A, "before"), ('{"a"', ":1}", "amidst"))
        ),
    ],
)
def test_names_without_id(deltas: list[Delta], calls: list[Got]) -> None:
    """The call meant by a name without an id, and its effect on unclaimed text."""
    assert calls == bound(*deltas)


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        pytest.param(
            [at(7, '{"a"', "c", "f"), at(0, B, "d", "f")],
            [cut("c", "f", '{"a"'), Got("d", "f", B)],
            id="not at another index",
        ),
    ],
)
def test_inside_a_namesake(deltas: list[Delta], calls: list[Got]) -> None:
    """A call that opens inside an unfinished one of its name shares its fate."""
    assert calls == bound(*deltas)


def test_text_behind_the_limit_of_calls() -> None:
    """Text without name or index may belong to the calls beyond the limit, and is reported with them."""
    one = Limits(max_calls=1)
    tail = bound(at(0, A, "c", "f"), at(None, B, "d", "g"), at(None, "x"), limits=one)
    adopted = bound(at(0, '{"a"', None, "f"), at(1, B, "d", "g"), at(2, ":1}", "e"), limits=one)

    assert [A, B + "x"] == [call.text for call in tail]
    assert ['{"a"', B + ":1}"] == [call.text for call in adopted]
