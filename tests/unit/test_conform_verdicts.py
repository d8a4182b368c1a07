"""Verdicts of the conformance suite: pure functions of a case and an answer."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.support.conform_suite import RADIO, TIDE, case_of
from wholecall.grading.conform.cases import Case
from wholecall.grading.conform.results import Run, score, scores
from wholecall.grading.conform.verdicts import Answer, judge

PARTIAL = ["partial+error", "refuse"]
EMPTIED = {**TIDE, "arguments": {}}


def made(call: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Return a call as an adapter names it."""
    return {name: call[name] for name in ("id", "name", "arguments")} | members


def verdict(case: Case, *calls: dict[str, Any], refused: int = 0, error: str | None = None) -> str:
    """Return the verdict on an answer."""
    told = [{"name": None, "why": "no"}] * refused
    return judge(case, msgspec.convert({"calls": list(calls), "refused": told, "error": error}, Answer)).word


ONE, TWO = case_of(), case_of(sent=[TIDE, RADIO])
NONE = case_of(sent=[])
CUT = case_of(accept=PARTIAL)
LOST = case_of(sent=[], accept=["refuse"])
SESSION = case_of(accept=["calls+error"])


@pytest.mark.parametrize(
    ("case", "calls", "more", "expected"),
    [
        (ONE, [made(TIDE)], {}, "pass"),
        (TWO, [made(RADIO), made(TIDE)], {}, "pass"),
        (NONE, [], {}, "pass"),
        (ONE, [made(TIDE, arguments='{ "port" : "Brest" }')], {}, "pass"),
        (ONE, [made(TIDE, id=None)], {}, "pass"),
        (SESSION, [made(TIDE)], {"refused": 1}, "pass"),
        (SESSION, [made(TIDE)], {}, "lost"),
        (SESSION, [], {"error": "ValueError: no"}, "refused"),
        (SESSION, [made(TIDE, id="call_other")], {"refused": 1}, "refused"),
        (ONE, [made(TIDE)], {"refused": 1}, "refused"),
        (ONE, [made(TIDE), made(TIDE, name=None)], {}, "refused"),
        (TWO, [made(TIDE)], {}, "lost"),
        (TWO, [made(TIDE)], {"refused": 1}, "refused"),
        (TWO, [], {"error": "ValueError: no"}, "refused"),
        (ONE, [made(TIDE, arguments='{"port":"Br')], {}, "refused"),
        (ONE, [made(TIDE)], {"error": "ValueError: no"}, "refused"),
        (NONE, [], {"error": "ValueError: no"}, "refused"),
        (ONE, [made(TIDE, id="call_other")], {}, "lost"),
        (ONE, [made(TIDE), made(TIDE)], {}, "unsafe"),
        (ONE, [made(TIDE), made(RADIO)], {}, "unsafe"),
        (ONE, [made(EMPTIED)], {"error": "ValueError: no"}, "unsafe"),
        (ONE, [made(TIDE, arguments={"port": "Bre"})], {}, "unsafe"),
        (ONE, [made(TIDE, name=None)], {}, "refused"),
        (ONE, [made(TIDE, name="")], {"error": "ValueError: no"}, "refused"),
        (ONE, [made(TIDE, arguments=["Brest"])], {}, "refused"),
        (ONE, [made(TIDE, arguments=None)], {}, "refused"),
        (ONE, [made(TIDE, arguments='{"port":"Brest","port":"Brest"}')], {}, "refused"),
        (ONE, [made(TIDE, arguments='{"port":NaN}')], {}, "refused"),
        (ONE, [made(TIDE, arguments='{"port":"Bre"}')], {}, "unsafe"),
        (ONE, [made(TIDE, name="get_Tide")], {}, "unsafe"),
        (CUT, [made(TIDE)], {"error": "cut"}, "pass"),
        (CUT, [], {"error": "cut"}, "pass"),
        (CUT, [], {"refused": 1}, "pass"),
        (CUT, [made(TIDE)], {}, "lost"),
        (CUT, [], {}, "lost"),
        (CUT, [made(RADIO)], {"error": "cut"}, "unsafe"),
        (LOST, [], {"error": "broken"}, "pass"),
        (LOST, [], {}, "lost"),
        (LOST, [made(TIDE)], {"error": "broken"}, "unsafe"),
        (LOST, [made(TIDE, arguments='{"po')], {}, "pass"),
        (case_of(sent=[], may=[TIDE]), [made(TIDE)], {}, "pass"),
        (case_of(sent=[], may=[TIDE]), [], {}, "pass"),
        (case_of(sent=[], may=[TIDE]), [made(TIDE), made(TIDE)], {}, "unsafe"),
        (case_of(sent=[], retracted=[TIDE]), [made(TIDE)], {}, "unsafe"),
        (case_of(sent=[], server=[TIDE]), [made(TIDE)], {}, "unsafe"),
        (case_of(sent=[], server=[TIDE]), [], {}, "pass"),
        (case_of(accept=["calls", "refuse"]), [], {"refused": 1}, "pass"),
        (case_of(accept=["refuse"], may=[RADIO]), [made(RADIO)], {"error": "no"}, "refused"),
        (case_of(accept=PARTIAL), [made(TIDE, id="other")], {"error": "no"}, "pass"),
    ],
)
def test_verdicts(case: Case, calls: list[dict[str, Any]], more: dict[str, Any], expected: str) -> None:
    """An unsent call is unsafe whatever else was done; then the accepted ends count, and then whether it was said."""
    assert expected == verdict(case, *calls, **more)


@pytest.mark.parametrize(
    ("sent", "got", "numbers", "expected"),
    [
        ('{"n":1}', {"n": 1.0}, "value", "pass"),
        ('{"n":1}', {"n": True}, "value", "unsafe"),
        ('{"n":0.1}', {"n": 0.1}, "value", "pass"),
        ('{"n":9007199254740993}', {"n": 9007199254740992}, "value", "unsafe"),
        ('{"n":0.10000000000000000001}', '{"n":0.1}', "value", "pass"),
        ('{"n":0.10000000000000000001}', '{"n":0.1}', "text", "unsafe"),
        ('{"n":0.10000000000000000001}', '{"n":0.10000000000000000001}', "text", "pass"),
        ('{"n":1.50}', {"n": 1.5}, "text", "pass"),
        ('{"a":1,"b":[2]}', {"b": [2], "a": 1}, "value", "pass"),
        ('{"a":"\\u00e9"}', {"a": "e\u0301"}, "value", "unsafe"),
        ('{"a":null}', {}, "value", "unsafe"),
    ],
)
def test_arguments_are_compared_as_values(sent: str, got: object, numbers: str, expected: str) -> None:
    """Keys have no order, numbers count by value, `true` is no number; a case may want numbers as they are written."""
    call = {**TIDE, "arguments": msgspec.json.decode(sent), "arguments_text": sent}
    case = case_of(sent=[call], numbers=numbers)

    assert expected == verdict(case, made(TIDE, arguments=got))


@pytest.mark.parametrize(
    ("text", "got", "expected"),
    [
        ("", "", "pass"),
        ("", {}, "pass"),
        (None, None, "pass"),
        (None, " null ", "pass"),
        ("{}", "{}", "pass"),
        ("{}", "", "refused"),
        ("{}", None, "refused"),
        ("", "[]", "refused"),
    ],
)
def test_no_text_is_no_arguments(text: str | None, got: object, expected: str) -> None:
    """Nothing at all equals the empty object of a call that has no text on the wire, and no other."""
    case = case_of(sent=[{**TIDE, "arguments": {}, "arguments_text": text}])

    assert expected == verdict(case, made(TIDE, arguments=got))


def test_made_up_ids_differ() -> None:
    """Calls without ids on the wire may get any ids, but not one for two of them."""
    case = case_of(sent=[{**TIDE, "id": None}, {**RADIO, "id": None}])

    assert verdict(case, made(TIDE, id="a"), made(RADIO, id="b")) == "pass"
    assert verdict(case, made(TIDE, id="a"), made(RADIO, id="a")) == "lost"
    assert verdict(case, made(TIDE, id=None), made(RADIO, id=None)) == "pass"


def test_an_id_may_be_a_number() -> None:
    """An id that is a number is its digits."""
    case = case_of(sent=[{**TIDE, "id": "7"}])

    assert verdict(case, made(TIDE, id=7)) == "pass"
    assert verdict(case, made(TIDE, id=8)) == "lost"


def test_equal_calls_are_told_apart_by_their_ids() -> None:
    """Two calls that differ in their ids alone are both expected, in any order."""
    case = case_of(sent=[TIDE, {**TIDE, "id": "call_2"}])

    assert verdict(case, made(TIDE, id="call_2"), made(TIDE)) == "pass"
    assert verdict(case, made(TIDE, id=None), made(TIDE)) == "pass"
    assert verdict(case, made(TIDE), made(TIDE)) == "lost"


@pytest.mark.parametrize(
    ("case", "call", "why"),
    [
        (ONE, made(EMPTIED), "get_tide: emptied"),
        (ONE, made(TIDE, arguments={"port": "B"}), "get_tide: other arguments than were sent"),
        (ONE, made(RADIO), "tune_radio: no whole call of this name was sent"),
        (case_of(sent=[], retracted=[TIDE]), made(TIDE), "get_tide: taken back by the server"),
        (case_of(sent=[], server=[TIDE]), made(TIDE), "get_tide: the server runs it"),
    ],
)
def test_unsafe_calls_are_named(case: Case, call: dict[str, Any], why: str) -> None:
    """The reason says what is wrong with the call."""
    assert why == judge(case, msgspec.convert({"calls": [call]}, Answer)).why


def test_unsupported_counts_for_nothing() -> None:
    """A case that a client cannot be asked is no run."""
    verdict = judge(ONE, Answer(unsupported="no big integers"))
    found = score([verdict.word, "pass", "unsafe"])

    assert ("unsupported", "no big integers") == (verdict.word, verdict.why)
    assert (2, 1, 0.5, 0.5) == (found.run, found.unsupported, found.safety, found.completeness)


def test_nothing_run_has_no_share() -> None:
    """A score of nothing has no numbers."""
    assert (None, None) == (score([]).safety, score([]).completeness)


def test_disputed_cases_count_for_nothing() -> None:
    """Scores are by level and for all; disputed cases are in none."""
    run = Run(case="a/b", level="core", verdict="pass", why=None, write="frame", seconds=0, got=None)
    bad = msgspec.structs.replace(run, level="damage", verdict="unsafe", disputed=True)
    found = scores([run, bad])

    assert {"core": 1, "all": 1} == {level: its.run for level, its in found.items()}
    assert found["all"].safety == 1.0
