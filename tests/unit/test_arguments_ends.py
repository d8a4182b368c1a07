"""The verdict on argument text whose call was cut, or may have been; and that no verdict shows the text."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from tests.support.together import together
from wholecall import parse_arguments
from wholecall.calls.arguments import ladder
from wholecall.calls.arguments.ladder import Ending
from wholecall.calls.arguments.recovery import Fault
from wholecall.limits import Limits
from wholecall.policy import Policy

KEEPING, DROPPING = Policy(require_terminal=False), Policy(truncated_turn="drop")
CUT = {"length": "truncated", "open": "unterminated"}


def outcome(raw: str, **options: Any) -> str:
    """Return a verdict in short: its status, or the reason why it was dropped."""
    verdict = parse_arguments(raw, **options)
    return verdict.reason or verdict.status


# --- how the call ended --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "status"),
    [('{"a":1}', "exact"), ('```{"a":1}```', "normalised"), ('{"a":1,}', "recovered")],
)
def test_a_cut_turn_keeps_complete_objects_flagged(raw: str, status: str) -> None:
    """Complete, non-empty objects survive a cut turn; without terminal evidence only if the policy says so."""
    cut, open_ = parse_arguments(raw, ended="length"), Policy(require_terminal=False)
    assert (status, {"a": 1}, ("turn_truncated",)) == (cut.status, cut.arguments, cut.flags)
    assert outcome(raw, ended="length", policy=Policy(truncated_turn="drop")) == "truncated"
    assert outcome(raw, ended="open") == "unterminated"
    kept = parse_arguments(raw, ended="open", policy=open_)
    assert (status, {"a": 1}, ("unterminated",)) == (kept.status, kept.arguments, kept.flags)


@pytest.mark.parametrize("raw", ["{}", '"{}"', "{}{}", '{"a":1,"a":2}', "path=/x", '{"a":1'])
def test_a_cut_turn_drops_all_else(raw: str) -> None:
    """An empty object may be a placeholder, and any other reason yields to how the call ended."""
    assert outcome(raw, ended="length") == "truncated"
    assert outcome(raw, ended="open") == "unterminated"
    assert outcome(raw, ended="open", policy=Policy(require_terminal=False)) == "unterminated"


@together("ended", ["clean", "length", "open"])
@together(
    ("raw", "reason"),
    [
        ("[" * 200, "nesting_too_deep"),
        ('{"n":1e999}', "number_out_of_range"),
        (" " * 101, "arguments_too_large"),
    ],
)
def test_a_limit_outranks_the_end(raw: str, reason: str, ended: Literal["clean", "length", "open"]) -> None:
    """A breached limit stays the reason, however the call ended; if nothing may be emitted, only its size counts."""
    limits = Limits(max_arguments_bytes=100 if reason == "arguments_too_large" else None)
    assert reason == outcome(raw, ended=ended, policy=KEEPING, limits=limits)
    is_looked_at = ended == "clean" or reason == "arguments_too_large"
    assert (reason if is_looked_at else CUT[ended]) == outcome(
        raw, ended=ended, policy=DROPPING, limits=limits
    )


def test_flags_are_sorted() -> None:
    """Flags of the text and of its end are in one order."""
    verdict = parse_arguments('{"a":"\\u0000","a":"\\u0000"}', ended="length")
    assert verdict.flags == ("duplicate_key", "nul_in_string", "turn_truncated")


# --- privacy -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("raw", ['{"secret":"hunter2",}', '{"secret":"hunter2"', '{"secret":hunter2}'])
def test_no_argument_text_in_repr_or_detail(raw: str) -> None:
    """A verdict shows the size of arguments and never their text."""
    verdict = parse_arguments(raw)
    shown = repr(verdict) + verdict.detail
    assert ("secret" in shown, "hunter2" in shown) == (False, False)


@pytest.mark.parametrize("raw", ["{", "path=/x", '{"a":NaN}', "[1]", '{"a":1}{"a":2}', '{"a":1,"a":2}'])
def test_a_drop_says_why(raw: str) -> None:
    """Each drop has a sentence for people."""
    assert parse_arguments(raw).detail != ""


@pytest.mark.parametrize("ended", ["open", "length"])
def test_a_cut_decides_before_its_text_is_recovered(ended: Ending, monkeypatch: pytest.MonkeyPatch) -> None:
    """Law: a text that only lacks its end, or that may not be emitted, is never recovered."""
    recovered: list[str] = []
    monkeypatch.setattr(ladder, "recover", lambda text: recovered.append(text) or Fault("ambiguous", 0, 1))

    assert CUT[ended] == outcome('{"a": {"b": [1, ', ended=ended, policy=KEEPING)
    assert CUT[ended] == outcome("{'a': 1}", ended=ended, policy=DROPPING)
    assert [] == recovered
    assert CUT[ended] == outcome("{'a': 1}", ended=ended, policy=KEEPING)
    assert ["{'a': 1}"] == recovered


@pytest.mark.parametrize("ended", ["open", "length"])
def test_without_a_limit_the_interpreter_s_own_depth_counts(ended: Ending) -> None:
    """A text that is nested deeper than a decoder can follow is dropped, and raises nothing, if no limit forbids it."""
    limits = Limits.none()

    assert "nesting_too_deep" == outcome("[" * 200_000, ended=ended, policy=KEEPING, limits=limits)


@pytest.mark.parametrize("ended", ["open", "length"])
def test_depth_outranks_a_cut_text(ended: Ending) -> None:
    """A text that only lacks its end is reported as too deep, if it is."""
    limits = Limits(max_depth=8)

    assert "nesting_too_deep" == outcome("[" * 9, ended=ended, policy=KEEPING, limits=limits)
    assert CUT[ended] == outcome("[" * 8, ended=ended, policy=KEEPING, limits=limits)
