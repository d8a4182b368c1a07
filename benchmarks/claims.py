"""Claims about speed: work of several contenders, and the allowed share of another's time.

A claim is defined once, as data: pytest shows its contenders as a group (`conftest.py`), `python -m benchmarks` prints
its ratios with their budgets, and `python -m benchmarks --check` fails when a ratio is far beyond its budget. All three
first let every contender give its result, which must be right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from benchmarks import measure

GROWTH_BUDGET = 2.3  # time(2n) / time(n); quadratic is 4

Times: TypeAlias = dict[str, list[float]]


class Scale(NamedTuple):
    """The amount of work of a measurement.

    Attributes:
        part: scalable workloads have 1/`part` of their size.
        rounds: the number of runs of every contender.
        span: how many times larger the larger workload of a growth is.
    """

    part: int
    rounds: int
    span: int


FULL, QUICK, CHECKED = Scale(1, 7, 2), Scale(4, 3, 2), Scale(16, 3, 8)


class Contender(NamedTuple):
    """A way to do the work.

    Attributes:
        act: does it; takes the claim's subject.
        right: whether the result is right; takes the subject and the result of `act`.
    """

    act: Callable[[Any], Any]
    right: Callable[[Any, Any], bool]


class Ratio(NamedTuple):
    """The time of one contender as a multiple of another's.

    Attributes:
        one: the contender whose time it is.
        other: the contender whose time is the unit.
        budget: the most that it may be; 0 is none.
        quadratic: the other's time grows with the square of this input, so that any ratio could be had by a larger one.
        known: the ratio where its budget is missed by far: `--check` looks for regressions from there.
    """

    one: str
    other: str
    budget: float = 0
    quadratic: bool = False
    known: float = 0


class Row(NamedTuple):
    """A figure and its budget; a budget of 0 is none. `known` is the figure where the budget is missed by far."""

    what: str
    value: float
    budget: float
    unit: str = ""
    known: float = 0

    def beyond(self, margin: float = 1) -> bool:
        """Whether the figure is more than `margin` times its budget."""
        return 0 < self.budget * margin < self.value


@dataclass(frozen=True, eq=False)
class Comparison:
    """Contenders at the same work.

    Attributes:
        what: the work, which is also the name of the group.
        subject: makes the input, 1/n of its size where that makes sense.
        contenders: the ways to do it, by name.
        ratios: the claimed ratios.
        events: the number of events of the subject, for claims about streams.
        times: how often a contender does it in a row, for work that is too short to be timed once.
        checked: whether `--check` looks at it: not where another claim covers the same on a smaller input.
    """

    what: str
    subject: Callable[[int], Any]
    contenders: Mapping[str, Contender]
    ratios: tuple[Ratio, ...] = ()
    events: Callable[[Any], int] | None = None
    times: int = 1
    checked: bool = True

    def measured(self, scale: Scale) -> tuple[Any, Times]:
        """Return the subject and all contenders' times on it."""
        subject = self.subject(scale.part)
        acts = {name: (contender, subject) for name, contender in self.contenders.items()}
        return subject, race(acts, scale.rounds, self.times)

    def judged(self, times: Times) -> Iterator[Row]:
        """Yield the ratios of the measured times."""
        for one, other, budget, quadratic, known in self.ratios:
            what = f"{self.what}: {one} / {other}" + (" (quadratic)" if quadratic else "")
            yield Row(what, measure.ratio(times[one], times[other]), budget, known=known)

    def rows(self, scale: Scale) -> Iterator[Row]:
        """Measure and yield the ratios."""
        yield from self.judged(self.measured(scale)[1])


@dataclass(frozen=True, eq=False)
class Growth:
    """The same work on an input and on a larger one: time(2n) / time(n).

    A larger input need not be exactly twice as large, so the ratio is that of the growth exponent.

    Attributes:
        what: the thing that grows in number.
        make: makes an input from its measure.
        n: the measure to begin at.
        size: the size of an input, in the unit that its time should be proportional to.
        contender: does the work.
        checked: whether `--check` looks at it.
    """

    what: str
    make: Callable[[int], Any]
    n: int
    size: Callable[[Any], int]
    contender: Contender
    checked: bool = True

    def subject(self, part: int, times: int = 1) -> Any:
        """Return the smaller input, or an input so many times larger."""
        return self.make(max(self.n // part, 1) * times)

    def rows(self, scale: Scale) -> Iterator[Row]:
        """Measure and yield the growth; its exponent is the unit that the table shows."""
        one, two = (self.subject(scale.part, times) for times in (1, scale.span))
        times = race({"n": (self.contender, one), "2n": (self.contender, two)}, scale.rounds)
        exponent = math.log(min(times["2n"]) / min(times["n"])) / math.log(self.size(two) / self.size(one))
        yield Row(f"growth: {self.what}", 2**exponent, GROWTH_BUDGET, f"n^{exponent:.2f}")


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure that is not a time of this process, with its budget.

    Attributes:
        what: the measured quantity.
        measured: measures it.
        budget: the most that it may be; 0 is none.
        checked: whether `--check` looks at it.
    """

    what: str
    measured: Callable[[Scale], float]
    budget: float
    checked: bool = True

    def rows(self, scale: Scale) -> Iterator[Row]:
        """Measure and yield the figure."""
        yield Row(self.what, self.measured(scale), self.budget)


Claim: TypeAlias = Comparison | Growth | Figure


def race(acts: Mapping[str, tuple[Contender, Any]], rounds: int, times: int = 1) -> Times:
    """Return the times of contenders, each with its input, once all have shown that their result is right."""
    for name, (contender, subject) in acts.items():
        assert contender.right(subject, contender.act(subject)), f"{name} is wrong"
    ready = [partial(_often, contender.act, subject, times) for contender, subject in acts.values()]
    return dict(zip(acts, measure.rounds(rounds, *ready), strict=True))


def _often(act: Callable[[Any], Any], subject: Any, times: int) -> None:
    for _ in range(times):
        act(subject)
