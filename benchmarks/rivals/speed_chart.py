"""Figures of speed as one SVG: horizontal bars on a logarithmic scale, a group for each dialect.

It carries its colours for light and dark surroundings and uses no font but the reader's. A rival's bar is as long
as what wholecall takes in the chart times what the rival was slower, so that figures of other environments fit in.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from benchmarks.rivals.figures import DIALECTS, FLOOR, Run
from benchmarks.rivals.readers import BEHIND_HTTP, NAIVE_LOOP
from benchmarks.rivals.speed_table import shown_ratio

__all__ = ["WORKLOAD", "Bar", "bars", "chart"]

WORKLOAD = "W1"
OURS = "wholecall"

_WIDTH, _MARGIN = 860, 28
_LEFT, _RIGHT = 212, 700  # of the bars; after them stand the figures
_TOP, _ROW, _BAR, _GROUP = 118, 25, 15, 40
_LEGIBLE = 125  # characters in a line of the footer
_NAMES = {FLOOR: "framing + decoding"}
_KINDS = {FLOOR: "base", NAIVE_LOOP: "base", BEHIND_HTTP: "behind"}
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
  .figure { fill: var(--dim); font-variant-numeric: tabular-nums; }
  .ours { fill: var(--ours-ink); font-weight: 650; }
  .times { fill: var(--ink); font-weight: 600; }
  .card { fill: var(--card); stroke: var(--edge); }
  .grid { stroke: var(--grid); }
  .bar-ours { fill: var(--ours); }
  .bar-behind { fill: var(--ours); opacity: 0.45; }
  .bar-base { fill: var(--base); }
  .bar-rival { fill: var(--rival); }
"""


class Bar(NamedTuple):
    """One bar.

    Attributes:
        name: what it stands for.
        kind: `ours`, `behind` for ours after an HTTP client, `base` for the floor and the loop, `rival`.
        micro: microseconds an event.
        ratio: how many times slower than wholecall.
        capped: whether both are the least that they can be.
    """

    name: str
    kind: str
    micro: float
    ratio: float = 1
    capped: bool = False


def bars(run: Run, dialect: str) -> list[Bar]:
    """Return the bars of a dialect, the shortest first; none where W1 was not measured."""
    ours = run.ours(dialect, WORKLOAD)
    if ours is None:
        return []
    found = [Bar(OURS, "ours", ours)]
    for figure in run.figures:
        if (figure.dialect, figure.workload) == (dialect, WORKLOAD):
            name = _NAMES.get(figure.rival, figure.rival)
            kind = _KINDS.get(figure.rival, "rival")
            found.append(Bar(name, kind, ours * figure.ratio, figure.ratio, figure.capped))
    return sorted(found, key=lambda bar: bar.micro)


class _Scale:
    """Where microseconds stand on the logarithmic axis."""

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
    groups = {name: found for dialect, name in DIALECTS.items() if (found := bars(run, dialect))}
    if not groups:
        raise ValueError("no figure of W1 to draw")
    lengths = [bar.micro for found in groups.values() for bar in found]
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


def _about(groups: dict[str, list[Bar]]) -> Iterator[str]:
    """Yield what those hear who do not see the chart."""
    yield '<title id="title">Microseconds an event, bytes to whole tool calls</title>'
    told = (
        f"{name}: {', '.join(f'{bar.name} {_micro(bar)}' for bar in found)}" for name, found in groups.items()
    )
    yield f'<desc id="about">{escape(". ".join(told))}.</desc>'


def _heading() -> Iterator[str]:
    yield _text(_MARGIN, 40, "Microseconds an event, from bytes to whole tool calls", "title")
    stream = (
        "One response with 20 parallel calls in 4-character deltas, from memory, in reads of 1,460 bytes."
    )
    yield _text(_MARGIN, 63, stream, "small")
    yield _text(
        _MARGIN, 79, "Shorter is faster; the scale is logarithmic; x: as many times as wholecall.", "small"
    )


def _grid(scale: _Scale, bottom: float) -> Iterator[str]:
    for tick in scale.ticks:
        x = scale.x(tick)
        yield f'<line class="grid" x1="{x}" y1="{_TOP - 18}" x2="{x}" y2="{bottom}"/>'
        yield _text(x, bottom + 16, f"{tick:,g} µs", "small", anchor="middle")


def _group(name: str, found: list[Bar], scale: _Scale, y: float) -> Iterator[str]:
    yield _text(_MARGIN, y, name, "group")
    for n, bar in enumerate(found):
        top = y + 12 + n * _ROW
        middle = top + _BAR - 3
        ours = " ours" if bar.kind == "ours" else ""
        end = scale.x(bar.micro)
        yield _text(_LEFT - 10, middle, bar.name, ours.strip() or "name", anchor="end")
        yield _rounded(f"bar-{bar.kind}", top, end)
        yield _text(end + 8, middle, _micro(bar), f"figure{ours}", times=_times(bar))


def _rounded(kind: str, top: float, end: float) -> str:
    """Return a bar whose right end is round."""
    length = round(end - _LEFT - 3, 1)
    corner = "a3 3 0 0 1 3 3"
    back = f"v{_BAR - 6}a3 3 0 0 1 -3 3h-{length}z"
    return f'<path class="{kind}" d="M{_LEFT} {top}h{length}{corner}{back}"/>'


def _times(bar: Bar) -> str:
    if bar.kind == "ours":
        return ""
    return f"{'> ' if bar.capped else ''}{shown_ratio(bar.ratio)}x"


def _micro(bar: Bar) -> str:
    least = "> " if bar.capped else ""
    return f"{least}{bar.micro:,.0f} µs" if bar.micro >= 20 else f"{least}{bar.micro:.1f} µs"


def _footer(run: Run) -> list[str]:
    """Return lines that say when, on what and with which versions."""
    lines = [f"{run.date}, {run.python}, processor time, each in turns with wholecall"]
    drawn = Run(run.date, run.python, tuple(one for one in run.figures if one.workload == WORKLOAD))
    for part in (f"{name} {version}" for name, version in sorted(drawn.versions.items())):
        if len(lines) == 1 or len(lines[-1]) + len(part) > _LEGIBLE:
            lines.append(part)
        else:
            lines[-1] += f" · {part}"
    return lines


def _text(x: float, y: float, text: str, kind: str, *, anchor: str = "start", times: str = "") -> str:
    more = f'<tspan class="times" dx="9">{escape(times)}</tspan>' if times else ""
    return f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}{more}</text>'
