"""The claim: live arguments and partial JSON cost a few times the join of their pieces, and never more per delta as they grow."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from benchmarks.claims import Claim, Comparison, Contender, Growth, Ratio
from benchmarks.live import OURS, RIVALS, again, floor, pieces, watched_text
from benchmarks.texts import KIB, every

_WAYS = ("watch", "scan", "snapshots", "partial")
_BUDGETS = {"watch": 10}  # times append and join
# Our share of the time of parsers that read all text again at every delta, and the largest size for them.
_RIVALS = {"jiter": (0.1, 64), "partial_json_parser": (0.02, 8)}


def _right(deltas: list[str], found: Any) -> bool:
    """Return whether a contender read the whole text; a watcher's value is the text of one string, or nothing."""
    value = json.loads("".join(deltas))
    return (
        found in ("".join(deltas), value) if found is not None else watched_text(deltas) == value["content"]
    )


_FLOOR = Contender(floor, _right)
_OURS = {way: Contender(act, _right) for way, act in OURS.items()}


def _pieces(size: int, delta: int = 4) -> Callable[[int], list[str]]:
    return lambda part: pieces(size * KIB // part, delta)


def _string(size: int) -> Comparison:
    """One long string in pieces of four characters."""
    contenders = {"append and join": _FLOOR, **{way: _OURS[way] for way in _WAYS}}
    ratios = tuple(Ratio(way, "append and join", _BUDGETS.get(way, 0)) for way in _WAYS)
    return Comparison(f"live arguments, {size}K d4", _pieces(size), contenders, ratios)


def _other_pieces(delta: int) -> Comparison:
    """The same text in smaller and larger pieces."""
    ways = {way: _OURS[way] for way in _WAYS}
    return Comparison(f"live arguments, 64K d{delta}", _pieces(64, delta), ways)


def _again(size: int) -> Comparison:
    """Against parsing all text so far at every delta."""
    rivals = {
        name: Contender(act, _right) for name, act in RIVALS.items() if size <= _RIVALS.get(name, (0, 0))[1]
    }
    ratios = tuple(
        Ratio(way, name, _RIVALS[name][0] if size == _RIVALS[name][1] else 0)
        for name in rivals
        for way in _WAYS
    )
    what = f"live arguments against parsing again, {size}K d4"
    return Comparison(what, _pieces(size), {**_OURS, **rivals}, ratios, checked=False)  # of this size alone


def _members(n: int) -> list[str]:
    """Return pieces of an object with many members: every member is emitted, and snapshots share closed members."""
    return every(json.dumps({f"key{number}": [number, 0.5, None, "text"] for number in range(n)}), 4)


def _growths(way: str) -> list[Growth]:
    told = Contender(OURS[way], lambda deltas, found: found in (None, json.loads("".join(deltas))))
    return [
        Growth(f"bytes of live arguments, {way}", pieces, 256 * KIB, len, told),
        Growth(f"members of live arguments, {way}", _members, 1000, len, told),
    ]


# With numbers and members, so that reading again is more than a search for the next quote.
_PARTIAL = Comparison(
    "partial JSON, 500 members d4",
    lambda part: _members(max(500 // part, 100)),
    {"partial": _OURS["partial"], "reading again": Contender(again, _right)},
    (Ratio("partial", "reading again", 0.05, quadratic=True),),
)

CLAIMS: list[Claim] = [
    _PARTIAL,
    *map(_string, (8, 64, 512)),
    *map(_other_pieces, (1, 40, 4000)),
    *map(_again, (8, 64)),
    *(growth for way in _WAYS for growth in _growths(way)),
]


def test_progress(race: Callable[[], None]) -> None:
    """All read the content of the pieces."""
    race()
