"""Argument texts and prose to measure with: seeded, so that every run sees the same."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

KIB = 1024

_WORDS = [
    *("alder", "basin", "cedar", "delta", "ember", "fjord", "grove", "harbour", "inlet", "juniper", "kelp"),
    *("lagoon", "meadow", "névé", "orchard", "prairie", "quarry", "ridge", "spruce", "tundra", "upland"),
    *("valley", "willow", "yarrow"),
]


@dataclass(frozen=True)
class Call:
    """One tool call with its argument text and the pieces in which it is sent."""

    id: str
    name: str
    arguments: str
    pieces: Sequence[str]


class Result(NamedTuple):
    """The result of a stream: its visible text and its calls as (id, name, arguments)."""

    text: str
    calls: list[tuple[str, str, dict[str, Any]]]


class Options(msgspec.Struct):
    """Return the options of a small call."""

    recursive: bool
    depth: int
    ratio: float
    owner: str | None


class WriteFile(msgspec.Struct):
    """The tool of the small calls, as a type."""

    path: str
    line: int
    tags: list[str]
    options: Options
    content: str


def prose(random_: random.Random, size: int) -> str:
    """Return `size` characters of text with line feeds and quotes, which JSON has to escape."""
    words: list[str] = []
    length = 0
    while length < size:
        word = random_.choice(_WORDS)
        if random_.random() < 0.04:
            word = f'"{word}"\n'
        words.append(word)
        length += len(word) + 1
    return " ".join(words)[:size]


def small_arguments(seed: int) -> str:
    """Return arguments of about 380 B, of every JSON type."""
    random_ = random.Random(seed)
    value = {
        "path": f"src/{random_.choice(_WORDS)}/{random_.choice(_WORDS)}_{seed}.py",
        "line": random_.randrange(2000),
        "tags": [random_.choice(_WORDS) for _ in range(4)],
        "options": {"recursive": True, "depth": 3, "ratio": 0.25, "owner": None},
        "content": prose(random_, 220),
    }
    return json.dumps(value, ensure_ascii=False)


def long_arguments(size: int) -> str:
    """Return arguments with one string of about `size` characters."""
    value = {"path": "docs/field_guide.md", "mode": "w", "content": prose(random.Random(size), size)}
    return json.dumps(value, ensure_ascii=False)


def unaccented(text: str) -> str:
    """Return a text of ours in ASCII."""
    return text.replace("é", "e")


def every(text: str, size: int) -> list[str]:
    """Return a text in pieces of `size` characters."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def small_call(number: int, size: int = 4) -> Call:
    """Return a call of about 380 B of arguments, in pieces of `size` characters."""
    arguments = small_arguments(number)
    return Call(f"call_{number:024d}", "write_file", arguments, every(arguments, size))


# Parts of old arguments, by their approximate number of characters.
SHRINKING: dict[str, Callable[[int], str]] = {
    "one long string": long_arguments,
    "strings of 300 characters": lambda n: json.dumps({f"key{at}": "y" * 300 for at in range(n // 312)}),
    "escapes": lambda n: json.dumps({"content": "line\n" * (n // 6)}),
    "numbers in arrays": lambda n: json.dumps([[at, 0.5, None] for at in range(n // 23)]),
    "nested arrays": lambda n: "[" * (n // 16) + json.dumps("z" * (n - n // 8)) + "]" * (n // 16),
}
