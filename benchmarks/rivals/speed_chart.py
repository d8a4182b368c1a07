"""Figures of speed as one SVG: horizontal bars on a logarithmic scale, a group for each dialect.

Every reader has two bars: one event a read, and below it, paler, reads of 1,460 bytes. The chart carries its colours
for light and dark surroundings and uses no font but the reader's. The length of a rival's bar is wholecall's time in
the chart times the rival's ratio, so that figures of other environments fit in.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from benchmarks.rivals.figures import BY_EVENT, DIALECTS, FLOOR, Run
from benchmarks.rivals.readers import BEHIND_HTTP, LOOPS
from benchmarks.rivals.speed_table import shown_ratio

WORKLOADS = ("W1" + BY_EVENT, "W1")  # of the upper bar and of the lower one
OURS = "wholecall"

_WIDTH, _MARGIN = 860, 28
_LEFT, _RIGHT = 212, 700  # of the bars; the figures follow them
_TOP, _ROW, _BAR, _STEP, _GROUP = 134, 28, 9, 11, 40  # a row holds two bars, a step apart
_LEGIBLE = 125  # characters in a line of the footer
_NAMES = {FLOOR: "splitting + decoding"}
_KINDS = {FLOOR: "base", BEHIND_HTTP: "behind", **dict.fromkeys(LOOPS, "base")}
_STYLE = """
  svg { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
    --card: #ffffff; --edge: #d8dee4; --ink: #1f2328; --dim: #59636e; --grid: #e6eaef;
    --ours: #0b8a63; --ours-ink: #08704f; --base: #c3ccd5; --rival: #6f8fb8; }
  @media (prefers-color-scheme: dark) { svg {
    --card: #14181d; --edge: #30363d; --ink: #e6edf3; --dim: #9198a1; --grid: #272d35;
    --ours: #2fbf8f; --ours-ink: #45d6a5; --base: #48525d; --rival: #587bab; } }
  text { fill: var(--ink); font-size: 13px; }
  .title { font-size: 19px; font-weight: 650; }
  .group { font-size: 14px; font-weight: 650; }
  .small { fill: var(--dim); font-size: 11.5px; }
  .figure { fill: var(--dim); font-size: 11px; font-variant-numeric: tabular-nums; }
  .ours { fill: var(--ours-ink); font-weight: 650; }
  .times { fill: var(--ink); font-weight: 600; }
  .card { fill: var(--card); stroke: var(--edge); }
  .grid { stroke: var(--grid); }
  .bar-ours { fill: var(--ours); }
  .bar-behind { fill: var(--ours); opacity: 0.45; }
  .bar-base { fill: var(--base); }
  .bar-rival { fill: var(--rival); }
  .lower { opacity: 0.45; }
  .bar-behind.lower { opacity: 0.25; }
"""


class Bar(NamedTuple):
    """A bar.

    Attributes:
        micro: microseconds an event.
        ratio: its time over wholecall's.
        capped: whether both are lower bounds.
        lower: whether it is for reads of 1,460 bytes.
    """

    micro: float
    ratio: float = 1
    capped: bool = False
    lower: bool = False


class Racer(NamedTuple):
    """A reader with bars.

    Attributes:
        name: the name of the reader.
        kind: `ours`, `behind` for ours after an HTTP client, `base` for the floor and the loop, `rival`.
        bars: one, or one for each way of reading.
    """

    name: str
    kind: str
    bars: tuple[Bar, ...]


def racers(run: Run, dialect: str) -> list[Racer]:
    """Return the readers with bars in a dialect, shortest bars first; none where W1 was not measured."""
    found: dict[str, list[Bar]] = {}
    for workload in WORKLOADS:
        ours = run.ours(dialect, workload)
        if ours is None:
            continue
        lower = workload == WORKLOADS[1]
        found.setdefault(OURS, []).append(Bar(ours, lower=lower))
        for figure in run.figures:
            if (figure.dialect, figure.workload) == (dialect, workload):
                bar = Bar(ours * figure.ratio, figure.ratio, figure.capped, lower)
                found.setdefault(figure.rival, []).append(bar)
    made = [
        Racer(_NAMES.get(name, name), _KINDS.get(name, "ours" if name == OURS else "rival"), tuple(bars))
        for name, bars in found.items()
    ]
    return sorted(made, key=lambda one: one.bars[0].micro)


class _Scale:
    """Return the position of microseconds on the logarithmic axis."""

    def __init__(self, least: float, most: float) -> None:
        self._low = math.log10(least / 2)
        self._high = math.log10(most * 1.05)
        self.ticks = [10.0**n for n in range(math.ceil(self._low), math.floor(self._high) + 1)]

    def x(self, micro: float) -> float:
        share = (math.log10(micro) - self._low) / (self._high - self._low)
        return round(_LEFT + share * (_RIGHT - _LEFT), 1)


def chart(run: Run) -> str:
    """Return the chart of W1.

    Raises:
        ValueError: the run has no figure of W1.
    """
    groups = {name: found for dialect, name in DIALECTS.items() if (found := racers(run, dialect))}
    if not groups:
        raise ValueError("no figure of W1 to draw")
    lengths = [bar.micro for found in groups.values() for one in found for bar in one.bars]
    scale = _Scale(min(lengths), max(lengths))
    body: list[str] = []
    y = _TOP
    for name, found in groups.items():
        body += _group(name, found, scale, y)
        y += _GROUP + _ROW * len(found)
    bottom = y - 8
    footer = _footer(run)
    height = bottom + 42 + 16 * len(footer)
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title about">',
            *_about(groups),
            f"<style>{_STYLE}</style>",
            f'<rect class="card" x="0.5" y="0.5" width="{_WIDTH - 1}" height="{height - 1}" rx="10"/>',
            *_heading(),
            *_grid(scale, bottom),
            *body,
            *(_text(_MARGIN, bottom + 42 + 16 * n, line, "small") for n, line in enumerate(footer)),
            "</svg>",
            "",
        ]
    )


def _about(groups: dict[str, list[Racer]]) -> Iterator[str]:
    """Yield the chart's text for screen readers."""
    yield '<title id="title">Microseconds an event, bytes to whole tool calls</title>'
    told = (
        f"{name}: {', '.join(f'{one.name} {_both(one.bars)}' for one in found)}"
        for name, found in groups.items()
    )
    ways = "One event a read, then reads of 1,460 bytes"
    yield f'<desc id="about">{escape(". ".join([ways, *told]))}.</desc>'


def _both(bars: tuple[Bar, ...]) -> str:
    return " and ".join(map(_micro, bars))


_HEADING = (
    "One response with 20 parallel calls in 4-character deltas, from memory.",
    "Upper bar: each read brings one event, as on a live stream. Lower, paler bar: reads of 1,460 bytes.",
    "Shorter is faster; the scale is logarithmic; x: as many times as wholecall.",
)


def _heading() -> Iterator[str]:
    yield _text(_MARGIN, 40, "Microseconds an event, from bytes to whole tool calls", "title")
    for n, line in enumerate(_HEADING):
        yield _text(_MARGIN, 63 + 16 * n, line, "small")


def _grid(scale: _Scale, bottom: float) -> Iterator[str]:
    for tick in scale.ticks:
        x = scale.x(tick)
        yield f'<line class="grid" x1="{x}" y1="{_TOP - 18}" x2="{x}" y2="{bottom}"/>'
        yield _text(x, bottom + 16, f"{tick:,g} µs", "small", anchor="middle")


def _group(name: str, found: list[Racer], scale: _Scale, y: float) -> Iterator[str]:
    yield _text(_MARGIN, y, name, "group")
    for n, one in enumerate(found):
        top = y + 10 + n * _ROW
        ours = " ours" if one.kind == "ours" else ""
        yield _text(_LEFT - 10, top + _BAR + 5, one.name, ours.strip() or "name", anchor="end")
        for step, bar in enumerate(one.bars):
            end = scale.x(bar.micro)
            yield _rounded(f"bar-{one.kind}{' lower' if bar.lower else ''}", top + step * _STEP, end)
            times = "" if ours else _times(bar)
            yield _text(end + 8, top + step * _STEP + _BAR, _micro(bar), f"figure{ours}", times=times)


def _rounded(kind: str, top: float, end: float) -> str:
    """Return a bar whose right end is round."""
    length = round(end - _LEFT - 3, 1)
    corner = "a3 3 0 0 1 3 3"
    back = f"v{_BAR - 6}a3 3 0 0 1 -3 3h-{length}z"
    return f'<path class="{kind}" d="M{_LEFT} {top}h{length}{corner}{back}"/>'


def _times(bar: Bar) -> str:
    return f"{'> ' if bar.capped else ''}{shown_ratio(bar.ratio)}x"


def _micro(bar: Bar) -> str:
    least = "> " if bar.capped else ""
    return f"{least}{bar.micro:,.0f} µs" if bar.micro >= 20 else f"{least}{bar.micro:.1f} µs"


def _footer(run: Run) -> list[str]:
    """Return lines with the date, the machine and the versions."""
    lines = [f"{run.date}, {run.python}, processor time, each in turns with wholecall"]
    drawn = Run(run.date, run.python, tuple(one for one in run.figures if one.workload in WORKLOADS))
    for part in (f"{name} {version}" for name, version in sorted(drawn.versions.items())):
        if len(lines) == 1 or len(lines[-1]) + len(part) > _LEGIBLE:
            lines.append(part)
        else:
            lines[-1] += f" · {part}"
    return lines


def _text(x: float, y: float, text: str, kind: str, *, anchor: str = "start", times: str = "") -> str:
    more = f'<tspan class="times" dx="9">{escape(times)}</tspan>' if times else ""
    return f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}{more}</text>'
