"""A badge with a result: a picture that needs no network, and the data for a service that draws one."""

from __future__ import annotations

from html import escape

COLOURS = {"green": "#2e7d32", "amber": "#b26a00", "red": "#b3261e", "grey": "#566273"}

_WIDE = frozenset("mwMWQO@%—·")
_NARROW = frozenset("iljtfrI.,:;|!'()[] ")
_HEIGHT, _PAD = 20, 6
_SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" aria-label="{title}">
<title>{title}</title>
<clipPath id="r"><rect width="{width}" height="{height}" rx="3"/></clipPath>
<g clip-path="url(#r)"><rect width="{left}" height="{height}" fill="#444c56"/>\
<rect x="{left}" width="{right}" height="{height}" fill="{colour}"/></g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">
<text x="{middle}" y="14" textLength="{first}">{label}</text>
<text x="{centre}" y="14" textLength="{second}">{message}</text>
</g>
</svg>
"""


def svg(label: str, message: str, colour: str) -> str:
    """Return a badge as a picture that contains everything it shows.

    Args:
        label: the text on the left.
        message: the text on the right.
        colour: a key of `COLOURS`, or a colour of CSS.
    """
    first, second = _width(label), _width(message)
    left, right = first + 2 * _PAD, second + 2 * _PAD
    return _SVG.format(
        width=left + right,
        height=_HEIGHT,
        left=left,
        right=right,
        first=first,
        second=second,
        middle=left / 2,
        centre=left + right / 2,
        colour=escape(COLOURS.get(colour, colour)),
        label=escape(label),
        message=escape(message),
        title=escape(f"{label}: {message}"),
    )


def endpoint(label: str, message: str, colour: str) -> dict[str, object]:
    """Return the data of a badge for the endpoint of a drawing service, which takes JSON of this form.

    Args:
        label: the text on the left.
        message: the text on the right.
        colour: a key of `COLOURS`, or a colour of CSS.
    """
    drawn = COLOURS.get(colour, colour).removeprefix("#")
    return {"schemaVersion": 1, "label": label, "message": message, "color": drawn}


def _width(text: str) -> int:
    """Return the width of a text of eleven pixels' height, roughly: the picture stretches the text to it."""
    return round(sum(10 if char in _WIDE else 4.2 if char in _NARROW else 6.8 for char in text))
