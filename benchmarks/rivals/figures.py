"""Figures of a measurement of speed, and the promises that they must keep."""

from __future__ import annotations

import datetime as dt
import platform
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import msgspec

from benchmarks.rivals.readers import ANTHROPIC, CHAT, LOOPS, RESPONSES

FLOOR = "bare floor"  # splits and decodes the same events into few typed fields, and does nothing else
BY_EVENT = ", by event"  # ends the name of a workload of which each read brings one event
# Workloads on which the loops' buffer is quadratic: an event comes in hundreds of reads.
LOOPS_QUADRATIC = {(RESPONSES, "W2 512K d40")}
# The display name of each dialect.
DIALECTS = {CHAT: "Chat Completions", ANTHROPIC: "Anthropic Messages", RESPONSES: "OpenAI Responses"}
# The promised ratio to each rival where calls are read.
_BUDGETS = {
    (CHAT, "openai create()"): 25,
    (CHAT, "openai .stream()"): 60,
    (CHAT, "pydantic-ai"): 50,
    (CHAT, "langchain"): 80,
    (CHAT, "litellm"): 200,
    (ANTHROPIC, "anthropic create()"): 5,
    (ANTHROPIC, "anthropic .stream()"): 15,
}


class Figure(msgspec.Struct, frozen=True):
    """The speed of one rival on one workload, against wholecall in turns with it.

    Attributes:
        rival: the library, and its way of reading.
        versions: the versions of its distributions, its own first.
        dialect: the dialect that is read.
        workload: the stream.
        theirs: microseconds that the rival takes for an event, the least of all rounds.
        ours: microseconds that wholecall takes for an event.
        ratio: the rival's time over wholecall's, the median of all rounds.
        capped: whether the rival was stopped; `theirs` and `ratio` are then lower bounds.
    """

    rival: str
    versions: dict[str, str]
    dialect: str
    workload: str
    theirs: float
    ours: float
    ratio: float
    capped: bool = False

    @property
    def flatters(self) -> bool:
        """Whether the ratio means little: the rival's buffer is quadratic on this workload."""
        return self.rival in LOOPS and (self.dialect, self.workload) in LOOPS_QUADRATIC

    @property
    def budget(self) -> int | None:
        """The promised ratio, if there is a promise: on W1 and W2 in reads of 1,460 bytes."""
        promised = _BUDGETS.get((self.dialect, self.rival))
        has_calls = self.workload.startswith(("W1", "W2"))
        return promised if has_calls and not self.workload.endswith(BY_EVENT) else None

    @property
    def missed(self) -> bool:
        """Whether the promise is broken, or cannot be verified."""
        return self.budget is not None and self.ratio < self.budget


class Failure(msgspec.Struct, frozen=True):
    """A rival without a figure on a workload, because it raised there or gave another result.

    Attributes:
        rival: the library, and its way of reading.
        versions: the versions of its distributions, its own first.
        dialect: the dialect that it should have read.
        workload: the stream.
        trouble: the failure in a few words.
    """

    rival: str
    versions: dict[str, str]
    dialect: str
    workload: str
    trouble: str


Outcome: TypeAlias = Figure | Failure


class Run(msgspec.Struct, frozen=True):
    """Figures with their environment.

    Attributes:
        date: the day, as in `2026-11-22`.
        python: the interpreter and its version.
        figures: the figures in the order of dialects and workloads.
        absent: libraries that were not installed.
        failures: rivals that failed, each with the workload.
    """

    date: str
    python: str
    figures: tuple[Figure, ...]
    absent: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()

    @classmethod
    def of(cls, outcomes: Iterable[Outcome], absent: Iterable[str]) -> Run:
        """Return a measurement in this environment."""
        found = list(outcomes)
        return cls(
            f"{dt.datetime.now(tz=dt.timezone.utc):%Y-%m-%d}",
            f"{platform.python_implementation()} {platform.python_version()}",
            tuple(one for one in found if isinstance(one, Figure)),
            tuple(absent),
            tuple(one for one in found if isinstance(one, Failure)),
        )

    @property
    def versions(self) -> dict[str, str]:
        """The versions of all measured distributions."""
        return {name: version for figure in self.figures for name, version in figure.versions.items()}

    def ours(self, dialect: str, workload: str) -> float | None:
        """Return the microseconds that wholecall takes for an event; None if that was not measured."""
        taken = [one.ours for one in self.figures if (one.dialect, one.workload) == (dialect, workload)]
        return min(taken, default=None)

    def find(self, rival: str, dialect: str, workload: str) -> Outcome | None:
        """Return the outcome of a rival on a workload, or None."""
        wanted = rival, dialect, workload
        outcomes = (*self.figures, *self.failures)
        return next((one for one in outcomes if (one.rival, one.dialect, one.workload) == wanted), None)


def merged(runs: Sequence[Run]) -> Run:
    """Return the figures of several environments as one run.

    If two have the same figure, the first counts. A failure counts where no run has a figure instead.
    """
    found: dict[tuple[str, str, str], Figure] = {}
    for figure in (figure for run in runs for figure in run.figures):
        found.setdefault((figure.rival, figure.dialect, figure.workload), figure)
    failed: dict[tuple[str, str, str], Failure] = {}
    for failure in (failure for run in runs for failure in run.failures):
        key = failure.rival, failure.dialect, failure.workload
        if key not in found:
            failed.setdefault(key, failure)
    outcomes = (*found.values(), *failed.values())
    present = {name for one in outcomes for name in (one.rival, *one.versions)}
    absent = {name: None for run in runs for name in run.absent if name not in present}
    return Run(
        max(run.date for run in runs),
        runs[0].python,
        tuple(found.values()),
        tuple(absent),
        tuple(failed.values()),
    )
