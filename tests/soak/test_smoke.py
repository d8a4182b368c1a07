"""The soak, short: the accounts balance, and an imbalance would be reported."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from tests.soak.__main__ import main, soak
from tests.soak.streams import FAULTS, Books, run_stream, templates
from wholecall.calls.output.call_events import (
    ArgumentsDelta,
    ArgumentsReset,
    ToolCall,
    ToolCallDropped,
    ToolCallStarted,
)
from wholecall.calls.output.events import TurnFinished

START = ToolCallStarted(0, 0, 0, "c", "f", "function")
DELTA = ArgumentsDelta(0, 0, 0, "{}")
CALL = ToolCall(0, 0, 0, "c", "f", {}, "{}", "exact")
DROP = ToolCallDropped(0, 0, 0, "c", "f", "function", "{}", "aborted")
END = TurnFinished(0, 0, "stop", None, 1, 0, None, ())


def test_books_balance() -> None:
    """Laws 1, 4, 5, 7, 9, 10 and 21: a run over two thousand streams has no findings, and meets every fault."""
    books, _ = soak(0, 2000, seed=3)

    assert [] == books.findings
    assert books.balanced
    assert FAULTS.keys() == books.streams.keys()
    assert books.ends["ToolCall"] > 1000
    assert min(books.called, books.dropped, books.replaced) > 0


def test_streams_repeat_themselves() -> None:
    """A stream is drawn from its number and the seed alone, independently of earlier runs."""
    first, again = Books(), Books()
    for number in range(30):
        run_stream(number, 5, first)
    for number in reversed(range(30)):
        run_stream(number, 5, again)

    assert first == again


def test_templates_hold_calls() -> None:
    """Every dialect is present, with streams with calls and a stream without."""
    calls = Counter({template.dialect: 0 for template in templates()})
    calls.update(
        template.dialect
        for template in templates()
        if any(type(e) is ToolCallStarted for e in template.events)
    )

    assert len(calls) > 30
    assert {3} == set(calls.values())


@pytest.mark.parametrize(
    ("events", "complaints"),
    [
        ([START, DELTA, CALL, END], []),
        ([START, DELTA, DROP, END], []),
        ([START, ArgumentsDelta(0, 0, 0, "[}"), ArgumentsReset(0, 0, 0, "{}"), CALL, END], []),
        ([START, DELTA, END], ["1 calls never ended"]),
        ([START, DELTA, CALL], ["no turn finished"]),
        ([START, START, DELTA, CALL, END], ["started twice"]),
        ([DELTA, CALL, END], ["text of a call that is not open"]),
        ([CALL, END], ["a call that never started"]),
        ([START, ArgumentsDelta(0, 0, 0, "{"), CALL, END], ["a call's text is not what was shown"]),
        ([START, DELTA, CALL, DELTA, CALL, END], ["text of a call that is not open"]),
    ],
)
def test_books_tell(events: list[Any], complaints: list[str]) -> None:
    """Each missing or extra event is a finding with its place and content."""
    books = Books()
    books.enter(events, "here")

    assert [f"here: {what}" for what in complaints] == books.findings


def test_a_fault_that_raises_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception is a finding that names its stream, and the run continues."""

    def broken(_template: object, _rng: random.Random) -> Any:
        raise KeyError("x")

    for fault in FAULTS:
        monkeypatch.setitem(FAULTS, fault, broken)
    books, _ = soak(7, 1, seed=0)

    assert 1 == len(books.findings)
    assert books.findings[0].startswith("--seed 0 --first 7 (")


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints its runs and findings."""
    assert 0 == main(["--streams", "20", "--seed", "2"])
    assert "20 streams of" in (told := capsys.readouterr().out)
    assert "findings: 0" in told
