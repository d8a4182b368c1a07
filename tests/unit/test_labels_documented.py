"""While labels are as documented a call is emitted with the finish reason; from the first odd one on it waits."""

from __future__ import annotations

import pytest

from tests.support.bound import A, B, at, whole
from tests.support.together import together
from tests.support.words import CALLS, END, told
from wholecall.deltas import INVALID_INDEX, Delta, Fragment


def comes_out(*deltas: Delta) -> tuple[list[str], list[str]]:
    """Return the texts of calls that are emitted with the finish reason, and of those that are emitted after it."""
    said = told(*deltas, CALLS, END)
    at_once, later = said[len(deltas)], [word for words in said[len(deltas) + 1 :] for word in words]
    return _calls(at_once), _calls(later)


def _calls(words: list[str]) -> list[str]:
    return [word.split()[1] for word in words if word.startswith("call")]


@together(
    ("deltas", "texts"),
    [
        pytest.param([at(0, "", "c", "f"), Fragment(0, 0, A)], [A], id="one call"),
        pytest.param([at(0, '{"a"', "c", "f"), at(0, ":1}", "c")], [A], id="its id on each fragment"),
        pytest.param([at(0, A, None, "f"), at(1, B, None, "g")], [A, B], id="no ids"),
        pytest.param([at(0, A, "c", "f"), at(1, B, "d", "g")], [A, B], id="two calls"),
        pytest.param([at(0, A, "c", "f"), at(1, B, "d", "f")], [A, B], id="two calls of one name"),
        pytest.param(
            [
                at(0, "", "c", "f"),
                at(1, "", "d", "g"),
                *(Fragment(0, n, piece) for piece, n in (('{"a"', 0), ('{"b"', 1), (":1}", 0), (":2}", 1))),
            ],
            [A, B],
            id="calls that take turns",
        ),
        pytest.param([whole(0, A, "c", "f"), whole(1, B, "d", "g")], [A, B], id="objects"),
        pytest.param([at(0, "", "c", "f"), whole(0, A)], [A], id="an object behind the labels"),
        pytest.param([whole(0, A, "c", "f"), at(0, "", "c")], [A], id="the id alone behind an object"),
        pytest.param(
            [at("s", "", "c", "f"), at(0, '{"a"', "c"), at(0, ":1}"), at(1, B, "d", "g")],
            [A, B],
            id="a call of our own index, by its id",
        ),
        pytest.param(
            [at("s", "", None, "f"), at("s", A), at(0, B, "d", "g")],
            [A, B],
            id="a name first at an index of our own",
        ),
        pytest.param(
            [at("s", A), at("s", "", None, "f"), at(0, B, "d", "g")],
            [A, B],
            id="a text first at an index of our own",
        ),
        pytest.param([at(0, "", "c", "f"), at(0, "", "c"), Fragment(0, 0, A)], [A], id="the id alone"),
        pytest.param([at(0, "", "c", "f"), at(0), Fragment(0, 0, A), at(0)], [A], id="nothing in between"),
        pytest.param([at(None), at(0, A, "c", "f"), at(7), at(INVALID_INDEX)], [A], id="nothing elsewhere"),
        pytest.param([at(0, A, "c", "f"), Fragment(0, 0, " ")], [f"{A}"], id="a blank behind it"),
        pytest.param(
            [at(0, '{"a":', "c", "f"), Fragment(0, 0, B), Fragment(0, 0, "}")],
            ['{"a":{"b":2}}'],
            id="an object within",
        ),
        pytest.param(
            [at("s", "", "c"), at("s", "", None, "f"), at("s", '{"a"'), at("s", ":1}")],
            [A],
            id="an index of our own",
        ),
    ],
)
def test_documented_calls_come_out_with_the_finish_reason(deltas: list[Delta], texts: list[str]) -> None:
    """Nothing can change a call whose labels were as documented: it does not wait for the end of the turn."""
    assert (texts, []) == comes_out(*deltas)


@pytest.mark.parametrize(
    "again",
    [
        [at(0, A, "c", "f")],
        [at(0, "", "c", "f")],
        [at(0, "", "c", " f")],
        [at(0, " ", "c")],
        [Fragment(0, 0, A)],
        [Fragment(0, 0, "x")],
    ],
)
def test_what_comes_again_of_a_call_that_came_out(again: list[Delta]) -> None:
    """Labels and text of an emitted call are not odd: the next call is emitted with its reason, as usual."""
    said = told(at(0, A, "c", "f"), CALLS, *again, at(1, B, "d", "g"), CALLS, END)

    assert [f"call {A}"] == said[1]
    assert ["+g", B] == said[-4]
    assert [f"call {B}"] == said[-3]


@pytest.mark.parametrize(
    "again",
    [
        [at(0, B, "c", "g")],
        [at(0, B, "d", "f")],
        [at(0, "", "d")],
        [at(0, A, None, "f")],
    ],
    ids=["another name", "another id", "an id alone", "no id"],
)
def test_another_call_at_the_place_of_one_that_came_out(again: list[Delta]) -> None:
    """Other labels at the index of an emitted call are odd: later fragments wait for the end."""
    said = told(at(0, A, "c", "f"), CALLS, *again, at(1, B, "e", "h"), CALLS, END)

    assert [f"call {A}"] == said[1]
    assert [] == _calls(said[-3])


def test_without_ids_a_call_may_follow_under_the_same_name() -> None:
    """Without ids a repeated name and that of another call look the same: both texts are emitted, in the end."""
    again = told(at(0, A, None, "f"), CALLS, at(0, B, None, "f"), CALLS, END)

    assert [f"call {A} id_generated"] == again[1]
    assert [[], [f"call {B} id_generated"]] == again[3:5]


@together(
    ("deltas", "texts"),
    [
        pytest.param([at(None, A, "c", "f")], [A], id="no index"),
        pytest.param([at(INVALID_INDEX, A, "c", "f")], [A], id="an invalid index"),
        pytest.param([at(0, '{"a"', "c", "f"), at(0, ":1}", None, "f")], [A], id="a name again"),
        pytest.param([at(0, '{"a"', "c", "f"), at(0, ":1}", "d")], [A], id="another id"),
        pytest.param([at(0, '{"a"', None, "f"), at(0, ":1}", "c")], [A], id="a late id"),
        pytest.param([at(0, A, "c"), at(0, "", None, "f")], [A], id="a late name"),
        pytest.param([at(0, A, "c", "f"), at(1, B, "c", "f")], [A, B], id="one id at two indices"),
        pytest.param([at(0, A, "c", "f"), at(1, B, None, "g")], [A, B], id="an id on the first call only"),
        pytest.param([at(0, A, None, "f"), at(1, B, "d", "g")], [A, B], id="an id on the second call only"),
        pytest.param([at(0, '{"a":', "c", "f"), Fragment(0, 0, A)], [A], id="all of the text again"),
        pytest.param([at(0, "{}", "c", "f"), Fragment(0, 0, A)], [A], id="a placeholder that is filled"),
        pytest.param([at(0, '{"a"', "c", "f"), whole(0, B)], [], id="an object amidst fragments"),
        pytest.param([at(0, A, "c", "f"), whole(0, "{}", "c")], [], id="an object behind all of the text"),
        pytest.param([whole(0, A, "c", "f"), Fragment(0, 0, "}")], [], id="a fragment behind an object"),
        pytest.param([at(0, '{"a"', "c", "f"), at(7, ":1}")], [A], id="text at an index that is nobody's"),
    ],
)
def test_odd_calls_wait_for_the_end(deltas: list[Delta], texts: list[str]) -> None:
    """A fragment with two possible meanings is decided when all of it has come, not with the finish reason."""
    assert ([], texts) == comes_out(*deltas)
