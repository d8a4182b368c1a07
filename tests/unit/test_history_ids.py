"""Ids of calls in other formats: the result of each rule, and that calls and results stay together."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.together import together
from wholecall.history.formats import IdRule
from wholecall.history.ids import CallIds

FORMS: dict[str, str] = {
    "any": r"[\s\S]+",
    "openai40": r"[\s\S]{1,40}",
    "anthropic": r"[a-zA-Z0-9_-]{1,64}",
    "responses": r"[a-zA-Z0-9_-]{1,64}",
    "mistral9": r"[a-zA-Z0-9]{9}",
    "kimi": r"functions\.f:\d+",
}
HOSTILE = st.one_of(
    st.text(min_size=1, max_size=90),
    st.sampled_from(
        ("call_1", "call_1|fc_2", "functions.f:0", "call_123456789a", "AbC123xyZ", "\ud83d", "a" * 65, "a.b")
    ),
)
each_rule = pytest.mark.parametrize("rule", get_args(IdRule))


def given_ids(rule: Any, *ids: str) -> list[str]:
    """Return the new ids of one turn."""
    return CallIds(rule).assign((id, "f") for id in ids)[1]


@each_rule
@given(st.lists(st.lists(HOSTILE, max_size=5), max_size=4))
def test_ids_are_legal_and_differ(rule: Any, turns: list[list[str]]) -> None:
    """Every id has the form that its format accepts, and no two calls of a turn share one."""
    ids = CallIds(rule)
    for turn in turns:
        ids, chosen = ids.assign((id, "f") for id in turn)

        assert len(turn) == len(set(chosen))
        for id in chosen:
            kept = rule == "kimi" and id in turn  # Kimi's own ids may name another tool
            assert kept or re.fullmatch(FORMS[rule], id), id


@each_rule
@given(st.lists(st.lists(HOSTILE, max_size=5), max_size=4))
def test_results_answer_their_calls(rule: Any, turns: list[list[str]]) -> None:
    """Call and result take the same id by one map: the n-th result of an id answers the n-th call of that id."""
    ids = CallIds(rule)
    calls: list[str] = []
    for turn in turns:
        ids, chosen = ids.assign((id, "f") for id in turn)
        calls += chosen

    assert calls == ids.answers(id for turn in turns for id in turn)


@each_rule
@given(st.lists(HOSTILE, max_size=5))
def test_ids_are_the_same_in_every_run(rule: Any, turn: list[str]) -> None:
    """The same conversation gives the same ids: a prompt cache finds them again."""
    assert given_ids(rule, *turn) == given_ids(rule, *turn)


@together(
    ("rule", "id", "expected"),
    [
        ("any", "toolu 1/ü", "toolu 1/ü"),
        ("openai40", "call_" + "a" * 35, "call_" + "a" * 35),
        ("anthropic", "toolu_01A-b", "toolu_01A-b"),
        ("anthropic", "a" * 64, "a" * 64),
        ("responses", "call_1", "call_1"),
        ("mistral9", "AbC123xyZ", "AbC123xyZ"),
        ("kimi", "functions.get_tide:0", "functions.get_tide:0"),
        ("kimi", "get_tide:12", "get_tide:12"),
        ("openai40", "functions.get_tide:0", "functions.get_tide:0"),
    ],
)
def test_ids_that_fit_are_kept(rule: Any, id: str, expected: str) -> None:
    """An id that the format accepts goes back unchanged."""
    assert [expected] == given_ids(rule, id)


@together(
    ("rule", "id", "form"),
    [
        ("openai40", "call_" + "a" * 36, r"call_a{26}_[0-9a-f]{8}"),
        ("openai40", "", r"_[0-9a-f]{8}"),
        ("anthropic", "functions.get_tide:0", r"functions_get_tide_0_[0-9a-f]{8}"),
        ("anthropic", "a" * 65, r"a{55}_[0-9a-f]{8}"),
        ("anthropic", "", r"_[0-9a-f]{8}"),
        ("anthropic", "zürich", r"z_rich_[0-9a-f]{8}"),
        ("responses", "a.b", r"a_b_[0-9a-f]{8}"),
        ("mistral9", "call_1", r"[a-zA-Z0-9]{9}"),
        ("mistral9", "AbC123xy", r"[a-zA-Z0-9]{9}"),
        ("kimi", "call_1", r"functions\.f:0"),
    ],
)
def test_ids_that_do_not_fit_are_spelled_anew(rule: Any, id: str, form: str) -> None:
    """An id that the format refuses is spelled with accepted characters and a digest of the whole id (quirk 65)."""
    (chosen,) = given_ids(rule, id)

    assert re.fullmatch(form, chosen), chosen


@pytest.mark.parametrize("rule", ["openai40", "anthropic", "responses"])
def test_item_ids_are_split_off(rule: Any) -> None:
    """Where a client keeps `call|item` in one field, the call is the id (quirk 75)."""
    assert ["call_a", "a"] == given_ids(rule, "call_a|fc_b", "a|b")


@pytest.mark.parametrize("rule", ["openai40", "anthropic", "responses", "mistral9"])
def test_ids_that_would_collide_stay_apart(rule: Any) -> None:
    """Ids that differ only in a lost part do not become one: cutting them would answer the wrong call."""
    stem = "call_" + "a" * 70
    ids = [stem + "a", stem + "b", "call_123456789a", "call_123456789b", "a.b", "a:b", "a|b", "a|c"]

    assert len(ids) == len(set(given_ids(rule, *ids)))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("any", ["c", "c#2", "c#3"]),
        ("openai40", ["c", "c_2", "c_3"]),
        ("anthropic", ["c", "c_2", "c_3"]),
        ("kimi", ["functions.f:0", "functions.f:1", "functions.f:2"]),
    ],
)
def test_repeated_ids_are_counted(rule: Any, expected: list[str]) -> None:
    """A second call of the same id gets a new id, in the same turn or in a later one."""
    assert expected == given_ids(rule, "c", "c", "c")
    ids = CallIds(rule)
    found = []
    for _ in expected:
        ids, chosen = ids.assign([("c", "f")])
        found += chosen
    assert expected == found
    assert tuple(expected) == ids.occurrences("c")


@pytest.mark.parametrize("rule", ["any", "openai40", "anthropic"])
def test_a_made_id_may_be_taken(rule: Any) -> None:
    """An id made for one call is not given to another, even if the other came with it."""
    made = given_ids(rule, "c", "c")[1]
    chosen = given_ids(rule, "c", "c", made)

    assert 3 == len(set(chosen))
    assert chosen == given_ids(rule, "c", "c", made)


def test_kimi_counts_calls() -> None:
    """Kimi's model reads tool and number out of an id, so ids of others become such ones (quirk 64)."""
    ids, first = CallIds("kimi").assign([("functions.get_tide:0", "get_tide"), ("call_x", "now")])
    _, later = ids.assign([("functions.get_tide:0", "get_tide"), ("call_y", "now"), ("call_y", "now")])

    assert ["functions.get_tide:0", "functions.now:1"] == first
    assert ["functions.get_tide:0", "functions.now:3", "functions.now:4"] == later


def test_kimis_numbers_may_be_taken() -> None:
    """A number that one of Kimi's own ids has is not given again."""
    assert ["functions.f:1", "functions.f:2", "functions.g:2"] == CallIds("kimi").assign(
        [("functions.f:1", "f"), ("call_x", "f"), ("call_y", "g")]
    )[1]


@pytest.mark.parametrize("rule", ["openai40", "kimi"])
def test_kimis_own_ids_stay(rule: Any) -> None:
    """Kimi's ids repeat in every turn; where any text is an id they stay, but never twice in one turn (quirk 64)."""
    ids, first = CallIds(rule).assign([("functions.f:0", "f"), ("functions.f:1", "f")])
    ids, later = ids.assign([("functions.f:0", "f"), ("functions.f:0", "f")])

    assert ["functions.f:0", "functions.f:1"] == first
    assert "functions.f:0" == later[0] != later[1]
    assert ["functions.f:0", "functions.f:0"] == ids.answers(["functions.f:0", "functions.f:0"])


@pytest.mark.parametrize("rule", ["any", "anthropic", "responses", "mistral9"])
def test_kimis_ids_are_scoped_elsewhere(rule: Any) -> None:
    """On other formats the same id in a later turn is another call's, and is distinguished from the first one."""
    ids, first = CallIds(rule).assign([("functions.f:0", "f")])
    ids, later = ids.assign([("functions.f:0", "f")])

    assert first != later
    assert [*first, *later] == ids.answers(["functions.f:0", "functions.f:0"])


def test_long_kimi_ids() -> None:
    """An id of Kimi's form that is too long for the format is shortened like any other."""
    (chosen,) = given_ids("openai40", "functions." + "a" * 40 + ":0")

    assert 40 == len(chosen)


def test_a_map_of_the_last_turn() -> None:
    """As a mapping it answers for the current turn: the first call of an id in the last turn that has it."""
    before, _ = CallIds("anthropic").assign([("c", "f"), ("d", "f")])
    after, _ = before.assign([("c", "f"), ("c", "f")])

    assert {"c": "c", "d": "d"} == dict(before)
    assert {"c": "c_2", "d": "d"} == dict(after)
    assert (2, True, False) == (len(after), "c" in after, "e" in after)


def test_maps_are_never_changed() -> None:
    """A new turn makes a new map: a conversation can continue twice from the same place."""
    before, _ = CallIds("any").assign([("c", "f")])
    first = before.assign([("c", "f")])[1]

    assert (first, ("c",), ["c"]) == (
        before.assign([("c", "f")])[1],
        before.occurrences("c"),
        before.answers(["c"]),
    )


def test_a_result_without_a_call() -> None:
    """A result without a call is the caller's mistake, and named."""
    ids, _ = CallIds().assign([("c", "f")])

    with pytest.raises(KeyError, match="result 2 of 'c' answers no call"):
        ids.answers(["c", "c"])
    with pytest.raises(KeyError, match="result 1 of 'x' answers no call"):
        ids.answers(["x"])
    assert () == ids.occurrences("x")


def test_the_repr_counts() -> None:
    """A map shows its rule and its size."""
    assert "<CallIds mistral9 of 1>" == repr(CallIds("mistral9").assign([("c", "f")])[0])
