from __future__ import annotations

import re
from importlib.resources import files

import pytest

STYLE = (files("wholecall.cli") / "page" / "colours.css").read_text("utf-8")
TEXTS = ("ink", "dim", "accent", "drop", "fault", "edit", "odd", "call")
GROUNDS = ("paper", "panel", "soft")


def colours(block: str) -> dict[str, str]:
    """Return the colours that a block of the style names."""
    return dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block))


LIGHT, DARK = (colours(block) for block in re.findall(r":root[^{]*\{(.*?)\n\}", STYLE, re.DOTALL)[:2])
THEMES = {"light": LIGHT, "dark": LIGHT | DARK}


def luminance(colour: str) -> float:
    """Return the relative luminance, as WCAG 2.2 defines it."""
    channels = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, from 1 to 21."""
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_every_text_can_be_read(theme: str) -> None:
    """Each colour of text has a contrast of 4.5 at least on each background, in light and dark (WCAG 2.2, 1.4.3)."""
    named = THEMES[theme]
    pairs = [(text, ground) for text in TEXTS for ground in GROUNDS] + [
        ("addedInk", "added"),
        ("panel", "edit"),
        ("panel", "drop"),
        ("ink", "heat"),
    ]
    weak = {pair: round(contrast(named[pair[0]], named[pair[1]]), 2) for pair in pairs}

    assert {} == {pair: ratio for pair, ratio in weak.items() if ratio < 4.5}


def test_contrast_is_measured() -> None:
    """Black on white is 21, a colour on itself 1."""
    assert (21, 1) == (round(contrast("#000000", "#ffffff")), contrast("#123456", "#123456"))
