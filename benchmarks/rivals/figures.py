"""Figures of a measurement of speed, and the promises that they must keep."""

from __future__ import annotations

import datetime as dt
import platform
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import msgspec

from benchmarks.rivals.readers import ANTHROPIC, CHAT, LOOPS, RESPONSES

__all__ = [
    "BY_EVENT",
    "DIALECTS",
    "FLOOR",
    "LOOPS_QUADRATIC",
    "Failure",
    "Figure",
    "Outcome",
    "Run",
    "merged",
]

FLOOR = "bare floor"  # splits and decodes the same events into few typed fields, and does nothing else
BY_EVENT = ", by event"  # ends the name of a workload of which each read brings one event
# Workloads on which the loops' buffer is quadratic: an event comes in hundreds of reads.
LOOPS_QUADRATIC = {(RESPONSES, "W2 512K d40")}
# How each dialect is called before people.
DIALECTS = {CHAT: "Chat Completions", ANTHROPIC: "Anthropic Messages", RESPONSES: "OpenAI Responses"}
# How many times faster than each we promise to be where calls are read.
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
    """How fast one rival reads one workload, against wholecall in turns with it.

    Attributes:
        rival: the library, and which of its ways.
        versions: the versions of its distributions, its own first.
        dialect: what is read.
        workload: the stream.
        theirs: microseconds that the rival takes for an event, the least of all rounds.
        ours: microseconds that wholecall takes for an event.
        ratio: how many times slower the rival is, the median of all rounds.
        capped: whether the rival was stopped; `theirs` and `ratio` are then the least that they can be.
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
        """Whether the ratio says little: the rival's buffer is quadratic on this workload."""
        return self.rival in LOOPS and (self.dialect, self.workload) in LOOPS_QUADRATIC

    @property
    def budget(self) -> int | None:
        """How many times slower we promise it to be, where we do: on W1 and W2 in reads of 1,460 bytes."""
        promised = _BUDGETS.get((self.dialect, self.rival))
        has_calls = self.workload.startswith(("W1", "W2"))
        return promised if has_calls and not self.workload.endswith(BY_EVENT) else None

    @property
    def missed(self) -> bool:
        """Whether the promise is not kept, or cannot be seen to be."""
        return self.budget is not None and self.ratio < self.budget


class Failure(msgspec.Struct, frozen=True):
    """A rival that has no figure on a workload, because it raised there or read something else.

    Attributes:
        rival: the library, and which of its ways.
        versions: the versions of its distributions, its own first.
        dialect: what it should have read.
        workload: the stream.
        trouble: what happened, in a few words.
    """

    rival: str
    versions: dict[str, str]
    dialect: str
    workload: str
    trouble: str


Outcome: TypeAlias = Figure | Failure


class Run(msgspec.Struct, frozen=True):
    """Figures with what they were taken on.

    Attributes:
        date: the day, as in `2026-11-22`.
        python: the interpreter and its version.
        figures: in the order of dialects and workloads.
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
        """Return what was measured here and now."""
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
        """The versions of all that was measured."""
        return {name: version for figure in self.figures for name, version in figure.versions.items()}

    def ours(self, dialect: str, workload: str) -> float | None:
        """Return the microseconds that wholecall takes for an event; None if that was not measured."""
        taken = [one.ours for one in self.figures if (one.dialect, one.workload) == (dialect, workload)]
        return min(taken, default=None)

    def find(self, rival: str, dialect: str, workload: str) -> Outcome | None:
        """Return what became of a rival on a workload; None if nothing did."""
        wanted = rival, dialect, workload
        outcomes = (*self.figures, *self.failures)
        return next((one for one in outcomes if (one.rival, one.dialect, one.workload) == wanted), None)


def merged(runs: Sequence[Run]) -> Run:
    """Return the figures of several environments as one run.

    Where two have the same, the first one counts. A failure counts where no run has a figure instead.
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
