"""The soak of the proxy's WebSockets, short: no faults are found, and faults would be reported."""

from __future__ import annotations

import pytest

from benchmarks.rivals.responses_streams import RESPONSES
from tests.soak.proxy import main
from tests.soak.sockets import Got, Planned, SocketSoak, complaint, messages_of, notes_of

TWO = next(at for at, stream in enumerate(RESPONSES) if len(stream.expected) > 1)
NONE = next(at for at, stream in enumerate(RESPONSES) if not stream.expected)


def got(plan: Planned, *numbers: int, n_notes: int | None = None, code: int = 1000) -> Got:
    """Return what a client would have got of these streams."""
    made = Got()
    made.turns = [list(messages_of(number, turn)) for turn, number in enumerate(numbers)]
    made.notes, made.status, made.code = notes_of(plan)[:n_notes], 101, code
    return made


@pytest.mark.parametrize(
    ("upstream", "client", "numbers", "n_notes", "code", "expected"),
    [
        ("well", "reads", (TWO, NONE), None, 1000, None),
        ("well", "reads", (NONE, NONE), None, 1000, "a call was lost"),
        ("reset", "reads", (NONE, NONE), None, 1006, None),
        ("reset", "reads", (TWO, TWO), None, 1006, "a call that nobody sent"),
        ("paced", "slow", (TWO, NONE), 3, 1000, "it did not end well"),
        ("paced", "slow", (TWO, NONE), None, 1011, "it did not end well"),
        ("closed", "reads", (TWO,), 3, 1011, None),
    ],
)
def test_what_is_wrong_is_told(
    upstream: str, client: str, numbers: tuple[int, ...], n_notes: int | None, code: int, expected: str | None
) -> None:
    """Only in damaged sessions may something be missing, and no unsent call may appear."""
    plan = Planned((TWO, NONE), upstream, client, 0)
    found = complaint(plan, got(plan, *numbers, n_notes=n_notes, code=code))

    assert expected == (None if found is None else found.partition(":")[0])


def test_a_gap_is_a_lost_message() -> None:
    """Notes come in their order, without a gap, also where a session was cut off."""
    plan = Planned((TWO,), "reset", "reads", 0)
    made = got(plan, TWO)
    del made.notes[1]

    assert "a message was lost" == complaint(plan, made)


@pytest.mark.slow
def test_a_short_run_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    """Some dozen sessions with every fault: no lost message, no open connection or file, no growth."""
    assert (0, True) == (
        main(["--minutes", "0.05", "--streams", "10"], SocketSoak, "sockets"),
        "all is well" in capsys.readouterr().out,
    )
