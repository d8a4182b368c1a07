"""The figures that pages show, for several interpreters side by side.

`python -m benchmarks --json` measures the lines below with one interpreter, `python -m benchmarks --from FILE...` puts
the output of several into one table. A line is a ratio for each of its parts, such as dialects or ways of reading, and
shows losses as well as gains.
"""

from __future__ import annotations

import datetime as dt
import platform
import statistics
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from benchmarks import (
    bench_dialects,
    bench_first_stream,
    bench_forms,
    bench_gateways,
    bench_one_event,
    bench_replay,
    bench_stream,
)
from benchmarks.claims import Claim, Comparison, Row, Scale
from benchmarks.envelopes import GATEWAYS
from benchmarks.rivals.speed_table import cells
from benchmarks.workloads import DIALECTS

_LOOP = "the time of the `json.loads` loop"
_MSGSPEC, _BARE, _FRAMES = "the same loop with `msgspec.json.decode`", "the bare floor", "the floor of frames"
_OWN, _USUAL, _ELSE = "a `json.loads` loop written for the dialect", "the usual form of the stream", "other"
LOOPS = (_LOOP, _OWN)
MAIN = "3.11"  # the interpreter with which ratios of others are compared
FAR = 1.15  # times its ratio

_THREE = ("Chat Completions", "Anthropic", "Responses")
_TWO = ("1,460-byte reads", "one event a read")

CLAIMS: dict[str, Claim] = {
    claim.what: claim
    for claims in (
        bench_stream.CLAIMS,
        bench_one_event.CLAIMS,
        bench_forms.CLAIMS,
        bench_gateways.CLAIMS,
        bench_dialects.CLAIMS,
        bench_replay.CLAIMS,
        bench_first_stream.CLAIMS,
    )
    for claim in claims
}


class Line(NamedTuple):
    """Ratios that belong together.

    Attributes:
        against: the base of the ratios.
        what: the work.
        parts: the part that each ratio covers.
        claims: the claim of each part.
        contender: the contender whose ratio is meant, or to which the ratio is; empty where a claim has one figure.
        spread: the parts are the least, the median and the worst of all claims.
    """

    against: str
    what: str
    parts: tuple[str, ...]
    claims: tuple[str, ...]
    contender: str = ""
    spread: bool = False


def _three(against: str, what: str, claim: str, contender: str) -> Line:
    return Line(against, what, _THREE, tuple(map(claim.format, DIALECTS)), contender)


def _two(what: str, claim: str) -> Line:
    return Line(_OWN, what, _TWO, (claim, f"{claim}, by event"), "naive")


def _spread(kind: bench_gateways.Kind) -> Line:
    claims = tuple(bench_gateways.through(kind, gateway) for gateway in GATEWAYS)
    what = f"{kind} through {len(claims)} servers and gateways of chat completions, one event a read"
    return Line(_LOOP, what, ("least", "median", "worst"), claims, "naive", spread=True)


LINES: tuple[Line, ...] = (
    _three(_LOOP, "20 parallel calls, one event a read", "W1 {}, by event", "naive"),
    _three(_LOOP, "20 parallel calls, 1,460-byte reads", "W1 {}", "naive"),
    _three(
        _LOOP, "one call of about 105 events, one event a read", "a turn of one call {}, by event", "naive"
    ),
    _three(_LOOP, "20 interleaved calls, one event a read", "interleaved {}, by event", "naive"),
    _three(_LOOP, "one call of 64 KB, 1,460-byte reads", "W2 64K d4 {}", "naive"),
    _three(_LOOP, "plain text, one event a read", "plain text {}, by event", "naive"),
    _three(_LOOP, "plain text, 1,460-byte reads", "plain text {}", "naive"),
    _three(_LOOP, "1,000 calls of 2 deltas, one event a read", "1,000 calls {}, by event", "naive"),
    _three(_LOOP, "a tiny stream of 6 to 9 events, 1,460-byte reads", "a tiny stream {}", "naive"),
    _three(_LOOP, "a tiny stream of 6 to 9 events, one event a read", "a tiny stream {}, by event", "naive"),
    *map(_spread, bench_gateways.KINDS),
    _three(_MSGSPEC, "20 parallel calls, one event a read", "W1 {}, by event", "msgspec loop"),
    _three(_MSGSPEC, "20 parallel calls, 1,460-byte reads", "W1 {}", "msgspec loop"),
    _three(_BARE, "20 parallel calls, 1,460-byte reads", "W1 {}", "bare floor"),
    _three(_BARE, "one call of 64 KB, 1,460-byte reads", "W2 64K d4 {}", "bare floor"),
    _three(_FRAMES, "20 parallel calls, 1,460-byte reads", "W1 {}", "floor"),
    *(
        _three(_USUAL, f"20 parallel calls, {name}, 1,460-byte reads", "W1 {}, a form is", form)
        for form, name in bench_forms.NAMES.items()
    ),
    *(
        _two(bench_dialects.title(name, dialect), f"{name} {dialect}")
        for name, dialects in bench_dialects.WHERE.items()
        for dialect in dialects
    ),
    Line(_ELSE, "`wholecall replay` to parsing alone", ("",), ("recordings of three dialects",), "replay"),
    Line(
        _ELSE,
        "the first stream of a process beyond the second, to the import of msgspec",
        _THREE,
        tuple(map("first {} stream beyond the second / import of msgspec".format, DIALECTS)),
    ),
)


class Measured(msgspec.Struct, frozen=True):
    """The result of a line: see `Line`; `budgets` has 0 where nothing is promised."""

    against: str
    what: str
    parts: tuple[str, ...]
    values: tuple[float, ...]
    budgets: tuple[float, ...]


class Run(msgspec.Struct, frozen=True):
    """Lines with their environment.

    Attributes:
        date: the day, as in `2026-11-22`.
        python: the version of CPython.
        msgspec: the version of msgspec.
        lines: the lines in the order of `LINES`.
    """

    date: str
    python: str
    msgspec: str
    lines: tuple[Measured, ...]

    @property
    def minor(self) -> str:
        """The version without its last part, as in `3.11`."""
        return self.python.rpartition(".")[0]


def run(scale: Scale) -> Iterator[Measured]:
    """Measure all lines; a claim that several lines show is measured once."""
    rows: dict[str, list[Row]] = {}
    for line in LINES:
        for what in line.claims:
            if what not in rows:
                rows[what] = list(CLAIMS[what].rows(scale))
        found = [_row(CLAIMS[what], rows[what], line.contender) for what in line.claims]
        values, budgets = tuple(round(row.value, 3) for row in found), tuple(row.budget for row in found)
        if line.spread:
            values = min(values), round(statistics.median(values), 3), max(values)
            budgets = (max(budgets),) * len(values)
        yield Measured(line.against, line.what, line.parts, values, budgets)


def _row(claim: Claim, rows: Sequence[Row], contender: str) -> Row:
    """Return the row of a claim in which a contender is `one`, or `other` where no row has it as `one`."""
    if not isinstance(claim, Comparison):
        return rows[0]
    ones = {ratio.other: row for ratio, row in zip(claim.ratios, rows, strict=True)}
    ones |= {ratio.one: row for ratio, row in zip(claim.ratios, rows, strict=True) if ratio.one == contender}
    return ones[contender]


def told(lines: Sequence[Measured]) -> Run:
    """Return a measurement in this environment."""
    date = f"{dt.datetime.now(tz=dt.timezone.utc):%Y-%m-%d}"
    return Run(date, platform.python_version(), msgspec.__version__, tuple(lines))


def main_of(runs: Sequence[Run]) -> Run:
    """Return the run of the interpreter with which the others are compared."""
    return next((one for one in runs if one.minor == MAIN), runs[0])


def markdown(runs: Sequence[Run]) -> str:
    """Return a table for each base of ratios, with a column for each interpreter."""
    main = main_of(runs)
    groups = dict.fromkeys(line.against for line in main.lines)
    tables = ["\n".join(_table(against, main, runs)) for against in groups]
    return "\n\n".join([*tables, _footnote(main, runs)]) + "\n"


def _table(against: str, main: Run, runs: Sequence[Run]) -> Iterator[str]:
    yield cells(_title(against), "budget", *(one.minor for one in runs))
    yield cells("---", *["---:"] * (1 + len(runs)))
    for number, line in enumerate(main.lines):
        if line.against == against:
            found = [_of(one, number, line) for one in runs]
            shown = (_values(values, line) for values in found)
            yield cells(line.what, _budget(line), *shown)


def _title(against: str) -> str:
    return against if against == _ELSE else f"as a multiple of {against}"


def _of(one: Run, number: int, line: Measured) -> tuple[float, ...]:
    found = one.lines[number] if number < len(one.lines) else None
    if found is None or (found.against, found.what, found.parts) != (line.against, line.what, line.parts):
        raise ValueError(f"the figures of CPython {one.python} are of another version of the benchmarks")
    return found.values


def _values(values: Sequence[float], main: Measured) -> str:
    """Return ratios, with a mark on those above 1.15 times the main interpreter's."""
    return " / ".join(
        f"{value:.2f}{'*' if value > FAR * known else ''}"
        for value, known in zip(values, main.values, strict=True)
    )


def _budget(line: Measured) -> str:
    budgets = line.budgets if len(set(line.budgets)) > 1 else line.budgets[:1]
    return " / ".join(f"{budget:g}" for budget in budgets) if any(budgets) else ""


def _footnote(main: Run, runs: Sequence[Run]) -> str:
    versions = ", ".join(f"{one.python} (msgspec {one.msgspec})" for one in runs)
    return (
        f"Where a cell has three ratios, they are of {', '.join(_THREE[:2])} and {_THREE[2]} (through several servers: "
        "the least, the median and the worst); where it has two, of "
        f"{_TWO[0]} and of {_TWO[1]}. `*` is more than {FAR:g} times the ratio of CPython {main.minor}. Measured on "
        f"{max(one.date for one in runs)} with CPython {versions}."
    )
