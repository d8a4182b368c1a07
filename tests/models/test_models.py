"""All small streams of servers with a few habits: no call is emitted that was not surely sent, and few are lost."""

from __future__ import annotations

import re

import pytest

from tests.models.__main__ import RATCHET, main
from tests.models.judge import LOST, NOWHERE, ORDER, UNSURE, fault, known_by_beginning
from tests.models.streams import Calls, Reading, Streams
from tests.models.table import MODELS, SETTINGS, Setting
from tests.models.trial import came_out
from tests.support import ratchet, share
from tests.support.together import together

# They have millions of streams with two habits, so a sample costs as much as the slow test; with one habit, too, a
# sample is for the slow tests.
LONG = {"chat-completions", "responses", "openai-realtime"}


QUICK, SLOW = (
    [
        pytest.param(
            dialect,
            name,
            marks=[pytest.mark.slow] if setting.is_slow or dialect in LONG else [],
            id=f"{dialect}, {name}",
        )
        for name, setting in SETTINGS.items()
        for dialect in MODELS
        if setting.is_slow == is_slow and (name != "two habits, a sample" or dialect not in LONG)
    ]
    for is_slow in (False, True)
)


@pytest.mark.sampled(33)
@pytest.mark.parametrize(("dialect", "setting"), [*QUICK, *share.every(11, SLOW, "models")])
def test_no_more_than_the_known_faults(dialect: str, setting: str) -> None:
    """Law 65: emitted calls are in all readings of a stream; known faults may disappear, new faults may not appear.

    A run tries an eleventh of the slow settings.
    """
    counts = SETTINGS[setting].run(MODELS[dialect]).counts()

    assert ratchet.complaints(RATCHET, f"{dialect}, {setting}", counts) == []


@pytest.mark.sampled(53)
@pytest.mark.parametrize("dialect", MODELS)
def test_conforming_streams_give_their_calls(dialect: str) -> None:
    """Law 65: all calls of a conforming server are emitted, in its order; no fault is known there."""
    assert Setting(0.0, 400).run(MODELS[dialect]).counts() == {}


# The models themselves.


@together("dialect", MODELS)
def test_habits_are_explained(dialect: str) -> None:
    """Each habit that is not the provider's cites its quirk; the first of an aspect is plain."""
    habits = MODELS[dialect].habits
    odd = [who for values in habits.values() for cost, who in values.values() if cost]

    assert [who for who in odd if not re.match(r"quirk \d+: \w", who)] == []
    assert {next(iter(values.values()))[0] for values in habits.values()} == {0}


@pytest.mark.slow
@pytest.mark.parametrize("dialect", share.every(11, list(MODELS), "families"))
def test_streams_have_families_and_mirrors(dialect: str) -> None:
    """The assumption of samples: readings of a stream are of one family, and half of the streams mirror the others."""
    streams = Streams(MODELS[dialect], 1.0)
    mirrored = sum(map(streams.is_mirrored, streams))

    assert [stream for stream in streams if len(streams.families(stream)) > 1] == []
    assert mirrored == (0 if dialect == "chat-completions" else len(streams) / 2)


GO: Calls = (("go", "{}"),)
TO: Calls = (("to", '{"x": 1}'),)


@together(
    ("readings", "came", "what"),
    [
        ([(1, GO)], GO, None),
        ([(1, GO)], TO, NOWHERE),
        ([(1, GO)], (*GO, *GO), NOWHERE),
        ([(1, GO)], (), LOST),
        ([(1, (*GO, *TO))], (*TO, *GO), ORDER),
        ([(1, GO), (1.5, TO)], GO, UNSURE),
        ([(1, GO), (1.5, TO)], (), None),  # no call is certain
        ([(1, GO), (2, TO)], GO, None),  # the other costs too much
        ([(0, GO), (0.5, TO)], GO, None),  # a conforming server is believed
        ([(1, (*GO, *TO)), (1, TO)], TO, None),
        ([(1, (*GO, *TO)), (1, TO)], (*GO, *TO), UNSURE),
    ],
)
def test_the_judge(readings: list[tuple[float, Calls]], came: Calls, what: str | None) -> None:
    """Only the common content of the cheapest readings, and of those near them, counts."""
    assert fault([Reading(cost, calls, None) for cost, calls in readings], came) == what


def test_what_followed_is_no_reproach() -> None:
    """A call that all streams with this beginning justify was emitted rightly, whatever follows; no other was."""
    streams = Streams(MODELS["ollama"], 0.0)
    calls = ((None, None, "go", False, "{}"),)
    (stream,) = [s for s in streams if [told for told, _ in streams.told(s)] == [calls, ()]]
    cases = [(stream, [(1, ("go", "{}"))]), (stream, [(1, ("to", "{}"))]), (stream, [(2, ("go", "{}"))])]

    assert list(known_by_beginning(streams, cases)) == [True, False, True]


def test_calls_are_counted_with_what_had_come() -> None:
    """A call comes with the number of chunks after which it was emitted, never before its text was sent."""
    streams = Streams(MODELS["anthropic"], 0.0, few=True)
    of_two = (stream for stream in streams if len(streams.readings(stream)[0].calls) == 2)
    stream = max(of_two, key=lambda stream: (len(stream), stream))
    came = came_out("anthropic", [streams.chunks[number] for number in stream])

    assert [call for _, call in came] == list(streams.readings(stream)[0].calls)
    told = [streams.told(stream[:n]) for n, _ in came]
    assert [("stop", at) in events for at, events in zip((1, 3), told, strict=True)] == [True, True]


def test_the_program_tells_faults_by_habits(capsys: pytest.CaptureFixture[str]) -> None:
    """The command accepts a part of a dialect's name, reports faults by habits, and describes the habits."""
    code = main(["stack", "--habits", "0", "--sample", "0.1"])
    told = capsys.readouterr().out

    assert (code, re.findall(r"(\d+) with a call that was not surely sent", told)) == (0, ["0"])
    assert main(["stack", "--list"]) == 0
    assert "id=none costs 1: quirk 8" in capsys.readouterr().out
