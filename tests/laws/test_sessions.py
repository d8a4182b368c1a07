"""Sessions over sockets: what leaves a repairer of messages has no call that the server did not send whole."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support import sessions, share

# Recordings that lack nothing: no call was cut, no argument text is missing, no line is damaged.
HEALTHY = {
    "responses": {"json-lines", "socket-lanes"},
    "openai-realtime": {"index-zero-for-all", "text-and-call", "two-in-flight"},
    "gemini-live": {"interrupted-and-taken-back", "pretty-printed-two-channels", "single-call", "text-turns"},
}


# No multiple of the six fates of a message: each fate is tried by the quick tests, at other messages of each recording.
in_parts = share.in_parts(11, rest_in=7)


class Outcome(NamedTuple):
    """What left a repairer of a damaged session: the executed calls, and shown calls that were not kept."""

    name: str
    damage: str
    executed: sessions.Executed
    unkept: list[str]


@functools.cache
def outcomes(dialect: str, *, live: bool, part: share.Part) -> list[Outcome]:
    """Repair each recorded session of a dialect in each way that it can be damaged, once for all laws about it."""
    return [
        Outcome(name, what, sessions.executed(left), sessions.unkept(left))
        for name, lines in sessions.recordings(dialect).items()
        for what, damaged in part.of([("as it came", lines), *sessions.damages(lines)], f"damages of {name}")
        for left in [sessions.passed(damaged, dialect, live_arguments=live).messages]
    ]


def invented(lines: list[str], dialect: str) -> list[str]:
    """Return the damages after which a client executes what the whole session does not hold."""
    known = sessions.told(lines, dialect)
    cases = [("as it came", lines), *sessions.damages(lines)]
    return [
        f"{what}: {more}"
        for what, damaged in cases
        if (more := sessions.executed(sessions.passed(damaged, dialect).messages).every - known)
    ]


def lanes(messages: list[Any]) -> dict[Any, list[Any]]:
    """Return messages by the response or the lane that they are of; a message of none has its own place."""
    found: dict[Any, list[Any]] = {}
    for message in messages:
        payload = json.loads(message)
        lane = payload.get("stream_id") or payload.get("response_id") or payload.get("type")
        found.setdefault(lane, []).append(message)
    return found


@in_parts
@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("dialect", sessions.WIRES)
def test_no_damage_makes_a_call(dialect: str, live: bool, part: share.Part) -> None:
    """Law 139: with any message of a session lost, cut or repeated, every call that leaves is one of the session's."""
    known = {name: sessions.told(lines, dialect) for name, lines in sessions.recordings(dialect).items()}
    found = outcomes(dialect, live=live, part=part)
    more = {(one.name, one.damage): one.executed.every - known[one.name] for one in found}

    assert len(known) >= 3
    assert known.keys() == {one.name for one in found}
    assert {} == {place: calls for place, calls in more.items() if calls}


@pytest.mark.slow
def test_no_damage_makes_a_call_of_a_stream() -> None:
    """Law 139, for the events of recorded streams of Responses as messages; a run tries a fifth of them."""
    recorded = sessions.recordings("responses", streams=True)
    some = share.every(5, sorted(recorded), "streams as messages")
    found = {name: invented(recorded[name], "responses") for name in some}

    assert len(recorded) > 20
    assert found
    assert {} == {name: faults for name, faults in found.items() if faults}


@pytest.mark.slow
@pytest.mark.cases
@pytest.mark.parametrize("dialect", sessions.WIRES)
def test_no_damage_makes_a_call_of_further_recordings(dialect: str, recordings_dir: Path) -> None:
    """Law 139, for other projects' recordings of sessions."""
    paths = sorted(path for path in recordings_dir.iterdir() if path.name.startswith(f"{dialect}__"))
    found = {
        path.name: invented(sessions.messages(path), dialect) for path in paths if path.suffix == ".ndjson"
    }

    assert {} == {name: faults for name, faults in found.items() if faults}


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("dialect", sessions.WIRES)
def test_a_healthy_session_passes(dialect: str, binary: bool) -> None:
    """Law 139: each message leaves as it came, text or binary, in the order of its response, named or detected."""
    recorded = sessions.recordings(dialect)
    for name in HEALTHY[dialect]:
        lines = [line.encode() if binary else line for line in recorded[name]]
        for expected in (dialect, None):
            left, report = sessions.passed(lines, expected)
            assert (name, lanes(lines)) == (name, lanes(left))
            assert (False, 0) == (report.mended, report.n_withheld * (name != "text-turns"))


@in_parts
@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("dialect", ["responses", "openai-realtime"])
def test_all_clients_execute_the_same(dialect: str, live: bool, part: share.Part) -> None:
    """Law 139: on the item, on the text and on the finished response, in any damaged session."""
    wrong = [
        f"{name}: {damage}: {found}"
        for name, damage, found, _ in outcomes(dialect, live=live, part=part)
        if found.items != found.texts or found.responses - found.items
    ]

    assert [] == wrong


@in_parts
@pytest.mark.parametrize("dialect", ["responses", "openai-realtime"])
def test_what_is_shown_of_a_call_holds(dialect: str, part: share.Part) -> None:
    """Law 55: in any damaged session the shown pieces are the text of the call, or an error follows them."""
    found = outcomes(dialect, live=True, part=part)
    wrong = [f"{one.name}: {one.damage}: {item}" for one in found for item in one.unkept]

    assert [] == wrong


def test_healthy_calls_that_are_shown() -> None:
    """Law 55: clients execute the same as of held messages."""
    for dialect in ("responses", "openai-realtime"):
        for name in HEALTHY[dialect]:
            lines = sessions.recordings(dialect)[name]
            held, shown = (sessions.passed(lines, dialect, live_arguments=live).messages for live in (0, 1))
            assert sessions.executed(held) == sessions.executed(shown)
            assert [] == sessions.unkept(shown)
