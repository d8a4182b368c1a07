"""Budgets of the proxy: each claim once, and its figure from the measurements.

Theory of operation. A run is a number of rounds; a round has one measurement of each contender for each kind of work.
The figure of a claim is the median over the rounds, of a ratio of two measurements of the same round.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from benchmarks.proxy.measures import Measured

# By the kind of work and the contender.
Round = Mapping[tuple[str, str], Measured]


class Claim(NamedTuple):
    """A promise.

    Attributes:
        what: the title in the table.
        figure: makes the figure from a round.
        needs: the measurements that it is made from.
        budget: the most that it may be; the least, where `is_least`.
        is_least: whether more is better.
        unit: the unit of the figure; empty for a ratio.
        digits: the digits after the point.
    """

    what: str
    figure: Callable[[Round], float]
    needs: tuple[tuple[str, str], ...]
    budget: float
    is_least: bool = False
    unit: str = ""
    digits: int = 2


class Result(NamedTuple):
    """A claim's figure in this run.

    Attributes:
        what: the claim.
        value: the figure.
        least: the smallest of the rounds.
        most: the largest of them.
        budget: see `Claim`.
        is_least: see `Claim`.
        unit: see `Claim`.
        is_missed: whether the figure is beyond the budget.
    """

    what: str
    value: float
    least: float
    most: float
    budget: float
    is_least: bool
    unit: str
    is_missed: bool


def _cpu(what: str, work: str, one: str, other: str, budget: float) -> Claim:
    """Return a claim about processor time: that of one contender as a multiple of another's."""
    needs = ((work, one), (work, other))
    return Claim(what, lambda found: found[needs[0]].cpu / found[needs[1]].cpu, needs, budget)


def _rate(what: str, work: str, one: str, other: str, budget: float) -> Claim:
    needs = ((work, one), (work, other))
    return Claim(
        what,
        lambda found: found[needs[0]].rate / found[needs[1]].rate,
        needs,
        budget,
        is_least=True,
        digits=0,
    )


def _delay(what: str, one: str, other: str, budget: float) -> Claim:
    needs = (("paced, few", one), ("paced, few", other))
    return Claim(
        what,
        lambda found: (found[needs[0]].delay - found[needs[1]].delay) * 1000,
        needs,
        budget,
        unit="ms",
    )


def _begin(what: str, one: str, other: str, budget: float) -> Claim:
    needs = (("opened", one), ("opened", other))
    return Claim(
        what, lambda found: (found[needs[0]].cpu - found[needs[1]].cpu) * 1000, needs, budget, unit="ms"
    )


def _memory(what: str, one: str, budget: float) -> Claim:
    needs = (("idle connections", one),)
    return Claim(what, lambda found: found[needs[0]].memory / 1024, needs, budget, unit="KiB", digits=1)


CLAIMS: Final[tuple[Claim, ...]] = (
    _cpu("pass-through: CPU per chunk, to a raw TCP relay", "text", "pass", "relay", 3),
    _cpu("repaired text chunk: CPU, to pass-through", "text", "repair", "pass", 5),
    _cpu("chunk inside a held call: CPU, to pass-through", "call", "repair", "pass", 12),
    _cpu("paced streams: CPU per chunk, repaired to pass-through", "paced", "repair", "pass", 2.2),
    _cpu("ping timers on, to off", "paced", "repair", "no pings", 1.05),
    _delay("added to a chunk's way, half of 50 paced streams", "repair", "direct", 1),
    _rate("chunks a second, to LiteLLM's proxy", "text", "repair", "litellm", 20),
    _rate("requests a second, to LiteLLM's proxy", "requests", "repair", "litellm", 8),
    _memory("an idle keep-alive connection", "repair", 8),
    _begin("a stream before its first chunk, over pass-through", "repair", "pass", 0.5),
)


def judged(rounds: Sequence[Round]) -> Iterator[Result]:
    """Yield the figures of all claims whose contenders were measured."""
    for claim in CLAIMS:
        values = [claim.figure(found) for found in rounds if all(need in found for need in claim.needs)]
        if values:
            value = statistics.median(values)
            is_missed = value < claim.budget if claim.is_least else value > claim.budget
            yield Result(
                claim.what,
                round(value, 4),
                round(min(values), 4),
                round(max(values), 4),
                claim.budget,
                claim.is_least,
                claim.unit,
                is_missed,
            )


_DIGITS: Final = {claim.what: claim.digits for claim in CLAIMS}
_ROW: Final = "{:<58}{:>14}{:>12}{:>16}"


def lines(results: Sequence[Result]) -> Iterator[str]:
    """Yield the lines of the table; `MISSED` marks a figure beyond its budget."""
    yield _ROW.format("", "figure", "budget", "rounds")
    for result in results:
        digits = _DIGITS[result.what]
        unit = f" {result.unit}" if result.unit else ""
        bound = f"{'≥' if result.is_least else '≤'} {result.budget:g}{unit}"
        spread = f"{result.least:.{digits}f} to {result.most:.{digits}f}"
        missed = "  MISSED" if result.is_missed else ""
        yield _ROW.format(result.what, f"{result.value:.{digits}f}{unit}", bound, spread) + missed
