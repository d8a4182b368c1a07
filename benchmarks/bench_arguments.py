"""The claim: judging a text of arguments costs little more than `json.loads`, and damage costs no more than linear."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from benchmarks.claims import Claim, Comparison, Contender, Growth, Ratio
from benchmarks.texts import KIB, long_arguments, small_arguments
from wholecall import Limits, parse_arguments


def _members(n: int, value: Any) -> str:
    return json.dumps({f"key{number}": value for number in range(n)})


_TEXTS: dict[str, Callable[[int], str]] = {
    "380 B": lambda _: small_arguments(1),
    "64 KB string": lambda part: long_arguments(64 * KIB // part),
    "64 KB members": lambda part: _members(1800 // part, [1, 0.5, None, "text"]),
}
_CONTENDERS: dict[str, Callable[[str], Any]] = {
    "wholecall": lambda text: parse_arguments(text).arguments,
    "json.loads": json.loads,
    "msgspec": msgspec.json.Decoder().decode,
}


def _strict(name: str) -> Comparison:
    contenders = {
        way: Contender(act, lambda text, found: bool(json.loads(text) == found))
        for way, act in _CONTENDERS.items()
    }
    ratios = (Ratio("wholecall", "json.loads"), Ratio("wholecall", "msgspec"))
    return Comparison(f"strict arguments, {name}", _TEXTS[name], contenders, ratios, times=20)


def _ends(**fields: object) -> Contender:
    """Parse, which must end as the fields say."""
    return Contender(
        parse_arguments, lambda _, found: {name: getattr(found, name) for name in fields} == fields
    )


# Growing damage of one kind: it must not make recovery scan the same text again.
_DAMAGE: dict[str, Callable[[int], str]] = {
    "brackets": lambda n: '{"a":' * n,
    "escapes": lambda n: '{"a":"' + "\\n" * n,
    "backslashes": lambda n: '{"a":"' + "\\" * n,
    "quotes": lambda n: "{" + "'" * n,
    "comments": lambda n: "{x /* " * n,
    "slashes": lambda n: "{" + "/" * n,
    "groups": lambda n: "{x} " * n,
    "open groups": lambda n: "{' " * n,
    "objects": lambda n: "{}" * n,
    "spaces": lambda n: " " * n + "{",
    "tokens": lambda n: '{"a":1,}' + "</s>" * n,
    "digits": lambda n: '{"a":[' + ("9" * 4300 + " ") * (n // 4300 + 1),
    "commas": lambda n: '{"a":[1' + "," * n + "]}",
    "closers": lambda n: '{"a":1}' + "} " * n + "x",
}
_RECOVERING = Contender(
    partial(parse_arguments, limits=Limits(max_recovery_bytes=None)),
    lambda _, found: bool(found.status != "exact"),
)


CLAIMS: list[Claim] = [
    *map(_strict, _TEXTS),
    # A fault at the end: the whole text is rewritten.
    Growth(
        "members of recovered arguments",
        lambda n: _members(n, "a value")[:-1] + ",}",
        1600,
        len,
        _ends(status="recovered"),
    ),
    Growth(
        "bytes of arguments cut inside a string",
        lambda n: long_arguments(n)[:-2],
        256 * KIB,
        len,
        _ends(reason="truncated"),
    ),
    *(Growth(f"damage: {what}", make, 40_000, len, _RECOVERING) for what, make in _DAMAGE.items()),
]


def test_arguments(race: Callable[[], None]) -> None:
    """Valid JSON is read as `json` reads it; damage ends as it must."""
    race()
