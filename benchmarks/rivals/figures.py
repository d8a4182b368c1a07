"""What a measurement of speed comes to, and which promises it is held to."""

from __future__ import annotations

import datetime as dt
import platform
from collections.abc import Iterable, Sequence

import msgspec

from benchmarks.rivals.readers import ANTHROPIC, CHAT, RESPONSES

__all__ = ["DIALECTS", "FLOOR", "Figure", "Run", "merged"]

FLOOR = "floor"  # wholecall's framing and typed decoding of the same frames, and nothing else
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
    def budget(self) -> int | None:
        """How many times slower we promise it to be, where we do: on W1 and W2."""
        promised = _BUDGETS.get((self.dialect, self.rival))
        return promised if self.workload.startswith(("W1", "W2")) else None

    @property
    def missed(self) -> bool:
        """Whether the promise is not kept, or cannot be seen to be."""
        return self.budget is not None and self.ratio < self.budget


class Run(msgspec.Struct, frozen=True):
    """Figures with what they were taken on.

    Attributes:
        date: the day, as in `2026-11-22`.
        python: the interpreter and its version.
        figures: in the order of dialects and workloads.
        absent: libraries that were not installed.
    """

    date: str
    python: str
    figures: tuple[Figure, ...]
    absent: tuple[str, ...] = ()

    @classmethod
    def of(cls, figures: Iterable[Figure], absent: Iterable[str]) -> Run:
        """Return what was measured here and now."""
        date = f"{dt.datetime.now(tz=dt.timezone.utc):%Y-%m-%d}"
        python = f"{platform.python_implementation()} {platform.python_version()}"
        return cls(date, python, tuple(figures), tuple(absent))

    @property
    def versions(self) -> dict[str, str]:
        """The versions of all that was measured."""
        return {name: version for figure in self.figures for name, version in figure.versions.items()}

    def ours(self, dialect: str, workload: str) -> float | None:
        """Return the microseconds that wholecall takes for an event; None if that was not measured."""
        taken = [one.ours for one in self.figures if (one.dialect, one.workload) == (dialect, workload)]
        return min(taken, default=None)

    def find(self, rival: str, dialect: str, workload: str) -> Figure | None:
        """Return the figure of a rival on a workload; None if there is none."""
        wanted = rival, dialect, workload
        return next((one for one in self.figures if (one.rival, one.dialect, one.workload) == wanted), None)


def merged(runs: Sequence[Run]) -> Run:
    """Return the figures of several environments as one run; where two have the same, the first one counts."""
    found: dict[tuple[str, str, str], Figure] = {}
    for figure in (figure for run in runs for figure in run.figures):
        found.setdefault((figure.rival, figure.dialect, figure.workload), figure)
    present = {name for figure in found.values() for name in (figure.rival, *figure.versions)}
    absent = {name: None for run in runs for name in run.absent if name not in present}
    return Run(max(run.date for run in runs), runs[0].python, tuple(found.values()), tuple(absent))
