from __future__ import annotations

import asyncio

import pytest

from tests.support.proxying import Clock
from wholecall.proxy.deadlines import Deadlines, Timer

BEGAN = 1000.0


def reading(**options: float | bool) -> Deadlines:
    """Return the deadlines of an answer whose head has come."""
    deadlines = Deadlines(BEGAN, **options)  # type: ignore[arg-type]
    deadlines.begin(BEGAN)
    return deadlines


@pytest.mark.parametrize(
    ("is_heard", "sent", "now", "due"),
    [
        (False, 0, 15, None),
        (True, 0, 14, None),
        (True, 0, 15, "ping"),
        (True, 9, 15, None),
        (True, 9, 24, "ping"),
    ],
)
def test_a_ping_says_that_the_upstream_lives(
    is_heard: bool, sent: float, now: float, due: str | None
) -> None:
    """A ping is due if nothing was sent for so long, and something was received in the meantime."""
    deadlines = reading(ping=15)
    deadlines.is_heard, deadlines.sent = is_heard, BEGAN + sent

    assert due == deadlines.due(BEGAN + now)


def test_a_ping_may_not_need_the_upstream() -> None:
    """Balancers want bytes whether or not the upstream sends some."""
    deadlines = reading(ping=15, ping_always=True)

    assert [None, "ping"] == [deadlines.due(BEGAN + 14), deadlines.due(BEGAN + 15)]


def test_a_ping_that_may_not_stand_is_not_tried_at_once_again() -> None:
    """The next one is due a whole period later."""
    deadlines = reading(ping=15)
    deadlines.is_heard, deadlines.pinged = True, BEGAN + 15

    assert [None, "ping"] == [deadlines.due(BEGAN + 16), deadlines.due(BEGAN + 30)]


def test_pings_do_not_hide_that_the_upstream_stalls() -> None:
    """Silence is counted from the bytes received and the bytes sent for them."""
    deadlines = reading(ping=15, ping_always=True, idle=60)
    deadlines.pinged = BEGAN + 59

    assert "upstream_stalled" == deadlines.due(BEGAN + 60)


def test_a_slow_client_is_no_silence_of_the_upstream() -> None:
    """The upstream was not read while a piece was being sent."""
    deadlines = reading(idle=60)
    deadlines.sent = BEGAN + 50

    assert [None, "upstream_stalled"] == [deadlines.due(BEGAN + 60), deadlines.due(BEGAN + 110)]


def test_a_piece_may_not_take_for_ever() -> None:
    """While a piece is sent, only that piece is due."""
    deadlines = reading(ping=1, idle=2, write=60)
    deadlines.sending, deadlines.stage = BEGAN + 5, "sending"

    assert [None, "client_stalled"] == [deadlines.due(BEGAN + 64), deadlines.due(BEGAN + 65)]


def test_the_head_has_to_come() -> None:
    """Before the answer begins only its head is waited for."""
    deadlines = Deadlines(BEGAN, ping=1, idle=2, write=3, first_byte=600)

    assert [None, "upstream_timeout"] == [deadlines.due(BEGAN + 599), deadlines.due(BEGAN + 600)]


@pytest.mark.parametrize(
    ("options", "came", "seconds"),
    [
        ({}, 0, None),
        ({"ping": 15}, 0, 15),  # nothing came: to look again is enough
        ({"ping": 15, "idle": 300}, 5, 5),
        ({"ping": 500, "idle": 300}, 5, 295),
        ({"ping": 500, "idle": 300, "write": 60}, 5, 60),  # a piece may be sent at any time
    ],
)
def test_the_timer_fires_when_something_may_be_due(
    options: dict[str, float], came: float, seconds: float | None
) -> None:
    """Ten seconds after the beginning it waits for the earlier due time."""
    deadlines = reading(**options)
    deadlines.came, deadlines.is_heard = BEGAN + came, came > 0

    assert seconds == deadlines.wait(BEGAN + 10)


def test_a_timer_asks_when_to_fire_next() -> None:
    """The timer fires at the set time, until the time is cleared."""
    clock, waits, fired = Clock(), [5.0, 2.0, None], []

    def look() -> float | None:
        fired.append(clock.now - BEGAN)
        return waits.pop(0)

    async def go() -> None:
        Timer(clock, look).restart(1)
        await clock.forward(100)

    asyncio.run(go())

    assert ([1, 6, 8], 0) == (fired, clock.n_waiting)


def test_a_timer_that_is_stopped_leaves_nothing() -> None:
    """Waiting entries are forgotten, also after a new start."""
    clock = Clock()
    timer = Timer(clock, lambda: 1)
    timer.restart(1)
    timer.restart(2)
    timer.stop()

    assert 0 == clock.n_waiting
