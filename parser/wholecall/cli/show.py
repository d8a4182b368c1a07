"""Text for people: printable, within a width, in the cells of a terminal; and names of recordings.

Theory of operation. All text of the wire passes through `printable`: no control character, no invisible character and
no lone surrogate reaches a terminal, so a stream cannot overwrite the screen. Text of the wire is cut at the width; our
own text is wrapped. Widths are counted in cells, of which some letters take two.

The common folder of recordings is left out of their names; it is redundant, and may be private.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath
from textwrap import wrap

# Control characters, format characters (they reorder or hide text), surrogates, line separators.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Characters that are drawn as nothing, or as a blank, though they are letters, marks or symbols: fillers of Hangul, the
# blank of braille, the joiner of graphemes, and variation selectors, except for the one that may follow a symbol.
_HIDDEN = re.compile(
    "[\u034f\u115f\u1160\u2800\u3164\uffa0\ufe00-\ufe0d\U000e0100-\U000e01ef]"
    "|(?<![#*0-9\u00a9\u00ae\u2000-\u3299\U0001f000-\U0001faff])[\ufe0e\ufe0f]"
)
_MAYBE_ODD = re.compile("[^\x00-\u02ff]")  # all others take one cell
_JOINERS = "\u200c\u200d"  # letters and emoji need them


def printable(text: str) -> str:
    r"""Return the text with escapes like `\x1b` for all characters that a terminal would obey or hide."""
    return _with_escapes(text, lambda char: char.encode("unicode_escape").decode())


def printable_json(text: str) -> str:
    """Return JSON text of the same value without any character that a terminal would obey or hide."""
    return _with_escapes(text, escaped_json)


def _with_escapes(text: str, escaped: Callable[[str], str]) -> str:
    if not text.isascii():
        text = _HIDDEN.sub(lambda found: escaped(found[0]), text)
    if text.isprintable():
        return text
    return "".join(escaped(char) if _is_unseen(char) else char for char in text)


def escaped_json(char: str) -> str:
    r"""Return a character as JSON's `\uXXXX`, twice beyond the basic plane."""
    units = char.encode("utf-16-be", "surrogatepass").hex(" ", 2).split()
    return "".join(f"\\u{unit}" for unit in units)


def _is_unseen(char: str) -> bool:
    return unicodedata.category(char) in _UNSEEN and char not in _JOINERS


# Cells.


def cells(text: str) -> int:
    """Return how many cells of a terminal a printable text takes."""
    return len(text) + sum(_cells_of(char) - 1 for char in _MAYBE_ODD.findall(text))


def _cells_of(char: str) -> int:
    if unicodedata.combining(char) or char in "\u200c\u200d\ufe0e\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def padded(text: str, width: int) -> str:
    """Return the text with blanks after it, up to a width in cells."""
    return text + " " * (width - cells(text))


# Lines of a width.


def clipped(text: str, width: int) -> str:
    """Return text of the wire as one printable line of at most `width` cells, with `...` where it was cut."""
    return _cut(text, width, "...")


def fitted(text: str, width: int) -> str:
    """Return text of the wire as one printable line, shortened with its size if it is too long."""
    return _cut(text, width, f"... ({counted(len(text), 'character')})")


def _cut(text: str, width: int, tail: str) -> str:
    shown = printable(text[: width + 1])
    if len(text) <= width and cells(shown) <= width:
        return shown
    taken = 0
    for end, char in enumerate(shown):
        taken += _cells_of(char)
        if taken > width - len(tail):
            return (shown[:end] + tail)[:width]
    return shown + tail


def wrapped(text: str, width: int) -> list[str]:
    """Return our own text as printable lines, broken between words; a longer word is broken, too."""
    return wrap(printable(text), width, break_on_hyphens=False) or [""]


def packed(facts: Iterable[str], width: int) -> list[str]:
    """Return facts with two blanks between them, on the fewest possible lines, in their order."""
    lines: list[str] = []
    for fact in facts:
        if lines and cells(lines[-1]) + 2 + cells(fact) <= width:
            lines[-1] += f"  {fact}"
        else:
            lines.append(fact)
    return lines


def counted(count: int, noun: str) -> str:
    """Return a number with its noun in singular or plural."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


# Names of recordings.


def folder_of(name: str) -> str:
    """Return the folder of a recording, by its name; `"."` for the current one."""
    return str(PurePath(name).parent)


def common_folder(folders: Sequence[str]) -> str:
    """Return the folder that holds all of some folders; empty if it is only the current one or the root."""
    try:
        common = os.path.commonpath(folders)
    except ValueError:  # absolute and relative ones, or other drives
        return ""
    return "" if common == "." else common


def below_common_folder(names: Sequence[str]) -> list[str]:
    """Return the names of recordings without their common folder."""
    common = common_folder([folder_of(name) for name in names])
    return [str(PurePath(name).relative_to(common)) if common else name for name in names]
