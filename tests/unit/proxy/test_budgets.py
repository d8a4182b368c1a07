from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.proxy import measures
from benchmarks.proxy.budgets import CLAIMS, Round, judged, lines
from benchmarks.proxy.clients import WrongAnswer
from benchmarks.proxy.measures import Measured
from benchmarks.proxy.relay import End
from benchmarks.proxy.scripts import SCRIPTS, dechunked, moments_in, paced_event
from benchmarks.proxy.systems import System
from benchmarks.proxy.upstream import Pace


def served(act: Callable[[int, Pace], Awaitable[object]]) -> None:
    """Do something while the upstream of the benchmark runs; it is given the port."""

    async def run() -> None:
        pace = Pace()
        async with measures.serving(pace) as port:
            await act(port, pace)

    asyncio.run(run())


def direct(port: int) -> System:
    """Return the upstream as a contender."""
    return System("direct", port, 0)


@given(st.lists(st.binary(min_size=1), max_size=5))
def test_chunks_are_taken_apart(parts: list[bytes]) -> None:
    """A body in chunks of HTTP is read again, whatever its bytes are."""
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)

    assert b"".join(parts) == dechunked(chunks + b"0\r\n\r\n")


def test_a_body_without_its_end_is_none() -> None:
    """A body that stops without its last chunk is not whole."""
    with pytest.raises(ValueError, match="not found"):
        dechunked(b"2\r\nab\r\n")


def test_an_event_says_when_it_was_sent() -> None:
    """The moment in a paced event is found in the client's input, however many events come at once."""
    data = b"".join(map(paced_event, (None, 7, 1_234_567_890_123)))

    assert [7, 1_234_567_890_123] == moments_in(data)


def test_every_script_is_answered_as_it_is() -> None:
    """Client and server of the benchmark agree on every answer, byte for byte, also through the relay."""

    async def check(port: int, _: Pace) -> None:
        loop = asyncio.get_running_loop()
        relay = await loop.create_server(lambda: End(upstream=("127.0.0.1", port)), "127.0.0.1", 0)
        for one in (port, relay.sockets[0].getsockname()[1]):
            await measures.check(direct(one), is_exact=True)
        relay.close()

    served(check)
    assert all(script.body for script in SCRIPTS.values())


def test_a_wrong_answer_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A contender that changes an answer is refused by name."""
    script = SCRIPTS["text"]

    async def check(port: int, _: Pace) -> None:
        with pytest.raises(WrongAnswer, match="direct changes the answer text"):
            await measures.check(direct(port), is_exact=True)

    monkeypatch.setitem(SCRIPTS, "text", script._replace(events=script.events[:-1]))
    served(check)
    assert script.n_chunks > len(SCRIPTS["text"].events)


def test_paced_streams_are_looked_at_once_all_are_open() -> None:
    """Of paced streams the delays are taken, and each connection is closed at the end."""
    found: list[Measured] = []

    async def measure(port: int, pace: Pace) -> None:
        found.append(await measures.paced(direct(port), pace, streams=5, interval=0.01, seconds=0.1))

    served(measure)
    assert found[0].rate > 0
    assert found[0].delay > 0


def a_round(cpu: float) -> Round:
    """Return measurements of two contenders."""
    return {("text", "pass"): Measured(cpu=cpu), ("text", "relay"): Measured(cpu=2.0)}


@pytest.mark.parametrize(("cpus", "value", "is_missed"), [([2, 4, 9], 2, False), ([2, 8, 8], 4, True)])
def test_a_figure_is_the_median_of_ratios(cpus: list[float], value: float, is_missed: bool) -> None:
    """A claim is judged by the median over the rounds; unmeasured claims are left out."""
    (found,) = judged([a_round(cpu) for cpu in cpus])

    assert (value, cpus[0] / 2, cpus[-1] / 2, is_missed) == (
        found.value,
        found.least,
        found.most,
        found.is_missed,
    )


@pytest.mark.parametrize(("rate", "is_missed"), [(10, True), (30, False)])
def test_a_rate_has_to_be_large_enough(rate: float, is_missed: bool) -> None:
    """Where more is better, a figure below the budget misses it, and the table says so."""
    (found,) = judged([{("text", "repair"): Measured(rate=rate), ("text", "litellm"): Measured(rate=1)}])

    assert is_missed == found.is_missed
    assert is_missed == list(lines([found]))[1].endswith("MISSED")
    assert f"{rate}" in list(lines([found]))[1]


def test_each_claim_stands_once() -> None:
    """No two claims have the same words: they are rows of a table, and keys."""
    assert len(CLAIMS) == len({claim.what for claim in CLAIMS})
