"""Results: verdicts with what was got, scores by level, and the file that holds them.

Theory of operation. A level has two numbers and never one: *safety* is the share of runs in which no call was handed
over that nobody sent, *completeness* the share that passed. Cases that a client cannot be asked do not count, and
neither do disputed ones, though their verdicts are in the file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Optional

import msgspec

from wholecall.grading.conform.cases import LEVELS, BadSuite, Level
from wholecall.grading.conform.verdicts import WORDS, Word

ALL = "all"  # the score of all levels together


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of some runs, by verdict, and the two numbers made of them; None where nothing was run."""

    run: int
    passed: int = msgspec.field(name="pass")
    unsafe: int
    lost: int
    refused: int
    crash: int
    timeout: int
    unsupported: int
    safety: Optional[float]
    completeness: Optional[float]

    @property
    def rank(self) -> tuple[float, float, float]:
        """Where it stands among others, the best first: few unsafe runs, few lost calls, many passes."""
        run = self.run or 1
        return (self.unsafe / run, self.lost / run, -self.passed / run)


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One case as one client read it, under one way of writing.

    Attributes:
        case: the case's id.
        level: its level.
        verdict: the verdict.
        why: its reason, for people.
        write: how the bytes were written.
        seconds: how long it took.
        got: the client's answer, None if there was none.
        disputed: whether the case is disputed, and counts for nothing.
    """

    case: str
    level: Level
    verdict: Word
    why: Optional[str]
    write: str
    seconds: float
    got: Optional[dict[str, Any]]
    disputed: bool = False


class Graded(msgspec.Struct, frozen=True, kw_only=True):
    """A client on one wire, with its scores by level (and `all`) and its runs."""

    name: str
    version: str
    wire: str
    mode: Literal["http", "bytes", "gateway"]
    runs_tools: bool = False
    dependencies: dict[str, str] = {}
    scores: dict[str, Score]
    cases: tuple[Run, ...]

    @property
    def label(self) -> str:
        """The name and version, for people."""
        return f"{self.name} {self.version}"


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """A result file: what clients made of the cases, and all that is needed to run them again.

    Attributes:
        data: the version of the data.
        protocol: the version of the protocol.
        seed: the seed of renames and cuts, None without.
        unchanged: how many of the cases it could not change at all, None without a seed.
        kept: by thing (`names`, `ids`, `values`), in how many cases some stayed because a change was not safe; None
            without a seed.
        write: the way of writing that was asked for, None if each case chose.
        blind: whether names of cases were hidden.
        runner: the name and the version of the runner.
        platform: where it ran.
        started: when it began, in ISO 8601, UTC.
        seconds: how long it took.
        complete: whether it came to its end.
        clients: the clients.
    """

    schema: Literal[1] = 1
    data: str
    protocol: Literal[1] = 1
    seed: Optional[int]
    unchanged: Optional[int] = None
    kept: Optional[dict[str, int]] = None
    write: Optional[str]
    blind: bool
    runner: dict[str, str]
    platform: dict[str, str]
    started: str
    seconds: float
    complete: bool = True
    clients: tuple[Graded, ...]

    def runs(self) -> Iterator[tuple[Graded, Run]]:
        """Yield each run with its client."""
        for client in self.clients:
            for run in client.cases:
                yield client, run

    @property
    def is_good(self) -> bool:
        """Whether something was run, no run was unsafe, and every run of the level core passed."""
        scores = [client.scores for client in self.clients]
        core = [score["core"] for score in scores if "core" in score]
        return (
            any(score[ALL].run for score in scores)
            and not any(score[ALL].unsafe for score in scores)
            and all(score.passed == score.run for score in core)
        )


def score(words: Iterable[Word]) -> Score:
    """Return the score of some verdicts."""
    counts = Counter(words)
    run = counts.total() - counts["unsupported"]
    numbers: dict[str, Any] = {word: counts[word] for word in WORDS if word != "pass"}
    return Score(
        run=run,
        passed=counts["pass"],
        safety=1 - counts["unsafe"] / run if run else None,
        completeness=counts["pass"] / run if run else None,
        **numbers,
    )


def scores(runs: Iterable[Run]) -> dict[str, Score]:
    """Return the scores of the levels that were run, and of all together; disputed cases count for nothing."""
    counted = [run for run in runs if not run.disputed]
    levels = [level for level in LEVELS if any(run.level == level for run in counted)]
    by_level: dict[str, Score] = {
        level: score(run.verdict for run in counted if run.level == level) for level in levels
    }
    return {**by_level, ALL: score(run.verdict for run in counted)}


def to_json(results: Results) -> bytes:
    """Return a result file."""
    return json.dumps(msgspec.to_builtins(results), indent=1, ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )


def load(path: str | Path) -> Results:
    """Return the results in a file.

    Raises:
        BadSuite: it cannot be read, or holds something else.
    """
    try:
        return msgspec.convert(json.loads(Path(path).read_bytes()), Results)
    except OSError as error:
        raise BadSuite(f"{path}: {error.strerror}") from None
    except (msgspec.ValidationError, ValueError, RecursionError) as error:
        raise BadSuite(f"{path}: it is no file of results: {error}") from None


class Change(msgspec.Struct, frozen=True):
    """A verdict that is another one in a later file; None where the run is in one file only."""

    client: str
    wire: str
    case: str
    write: str
    before: Optional[Word]
    after: Optional[Word]

    @property
    def is_worse(self) -> bool:
        """Whether the client does worse than before."""
        return (
            self.before is not None
            and self.after is not None
            and _BADNESS[self.after] > _BADNESS[self.before]
        )


_BADNESS: Mapping[Word, int] = {
    "unsupported": 0,
    "pass": 0,
    "refused": 1,
    "lost": 2,
    "timeout": 3,
    "crash": 3,
    "unsafe": 4,
}


def compare(old: Results, new: Results) -> list[Change]:
    """Return the runs whose verdict changed, by client, case and way of writing; versions do not matter."""
    before, after = _verdicts(old), _verdicts(new)
    keys = sorted({*before, *after})
    return [
        Change(*key, before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)
    ]


def _verdicts(results: Results) -> dict[tuple[str, str, str, str], Word]:
    return {(its.name, its.wire, run.case, run.write): run.verdict for its, run in results.runs()}
