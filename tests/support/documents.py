"""JSON texts as hostile as JSON allows, drawn as text: spellings, repeated keys, depth. Knows nothing of wholecall."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from tests.support import quirky

_SPACE = st.sampled_from(("", "", " ", "\n\t", " \r\n"))
_PARTS = st.one_of(
    st.sampled_from(quirky.HOSTILE),
    st.sampled_from(
        (
            *(
                "\ud83d",
                "\ude00",
                "\ud83d\ude00",
                "😀",
                "👩\u200d💻",
                "e\u0301",
                "\u0301" * 70,
                "🏽",
                "\u200d",
            ),
            *(
                "...[truncated]",
                "\\u0041",
                "\x00",
                "\x7f",
                "\u2028",
                "→",
                "x" * 300,
                "line\n" * 60,
                '"\\' * 40,
            ),
        )
    ),
    st.text(st.characters(exclude_categories=()), max_size=12),
)
_TEXTS = st.lists(_PARTS, max_size=4).map("".join)
_NUMBERS = st.sampled_from(
    ("0", "-0", "1e400", "-1E-400", "1.10", "1E5", "0.1000000000000000055511151231257827", "9" * 5000, "3")
)
_KEYS = st.one_of(st.sampled_from(("path", "p\\u0061th", "a", "a", "")), st.sampled_from(quirky.KEYS))


def _spelled(text: str, style: int) -> str:
    """Return a JSON string: as ASCII, as it is, or with everything escaped."""
    if style < 2:
        return json.dumps(text, ensure_ascii=style == 0)
    units = text.encode("utf-16-be", "surrogatepass").hex().upper()
    return '"' + "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)) + '"'


_STYLES = st.integers(0, 2)
_STRINGS = st.builds(_spelled, _TEXTS, _STYLES)
_LEAVES = st.one_of(_STRINGS, _STRINGS, _NUMBERS, st.sampled_from(("true", "false", "null")))


@st.composite
def _arrays(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    gap, items = draw(_SPACE), draw(st.lists(inner, max_size=4))
    items *= draw(st.sampled_from((1, 1, 1, 20)))
    return f"[{gap}" + f"{gap},{gap}".join(items) + f"{gap}]"


@st.composite
def _objects(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    gap, members = draw(_SPACE), draw(st.lists(st.tuples(_KEYS, inner), max_size=4))
    spelled = [
        f'"{key}"{gap}:{gap}{value}' if key.startswith("p\\u") else f"{json.dumps(key)}{gap}:{gap}{value}"
        for key, value in members
    ]
    return f"{{{gap}" + f"{gap},{gap}".join(spelled) + f"{gap}}}"


_values = st.recursive(_LEAVES, lambda inner: st.one_of(_arrays(inner), _objects(inner)), max_leaves=6)
objects = _objects(_values)
_deep = st.builds(
    lambda text, depth: "[" * depth + text + "]" * depth, _values, st.sampled_from((0, 150, 3000))
)
documents = st.one_of(_values, objects, _deep)


def depth_of(text: str) -> int:
    """Return how many brackets the text begins with."""
    return len(text) - len(text.lstrip("["))


class _Object(list[Any]):
    """The members of an object in order, repeated keys too."""


def read(text: str) -> Any:
    """Return a JSON text unchanged: numbers as text, members in order.

    Of brackets around brackets the outer ones are taken off: they are too many for the standard library.
    """
    around = max(depth_of(text) - 200, 0)
    return json.loads(
        text[around : len(text) - around],
        object_pairs_hook=_Object,
        parse_int=lambda number: ("number", number),
        parse_float=lambda number: ("number", number),
    )


def utf8(text: str) -> int:
    """Return the size of a text in UTF-8 bytes."""
    return len(text.encode("utf-8", "surrogatepass"))


Options = dict[str, Any]


@st.composite
def options(draw: st.DrawFn, *, budget: bool = False) -> Options:
    """Draw how to shrink; with a budget, or without."""
    max_leaf = draw(st.sampled_from((0, 1, 2, 5, 20, 200)))
    found: Options = {
        "max_leaf": max_leaf,
        "tail": draw(st.integers(0, max_leaf)),
        "threshold": draw(st.sampled_from((0, 0, 100, 500))),
        "marker": draw(st.sampled_from(("...[truncated]", "…", "", '"cut"\n', "\u0301\u200d"))),
        "protect": draw(st.sampled_from(((), ("path",), ("a", "path")))),
    }
    if budget:
        found["max_bytes"] = draw(st.sampled_from((0, 30, 100, 400, 2000)))
    return found
