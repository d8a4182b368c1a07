"""Markup of a page: elements whose texts are escaped, and figures as inline SVG.

Theory of operation. All content of an element passes through `text_of` or is markup made here. Sizes of figures are
attributes: the page's policy forbids styles other than its own.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Mapping, Sequence

from wholecall.cli.reporting.shapes import Curves
from wholecall.cli.show import printable

__all__ = ["bar", "element", "figures", "heat", "rate", "safe"]

_MOST_BARS = 96
_WIDTH, _HEIGHT, _FOOT = 760, 74, 18  # of a histogram in its own units, and of the labels below it


def safe(text: str) -> str:
    """Return text of the wire as markup that shows it, with escapes for invisible characters."""
    return html.escape(printable(text))


def element(tag: str, inner: str = "", **attributes: str | float | None) -> str:
    """Return an element.

    Args:
        tag: its name.
        inner: markup.
        attributes: by name, without a trailing underscore, and with `-` for others; their texts are escaped. Empty
            attributes and None are left out.
    """
    given = "".join(
        f' {name.strip("_").replace("_", "-")}="{safe(str(value))}"'
        for name, value in attributes.items()
        if value is not None and value != ""
    )
    return f"<{tag}{given}>{inner}</{tag}>"


def _svg(
    class_: str, width: float, height: float, inner: str, *, label: str = "", is_stretched: bool = True
) -> str:
    return element(
        "svg",
        inner,
        class_=class_,
        viewBox=f"0 0 {width:g} {height:g}",
        preserveAspectRatio="none" if is_stretched else None,
        role="img" if label else None,
        aria_label=label,
        aria_hidden=None if label else "true",
    )


def bar(share: float) -> str:
    """Return a bar for a share of the whole width."""
    return _svg("bar", 100, 10, element("rect", class_="fill", width=f"{100 * share:.2f}", height=10))


def rate(share: float, low: float, high: float, most: float) -> str:
    """Return a bar with the interval around its end.

    Args:
        share: the length of the bar.
        low: where the interval begins.
        high: where it ends.
        most: the value of the whole width.
    """
    scale = 100 / most
    inner = element("rect", class_="fill", y=2, width=f"{scale * share:.2f}", height=8)
    inner += element("line", x1=f"{scale * low:.2f}", x2=f"{min(scale * high, 100):.2f}", y1=6, y2=6)
    return _svg("rate", 100, 12, inner)


def heat(share: float) -> str:
    """Return the background of a cell; a larger share makes it stronger."""
    return _svg("", 1, 1, element("rect", width=1, height=1, fill_opacity=f"{0.12 + 0.88 * share:.2f}"))


# Histograms.


def figures(curves: Curves) -> Iterator[str]:
    """Yield a histogram for each curve that has values; all have the same axis, which excludes 0."""
    shown = {name: its.above_zero() for name, its in curves.curves.items()}
    places = [bucket for buckets in shown.values() for bucket in buckets]
    if not places:
        return
    axis = _Axis(min(places), max(places), next(iter(curves.curves.values())).STEPS)
    for name, buckets in shown.items():
        if buckets:
            count, all_of = sum(buckets.values()), curves.curves[name].total
            left_out = f", and {all_of - count:,} that are 0" if count < all_of else ""
            yield _figure(f"{name} in {curves.unit} ({count:,} values{left_out})", axis, buckets)


class _Axis:
    """An axis that grows by doubling; a bar is of one bucket, or of several if there are many.

    Args:
        least: the first bucket.
        most: the last bucket.
        steps: how many buckets a doubling has.
    """

    def __init__(self, least: int, most: int, steps: int) -> None:
        self.least, self.step = least, math.ceil((most - least + 1) / _MOST_BARS)
        self.n_bars = (most - least) // self.step + 1
        self._decade = steps / math.log10(2)  # buckets

    @property
    def bar_width(self) -> float:
        """Return the width of a bar."""
        return min(_WIDTH / self.n_bars, 24)

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Yield places on the axis with the values there: powers of ten."""
        end = self.least + self.n_bars * self.step
        for power in range(math.ceil(self.least / self._decade), math.floor(end / self._decade) + 1):
            place = (power * self._decade - self.least) / self.step
            yield place * self.bar_width, f"{10.0**power:,.10g}"


def _figure(caption: str, axis: _Axis, buckets: Mapping[int, int]) -> str:
    heights = [0] * axis.n_bars
    for bucket, count in buckets.items():
        heights[(bucket - axis.least) // axis.step] += count
    base = element("line", class_="axis", x1=0, x2=_WIDTH, y1=_HEIGHT, y2=_HEIGHT)
    marks = "".join(
        element("line", class_="axis", x1=f"{x:.1f}", x2=f"{x:.1f}", y1=_HEIGHT, y2=_HEIGHT + 5)
        + element("text", text, x=f"{x + 4:.1f}", y=_HEIGHT + 14)
        for x, text in axis.ticks()
    )
    drawn = "".join(_drawn(heights, axis.bar_width)) + base + marks
    picture = _svg("", _WIDTH, _HEIGHT + _FOOT, drawn, label=f"Histogram: {caption}", is_stretched=False)
    return element("figure", element("figcaption", safe(caption)) + element("div", picture, class_="wide"))


def _drawn(heights: Sequence[int], width: float) -> Iterator[str]:
    most = max(heights)
    for n, count in enumerate(heights):
        if count:
            height = max(count / most * (_HEIGHT - 4), 1)
            title = element("title", f"{count:,}")
            yield element(
                "rect",
                title,
                class_="fill",
                x=f"{n * width + 0.5:.2f}",
                y=f"{_HEIGHT - height:.2f}",
                width=f"{max(width - 1, 0.5):.2f}",
                height=f"{height:.2f}",
            )
